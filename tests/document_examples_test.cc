// The examples of ikigai.1 that are whole files and commands, taken out of the page and run as it says: by hand, from
// cron, as a systemd service, in continuous integration, in a container. Where they name a model's service, the
// offline provider or a scripted server stands for it.
#include "base/text.h"
#include "support/documents.h"
#include "support/server.h"
#include "support/service.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;

constexpr const char* page = "man/ikigai.1";
constexpr const char* script = "/usr/local/sbin/log-summary";

bool holds(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

std::string configuration(const ModelServer& server)
{
    return R"({"provider": "openai-chat", "model": "scripted", "context_window": 1000000, "base_url": ")" + server.base_url() + "\"}";
}

// A server of which somebody wants to know each morning how it fares.
struct Watched : Machine {
    explicit Watched(const ModelServer& server)
    {
        install(ikigai(), "/usr/local/bin/ikigai");
        write("/usr/local/bin/journalctl", "#!/bin/sh\necho 'sshd: 4000 failed logins of root'\necho \"asked: $*\"\n", 0755);
        write(script, file_in(page, script), 0755);
        write("/etc/ikigai/config.json", configuration(server));
        write("/root/.config/ikigai/credentials.json", R"({"openai": {"api_key": "sk-of-root"}})", 0600);
    }
};

Reply call_of(const std::string& command) { return stream_of({call("c1", "bash", object({{"command", command}}).dump())}); }

// Line of cron.d as cron runs it: almost no environment, a shell, nothing to read.
Ran from_cron(const Machine& machine)
{
    std::string command;
    for (auto& line : lines_of(file_in(page, "/etc/cron.d/log-summary"))) {
        auto words = split(line, ' ');
        if (words.size() > 6 && words[5] == "root") command = line.substr(line.find(" root ") + 6);
    }
    REQUIRE(!command.empty());
    return run_on(machine, {"/bin/sh", "-c", command}, {"HOME=/root", "LOGNAME=root", "PATH=/usr/bin:/bin", "SHELL=/bin/sh"}, 0, "/root");
}

Unit unit() { return service_of(lines_of(file_in(page, "/etc/systemd/system/log-summary.service"))); }

std::string last_text(const Request& request)
{
    auto json = request.json();
    auto& messages = *json.find("messages")->as<Json::Array>();
    return messages.empty() ? "" : messages.back().dump();
}

}

TEST_CASE("examples: the log's summary from cron, day after day")
{
    if (auto why = no_machine(); !why.empty()) return skip(why);
    ModelServer server({call_of("uptime -s >/dev/null; echo looked"), stream_of({text("Logins of root fail.")}), stream_of({text("Nothing new.")})});
    Watched machine(server);
    auto first = from_cron(machine);
    INFO(first.err);
    CHECK(first.status == 0);
    CHECK(first.out == "Logins of root fail.\n");
    CHECK(from_cron(machine).out == "Nothing new.\n");
    auto requests = server.requests();
    REQUIRE(requests.size() == 3);
    CHECK(requests[0].header("authorization") == "Bearer sk-of-root");
    CHECK(holds(requests[0].body, "4000 failed logins"));
    CHECK(holds(requests[0].body, "--since=-1day"));
    CHECK(holds(last_text(requests[1]), "looked"));
    CHECK(holds(requests[2].body, "Logins of root fail."));   // of the day before
}

TEST_CASE("examples: the log's summary says why there is none")
{
    if (auto why = no_machine(); !why.empty()) return skip(why);
    ModelServer server({});
    Watched machine(server);
    SECTION("the service refuses")
    {
        auto ran = from_cron(machine);
        CHECK(ran.status == 1);
        CHECK(holds(ran.err, "log-summary: no answer (status 1)"));
        CHECK(ran.out.empty());
    }
    SECTION("too many requests")
    {
        int n = 0;
        server.beyond([&](const Request&) { return call_of("echo " + std::to_string(++n)); });
        auto ran = from_cron(machine);
        CHECK(ran.status == 3);
        CHECK(holds(ran.err, "log-summary: not done within 20 requests or 300 seconds"));
        CHECK(n == 20);
    }
    SECTION("nobody to allow it")
    {
        machine.write("/etc/ikigai/config.json", std::string(configuration(server)).insert(1, R"("ask": ["bash"], )"));
        server.beyond([&](const Request& request) { return holds(request.body, "\"tool\"") ? stream_of({text("I was not allowed to.")}) : call_of("reboot"); });
        auto ran = from_cron(machine);
        CHECK(ran.status == 4);
        CHECK(holds(ran.err, "log-summary: it needed what only a person may allow"));
        CHECK(ran.out == "I was not allowed to.\n");
    }
    SECTION("no key")
    {
        fs::remove(machine.root() + "/root/.config/ikigai/credentials.json");
        machine.write("/etc/ikigai/config.json", R"({"provider": "openai-chat"})");
        auto ran = from_cron(machine);
        CHECK(ran.status == 2);
        CHECK(holds(ran.err, "log-summary: no answer (status 2)"));
    }
}

TEST_CASE("examples: every option of the unit that confines the service is played here")
{
    for (auto& [name, values] : unit()) {
        INFO(name);
        CHECK(std::ranges::count(played_options(), name) == 1);
    }
}

TEST_CASE("examples: the options of the unit do here what they do under systemd")
{
    if (auto why = no_machine(); !why.empty()) return skip(why);
    ModelServer server({});
    Watched machine(server);
    auto of_unit = unit();
    of_unit["ExecStart"] = {"/usr/local/bin/probe"};
    machine.write("/usr/local/bin/probe", R"(#!/bin/sh
try() { "$@" >/dev/null 2>&1 && echo "can: $*" || echo "cannot: $*"; }
sed -n 's/^\(CapBnd\|NoNewPrivs\|Seccomp\):[^0-9a-f]*/\1 /p' /proc/self/status
id -u
umask
echo "$HOME"
try touch /etc/x
try touch /usr/local/x
try touch /var/lib/log-summary/x
try touch /tmp/x
try ls /root
try cat /proc/1/comm
try ls /dev/pts
try unshare --user true
try setarch --addr-no-randomize true
try chmod u+s /tmp/x
try mount -t tmpfs none /tmp
)", 0755);
    auto ran = run_as_service(machine, of_unit, {});
    INFO(ran.err);
    CHECK(ran.out == "CapBnd 0000000000000000\nNoNewPrivs 1\nSeccomp 2\n63210\n0077\n/var/lib/log-summary\ncannot: touch /etc/x\ncannot: touch /usr/local/x\n"
                     "can: touch /var/lib/log-summary/x\ncan: touch /tmp/x\ncannot: ls /root\ncannot: cat /proc/1/comm\ncannot: ls /dev/pts\n"
                     "cannot: unshare --user true\ncannot: setarch --addr-no-randomize true\ncannot: chmod u+s /tmp/x\ncannot: mount -t tmpfs none /tmp\n");
    CHECK_FALSE(fs::exists("/tmp/x"));
}

TEST_CASE("examples: the units are what systemd takes")
{
    Folder folder;
    auto where = [&](std::string text) {
        for (auto at = text.find(script); at != text.npos; at = text.find(script, at + 1)) text.replace(at, std::string_view(script).size(), folder / "log-summary");
        return text;
    };
    folder.write("log-summary", file_in(page, script), 0755);
    for (std::string name : {"log-summary.service", "log-summary.timer"}) folder.write(name, where(file_in(page, "/etc/systemd/system/" + name)));
    auto ran = sh("systemd-analyze verify --man=no ./log-summary.timer ./log-summary.service 2>&1");
    CHECK(ran.out == "");
    CHECK(ran.status == 0);
}

TEST_CASE("examples: as a systemd service with all its options, tools run and are confined")
{
    if (auto why = no_machine(); !why.empty()) return skip(why);
    auto look = "id -u; touch /var/lib/log-summary/x; cat /proc/1/comm; echo $TMPDIR; echo kept > $TMPDIR/mine && cat $TMPDIR/mine";
    ModelServer server({call_of(look), stream_of({text("All is well.")}), stream_of({text("Still.")})});
    Watched machine(server);
    machine.write("/etc/ikigai/config.json", configuration(server), 0644);
    auto of_unit = unit();
    REQUIRE(!allowed_calls(of_unit).empty());
    std::vector<std::string> variables{"OPENAI_API_KEY=sk-of-the-unit"};
    auto ran = run_as_service(machine, of_unit, variables);
    INFO(ran.err);
    CHECK(ran.status == 0);
    CHECK(ran.out == "All is well.\n");
    CHECK(run_as_service(machine, of_unit, variables).out == "Still.\n");
    auto requests = server.requests();
    REQUIRE(requests.size() == 3);
    CHECK(requests[0].header("authorization") == "Bearer sk-of-the-unit");
    auto saw = last_text(requests[1]);
    INFO(saw);
    CHECK(holds(saw, "63210"));
    CHECK(holds(saw, "kept"));
    CHECK(holds(saw, "/tmp/ikigai-tools-"));
    CHECK(holds(requests[2].body, "All is well."));   // kept in the folder that the unit names
    CHECK(machine.exists("/var/lib/private/log-summary/.local/state/ikigai/sessions.db"));
    CHECK_FALSE(machine.exists("/var/lib/private/log-summary/x"));
}

TEST_CASE("examples: without the unit's line for Landlock nothing runs, and it is said why")
{
    if (auto why = no_machine(); !why.empty()) return skip(why);
    ModelServer server({});
    Watched machine(server);
    auto lesser = unit();
    auto& filter = lesser["SystemCallFilter"];
    CHECK(std::erase_if(filter, [](auto& line) { return line.starts_with("landlock_"); }) == 1);
    auto ran = run_as_service(machine, lesser, {"OPENAI_API_KEY=k"});
    CHECK(ran.status == 2);
    CHECK(holds(ran.err, "tools cannot be sandboxed: Landlock is refused here"));
    CHECK(server.requests().empty());
}

TEST_CASE("examples: as a service without a folder of its own, in memory")
{
    if (auto why = no_machine(); !why.empty()) return skip(why);
    ModelServer server({stream_of({text("All is well.")})});
    Watched machine(server);
    auto lesser = unit();
    lesser.erase("StateDirectory");
    lesser.erase("Environment");
    auto ran = run_as_service(machine, lesser, {"OPENAI_API_KEY=k"});
    INFO(ran.err);
    CHECK(ran.status == 0);
    CHECK(ran.out == "All is well.\n");
    CHECK(holds(ran.err, "The conversation is not kept: there is no home"));
}

TEST_CASE("examples: a review in continuous integration")
{
    Home home;
    Folder work;
    auto git = sh("git init -q --initial-branch=main up && cd up && git config user.name t && git config user.email t@example.org && echo 'int a;' > a.c && git add . && "
                  "git commit -qm one && cd .. && git clone -q up mine && cd mine && git config user.name t && git config user.email t@example.org && "
                  "echo 'int b = a[1];' >> a.c && git commit -qam two 2>&1");
    REQUIRE(git.status == 0);
    work.write("mine/.ci/review", file_in(page, ".ci/review"), 0755);
    auto review = [&](std::vector<Reply> replies) {
        ModelServer server(std::move(replies));
        auto path = "PATH=" + fs::path(ikigai()).parent_path().string() + ":" + std::getenv("PATH");
        auto ran = run({.argv = {"/bin/sh", "-c", "cd mine && .ci/review"}, .env = home.env({path, "OPENAI_BASE_URL=" + server.base_url(), "IKIGAI_MODEL=scripted", "IKIGAI_SANDBOX"})});
        for (auto& request : server.requests()) CHECK(holds(request.body, "+int b = a[1];"));
        return ran;
    };
    auto fine = review({stream_of({call("c1", "file_read", R"({"file_path":"a.c"})")}), stream_of({text("FINE. It reads well.")})});
    INFO(fine.err);
    CHECK(fine.status == 0);
    CHECK(fine.out == "FINE. It reads well.\n");
    auto defect = review({stream_of({text("DEFECT: a is no array.")})});
    CHECK(defect.status == 1);
    CHECK(defect.out == "DEFECT: a is no array.\n");
    auto down = review({refusal(401, "no")});
    CHECK(down.status == 0);
    CHECK(holds(down.err, "no review: ikigai ended with status 1"));
}

namespace {

// A container: the files of the image, devices, and what its file says of user, folder and environment.
struct Image {
    explicit Image(const std::string& base)
    {
        for (auto& line : lines_of(file_in(page, "Dockerfile"))) {
            auto space = line.find(' ');
            said[line.substr(0, space)] = space == line.npos ? "" : line.substr(space + 1);
        }
        if (base == "busybox") {
            for (auto* name : {"bin", "tmp"}) fs::create_directories(folder / name);
            CHECK(sh("cp /bin/busybox bin && chroot . /bin/busybox --install -s /bin && chmod 1777 tmp").status == 0);
        }
        for (auto* name : {"proc", "dev"}) fs::create_directories(folder / name);
        auto copied = split(said["COPY"], ' ');
        REQUIRE(copied.size() == 2);
        CHECK(copied[0] == "bin/ikigai");
        fs::create_directories(fs::path(folder / std::string(copied[1])).parent_path());
        fs::copy_file(ikigai(), folder / std::string(copied[1].substr(1)));
        folder.write(said["WORKDIR"].substr(1) + "/notes.txt", "buy milk\n");
        CHECK(sh("chown -R " + said["USER"] + " ." + said["WORKDIR"]).status == 0);
    }

    Ran run(std::vector<std::string> words)
    {
        auto entry = parse_json(said["ENTRYPOINT"]);
        REQUIRE((entry && entry->as<Json::Array>()));
        for (auto& word : *entry->as<Json::Array>()) words.insert(words.begin(), *word.as<std::string>());
        return run_in(folder.path, words, {"PATH=/bin", "IKIGAI_PROVIDER=offline", said["ENV"]}, static_cast<unsigned>(std::stoul(said["USER"])), said["WORKDIR"]);
    }

    Folder folder;
    std::map<std::string, std::string> said;
};

}

TEST_CASE("examples: in a container, as a user whom nobody knows")
{
    if (auto why = no_machine(); !why.empty()) return skip(why);
    if (sanitized())
        return skip("a program with sanitizers is no single file");
    for (std::string base : {"busybox", "scratch"}) {
        INFO(base);
        Image image(base);
        if (base == "busybox") CHECK(image.said["FROM"] == base);
        auto listed = image.run({"chat", "-p", "what is in this folder?"});
        INFO(listed.err);
        CHECK(listed.status == 0);
        CHECK(holds(listed.out, "notes.txt"));
        auto written = image.run({"chat", "-p", "create more.txt with eggs"});
        CHECK(written.status == 0);
        CHECK(image.folder.read(image.said["WORKDIR"].substr(1) + "/more.txt") == "eggs\n");
        auto shell = image.run({"chat", "-p", "run id -u", "--output-format", "json"});
        CHECK(shell.status == 0);
        CHECK(holds(shell.out, base == "busybox" ? image.said["USER"] : "/bin/sh: No such file or directory"));
        CHECK(holds(image.run({"doctor"}).out, "ok   sandbox"));
    }
}

namespace {

// A machine with what the examples name: a web server's configuration, a log, other programs in short.
struct Furnished : Machine {
    Furnished()
    {
        install(ikigai(), "/usr/local/bin/ikigai");
        install(ikigai(), "/root/ikigai");
        write("/etc/nginx/nginx.conf", "worker_processes auto\n");
        write("/etc/hostname", "web1\n");
        write("/root/libexec/ikigai/.folder", "");
        write("/usr/local/bin/journalctl", "#!/bin/sh\necho 'nginx: emergency'\n", 0755);
        write("/usr/local/bin/scp", "#!/bin/sh\n[ -x \"$1\" ] && [ \"$2\" = web1: ]\n", 0755);
        write("/usr/local/bin/docker", "#!/bin/sh\necho \"docker $*\"\n", 0755);
        // What ssh would do there, done here.
        write("/usr/local/bin/ssh", "#!/bin/sh\nwhile getopts tR: o; do :; done\nshift $((OPTIND - 1))\n[ \"$1\" = web1 ] || exit 255\nshift\nexec sh -c \"$*\"\n", 0755);
    }

    Ran type(const std::string& line) const
    {
        return run_on(*this, {"/bin/sh", "-ec", line}, {"HOME=/root", "PATH=/usr/local/bin:/usr/bin:/bin", "IKIGAI_PROVIDER=offline", "LANG=C.UTF-8"}, 0, "/root");
    }
};

}

TEST_CASE("examples: the commands of ikigai.1 run as they stand there")
{
    if (auto why = no_machine(); !why.empty()) return skip(why);
    Furnished machine;
    auto commands = commands_in(page, ".Sh EXAMPLES", ".Sh SEE ALSO");
    CHECK(commands.size() > 10);
    for (auto& command : commands) {
        INFO(command);
        auto ran = machine.type(command);
        INFO(ran.out << ran.err);
        CHECK(ran.status == 0);
        bool talks = holds(command, "-p '") || holds(command, "bash") || holds(command, "sandbox");
        if (talks) CHECK_FALSE(ran.out.empty());
    }
}

TEST_CASE("examples: the README's lines for scripts and tools run as they stand there")
{
    if (auto why = no_machine(); !why.empty()) return skip(why);
    Furnished machine;
    CHECK(machine.type("ikigai install-links libexec/ikigai").status == 0);
    int tried = 0;
    for (auto* section : {"## In scripts", "## Tools by hand"})
        for (auto& line : between(lines_of(document("README.md")), section, "## ")) {
            if (!line.starts_with("    ")) continue;
            INFO(line);
            auto ran = machine.type(line);
            INFO(ran.out << ran.err);
            CHECK(ran.status == 0);
            CHECK_FALSE(ran.out.empty());
            ++tried;
        }
    CHECK(tried > 7);
}

TEST_CASE("examples: what ikigai-security shows by hand is refused, and said to be")
{
    if (auto why = no_machine(); !why.empty()) return skip(why);
    Machine machine;
    machine.install(ikigai(), "/usr/local/bin/ikigai");
    machine.write("/etc/shadow", "root:*:19000::::::\n", 0600);
    machine.write("/etc/ikigai/config.json", R"({"audit": true, "provider": "offline"})");
    machine.write("/root/site/notes.txt", "buy milk\n");
    const std::vector<std::string> env{"HOME=/root", "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"};
    CHECK(run_on(machine, {"/usr/local/bin/ikigai", "chat", "-p", "list"}, env, 0, "/root/site").status == 0);   // something to be audited
    auto commands = commands_in("man/ikigai-security.7", ".Sh HOW EACH", ".Sh SEE ALSO");
    CHECK(commands.size() > 5);
    for (auto& command : commands) {
        INFO(command);
        auto ran = run_on(machine, {"/bin/sh", "-c", command}, env, 0, "/root/site");
        INFO(ran.out << ran.err);
        if (command.starts_with("ikigai sandbox")) {
            CHECK(ran.status != 0);
            CHECK((holds(lower(ran.err), "permission denied") || holds(lower(ran.err), "not permitted")));
            continue;
        }
        CHECK(ran.status == 0);
        if (holds(command, "setsid")) CHECK(holds(ran.err, "bash left 1 process running"));
        if (holds(command, "grep KEY")) CHECK(holds(ran.out, R"("exit_code":0)"));
    }
    CHECK_FALSE(machine.exists("/root/x"));
    CHECK_FALSE(machine.exists("/root/site/x"));
}
