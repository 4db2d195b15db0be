// Registry: the tools that there are. It asks every executable in its folders for --schema,
// all at once, and is passive: the caller polls, then lets it advance.
#pragma once

#include "base/child.h"
#include "base/json.h"

#include <chrono>
#include <deque>
#include <functional>
#include <span>

namespace ik {

// A tool that our own executable is, under the name of its link: asked without a process.
struct Builtin {
    std::string command;   // the name of its link, and the word that calls it: "file-read", "web-fetch-tool"
    Json schema;
};

struct Tool {
    std::string name;                // of its schema: "file_read"
    std::string path;
    std::string origin;              // system, user, project, builtin
    std::vector<std::string> argv;   // what runs it
    Json schema;                     // name, description, parameters: an object schema in the standard form
};

// Neither hidden nor a backup.
bool is_tool_name(std::string_view file_name);

struct Skipped {
    std::string path;
    std::string reason;   // timeout, exit N, signal N, no output, invalid JSON, invalid schema: WHY, not executable; who else can change it
    bool folder = false;  // all of a folder

    std::string line() const;   // Debug: tool 'foo' schema failed (timeout)
};

class Registry {
public:
    enum class State { not_started, in_progress, complete, failed };
    // What a tool is confined to while it is asked, when the first one is to be: rules are dear, and our own tools are not asked.
    using Confine = std::function<Result<const Confinement*>()>;
    static constexpr auto schema_limit = std::chrono::seconds(1);
    static constexpr std::size_t max_schema = 1 << 20;   // bytes

    // Folders may be missing; an empty name is not scanned. A tool of a later folder (user after
    // system, project after user) replaces one of the same name. What others than root and we can
    // change is skipped: a tool, or all of a folder.
    struct Places {
        std::string self;                  // our executable
        std::string system, user, project;
        std::vector<Builtin> builtins;     // stand in for a system folder that does not exist, or is skipped
        std::vector<std::string> env;      // what the tools are given
        Confine confine = {};              // none: they may do what we may; called until the registry has settled
    };

    void start(const Places&);
    void add_to(Poll&) const;
    void advance(const Poll&);
    std::vector<pid_t> ids() const;   // of the tools that are being asked

    State state() const { return state_; }
    bool settled() const { return state_ == State::complete || state_ == State::failed; }
    const std::string& failure() const { return failure_; }   // why, after State::failed

    std::span<const Tool> tools() const { return tools_; }   // by name, byte order
    std::span<const Skipped> skipped() const { return skipped_; }
    const Tool* find(std::string_view name) const;

private:
    struct Candidate {
        std::size_t rank;   // of its folder
        Tool tool;
        std::optional<Child> child;
    };

    bool usable(const std::string& folder);
    void scan(const std::string& folder, const char* origin, std::size_t rank, const Places&);
    void ask_next();
    void hear(Candidate&);
    void accept(Candidate&, const Json& schema);
    void skip(const Candidate&, std::string reason);
    void finish();

    State state_ = State::not_started;
    std::string failure_;
    std::vector<std::string> env_;
    Confine confine_;
    std::deque<Candidate> waiting_;
    std::vector<Candidate> asked_, accepted_;
    std::vector<Tool> tools_;
    std::vector<Skipped> skipped_;
};

// A schema as tools print it, in the standard form: name, description, parameters. The older flat
// form of the parameters is turned into an object schema. Error: why it is none.
Result<Json> standard_schema(const Json& printed);

}
