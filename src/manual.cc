#include "manual.h"

#include "base/fd.h"
#include "base/places.h"
#include "base/process.h"
#include "base/text.h"
#include "say.h"
#include "texts.h"

#include <algorithm>
#include <csignal>
#include <unistd.h>

namespace ik {
namespace {

constexpr std::string_view licences = "licences", program = "ikigai";

// "tools" of "ikigai-tools.7".
std::string short_name(std::string_view file)
{
    auto name = file.substr(0, file.rfind('.'));
    if (name.starts_with("ikigai-")) name.remove_prefix(7);
    return std::string(name);
}

// The program that shows pages, as words of a shell; empty where there is none.
std::string pager()
{
    if (auto own = variable("PAGER"); !own.empty()) return own;
    for (auto* name : {"less", "more"})
        if (auto path = in_path(name); path.starts_with('/'))
            return name == std::string_view("less") ? path + " -R" : path;
    return "";
}

// The pager reads a file: it may leave before it has read all, and nobody waits for it with a pipe.
Fd as_file(std::string_view text)
{
    auto file = anonymous_file();
    if (!file || !write_all(file->get(), text) || lseek(file->get(), 0, SEEK_SET) < 0)
        return Fd();
    return std::move(*file);
}

// Whether the person has seen it.
bool paged(const std::string& bytes)
{
    auto command = pager();
    auto file = command.empty() ? Fd() : as_file(bytes);
    if (!file)
        return false;
    for (int number : {SIGINT, SIGQUIT})
        std::signal(number, [](int) {});   // Ctrl+C is the pager's, which has our terminal
    auto process = Process::start({.argv = {"/bin/sh", "-c", command}, .env = environment(), .in = file.get(), .own_session = false});
    if (!process)
        return false;
    auto exit = process->wait();
    return exit.code != 126 && exit.code != 127;   // the shell's words for what it could not run
}

int show(const std::string& bytes)
{
    if (isatty(1) && paged(bytes))
        return 0;
    return print(plain(bytes));
}

}

std::vector<std::string> page_names()
{
    std::vector<std::string> out;
    auto texts = built_in_texts();
    if (texts)
        for (auto& text : *texts)
            if (text.name != licences) out.push_back(short_name(text.name));
    return out;
}

int show_page(const std::string& name)
{
    auto texts = built_in_texts();
    if (!texts)
        return fail("the manual cannot be read: " + texts.error().message, 1);
    auto wanted = short_name(replace(name.empty() ? program : name, '_', '-') + (name.find('.') == name.npos ? ".1" : ""));
    for (auto& text : *texts)
        if (text.name != licences && short_name(text.name) == wanted)
            return show(text.bytes);
    std::string all;
    for (auto& each : page_names()) all += (all.empty() ? "" : ", ") + each;
    return fail("there is no page " + name + "; there are " + all, 2);
}

int show_licences()
{
    auto texts = built_in_texts();
    auto found = texts ? std::ranges::find(*texts, licences, &Text::name) : std::vector<Text>::iterator();
    if (!texts || found == texts->end())
        return fail("the licences cannot be read" + (texts ? "" : ": " + texts.error().message), 1);
    return print(found->bytes);
}

}
