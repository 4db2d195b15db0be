#include "applets/posix_regex.h"

namespace ik {

Regex::~Regex()
{
    if (compiled_)
        regfree(&value_);
}

Result<Regex> Regex::compile(const std::string& pattern)
{
    Regex out;
    int failed = regcomp(&out.value_, pattern.c_str(), REG_EXTENDED | REG_NOSUB);
    out.compiled_ = !failed;
    if (!failed)
        return out;
    char why[256];
    regerror(failed, &out.value_, why, sizeof why);
    return Error{code::invalid_pattern, "Invalid pattern: " + std::string(why)};
}

bool Regex::matches(std::string_view text) const
{
    regmatch_t bounds{0, static_cast<regoff_t>(text.size())};
    return regexec(&value_, text.data() ? text.data() : "", 0, &bounds, REG_STARTEND) == 0;
}

}
