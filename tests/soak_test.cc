// A long day in one process: memory, descriptors, children and temporary files do not grow. And a clock that jumps.
#include "support/inject.h"
#include "support/server.h"

#include "base/child.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;

// What the processes that run in a home have now, all together.
struct Figures {
    long memory = 0;   // KB that are theirs alone
    long descriptors = 0, processes = 0, files = 0;
};

long private_memory(const std::string& folder)
{
    std::ifstream in(folder + "/smaps_rollup");
    long sum = 0, size = 0;
    for (std::string line; std::getline(in, line);)
        if (std::sscanf(line.c_str(), "Private_%*[^:]: %ld", &size) == 1) sum += size;
    return sum;
}

long entries(const std::string& folder)
{
    std::error_code gone;
    long count = 0;
    for (fs::directory_iterator each(folder, gone), end; !gone && each != end; each.increment(gone)) ++count;
    return count;
}

Figures figures(const Home& home)
{
    Figures out;
    std::error_code gone;
    for (fs::directory_iterator each("/proc", gone), end; !gone && each != end; each.increment(gone)) {
        auto& entry = *each;
        if (contents_of(entry.path() / "environ").find("HOME=" + home.path + '\0') == std::string::npos) continue;
        ++out.processes;
        out.memory += private_memory(entry.path());
        out.descriptors += entries(entry.path() / "fd");
    }
    out.files = entries(home / "tmp");
    return out;
}

std::string turn(int number)
{
    auto n = std::to_string(number);
    switch (number % 6) {
    case 0: return "write Hello" + n + " to notes.txt";
    case 1: return "replace Hello with Bye in notes.txt";
    case 2: return "run echo turn " + n;
    case 3: return "find *.txt";
    case 4: return "read notes.txt";
    default: return "search Bye" + n + " in notes.txt";
    }
}

}

TEST_CASE("soak: thousands of turns in one process leave nothing behind", "[.torture]")
{
    auto* wanted = std::getenv("IKIGAI_TURNS");
    int turns = wanted ? std::atoi(wanted) : 5000;
    Home home;
    fs::create_directory(home / "tmp");
    auto env = environment_with(home.env({"IKIGAI_PROVIDER=offline", "TMPDIR=" + home / "tmp"}));
    auto chat = Child::start({.argv = {ikigai(), "chat"}, .env = env, .keep_stdin = true, .limit = std::chrono::minutes(40)});
    REQUIRE(chat);
    int said = 0, answered = 0;
    auto talk_until = [&](int end) {
        while (answered < end && !chat->exit) {
            for (; said < std::min(end, answered + 10); ++said) chat->say(turn(said) + (said % 60 == 59 ? "\n/new\n" : "\n"));
            Poll poll;
            chat->add_to(poll);
            poll.wait();
            chat->advance(poll);
            auto& out = chat->out;
            for (std::size_t at; (at = out.find("\n● ")) != out.npos; ++answered) out.erase(0, at + 3);
        }
        CHECK(answered == end);
        return figures(home);
    };
    auto early = talk_until(turns / 6 / 60 * 60);   // always at the end of a conversation
    auto late = talk_until(turns / 60 * 60);
    std::printf("soak: after %d turns %ld KB, %ld descriptors, %ld processes; after %d turns %ld KB, %ld, %ld\n", turns / 6 / 60 * 60, early.memory,
                early.descriptors, early.processes, answered, late.memory, late.descriptors, late.processes);
    CHECK(late.memory < early.memory + 2048);
    CHECK(late.descriptors <= early.descriptors + 2);   // one call more may be on its way out
    CHECK(late.processes <= early.processes + 1);
    CHECK(late.files == 0);
    chat->hang_up();
    chat->advance(Poll());
    wait_for(*chat);
    CHECK(chat->exit->status() == 0);
    CHECK(figures(home).processes == 0);
}

TEST_CASE("clock: one that jumps changes no order and no wait")
{
    if (!can_trace())
        return skip("processes cannot be traced here");
    constexpr std::int64_t day = 86'400, year = 365 * day;
    Home home;
    ModelServer server({});
    server.beyond([](const Request& request) {
        auto last = request.json().find("messages")->as<Json::Array>()->back();
        if (last.text("role") == "tool") return stream_of({text("Done.")});
        return stream_of({call("c1", "bash", R"({"command":"sleep 0.1; echo ran"})")});
    });
    auto talk = [&](std::vector<std::string> words, std::vector<std::int64_t> shifts) {
        words.insert(words.begin(), {ikigai(), "chat"});
        auto before = server.requests().size();
        auto shift = [&, shifts] { return shifts[std::min(server.requests().size() - before, shifts.size() - 1)]; };
        auto start = std::chrono::steady_clock::now();
        auto traced = trace({.program = {.argv = words, .env = home.env({"OPENAI_BASE_URL=" + server.base_url(), "IKIGAI_MODEL=scripted"}), .limit = std::chrono::seconds(30)}, .clock = shift});
        INFO(traced.ran.out << traced.ran.err);
        CHECK(traced.injected);
        CHECK(traced.ran.status == 0);
        CHECK(traced.ran.out == "Done.\n");
        CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));   // a limit of 2 minutes has not come, nor gone for ever
    };
    talk({"-p", "alphabet"}, {0, -day, 5 * year});          // backwards by a day, then years ahead
    talk({"-p", "omegabet"}, {-3 * day, -3 * day, -day});  // the clock is right again, or nearly
    // The last one is the one that was said last, whatever its clock said.
    talk({"-c", "-p", "third"}, {-10 * day, 5 * year, -10 * day});
    CHECK(server.requests().back().body.find("omegabet") != std::string::npos);
    CHECK(server.requests().back().body.find("alphabet") == std::string::npos);
}
