// fuzz: what may be done with any bytes, each a function of its own. `make fuzz` calls them with what libFuzzer makes
// up, the tests with the seeds in tests/fuzz. To add one: NAME.cc, a line in targets.def, seeds in tests/fuzz/NAME/.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ik::fuzz {

struct Target {
    std::string_view name;
    void (*run)(std::string_view bytes);   // neither dies nor throws; may ignore bytes that are too many
};
std::span<const Target> targets();

#define TARGET(name) void name(std::string_view bytes);
#include "fuzz/targets.def"
#undef TARGET

// Ends the run where what must hold does not.
inline void claim(bool holds, const char* what)
{
    if (!holds) throw std::logic_error(what);
}

// A new folder of this process, empty at first and removed at the end; its path.
const std::string& scratch();
void write_scratch(const std::string& name, std::string_view content);   // scratch()/name

// Cuts a text off the front, up to a NUL byte: for targets that take several.
std::string_view take(std::string_view& bytes);

}
