// Outbox: where the whole texts of one call go that are too long for the model: FOLDER/CALL-MEMBER.txt,
// mode 0600. The folder (0700) is made when it is needed.
#pragma once

#include "base/fd.h"

namespace ik {

class Outbox {
public:
    Outbox(std::string folder, const std::string& call_id);

    // A new, empty file for that member; its path. Error: why there is none.
    Result<std::pair<Fd, std::string>> file(std::string_view member) const;
    std::string path(std::string_view member) const;

    // The text in the member's file; its path.
    Result<std::string> keep(std::string_view text, std::string_view member) const;

private:
    std::string folder_, call_;
};

}
