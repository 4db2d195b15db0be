// Each system call that can fail does so, once, in each program: nothing crashes, hangs or is left behind, files and
// conversations are whole, and nobody says that something was done which was not.
#include "support/inject.h"
#include "support/server.h"

#include "store/vault.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <fstream>
#include <memory>
#include <sstream>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;

bool holds(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

// A home in which something is run, and what it needs of the world.
struct Stage {
    Home home;
    std::unique_ptr<ModelServer> server;

    Run program(std::vector<std::string> argv, std::string input = "", std::vector<std::string> env = {})
    {
        env.push_back("TMPDIR=" + home / "tmp");
        env.push_back("IKIGAI_WEB_ALLOW_PRIVATE=1");
        return {.argv = std::move(argv), .input = std::move(input), .env = home.env(std::move(env)), .limit = std::chrono::seconds(40)};
    }
};

using Complaints = std::vector<std::string>;

// What is run, and what must be true of the home afterwards.
struct Scene {
    const char* name;
    std::function<Run(Stage&)> set;
    std::function<void(const Stage&, const Ran&, Complaints&)> judge;
};

std::string one_of(const Stage& stage, const std::string& file, std::vector<std::string> contents, Complaints& wrong)
{
    auto is = stage.home.exists(file) ? stage.home.read(file) : "(none)";
    if (std::ranges::find(contents, is) == contents.end()) wrong.push_back(file + " is neither old nor new: '" + is.substr(0, 60) + "' (" + std::to_string(is.size()) + ")");
    return is;
}

// A tool's answer on its standard output: whole where it says 0.
Json answer_of(const Ran& ran, Complaints& wrong)
{
    auto json = parse_json(ran.out);
    if (ran.status == 0 && !json) wrong.push_back("exit 0 with a broken answer: " + ran.out);
    if (ran.status != 0 && ran.out.empty() && ran.err.empty()) wrong.push_back("exit " + std::to_string(ran.status) + " without a word");
    return json ? *json : Json();
}

// A tool that changes a file, from old to changed.
Scene changes(const char* name, const char* command, Json arguments, std::string old, std::string changed, std::function<void(Stage&)> more = [](Stage&) {})
{
    return {name,
            [=](Stage& stage) {
                if (!old.empty()) stage.home.write("f", old);
                more(stage);
                return stage.program({tool(command)}, arguments.dump());
            },
            [=](const Stage& stage, const Ran& ran, Complaints& wrong) {
                auto answer = answer_of(ran, wrong);
                auto is = one_of(stage, "f", {old.empty() ? "(none)" : old, changed}, wrong);
                if (ran.status == 0 && !answer.find("error") && is != changed) wrong.push_back("says it is done, but it is not: " + ran.out);
                if (answer.find("error") && is == changed) wrong.push_back("says it failed, but it is done: " + ran.out);
            }};
}

// Words that say that it was not done, or not all of it.
bool honest(const std::string& out)
{
    return holds(out, R"("error":)") || holds(out, R"("exit_code":127)") || holds(out, R"("hint":"not everything could be read)");
}

// One that only tells. What it tells is as ever, or there is an error.
Scene tells(const char* name, std::vector<std::string> words, Json arguments, std::string answer, std::function<void(Stage&)> set = [](Stage&) {})
{
    return {name,
            [=](Stage& stage) {
                set(stage);
                auto input = arguments;
                if (stage.server) input.set("url", "http://127.0.0.1:" + std::to_string(stage.server->port()) + "/page");
                return stage.program(words, input.dump());
            },
            [=](const Stage&, const Ran& ran, Complaints& wrong) {
                auto json = answer_of(ran, wrong);
                if (ran.status == 0 && !holds(ran.out, answer) && !honest(ran.out)) wrong.push_back("says something else: " + ran.out.substr(0, 300));
            }};
}

// ---- A whole conversation: the model wants a file written, one edited and a command run, one after the other.

struct Step { const char* call; std::string arguments, claim, file, old, changed; };
const std::vector<Step>& steps()
{
    static const std::vector<Step> all = {
        {"file_write", R"({"file_path":"a","content":"new a\n"})", "Wrote 6 bytes", "a", "old a\n", "new a\n"},
        {"file_edit", R"({"file_path":"b","old_string":"two","new_string":"2"})", "Replaced 1 occurrence", "b", "one two\n", "one 2\n"},
        {"bash", R"x({"command":"echo ran > c; echo finished-$((40+2))"})x", "finished-42", "c", "(none)", "ran\n"},
    };
    return all;
}

Reply next_step(const Request& request)
{
    auto json = request.json();
    auto* list = json.find("messages") ? json.find("messages")->as<Json::Array>() : nullptr;
    auto results = !list ? 0 : static_cast<std::size_t>(std::ranges::count_if(*list, [](auto& each) { return each.text("role") == "tool"; }));
    if (results >= steps().size())
        return stream_of({text("All "), text("done.")});
    auto id = "c" + std::to_string(results);
    return stream_of({call(id, steps()[results].call, steps()[results].arguments)});
}

// The events of the only conversation, from its database; complains of a damaged one.
std::vector<StoredEvent> kept(const Stage& stage, Complaints& wrong)
{
    auto folder = stage.home / ".local/state/ikigai";
    std::vector<StoredEvent> out;
    if (!fs::exists(folder + "/sessions.db"))
        return out;
    for (auto& entry : fs::directory_iterator(folder))
        if (holds(entry.path().filename(), "corrupt")) wrong.push_back("the database was set aside as damaged");
    Vault vault(folder + "/sessions.db");
    auto loaded = vault.use(Archive::Use::read, [&](Archive& archive) -> Status {
        auto rows = archive.list("", 0);
        if (!rows)
            return rows.error();
        if (rows->empty())
            return Done{};
        out.clear();
        return archive.load(rows->front(), [&](StoredEvent event) { return out.push_back(std::move(event)), true; });
    });
    if (!loaded) wrong.push_back("the database cannot be read: " + loaded.error().message);
    for (auto& notice : vault.take_notices()) wrong.push_back(notice);
    return out;
}

void judge_conversation(const Stage& stage, const Ran& ran, Complaints& wrong)
{
    auto requests = stage.server->requests();
    auto heard = requests.empty() ? "" : requests.back().body;
    for (auto& step : steps()) {
        auto is = one_of(stage, step.file, {step.old, step.changed, step.file == "c" ? "" : step.old}, wrong);
        if (holds(heard, step.claim) && is != step.changed) wrong.push_back(std::string(step.call) + " says it is done, but it is not");
    }
    if (ran.status == 0 && ran.out != "All done.\n") wrong.push_back("exit 0, but the answer is: " + ran.out);
    if (ran.status != 0 && ran.err.empty()) wrong.push_back("exit " + std::to_string(ran.status) + " without a word");
    auto events = kept(stage, wrong);
    bool said = holds(ran.err, "not kept") || holds(ran.err, "could not be kept");
    bool whole = std::ranges::any_of(events, [](auto& event) { return event.kind == "assistant" && event.content == "All done."; });
    if (ran.status == 0 && !said && !whole) wrong.push_back("exit 0, and nothing says that the conversation is not kept: " + std::to_string(events.size()) + " events");
    for (std::size_t i = 0; i < events.size(); ++i)
        if (events[i].seq != static_cast<std::int64_t>(i) + 1) wrong.push_back("an event is missing before " + std::to_string(events[i].seq));
}

Scene conversation()
{
    return {"conversation",
            [](Stage& stage) {
                for (auto& step : steps())
                    if (step.old != "(none)") stage.home.write(step.file, step.old);
                stage.server = std::make_unique<ModelServer>(std::vector<Reply>{});
                stage.server->beyond(next_step);
                return stage.program({ikigai(), "chat", "-p", "do it"}, "", {"OPENAI_BASE_URL=" + stage.server->base_url(), "IKIGAI_MODEL=scripted", "IKIGAI_STREAM_IDLE_TIMEOUT=3"});
            },
            judge_conversation};
}

void some_files(Stage& stage)
{
    for (int i = 0; i < 30; ++i) stage.home.write("src/f" + std::to_string(i) + ".txt", i == 17 ? "here is a needle\n" : "hay\nhay\n");
}

void a_page(Stage& stage)
{
    stage.server = std::make_unique<ModelServer>(std::vector<Reply>{});
    stage.server->beyond([](const Request&) { return Reply{.pieces = {"<title>T</title><h1>Head</h1><p>Some words.</p>"}, .headers = {"Content-Type: text/html"}}; });
}

Json arguments(const std::string& text) { return *parse_json(text); }

std::vector<Scene> file_scenes()
{
    std::string big = std::string(200'000, 'x') + "two" + std::string(200'000, 'y');
    auto edited = big;
    edited.replace(200'000, 3, "2");
    auto edit = arguments(R"({"file_path":"f","old_string":"two","new_string":"2"})");
    return {
        changes("file_write", "file-write", arguments(R"({"file_path":"f","content":"new\n"})"), "old\n", "new\n"),
        changes("file_write of a new file", "file-write", arguments(R"({"file_path":"f","content":"new\n"})"), "", "new\n"),
        changes("file_edit", "file-edit", edit, "one two three\n", "one 2 three\n"),
        changes("file_edit of a large file", "file-edit", edit, big, edited),
        changes("file_edit of a file with two names", "file-edit", edit, "one two three\n", "one 2 three\n",
                [](Stage& stage) { fs::create_hard_link("f", stage.home / "tmp/g"); }),
    };
}

std::vector<Scene> other_scenes()
{
    auto read_me = std::string(150'000, 'r') + "\nlast";
    return {
        tells("file_read", {tool("file-read")}, arguments(R"({"file_path":"f"})"), object({{"output", read_me}}).dump(), [=](Stage& stage) { stage.home.write("f", read_me); }),
        tells("glob", {tool("glob")}, arguments(R"({"pattern":"src/*7.txt"})"), R"({"output":"src/f17.txt\nsrc/f27.txt\nsrc/f7.txt","count":3})", some_files),
        tells("grep", {tool("grep")}, arguments(R"({"pattern":"needle","glob":"**/*"})"), R"({"output":"src/f17.txt:1: here is a needle","count":1})", some_files),
        tells("bash", {tool("bash")}, arguments(R"({"command":"echo a; echo b >&2; exit 3"})"), R"({"output":"a\nb","exit_code":3})"),
        tells("web_fetch", {tool("web-fetch-tool")}, arguments("{}"), R"("title":"T","content":"# Head\n\nSome words.")", a_page),
        tells("run", {ikigai(), "run", "bash"}, arguments(R"({"command":"echo a"})"), R"({"tool_success":true,"result":{"output":"a","exit_code":0}})"),
    };
}

// ---- One fault in one scene

std::string left_in(const Stage& stage)
{
    std::string out;
    for (auto& entry : fs::recursive_directory_iterator(stage.home.path)) {
        auto name = entry.path().filename().string();
        bool ours = name.starts_with(".ikigai-") || name.starts_with("ikigai-");
        bool in_tmp = entry.path().parent_path().filename() == "tmp" && name != "g";
        if (ours || in_tmp || holds(entry.path(), "/outputs/")) out += entry.path().string().substr(stage.home.path.size()) + " ";
    }
    return out;
}

struct Tried { bool injected = false; Complaints wrong; };

Tried attempt(const Scene& scene, const Fault& fault)
{
    Stage stage;
    fs::create_directory(stage.home / "tmp");
    auto program = scene.set(stage);
    auto traced = trace({.program = program, .fault = fault});
    Tried out{traced.injected, {}};
    if (!traced.injected)
        return out;
    if (traced.ran.timed_out) out.wrong.push_back("hangs");
    for (auto& each : traced.crashes) out.wrong.push_back("crash of " + each);
    for (auto& each : traced.left) out.wrong.push_back("left running: " + each);
    if (!traced.ran.timed_out) scene.judge(stage, traced.ran, out.wrong);
    bool cannot_remove = fault.call == SYS_unlink || fault.call == SYS_rmdir;
    if (auto left = left_in(stage); !left.empty() && !cannot_remove) out.wrong.push_back("left behind: " + left);
    for (auto& each : out.wrong) each = std::string(scene.name) + ": " + fault.words() + ": " + each + "  [exit " + std::to_string(traced.ran.status) + ", " + traced.ran.out.substr(0, 100) + "|" + traced.ran.err.substr(0, 200) + "]";
    return out;
}

CallCounts counted(const Scene& scene)
{
    Stage stage;
    fs::create_directory(stage.home / "tmp");
    auto program = scene.set(stage);
    auto traced = trace({.program = program, .count = true});
    Complaints wrong = traced.left;
    scene.judge(stage, traced.ran, wrong);
    if (auto left = left_in(stage); !left.empty()) wrong.push_back("left behind: " + left);
    INFO(scene.name << ": " << traced.ran.status << " " << traced.ran.out << traced.ran.err);
    CHECK(wrong.empty());
    CHECK(traced.ran.status == 0);
    return traced.calls;
}

// The first twenty of a kind, and some of the others.
std::vector<int> sample(int count)
{
    std::vector<int> out;
    for (int n = 1; n <= count; n += n < 20 ? 1 : std::max(1, (count - 20) / 8)) out.push_back(n);
    return out;
}

std::vector<Fault> faults_in(const CallCounts& calls)
{
    std::vector<Fault> out;
    for (auto& [what, count] : calls)
        for (auto fault : faults_of(what.second))
            for (int nth : sample(count)) {
                fault.process = what.first;
                fault.nth = nth;
                out.push_back(fault);
            }
    return out;
}

struct Job { const Scene* scene; Fault fault; };

// All jobs, by several processes: one that traces is of one thread. What they find, a line each.
std::vector<std::string> work_off(const std::vector<Job>& jobs, int workers)
{
    Folder results;
    auto* next = static_cast<std::atomic<std::size_t>*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    REQUIRE(next != MAP_FAILED);
    std::vector<pid_t> ids;
    for (int worker = 0; worker < workers; ++worker) {
        auto id = fork();
        REQUIRE(id >= 0);
        if (id == 0) {
            std::ofstream out(results / std::to_string(worker));
            for (std::size_t i; (i = (*next)++) < jobs.size();) {
                auto tried = attempt(*jobs[i].scene, jobs[i].fault);
                out << "\t" << tried.injected << " " << jobs[i].fault.call << "\n";
                for (auto& each : tried.wrong) out << std::quoted(each) << "\n";
                out.flush();
            }
            _exit(0);
        }
        ids.push_back(id);
    }
    std::vector<std::string> lines;
    for (int worker = 0; worker < workers; ++worker) {
        int status = 0;
        waitpid(ids[static_cast<std::size_t>(worker)], &status, 0);
        CHECK(status == 0);
        std::ifstream in(results / std::to_string(worker));
        for (std::string line; std::getline(in, line);) lines.push_back(line);
    }
    munmap(next, 4096);
    return lines;
}

// Whether the call was made.
bool fails_well(const Scene& scene, const Fault& fault)
{
    auto tried = attempt(scene, fault);
    for (auto& each : tried.wrong) FAIL_CHECK(each);
    return tried.injected;
}

}

// The quick half: what writing a file hangs on.
TEST_CASE("faults: a file is as it was or as it should be, whatever fails while it is written")
{
    if (!can_trace())
        return skip("processes cannot be traced here");
    constexpr long important[] = {SYS_openat, SYS_write, SYS_fsync, SYS_rename, SYS_linkat, SYS_fallocate, SYS_ftruncate};
    auto scenes = file_scenes();
    int all = 0;
    for (std::size_t i : {0u, 2u, 4u}) {
        auto calls = counted(scenes[i]);
        std::erase_if(calls, [&](auto& each) { return std::ranges::find(important, each.first.second) == std::end(important); });
        for (auto& fault : faults_in(calls))
            if (fault.number == EIO || fault.kind == Fault::cut_short) all += fails_well(scenes[i], fault);
    }
    CHECK(all > 20);
}

TEST_CASE("faults: each system call of each program fails once", "[.torture]")
{
    if (!can_trace())
        return skip("processes cannot be traced here");
    auto scenes = file_scenes();
    for (auto& scene : other_scenes()) scenes.push_back(scene);
    scenes.push_back(conversation());
    auto* only = std::getenv("IKIGAI_SCENE");
    std::vector<Job> jobs;
    CallCounts seen;
    for (auto& scene : scenes) {
        if (only && std::string(only) != scene.name) continue;
        auto calls = counted(scene);
        for (auto& [what, count] : calls) seen[{"", what.second}] += count;
        for (auto& fault : faults_in(calls))
            if (auto* only_fault = std::getenv("IKIGAI_FAULT"); !only_fault || holds(fault.words(), only_fault)) jobs.push_back({&scene, fault});
        std::printf("%s: %zu\n", scene.name, jobs.size());
    }
    std::map<long, int> failed;
    int all = 0;
    for (auto& line : work_off(jobs, 4)) {
        long number = 0;
        int injected = 0;
        if (std::sscanf(line.c_str(), "\t%d %ld", &injected, &number) != 2) FAIL_CHECK(line);
        else if (injected) ++failed[number], ++all;
    }
    for (auto& [what, count] : seen)
        std::printf("%-24s %5d calls, %4d failed%s\n", call_name(what.second).c_str(), count, failed[what.second],
                    failed[what.second] ? "" : faults_of(what.second).empty() ? " (cannot fail)" : ": NOT COVERED");
    std::printf("%d faults in %zu programs\n", all, scenes.size());
}

TEST_CASE("faults: a child's end that is looked for again")
{
    if (!can_trace())
        return skip("processes cannot be traced here");
    auto scenes = other_scenes();
    CHECK(fails_well(scenes[3], {.process = "bash", .call = SYS_wait4, .number = EINTR}));
    CHECK(fails_well(scenes[5], {.process = "ikigai run", .call = SYS_wait4, .number = EINTR}));
}

TEST_CASE("faults: a command's output that cannot be read back is an error, and not empty")
{
    if (!can_trace())
        return skip("processes cannot be traced here");
    auto bash = other_scenes()[3];
    for (int nth : {1, 2})
        for (int number : {EIO, EINTR}) CHECK(fails_well(bash, {.process = "bash", .call = SYS_pread64, .nth = nth, .number = number}));
    CHECK(fails_well(bash, {.process = "bash", .call = SYS_newfstatat, .nth = 2, .number = ENOMEM}));
}

TEST_CASE("faults: a child that cannot be heard is ended")
{
    if (!can_trace())
        return skip("processes cannot be traced here");
    auto talk = conversation();
    int injected = 0;
    for (int nth : {6, 7, 8, 9, 10}) injected += fails_well(talk, {.process = "ikigai chat'", .call = SYS_read, .nth = nth, .number = EIO});
    CHECK(injected == 5);
}

TEST_CASE("faults: a disk that fails once is no damaged database")
{
    if (!can_trace())
        return skip("processes cannot be traced here");
    auto talk = conversation();
    for (int nth : {3, 5, 6}) CHECK(fails_well(talk, {.process = "ikigai store", .call = SYS_pread64, .nth = nth, .number = EIO}));
}

TEST_CASE("faults: glob and grep say what they could not read")
{
    if (!can_trace())
        return skip("processes cannot be traced here");
    auto scenes = other_scenes();
    for (int number : {EIO, ENOMEM}) {
        CHECK(fails_well(scenes[1], {.process = "glob", .call = SYS_openat, .number = number}));
        CHECK(fails_well(scenes[2], {.process = "grep", .call = SYS_openat, .nth = 12, .number = number}));
    }
    CHECK(fails_well(scenes[1], {.process = "glob", .call = SYS_getdents64, .number = EIO}));
    CHECK(fails_well(scenes[2], {.process = "grep", .call = SYS_getdents64, .number = EIO}));
    CHECK(fails_well(scenes[2], {.process = "grep", .call = SYS_read, .nth = 12, .number = EIO}));
}

TEST_CASE("faults: a folder of tools that cannot be listed is told of")
{
    if (!can_trace())
        return skip("processes cannot be traced here");
    Stage stage;
    auto traced = trace({.program = stage.program({ikigai(), "discover", "--json"}), .fault = Fault{.process = "ikigai discover", .call = SYS_getdents64, .number = EIO}});
    INFO(traced.ran.out << traced.ran.err);
    CHECK(traced.injected);
    CHECK(holds(traced.ran.out + traced.ran.err, "Input/output error"));
}
