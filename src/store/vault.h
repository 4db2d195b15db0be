// Vault: the archive at a path, whatever happens to its file. A damaged one is set aside as
// PATH.corrupt-DATE, with its log, and what can be read of it becomes the new one.
//
// Several processes may find the damage at once, and others may be in the middle of writing. So: files are opened and
// set aside under a lock of their folder; who finds that somebody has been faster takes the new file; and a
// writer looks after each commit whether the path still names the file that it wrote to, and writes again where it
// does not (the same event again is passed over).
#pragma once

#include "store/archive.h"

namespace ik {

class Vault {
public:
    explicit Vault(std::string path) : path_(std::move(path)) {}
    ~Vault();

    // op's result on the archive, which is opened when it is first needed. Once more where the file was damaged.
    template <class F>
    auto use(Archive::Use use, F op) -> decltype(op(std::declval<Archive&>()));

    Status sync() { return archive_ ? archive_->sync() : Status(Done{}); }
    void patience(int ms);

    // What has been set aside, as sentences for the user; each once.
    std::vector<std::string> take_notices() { return std::exchange(notices_, {}); }

private:
    Status open(Archive::Use);
    Status rescue();
    bool mended(const Error&, int attempt, Error& why);

    std::string path_;
    std::optional<Archive> archive_;
    bool writes_ = false, wrote_ = false;
    int patience_ = 10'000;
    std::vector<std::string> notices_;
};

// All of them, into as many transactions as it takes; what has been taken is left out.
Status append_all(Archive&, std::span<const StoredEvent>);

template <class F>
auto Vault::use(Archive::Use use, F op) -> decltype(op(std::declval<Archive&>()))
{
    for (int attempt = 0;; ++attempt) {
        Error why;
        if (auto ready = open(use); !ready) {
            if (mended(ready.error(), attempt, why))
                continue;
            return why;
        }
        auto result = op(*archive_);
        if (!result) {
            if (mended(result.error(), attempt, why))
                continue;
            return why;
        }
        wrote_ = wrote_ || use == Archive::Use::write;
        if (use == Archive::Use::write && attempt < 5 && archive_->moved())
            continue;
        return result;
    }
}

}
