// Sandbox: which files a tool may read and which it may write, and what else it may not do; as rules for the kernel,
// and as an answer to whether a refusal came from them. Starts nothing. What is promised is in ikigai-security.7.
#pragma once

#include "base/confine.h"
#include "base/file.h"
#include "base/landlock.h"
#include "base/standby.h"
#include "guard.h"

#include <map>

namespace ik {

enum class SandboxMode { off, workspace, read_only };   // the later the tighter
inline SandboxMode tighter(SandboxMode a, SandboxMode b) { return std::max(a, b); }
std::optional<SandboxMode> sandbox_mode(std::string_view word);   // off, read-only, workspace

struct SandboxWish {
    SandboxMode mode = SandboxMode::workspace;
    std::string outputs = {};                     // folder of the session's own long outputs
    std::vector<std::string> protect = {};        // more paths that nobody may read; ~ is the home
    std::vector<std::string> unix_sockets = {};   // none: no AF_UNIX connections
    bool terminal = false;                        // it shares our terminal, instead of having none
    int most_abi = 1000;                          // to play an older kernel
    std::string self = {};                        // our executable, for prepare(); without it, that does nothing
};

// Why this kernel cannot sandbox; nothing where it can.
std::optional<std::string> no_sandbox();

class Sandbox {
public:
    // Of the current folder. Makes the private TMPDIR. Where the kernel cannot, and for `off`, it is not active and nothing is refused.
    // Error: INVALID_ARG, of what is to be protected.
    static Result<Sandbox> make(SandboxWish);
    Sandbox(Sandbox&&) = default;
    Sandbox& operator=(Sandbox&&) = delete;
    ~Sandbox();

    bool active() const { return active_; }
    const std::vector<std::string>& notices() const { return notices_; }   // what is to be said at the start; mostly nothing
    const std::string& temporary() const { return temporary_; }   // for TMPDIR; empty where it is not active, or none can be made

    // For the next start; null where nothing is refused. Rules that have aged are made anew. readable: files that this tool
    // may read though they are protected.
    // Error: the kernel would not make the rules; then nothing may be started.
    Result<const Confinement*> confinement(const std::vector<std::string>& readable = {});

    // Makes the rules, and a process that is confined by them and waits for the next call. While there is time: it takes
    // longer than the call's start is shortened by. What fails is told to the call, by confinement().
    void prepare();
    std::optional<Standby> take_standby(const std::vector<std::string>& readable);   // of the rules that were last given out
    pid_t standby() const;   // the process that waits; Process::nobody: none

    // Around a call: what of the workspace must not change is remembered, then put back. Sentences of what was.
    void remember();
    std::vector<std::string> put_back();

    bool may_read(const std::string& path) const;
    bool may_write(const std::string& path) const;

    // "may have been refused by the sandbox: PATH", where the text complains of a path that we could reach and the rules do not.
    std::optional<std::string> refused(std::string_view text) const;

    void close();   // removes the TMPDIR, and the folder of outputs where it is empty

private:
    struct Node {   // of the tree of protected paths; the last name of one may be a pattern
        std::map<std::string, Node> children;
        bool is_protected = false;

        const Node* find(const std::string& name) const;
    };
    struct Watched {
        std::string path;
        Stamp stamp;
    };
    struct Built {
        std::optional<landlock::Ruleset> ruleset;
        Confinement confinement;
        std::vector<Watched> watched;   // the folders whose content the rules name one by one
        std::optional<Standby> standby = {};
    };

    Sandbox() = default;
    Status build(Built&, const std::vector<std::string>& readable) const;
    void allow_beneath(const Node&, const std::string& folder, Built&) const;
    bool is_protected(const std::string& real_path) const;
    void protect(const std::string& path);
    bool holds_protected(const std::string& folder) const;

    SandboxWish wish_;
    bool active_ = false, writable_ = false;
    int abi_ = 0;
    std::string folder_, temporary_;
    std::vector<std::string> notices_;
    Node protected_;
    std::optional<Guard> guard_;
    std::map<std::vector<std::string>, Built> built_;
};

}
