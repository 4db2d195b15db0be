#include "session_commands.h"

#include "base/file.h"
#include "base/text.h"
#include "chat.h"
#include "transcript.h"

#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <ranges>

namespace ik {
namespace {

// Where the newest mark of that name stands; 0 where there is none.
std::int64_t mark_at(const std::vector<StoredEvent>& events, std::string_view label)
{
    for (auto& event : std::views::reverse(events))
        if (event.kind == "mark" && event.content == label) return event.seq;
    return 0;
}

// The user's message that is so many back, 1 being the last.
const StoredEvent* message_back(const std::vector<StoredEvent>& events, std::size_t count)
{
    for (auto& event : std::views::reverse(events))
        if (event.kind == "user" && --count == 0) return &event;
    return nullptr;
}

std::string first_words(std::string_view text) { return std::string(utf8_prefix(text.substr(0, text.find('\n')), 60)); }

struct Form { std::string_view name, ending; };
constexpr Form forms[] = {{"markdown", ".md"}, {"jsonl", ".jsonl"}, {"html", ".html"}};

SessionRow row_of(const Keeper& keeper)
{
    auto& first = keeper.events().front();
    auto* said = message_back(keeper.events(), static_cast<std::size_t>(std::ranges::count(keeper.events(), "user", &StoredEvent::kind)));
    return {.id = keeper.id(), .title = said ? first_words(said->content) : "", .folder = first.folder, .created = first.time,
            .updated = keeper.events().back().time, .provider = first.provider, .model = first.model};
}

}

Status list_sessions(Chat& chat, std::string_view)
{
    chat.list_sessions();
    return Done{};
}

Status resume_session(Chat& chat, std::string_view id)
{
    chat.resume(std::string(id));
    return Done{};
}

Status new_session(Chat& chat, std::string_view)
{
    chat.begin_anew();
    chat.mouth().say("A new conversation: " + chat.keeper().id() + "\n");
    return Done{};
}

Status fork_session(Chat& chat, std::string_view)
{
    auto& keeper = chat.keeper();
    if (keeper.events().empty())
        return Error{code::usage, "Nothing has been said yet"};
    auto before = keeper.id();
    chat.go_back("fork", keeper.events().back().seq);
    chat.mouth().say("Forked from " + before + ": this is " + keeper.id() + "\n");
    return Done{};
}

Status mark_session(Chat& chat, std::string_view label)
{
    auto& keeper = chat.keeper();
    auto count = std::ranges::count(keeper.events(), "mark", &StoredEvent::kind) + 1;
    auto name = label.empty() ? std::to_string(count) : std::string(label);
    keeper.note("mark", name);
    chat.mouth().say("Marked: " + harmless(name) + "\n");
    return Done{};
}

Status rewind_session(Chat& chat, std::string_view what)
{
    auto& events = chat.keeper().events();
    if (auto at = what.empty() ? 0 : mark_at(events, what)) {
        chat.go_back("rewind", at);
        chat.mouth().say("Back at " + harmless(what) + ": this is " + chat.keeper().id() + "\n");
        return Done{};
    }
    std::size_t count = 1;
    auto [end, failed] = std::from_chars(what.data(), what.data() + what.size(), count);
    bool is_number = failed == std::errc() && end == what.data() + what.size();
    if ((!what.empty() && !is_number) || count == 0)
        return Error{code::usage, "There is no mark '" + std::string(what) + "'"};
    auto* message = message_back(events, count);
    if (!message)
        return Error{code::usage, "There are not so many messages to go back"};
    auto words = first_words(message->content);
    chat.go_back("rewind", message->seq - 1);
    chat.mouth().say("Back before \"" + harmless(words) + "\": this is " + chat.keeper().id() + "\n");
    return Done{};
}

Status export_session(Chat& chat, std::string_view words)
{
    auto& keeper = chat.keeper();
    if (keeper.events().empty())
        return Error{code::usage, "Nothing has been said yet"};
    auto end = std::min(words.find(' '), words.size());
    auto form = std::ranges::find(forms, words.substr(0, end), &Form::name);
    auto file = std::string(form == std::end(forms) ? words : trim(words.substr(end)));
    if (form == std::end(forms)) {
        form = std::ranges::find_if(forms, [&](auto& each) { return file.ends_with(each.ending); });
        if (form == std::end(forms)) form = forms;
    }
    if (file.empty()) file = "ikigai-" + keeper.id() + std::string(form->ending);
    auto text = form->name == "jsonl" ? as_lines(keeper.events()) : form->name == "html" ? as_html(row_of(keeper), keeper.events()) : as_markdown(row_of(keeper), keeper.events());
    Fd out(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!out && errno == EEXIST)
        return Error{code::usage, file + " is there already"};
    if (!out || !write_all(out.get(), text))
        return file_error(Doing::creating, file);
    chat.mouth().say("Written: " + harmless(file) + "\n");
    return Done{};
}

}
