// What an applet is, and the one declaration that everything else is derived from:
// --schema, argument checks, --help, the man page, the link and the example tests.
#pragma once

#include "applets/answer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace ik {

// One argument. Its JSON type, and whether it is required, follow from the
// member it fills: std::string is required; optional, bool and vector are not.
template <class A>
struct Param {
    using Member = std::variant<std::string A::*, std::int64_t A::*, bool A::*,
                                std::optional<std::string> A::*, std::optional<std::int64_t> A::*,
                                std::vector<std::string> A::*>;
    const char* name;
    Member member;
    const char* help;
    bool any_bytes = false;   // a string that may hold NUL: content, not a name
    const char* keywords = "";   // more of its schema, as JSON members: R"("minimum":1,"default":10)"
};

// Run by the tests in a folder that holds the file abc.txt with the lines a, b, c.
struct Example {
    const char* title;
    const char* input;
    const char* output;
};

struct Doc {
    const char* name;      // "file_read"; the command is the same with '-' for '_'
    const char* summary;   // one sentence: the schema's description, the man page's NAME
    const char* details;   // mdoc prose for DESCRIPTION
    const char* errors;    // mdoc list items (.It Dv CODE …) for ERRORS; may be empty
    std::span<const Example> examples;
};

namespace detail {
struct Spec {   // a Param without its C++ type
    const char* name;
    const char* help;
    const char* type;
    bool required;
    bool any_bytes;
    const char* keywords;
};
}

struct Applet {
    Doc doc;
    std::span<const detail::Spec> specs;
    // Writes the members of the answer. An Error that is returned becomes its last members.
    // arguments: as check() returned them.
    Status (*run)(Json arguments, Answer& answer);
};

// Every applet, declared from the one list. Each defines applets::name in its own
// file, which does not compile until the list has it.
namespace applets {
#define APPLET(name) extern const Applet name;
#include "applets/applets.def"
#undef APPLET
}

// The rest of this part is the machinery behind applet<Args, params, run>(doc).
namespace detail {

template <class T> struct Kind;
template <> struct Kind<std::string> { static constexpr const char* name = "string"; static constexpr bool required = true; };
template <> struct Kind<std::int64_t> { static constexpr const char* name = "integer"; static constexpr bool required = true; };
template <> struct Kind<bool> { static constexpr const char* name = "boolean"; static constexpr bool required = false; };
template <> struct Kind<std::vector<std::string>> { static constexpr const char* name = "array"; static constexpr bool required = false; };
template <class T> struct Kind<std::optional<T>> { static constexpr const char* name = Kind<T>::name; static constexpr bool required = false; };

template <class A, class T> constexpr Kind<T> kind_of(T A::*) { return {}; }

template <class A>
constexpr Spec spec(const Param<A>& p)
{
    return std::visit([&](auto member) {
        auto kind = kind_of(member);
        return Spec{p.name, p.help, kind.name, kind.required, p.any_bytes, p.keywords};
    }, p.member);
}

// Not inlined: g++ 12 else warns falsely of the members that an Args does not have.
template <class T> [[gnu::noinline]] void assign(T& to, Json& from) { to = std::move(*from.as<T>()); }
template <class T> [[gnu::noinline]] void assign(std::optional<T>& to, Json& from) { to = std::move(*from.as<T>()); }
[[gnu::noinline]] inline void assign(std::vector<std::string>& to, Json& from)
{
    for (auto& item : *from.as<Json::Array>())
        to.push_back(std::move(*item.as<std::string>()));
}

}

template <const auto& params>
inline constexpr auto specs = [] {
    std::array<detail::Spec, std::size(params)> out{};
    std::ranges::transform(params, out.begin(), [](auto& p) { return detail::spec(p); });
    return out;
}();

template <class A, const auto& params, Status (*run)(const A&, Answer&)>
constexpr Applet applet(Doc doc)
{
    return {doc,
            specs<params>,
            [](Json in, Answer& answer) -> Status {
                A args;
                for (auto& p : params)
                    if (auto* value = in.find(p.name))
                        std::visit([&](auto member) { detail::assign(args.*member, *value); }, p.member);
                return run(args, answer);
            }};
}

std::span<const Applet* const> all_applets();
std::vector<std::string> applet_options();             // what each takes
const Applet* find_applet(std::string_view command);   // "file-read", "file_read", "web-fetch-tool"
std::string command_of(const Applet&);                 // "file-read", "web-fetch"
std::string link_name(const Applet&);                  // in libexec: "file-read", "web-fetch-tool"

Json schema(const Applet&);

// The arguments that the applet knows: without nulls, with whole-number doubles as integers.
// Error: INVALID_ARG, "missing required parameter: file_path".
Result<Json> check(const Applet&, Json arguments);

std::string man_page(const Applet&);

// The main() of every applet. Exit status: 0 answered, also with an error; 1 bad arguments, no credentials (AUTH_MISSING)
// or output lost; 2 bad option.
int serve(const Applet&, int argc, char** argv);

}
