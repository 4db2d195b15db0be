// kill -9 at any moment: files are old or new, what was said is kept, conversations go on, nobody is left.
#include "support/inject.h"
#include "support/server.h"

#include "base/child.h"
#include "store/vault.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <random>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;

int kills_wanted()
{
    std::signal(SIGPIPE, SIG_IGN);   // who is killed does not take us along
    auto* wanted = std::getenv("IKIGAI_KILLS");
    return wanted ? std::atoi(wanted) : 32;
}

// ---- A file that is written or edited

struct Change { const char* tool; std::string arguments, old, changed; bool two_names; };

Change change(unsigned number, std::size_t size)
{
    std::string old(size, 'x'), changed = old;
    old += " one two three " + old;
    changed += " one 2 three " + changed;
    if (number % 2)
        return {"file-edit", R"({"file_path":"f","old_string":"two","new_string":"2"})", old, changed, number % 4 == 3};
    return {"file-write", object({{"file_path", "f"}, {"content", changed}}).dump(), old, changed, number % 4 == 2};
}

void set(const Folder& folder, const Change& change)
{
    folder.write("f", change.old);
    if (change.two_names) fs::create_hard_link(folder / "f", folder / "g");
}

// Old or new. What must be overwritten in place may be a mixture: then the old content lies beside it.
void check(const Folder& folder, const Change& change)
{
    auto is = folder.read("f");
    bool whole = is == change.old || is == change.changed, copied = false;
    for (auto& entry : fs::directory_iterator(folder.path)) {
        auto name = entry.path().filename().string();
        copied |= name.starts_with(".ikigai-old-") && folder.read(name) == change.old;
        bool ours = name.starts_with(".ikigai-old-") ? change.two_names : name.starts_with(".ikigai-new-");
        CHECK((name == "f" || name == "g" || ours));
    }
    CHECK((whole || (change.two_names && copied)));
}

// ---- A conversation in which a file is written, one edited and a command run

struct Step { const char* call; std::string arguments, file, old, changed; };
const Step steps[] = {
    {"file_write", R"({"file_path":"a","content":"new a\n"})", "a", "old a\n", "new a\n"},
    {"file_edit", R"({"file_path":"b","old_string":"two","new_string":"2"})", "b", "one two\n", "one 2\n"},
    {"bash", R"({"command":"sleep 0.02; echo ran"})", "c", "", ""},
};

std::size_t results_in(const Request& request)
{
    auto json = request.json();
    auto* list = json.find("messages") ? json.find("messages")->as<Json::Array>() : nullptr;
    return !list ? 0 : static_cast<std::size_t>(std::ranges::count_if(*list, [](auto& each) { return each.text("role") == "tool"; }));
}

Reply next_step(const Request& request)
{
    auto results = results_in(request);
    if (results >= std::size(steps))
        return stream_of({text("All done.")});
    return stream_of({call("c" + std::to_string(results), steps[results].call, steps[results].arguments)});
}

// Those that run in this home.
std::vector<pid_t> processes_of(const Home& home)
{
    std::vector<pid_t> out;
    std::error_code gone;
    for (fs::directory_iterator entry("/proc", gone), end; !gone && entry != end; entry.increment(gone)) {
        auto id = std::atoi(entry->path().filename().c_str());
        auto variables = contents_of(entry->path() / "environ");
        if (id > 1 && id != getpid() && variables.find("HOME=" + home.path + '\0') != variables.npos && runs(id)) out.push_back(id);
    }
    return out;
}

// The events of the only conversation, whole and in order.
std::vector<StoredEvent> kept(const Home& home)
{
    std::vector<StoredEvent> out;
    auto file = home / ".local/state/ikigai/sessions.db";
    if (!fs::exists(file))
        return out;
    Vault vault(file);
    auto loaded = vault.use(Archive::Use::read, [&](Archive& archive) -> Status {
        auto rows = archive.list("", 0);
        if (!rows || rows->empty())
            return rows ? Status(Done{}) : Status(rows.error());
        return archive.load(rows->front(), [&](StoredEvent event) { return out.push_back(std::move(event)), true; });
    });
    INFO((loaded ? "" : loaded.error().message));
    bool none = !loaded && loaded.error().code == code::file_not_found;
    CHECK((loaded || none));
    CHECK(vault.take_notices().empty());
    for (std::size_t i = 0; i < out.size(); ++i) CHECK(out[i].seq == static_cast<std::int64_t>(i) + 1);
    return out;
}

std::size_t count(const std::vector<StoredEvent>& events, std::string_view kind)
{
    return static_cast<std::size_t>(std::ranges::count(events, kind, &StoredEvent::kind));
}

// Which of them: the outer process, the inner one, both at once, or any of all.
void kill_some(unsigned which, const Home& home, pid_t outer, std::mt19937& random)
{
    auto all = processes_of(home);
    if (which == 2 || all.empty()) {
        auto inner = std::atoi(sh("pgrep -P " + std::to_string(outer)).out.c_str());
        kill(outer, SIGSTOP);
        if (inner > 1) kill(inner, SIGKILL);
        kill(outer, SIGKILL);
    } else if (which == 0)
        kill(outer, SIGKILL);
    else
        kill(all[random() % all.size()], SIGKILL);
}

void let_run(Child& child, microseconds time)
{
    auto until = Clock::now() + time;
    while (!child.exit && Clock::now() < until) {
        Poll poll;
        child.add_to(poll);
        poll.until(until);
        poll.wait();
        child.advance(poll);
    }
}

void kill_a_conversation(unsigned round, std::mt19937& random)
{
    Home home;
    for (auto& step : steps)
        if (!step.old.empty()) home.write(step.file, step.old);
    ModelServer server({});
    server.beyond(next_step);
    auto env = environment_with(home.env({"OPENAI_BASE_URL=" + server.base_url(), "IKIGAI_MODEL=scripted"}));
    auto child = Child::start({.argv = {ikigai(), "chat", "-p", "do it"}, .env = env, .no_stdin = true, .limit = std::chrono::seconds(30)});
    REQUIRE(child);
    let_run(*child, microseconds(random() % 200'000));
    if (!child->exit) kill_some(round % 4, home, child->id(), random);
    wait_for(*child);
    CHECK_FALSE(child->timed_out());
    CHECK(eventually([&] { return processes_of(home).empty(); }));
    for (auto& step : steps)
        if (auto is = home.read(step.file); !step.old.empty()) CHECK((is == step.old || is == step.changed));

    // All that the model was told of is kept, and the conversation goes on.
    auto requests = server.requests();
    auto events = kept(home);
    std::string kinds;
    for (auto& event : events) kinds += event.kind + " ";
    INFO(kinds << "| " << child->err);
    CHECK(count(events, "tool_result") >= (requests.empty() ? 0 : results_in(requests.back())));
    auto on = ikigai(home, {"chat", "-c", "-p", "go on"}, "", {"OPENAI_BASE_URL=" + server.base_url(), "IKIGAI_MODEL=scripted"});
    INFO(on.out << on.err);
    if (events.empty()) CHECK(on.err.find("No conversation has been kept") != on.err.npos);
    else CHECK(on.out == "All done.\n");
    CHECK(processes_of(home).empty());
}

}

TEST_CASE("kills: a file that is written or edited is old or new", "[torture]")
{
    std::mt19937 random(20260102);
    int early = 0, rounds = kills_wanted() / 2;
    for (unsigned round = 0; round < static_cast<unsigned>(rounds); ++round) {
        Folder folder;
        auto one = change(round, random() % 3 ? random() % 3000 : random() % 1'000'000);
        set(folder, one);
        auto child = Child::start({.argv = {tool(one.tool)}, .env = environment(), .input = one.arguments});
        REQUIRE(child);
        let_run(*child, microseconds(random() % 8000));
        if (!child->exit) kill(child->id(), SIGKILL);
        wait_for(*child);
        early += child->exit->signal == SIGKILL;
        INFO(round);
        check(folder, one);
        if (!child->exit->signal) CHECK(folder.read("f") == one.changed);
    }
    CHECK(early > 0);
}

TEST_CASE("kills: a file is old or new whichever system call was the last")
{
    if (!can_trace())
        return skip("processes cannot be traced here");
    int killed = 0;
    for (unsigned number : {0u, 1u, 2u, 3u}) {
        auto one = change(number, 2000);
        auto run = [&](std::optional<Fault> fault, CallCounts* calls) {
            Folder folder;
            set(folder, one);
            auto traced = trace({.program = {.argv = {tool(one.tool)}, .input = one.arguments}, .count = !fault, .fault = fault});
            check(folder, one);
            if (calls) *calls = traced.calls;
            killed += traced.ran.status == 128 + SIGKILL;
        };
        CallCounts calls;
        run({}, &calls);
        for (auto& [what, times] : calls)
            for (int nth = 1; nth <= times; ++nth) {
                INFO(call_name(what.second) << " " << nth << " of " << one.tool);
                run(Fault{.process = what.first, .call = what.second, .nth = nth, .kind = Fault::kill}, nullptr);
            }
    }
    CHECK(killed > 100);
}

TEST_CASE("kills: a conversation loses nothing, goes on, and leaves nobody", "[torture]")
{
    std::mt19937 random(20260103);
    for (unsigned round = 0; round < static_cast<unsigned>(kills_wanted()) / 4; ++round) {
        INFO(round);
        kill_a_conversation(round, random);
    }
}
