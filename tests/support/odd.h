// A place to run ikigai in that is not as it should be, and what must work in it all the same.
#pragma once

#include "support/circumstances.h"

#include <functional>

namespace ik::test {

// A home, and beside it the folder to work in.
struct Odd {
    using Program = std::vector<std::string>;

    Folder folder;
    std::string home = folder / "home", work = folder / "work";
    std::function<void()> change = [] {};    // in the process that starts the program
    std::string shell = {};                  // then, around the program "$@"
    std::vector<std::string> more = {};      // variables
    std::string program = test::ikigai();

    Odd();
    Program ikigai_words() const { return {program}; }
    Ran run(Program words, std::string input = {}) const;
    Ran ikigai(Program words, std::string input = {}) const;
    Ran tool_run(const std::string& name, const std::string& input) const { return ikigai({name}, input); }
    Ran said(const std::string& message) const { return ikigai({"chat", "-p", message}); }
};

bool has(const std::string& text, std::string_view words);

// The envelope of `echo through`.
inline constexpr const char* through = "{\"tool_success\":true,\"result\":{\"output\":\"through\",\"exit_code\":0}}\n";

void tools_work(const Odd&);     // every schema, and the tools that need no other program; leaves f.txt
void program_works(const Odd&);  // after them: discover, a conversation with a call, doctor
void shell_works(const Odd&);    // what needs a shell: the bash tool, run, sandbox
void all_works(const Odd&);

// False after a skip. Mounts and namespaces need root; sanitizers need /proc, memory and a stack.
bool can_mount();
bool is_plain();

}
