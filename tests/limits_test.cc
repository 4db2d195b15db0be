// What one tool may use, and what happens to one that wants more. Through the host itself, where a test must choose
// its means, else through `ikigai run`.
#include "host.h"
#include "settings.h"
#include "support/world.h"

#include "base/file.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <dirent.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;
using namespace std::chrono_literals;

namespace {

const std::string user_file = ".config/ikigai/config.json";

Tool shell_tool(const std::string& name, const std::string& script)
{
    return {.name = name, .path = "/bin/sh", .origin = "user", .argv = {"/bin/sh", "-c", script},
            .schema = *parse_json(R"({"name":"t","description":"d","parameters":{"type":"object","properties":{}}})")};
}

ToolRules rules_of(const Home& home, const std::string& tools)
{
    home.write(user_file, "{\"tools\":" + tools + "}");
    setenv("HOME", home.path.c_str(), 1);
    return ToolRules(read_settings({.root = home.path}));
}

// A host in a process that keeps what it starts, as `ikigai` does.
struct Stage {
    Home home;
    std::string before = getenv("HOME") ? getenv("HOME") : "";
    std::optional<Host> host;

    explicit Stage(const std::string& tools = "{}", const std::string& cgroup_root = "")
    {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        host.emplace(Host::Options{.session = "t" + std::to_string(getpid()), .outputs = home / "outputs", .rules = rules_of(home, tools), .cgroup_root = cgroup_root});
    }
    ~Stage()
    {
        host.reset();
        kill_in_rounds([](auto&) {}, 5s);
        reap_strangers({});
        prctl(PR_SET_CHILD_SUBREAPER, 0);
        setenv("HOME", before.c_str(), 1);
    }

    void turn(milliseconds limit = 100ms)
    {
        Poll poll;
        host->add_to(poll);
        poll.until(Clock::now() + limit);
        poll.wait();
        host->advance(poll);
        host->tidy();
    }

    Finished finish()
    {
        REQUIRE(eventually([&] { turn(); return !host->busy() || host->running() == 0; }, 60s));
        auto all = host->take_finished();
        REQUIRE(all.size() == 1);
        return std::move(all.front());
    }

    Json call(const Tool& tool)
    {
        host->run(&tool, {"c1", tool.name, Json::Object{}});
        return finish().envelope;
    }
};

bool has_groups()
{
    Cgroups groups("ikigai-probe-" + std::to_string(getpid()));
    auto one = groups.make("1", {.memory = 1 << 30, .processes = 100});
    return one && one->limits_processes() && one->limits_memory();
}

// No more than 2,000 processes come of a test, whatever else fails.
struct Fence {
    std::string folder = "/sys/fs/cgroup/pids/ikigai-fence-" + std::to_string(getpid());
    bool there = mkdir(folder.c_str(), 0755) == 0;

    Fence() { if (there) sh("echo 2000 > " + folder + "/pids.max"); }
    ~Fence() { eventually([&] { return rmdir(folder.c_str()) == 0 || errno == ENOENT; }, 5s); }
    std::string enter() const { return "echo 0 > " + folder + "/tasks || exit 1; "; }
};

const std::string bomb = "b() { b | b & }; b; wait; sleep 100";

std::size_t entries(const char* folder)
{
    std::size_t count = 0;
    DIR* all = opendir(folder);
    while (all && readdir(all)) ++count;
    if (all) closedir(all);
    return count;
}

long memory_kb()
{
    auto text = sh("awk '/VmRSS/{print $2}' /proc/" + std::to_string(getpid()) + "/status").out;
    return std::stol(text);
}

}

TEST_CASE("limits: the settings of a tool: what is wrong is said")
{
    Home home;
    home.write(user_file, R"({"tools":{"*":{"processes":100,"timeout":7},"bash":{"memory":"512M","output":1000,"env":["A_TOKEN"]},)"
                          R"("x":{"memory":"much","files":3,"env":"A","speed":1,"disk":-1},"y":5}})");
    auto ran = ikigai(home, {"config"});
    INFO(ran.out);
    CHECK(ran.out.find("tools.bash") != std::string::npos);
    CHECK(ran.out.find("\"tools.x.memory\" must be a size in bytes, such as 1000000 or \"512M\"") != std::string::npos);
    CHECK(ran.out.find("\"tools.x.files\" must be at least 16") != std::string::npos);
    CHECK(ran.out.find("\"tools.x.env\" must be a list of strings") != std::string::npos);
    CHECK(ran.out.find("unknown key \"speed\" in tools.x") != std::string::npos);
    CHECK(ran.out.find("\"tools.x.disk\" must be a size") != std::string::npos);
    CHECK(ran.out.find("\"tools.y\" must be an object") != std::string::npos);
    home.write(".ikigai/config.json", R"({"tools":{"bash":{"env":["A_TOKEN"]}}})");
}

TEST_CASE("limits: the name, then the path, win over *; grants do not go to a project's tool of the same name")
{
    Home home;
    auto before = std::string(getenv("HOME") ? getenv("HOME") : "");
    auto rules = rules_of(home, R"({"*":{"processes":100,"timeout":7},"a":{"memory":"2K","timeout":8,"env":["A_TOKEN"],"read":["/f"]},"/bin/sh":{"files":77}})");
    setenv("HOME", before.c_str(), 1);
    auto tool = shell_tool("a", "");
    CHECK(rules.limits(tool).time == 8s);
    CHECK(rules.limits(tool).memory == 2048);
    CHECK(rules.limits(tool).processes == 100);
    CHECK(rules.limits(tool).output == 256u << 20);
    CHECK(rules.limits(shell_tool("b", "")).time == 7s);
    CHECK(rules.grants(tool).env == std::vector<std::string>{"A_TOKEN"});
    CHECK(rules.grants(tool).read == std::vector<std::string>{"/f"});
    CHECK(rules.grants(shell_tool("b", "")).env.empty());
    tool.origin = "project";
    CHECK(rules.grants(tool).env.empty());
    CHECK(rules.limits(tool).time == 8s);
}

TEST_CASE("limits: a variable that is granted is seen, others that look like secrets are not")
{
    Home home;
    home.write(user_file, R"({"tools":{"bash":{"env":["MY_TOKEN"]}}})");
    auto ran = ikigai(home, {"run", "bash", R"({"command":"echo $MY_TOKEN $OTHER_TOKEN"})"}, "", {"MY_TOKEN=m", "OTHER_TOKEN=o"});
    CHECK(ran.out == "{\"tool_success\":true,\"result\":{\"output\":\"m\",\"exit_code\":0}}\n");
}

TEST_CASE("limits: time, output, descriptors and bytes a file, each of one tool")
{
    Home home;
    home.write(user_file, R"({"tools":{"bash":{"timeout":0.3,"output":2000,"files":32,"disk":"1M"}}})");
    auto bash = [&](const std::string& command) { return *parse_json(ikigai(home, {"run", "bash", object({{"command", command}}).dump()}).out); };
    CHECK(bash("sleep 100").text("error") == "Tool 'bash' timed out after 0.3s");
    auto loud = bash("head -c 5000 /dev/zero | tr '\\0' x");
    CHECK(loud.text("error_code") == "TOOL_OUTPUT_LIMIT");
    CHECK(loud.text("error") == "Tool 'bash' printed more than 2000 bytes");
    CHECK(bash("ulimit -n").find("result")->text("output") == "32");
    bash("head -c 2M /dev/zero > big");
    CHECK(sh("stat -c %s big").out == "1048576\n");
    auto ran = ikigai(home, {"run", "bash", R"({"command":"sleep 0.6; echo ok"})", "--timeout", "9"});
    CHECK(ran.out.find("\"ok\"") != std::string::npos);
}

TEST_CASE("limits: memory, in a control group")
{
    if (!has_groups())
        return skip("no control group can be made here");
    Stage stage(R"({"hog":{"memory":"64M"}})");
    auto envelope = stage.call(shell_tool("hog", "head -c 200M /dev/zero | tail -c 199M >/dev/null; echo '{\"a\":1}'"));
    CHECK(envelope.text("error") == "Tool 'hog' used more than 64 MB of memory");
    CHECK(envelope.text("error_code") == "TOOL_MEMORY_LIMIT");
    CHECK(envelope.text("stdout") == "{\"a\":1}\n");
    CHECK(stage.call(shell_tool("hog", "head -c 20M /dev/zero | tail -c 19M >/dev/null; echo '{\"a\":1}'")).find("result"));
}

TEST_CASE("limits: memory, without one")
{
    Stage stage(R"({"hog":{"memory":"64M"}})", "/no/such/root");
    auto envelope = stage.call(shell_tool("hog", "exec python3 -c 'x = bytearray(200 << 20)'"));
    INFO(envelope.dump());
    CHECK(envelope.text("error_code") == "TOOL_MEMORY_LIMIT");
}

TEST_CASE("limits: a fork bomb in a control group")
{
    if (!has_groups())
        return skip("no control group can be made here");
    Stage stage(R"({"bomb":{"processes":200}})");
    auto start = Clock::now();
    auto envelope = stage.call(shell_tool("bomb", bomb));
    CHECK(envelope.text("error_code") == "TOOL_PROCESS_LIMIT");
    CHECK(envelope.text("error") == "Tool 'bomb' had more than 200 processes at a time");
    CHECK(Clock::now() - start < 20s);   // long before its time limit
    CHECK(descendants().size() <= 1);    // the one that watches over the groups
}

TEST_CASE("limits: a fork bomb of root without a control group")
{
    Fence fence;
    if (!is_root() || !fence.there)
        return skip("needs root, and a control group to be safe in");
    Stage stage(R"({"bomb":{"processes":200}})", "/no/such/root");
    auto start = Clock::now();
    auto envelope = stage.call(shell_tool("bomb", fence.enter() + bomb));
    INFO(envelope.dump());
    CHECK(envelope.text("error_code") == "TOOL_PROCESS_LIMIT");
    CHECK(Clock::now() - start < 20s);
    CHECK(descendants().empty());
}

TEST_CASE("limits: a fork bomb of a user")
{
    Fence fence;
    if (!is_root() || !fence.there)
        return skip("needs root to become a user, and a control group to be safe in");
    Home home;
    home.write(user_file, R"({"tools":{"bash":{"processes":200}}})");
    sh("chmod 755 . && chown -R 65534 .");
    auto arguments = object({{"command", "b() { b | b & }; b; wait"}}).dump();
    // The checker of leaks needs one more thread than there may be.
    auto ran = run({.argv = {"/bin/sh", "-c", fence.enter() + "exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$0\" run bash \"$1\"", ikigai(), arguments},
                    .env = home.env({no_leak_check}), .limit = 60s});
    INFO(ran.out << ran.err);
    auto envelope = parse_json(ran.out);
    REQUIRE(envelope);
    // Where every fork is refused it may be over before anybody has counted: then the shell has ended by itself.
    bool counted = envelope->text("error_code") == "TOOL_PROCESS_LIMIT";
    CHECK((counted || *envelope->find("tool_success") == Json(true)));
    CHECK(eventually([&] { return sh("cat " + fence.folder + "/cgroup.procs").out.empty(); }));
}

TEST_CASE("limits: a stopped call leaves nothing, whatever it did to get away")
{
    for (auto* root : {"", "/no/such/root"}) {
        Stage stage(R"({"away":{"timeout":0.5}})", root);
        auto envelope = stage.call(shell_tool("away", "setsid sh -c 'setsid sh -c \"trap : TERM HUP; echo \\$\\$ > deep; while :; do sleep 0.1; done\" & sleep 300' & "
                                                      "sh -c 'echo $$ > stopped; kill -STOP $$' & sleep 300"));
        CHECK(envelope.text("error_code") == "TOOL_TIMEOUT");
        for (auto* file : {"deep", "stopped"}) {
            REQUIRE(!stage.home.read(file).empty());
            CHECK_FALSE(runs(static_cast<pid_t>(std::stoi(stage.home.read(file)))));
            unlink(file);
        }
    }
}

TEST_CASE("limits: what a call leaves running is listed, and can be stopped")
{
    Stage stage;
    CHECK(stage.call(shell_tool("leaver", "setsid sh -c 'trap : TERM; touch up; while :; do sleep 0.1; done' >/dev/null 2>&1 & while ! [ -e up ]; do sleep 0.01; done; echo '{}'")).find("result"));
    auto jobs = stage.host->jobs();
    REQUIRE(!jobs.empty());
    CHECK(jobs[0].tool == "leaver");
    CHECK(jobs[0].state == Job::State::left);
    CHECK(jobs[0].command.starts_with("sh -c trap"));
    CHECK(runs(jobs[0].id));
    CHECK(stage.host->jobs()[0].number == jobs[0].number);
    CHECK_FALSE(stage.host->stop(9999));
    CHECK(stage.host->stop(jobs[0].number));
    CHECK(eventually([&] { stage.turn(); return !runs(jobs[0].id); }));
    CHECK(eventually([&] { stage.turn(); return stage.host->jobs().empty(); }));
}

TEST_CASE("limits: into the background: what there is comes at once, the end later")
{
    Stage stage(R"({"*":{"timeout":1}})");
    auto tool = shell_tool("slow", "echo early > \"$IKIGAI_OUTPUT\"; touch up; while ! [ -e go ]; do sleep 0.01; done; echo '{\"done\":true}'");
    stage.host->run(&tool, {"c7", "slow", Json::Object{}});
    REQUIRE(eventually([&] { stage.turn(5ms); return stage.home.exists("up"); }));
    auto calls = stage.host->calls();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].limit == milliseconds(1000));
    CHECK_FALSE(stage.host->put_in_background("c8"));
    auto number = stage.host->put_in_background("c7");
    REQUIRE(number);
    auto now = stage.finish();
    CHECK(now.call.id == "c7");
    CHECK(*now.envelope.find("result")->find("background") == Json(*number));
    CHECK(now.envelope.find("result")->text("output_so_far") == "early\n");
    CHECK_FALSE(stage.host->busy());
    CHECK(stage.host->calls().at(0).state == Job::State::background);
    auto past = Clock::now() + 1200ms;
    while (Clock::now() < past) stage.turn(50ms);   // its time limit is over
    CHECK(stage.host->take_ended().empty());
    stage.home.write("go", "");
    std::vector<Host::Ended> ended;
    REQUIRE(eventually([&] { stage.turn(); ended = stage.host->take_ended(); return !ended.empty(); }));
    CHECK(ended[0].number == *number);
    CHECK(ended[0].finished.envelope.dump() == R"({"tool_success":true,"result":{"done":true}})");
    CHECK(stage.host->take_finished().empty());
}

TEST_CASE("limits: a control group serves one call after another, unless something of the one is left in it")
{
    Stage stage;
    auto group = [&](const std::string& script) {
        auto envelope = stage.call(shell_tool("where", "echo \"{\\\"g\\\":\\\"$(grep -o '[^/]*/[^/]*$' /proc/self/cgroup | grep -m 1 ikigai)\\\"}\"; " + script));
        return envelope.find("result") ? std::string(envelope.find("result")->text("g")) : envelope.dump();
    };
    auto first = group("true");
    if (first.empty())
        return skip("no control group can be made here");
    CHECK(group("true") == first);
    CHECK(group("setsid sleep 300 >/dev/null 2>&1 &") == first);
    auto second = group("true");
    CHECK(second != first);   // the sleeper has it
    CHECK(second.starts_with("ikigai-"));
    CHECK(group("true") == second);
}

TEST_CASE("limits: 1,000 calls leave no descriptor, no process, no growth")
{
    Stage stage;
    auto tool = shell_tool("quick", "exec echo '{}'");
    auto some = [&](int count) {
        for (int i = 0; i < count; ++i) CHECK(stage.call(tool).find("result"));
    };
    some(100);
    auto files = entries("/proc/self/fd");
    auto memory = memory_kb();
    some(1000);
    CHECK(entries("/proc/self/fd") == files);
    if (!sanitized())   // which keeps what is freed
        CHECK(memory_kb() < memory + 2000);
    stage.turn(1ms);
    CHECK(sh("ps -o state= --ppid " + std::to_string(getpid()) + " | grep -c Z").out == "0\n");
    stage.host.reset();
    CHECK_FALSE(stage.home.exists("outputs"));
}

TEST_CASE("limits: the messages of programs that want a terminal are explained")
{
    Home home;
    auto hint = [&](const std::string& command) {
        auto envelope = parse_json(ikigai(home, {"run", "bash", object({{"command", command}}).dump()}).out);
        return envelope ? std::string(envelope->text("hint")) : "";
    };
    CHECK(hint("echo 'sudo: a terminal is required to read the password; either use the -S option' >&2; exit 1").starts_with("Tools have no terminal: sudo cannot ask for a password"));
    CHECK(hint("echo \"fatal: could not read Username for 'https://x': terminal prompts disabled\"; exit 128").find("git cannot ask") != std::string::npos);
    CHECK(hint("echo 'Host key verification failed.'; exit 255").find("known_hosts") != std::string::npos);
    CHECK(hint("echo 'gpg: signing failed: Inappropriate ioctl for device'; exit 2").find("gpg cannot ask") != std::string::npos);
    CHECK(hint("echo x </dev/tty") != "");   // it really fails, and at once
    CHECK(hint("echo 'sudo: a terminal is required'").empty());   // no failure
    CHECK(hint("exit 1").empty());
}
