// LineSearch: the lines that match, file after file. Knows no folders and no order of files.
#pragma once

#include "applets/match.h"
#include "base/fd.h"
#include "base/function_ref.h"

namespace ik {

// Lines as grep shows them, each with a newline before it.
struct FoundLines {
    std::string text;
    std::size_t count = 0;
    std::string unread = {};   // the first file that could not be read, and why; not those that are passed over
};

// Takes what was found so far, and empties it. False: no more is wanted.
using Deliver = FunctionRef<bool(FoundLines&)>;

class LineSearch {
public:
    explicit LineSearch(Matcher matcher) : matcher_(std::move(matcher)) {}

    // What is found is added to found(), and delivered when that is more than 64 KB or one line.
    // What is no regular file and what may not be read is passed over. False: no more is wanted.
    bool file(const std::string& path, Deliver);
    FoundLines& found() { return found_; }

private:
    Fd open_regular(const std::string& path);
    bool fill(const Fd&, const std::string& path);
    std::size_t complete() const;
    bool binary();
    bool lines(const std::string& path, std::string_view text, Deliver);
    void tell(const std::string& where, std::string_view what);

    Matcher matcher_;
    FoundLines found_;
    std::string buffer_;
    std::size_t expected_ = 0, read_ = 0;   // the size that the file had; what was read of it
    std::size_t size_ = 0, line_ = 0;       // bytes in the buffer; lines before it
    bool ended_ = false, wanted_ = true;
    std::optional<bool> binary_;            // of this file; not known before it counts
};

}
