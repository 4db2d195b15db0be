#include "applets/applet.h"

#include "base/fd.h"
#include "base/text.h"
#include "version.h"

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <iterator>
#include <new>
#include <unistd.h>

namespace ik {

using detail::Spec;

namespace {

constexpr std::string_view names[] = {
#define APPLET(name) #name,
#include "applets/applets.def"
#undef APPLET
};
static_assert(std::ranges::is_sorted(names), "keep applets.def sorted");

const Applet* const table[] = {
#define APPLET(name) &applets::name,
#include "applets/applets.def"
#undef APPLET
};

constexpr std::size_t max_input = 256u << 20;

Error invalid(std::string message) { return {code::invalid_arg, std::move(message)}; }

bool fits(std::string_view type, const Json& value)
{
    if (type == "string") return value.as<std::string>();
    if (type == "boolean") return value.as<bool>();
    if (type == "integer") return value.as<std::int64_t>();
    auto* items = value.as<Json::Array>();
    return items && std::ranges::all_of(*items, [](const Json& i) { return i.as<std::string>() != nullptr; });
}

std::string expected(std::string_view type)
{
    return type == "array" ? "an array of strings" : type == "integer" ? "an integer" : "a " + std::string(type);
}

Json whole(Json value)
{
    if (auto* d = value.as<double>(); d && std::trunc(*d) == *d && std::abs(*d) < 9e15)
        return static_cast<std::int64_t>(*d);
    return value;
}

std::string upper(std::string text)
{
    for (auto& c : text)
        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

// Text as roff reads it: no escapes, no accidental requests.
std::string roff(std::string_view text)
{
    std::string out;
    for (char c : text) {
        if ((out.empty() || out.back() == '\n') && (c == '.' || c == '\''))
            out += "\\&";
        if (c == '\\') out += "\\e";
        else out += c;
    }
    return out;
}

std::string lower_first(std::string text)
{
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return text;
}

Json property(const Spec& s)
{
    Json::Object p{{"type", s.type}, {"description", s.help}};
    if (std::string_view(s.type) == "array") p.emplace_back("items", object({{"type", "string"}}));
    auto more = *parse_json("{" + std::string(s.keywords) + "}");
    std::ranges::move(*more.as<Json::Object>(), std::back_inserter(p));
    return p;
}

// Whether value keeps to the keywords; its type is right already.
Status within_keywords(const Spec& s, const Json& value)
{
    if (!*s.keywords)
        return Done{};
    auto all = object({{"properties", object({{s.name, property(s)}})}});
    return validate(all, object({{s.name, value}}));
}

Json parameters(std::span<const Spec> specs)
{
    Json::Object properties;
    Json::Array required;
    for (auto& s : specs) {
        properties.emplace_back(s.name, property(s));
        if (s.required) required.push_back(s.name);
    }
    return object({{"type", "object"}, {"properties", properties}, {"required", required}});
}

std::string help(const Applet& applet)
{
    auto command = command_of(applet);
    std::string out = "usage: " + command + " < ARGUMENTS.json\n       " + command + " --schema | --help | --man | --version\n\n"
                    + applet.doc.summary + (std::string_view(applet.doc.summary).ends_with('.') ? "" : ".") + "\nReads one JSON object from standard input, prints one on standard output.\n\nArguments:\n";
    for (auto& s : applet.specs)
        out += std::string("  ") + s.name + " (" + s.type + (s.required ? ", required" : ", optional") + ")\n      " + s.help + "\n";
    out += "\nExample:\n";
    for (auto& e : applet.doc.examples.first(std::min<std::size_t>(1, applet.doc.examples.size())))
        out += std::string("  $ echo '") + e.input + "' | " + command + "\n  " + e.output + "\n";
    return out;
}

int print(const std::string& text)
{
    if (write_all(1, text))
        return 0;
    write_all(2, std::string("ikigai: cannot write to standard output: ") + std::strerror(errno) + "\n");
    return 1;
}

std::string line_end() { return isatty(1) ? "\n" : ""; }

Result<std::string> read_input()
{
    std::string input;
    std::array<char, 65536> buffer;
    for (;;) {
        auto n = read_some(0, buffer.data(), buffer.size());
        if (n < 0)
            return invalid(std::string("cannot read standard input: ") + std::strerror(errno));
        if (n == 0)
            return input;
        input.append(buffer.data(), static_cast<std::size_t>(n));
        if (input.size() > max_input)
            return invalid("standard input is longer than 256 MB");
    }
}

Result<Json> read_arguments(const Applet& applet)
{
    auto input = read_input();
    if (!input)
        return input.error();
    if (trim(*input).empty())
        return invalid("standard input is empty: expected a JSON object");
    auto arguments = parse_json_in_place(std::move(*input));
    if (!arguments)
        return arguments.error();
    return check(applet, std::move(*arguments));
}

// What work answers, or that there was not enough memory for it.
auto in_memory(auto work) -> decltype(work())
{
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return Error{code::out_of_memory, "Out of memory"};
    }
}

// One option word, or nothing: the exit status of what it asked for.
std::optional<int> option(const Applet& applet, int argc, char** argv)
{
    if (argc < 2)
        return {};
    std::string_view word = argv[1];
    if (argc > 2 || !word.starts_with("--")) {
        write_all(2, command_of(applet) + ": unexpected argument: " + argv[argc > 2 ? 2 : 1] + " (arguments are JSON on standard input)\n");
        return 2;
    }
    if (word == "--schema") return print(schema(applet).dump() + line_end());
    if (word == "--help") return print(help(applet));
    if (word == "--man") return print(man_page(applet));
    if (word == "--version") return print(command_of(applet) + " (ikigai " + version + ")\n");
    write_all(2, command_of(applet) + ": unknown option: " + argv[1] + "." + did_you_mean(word, applet_options()) + "\n");
    return 2;
}

}

Result<Json> check(const Applet& applet, Json arguments)
{
    if (!arguments.as<Json::Object>())
        return invalid("arguments must be a JSON object");
    Json::Object out;
    for (auto& spec : applet.specs) {
        auto* found = arguments.find(spec.name);
        if (!found || found->null()) {
            if (spec.required)
                return invalid(std::string("missing required parameter: ") + spec.name);
            continue;
        }
        auto value = whole(std::move(*found));
        if (!fits(spec.type, value))
            return invalid(std::string("parameter ") + spec.name + " must be " + expected(spec.type));
        if (auto* text = value.as<std::string>(); text && !spec.any_bytes && text->find('\0') != text->npos)
            return invalid(std::string("parameter ") + spec.name + " must not contain a NUL character");
        if (auto kept = within_keywords(spec, value); !kept)
            return kept.error();
        out.emplace_back(spec.name, std::move(value));
    }
    return Json(std::move(out));
}

std::span<const Applet* const> all_applets() { return table; }

std::vector<std::string> applet_options() { return {"--schema", "--help", "--man", "--version"}; }

const Applet* find_applet(std::string_view command)
{
    auto name = replace(command, '-', '_');
    if (name.starts_with("web_") && name.ends_with("_tool"))
        name.resize(name.size() - 5);
    auto it = std::ranges::lower_bound(names, name);
    return it != std::end(names) && *it == name ? table[it - names] : nullptr;
}

std::string command_of(const Applet& applet) { return replace(applet.doc.name, '_', '-'); }

std::string link_name(const Applet& applet)
{
    auto command = command_of(applet);
    return command.starts_with("web-") ? command + "-tool" : command;
}

Json schema(const Applet& applet)
{
    return object({{"name", applet.doc.name}, {"description", applet.doc.summary}, {"parameters", parameters(applet.specs)}});
}

std::string man_page(const Applet& applet)
{
    auto command = command_of(applet), title = "ikigai-" + command;
    std::string out = ".Dd " + std::string(version_date) + "\n.Dt " + upper(title) + " 1\n.Os\n.Sh NAME\n.Nm " + title + "\n.Nd "
        + lower_first(applet.doc.summary) + "\n.Sh SYNOPSIS\n.Nm ikigai " + command + "\n.Op Fl -schema | Fl -help | Fl -man | Fl -version\n"
        + ".Sh DESCRIPTION\nReads one JSON object of arguments from standard input and\nwrites one JSON object to standard output;\n"
          "the protocol is described in\n.Xr ikigai-tools 7 .\n" + applet.doc.details + "\n.Pp\nThe arguments are:\n.Bl -tag -width Ds\n";
    for (auto& s : applet.specs)
        out += std::string(".It Va ") + s.name + " Pq " + s.type + (s.required ? ", required" : ", optional") + "\n" + roff(s.help) + ".\n";
    out += ".El\n.Sh EXIT STATUS\n.Bl -tag -width Ds\n.It 0\nAnswered, also when the operation failed:\nthen the answer has\n.Va error\nand\n.Va error_code .\n"
           ".It 1\nThe arguments were not usable, or the answer could not be written.\n.It 2\nA bad option.\n.El\n.Sh EXAMPLES\n";
    for (auto& e : applet.doc.examples)
        out += roff(e.title) + ":\n.Bd -literal -offset indent\n$ echo '" + roff(e.input) + "' | ikigai " + command + "\n" + roff(e.output) + "\n.Ed\n";
    out += std::string(".Sh DIAGNOSTICS\n.Bl -tag -width Ds\n.It Dv INVALID_ARG\nThe arguments do not fit the schema.\n") + applet.doc.errors + ".El\n.Sh SEE ALSO\n.Xr ikigai 1 ,\n.Xr ikigai-tools 7\n";
    return out;
}

int serve(const Applet& applet, int argc, char** argv)
{
    std::signal(SIGPIPE, SIG_IGN);   // what cannot be written is an error and not a death:
    std::signal(SIGXFSZ, SIG_IGN);   // a reader that is gone, a limit on file sizes
    if (auto status = option(applet, argc, argv))
        return *status;

    Answer answer(1);
    int status = 0;
    auto arguments = in_memory([&] { return read_arguments(applet); });
    if (arguments) {
        if (auto done = in_memory([&] { return applet.run(std::move(*arguments), answer); }); !done) {
            answer.fail(done.error());
            status = done.error().code == code::auth_missing ? 1 : 0;   // nothing was tried: somebody must set it up first
        }
    } else {
        // The caller's mistake: said in words too, and in the exit status.
        answer.fail(arguments.error());
        write_all(2, command_of(applet) + ": " + arguments.error().message + "\n");
        status = 1;
    }
    answer.end();
    if (!line_end().empty())
        write_all(1, "\n");
    if (answer.lost()) {
        write_all(2, command_of(applet) + ": cannot write the answer to standard output\n");
        status = 1;
    }
    return status;
}

}
