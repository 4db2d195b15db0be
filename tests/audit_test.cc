#include "audit.h"

#include "agent/wire.h"
#include "base/hash.h"
#include "base/text.h"
#include "support/server.h"
#include "support/world.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

const ToolCall list_files{"1", "glob", object({{"pattern", "*"}})};

std::vector<std::string> lines_of(std::string text)
{
    std::vector<std::string> out;
    while (auto line = take_line(text)) out.push_back(*line);
    return out;
}

std::vector<Json> entries(const std::string& log)
{
    std::vector<Json> out;
    for (auto& line : lines_of(log)) {
        auto json = parse_json(line);
        out.push_back(json ? *json : Json());
    }
    return out;
}

audit::Verdict verdict(const std::string& log)
{
    std::istringstream in(log);
    return audit::verify(in);
}

Audit audit_in(const Folder& folder, Audit::To to = Audit::To::file)
{
    return Audit({.to = to, .session = "s", .path = folder / "state/audit.jsonl", .secrets = {"hunter2hunter2"}, .socket = folder / "log"});
}

std::string log_of(const Folder& folder, int calls)
{
    auto audit = audit_in(folder);
    for (int i = 0; i < calls; ++i) audit.call(list_files);
    CHECK_FALSE(audit.take_trouble());
    return folder.read("state/audit.jsonl");
}

std::string joined(const std::vector<std::string>& lines)
{
    std::string out;
    for (auto& line : lines) out += line + "\n";
    return out;
}

}

TEST_CASE("audit: an entry says what was called where, by whom and how it ended")
{
    Folder folder;
    auto audit = audit_in(folder);
    audit.start();
    audit.call({"1", "bash", object({{"command", "login hunter2hunter2 --token=abc"}})});
    audit.decision(list_files, "allow", "rule allow: glob");
    audit.result(list_files, object({{"tool_success", true}, {"result", object({{"output", ""}, {"exit_code", 3}})}}), milliseconds(12));
    audit.result(list_files, failure(code::tool_timeout, "late"), milliseconds(30000));
    audit.end(0);
    auto log = folder.read("state/audit.jsonl");
    INFO(log);
    auto all = entries(log);
    REQUIRE(all.size() == 6);
    CHECK(*all[0].find("seq") == Json(1));
    CHECK(all[0].text("event") == "start");
    CHECK(all[0].text("session") == "s");
    CHECK(all[0].text("cwd") == folder.path);
    CHECK(*all[0].find("uid") == Json(static_cast<std::int64_t>(getuid())));
    CHECK(all[0].text("time").size() == std::string_view("2026-01-02T03:04:05.678Z").size());
    CHECK(all[1].find("arguments")->dump() == R"({"command":"login [redacted] --token=[redacted]"})");
    CHECK(all[2].text("decision") == "allow");
    CHECK(all[2].text("by") == "rule allow: glob");
    CHECK(*all[3].find("exit") == Json(3));
    CHECK(*all[3].find("duration_ms") == Json(12));
    CHECK(all[4].text("error_code") == "TOOL_TIMEOUT");
    CHECK(all[4].find("exit")->null());
    CHECK(all[5].text("event") == "end");
    CHECK(verdict(log).sentence() == "6 entries, chain whole");

    struct stat info {};
    REQUIRE(stat("state/audit.jsonl", &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("audit: the hash of an entry is that of its line without it")
{
    Folder folder;
    auto lines = lines_of(log_of(folder, 2));
    auto first = entries(lines[0] + "\n")[0], second = entries(lines[1] + "\n")[0];
    auto seal = lines[0].rfind(",\"hash\"");
    CHECK(sha256(lines[0].substr(0, seal) + "}") == first.text("hash"));
    CHECK(first.text("prev") == "");
    CHECK(second.text("prev") == first.text("hash"));
}

TEST_CASE("audit: whatever was edited is found")
{
    Folder folder;
    auto whole = lines_of(log_of(folder, 5));
    CHECK(verdict("").sentence() == "0 entries, chain whole");

    auto changed = whole;
    changed[2].replace(changed[2].find("glob"), 4, "grep");
    CHECK(verdict(joined(changed)).sentence() == "line 3: the entry was changed: its hash is not that of its text");

    auto removed = whole;
    removed.erase(removed.begin() + 2);
    CHECK(verdict(joined(removed)).sentence() == "line 3: entry 4 stands where entry 3 should");

    auto swapped = whole;
    std::swap(swapped[1], swapped[2]);
    CHECK(verdict(joined(swapped)).sentence() == "line 2: entry 3 stands where entry 2 should");

    auto headless = whole;
    headless.erase(headless.begin());
    CHECK(verdict(joined(headless)).sentence() == "line 1: entry 2 stands where entry 1 should");

    // Sealed again by itself: it hangs on another entry.
    auto forged = whole;
    auto head = audit::read_line(whole[0]).head;
    forged[1] = audit::sealed({{"event", "forged"}}, head).first;
    CHECK(verdict(joined(forged)).sentence() == "line 3: entry 3 does not follow on the entry before it: prev is not its hash");

    auto blotted = whole;
    blotted[2] = "gone";
    CHECK(verdict(joined(blotted)).sentence() == "line 4: entry 4 stands where entry 3 should");
}

TEST_CASE("audit: a torn entry stays a line of its own, and the chain goes on")
{
    Folder folder;
    auto log = log_of(folder, 3);
    for (std::size_t left : {1u, 20u, 100u}) {
        auto last = log.rfind('\n', log.size() - 2) + 1;
        auto torn = log.substr(0, last + left);
        INFO(left);
        CHECK(verdict(torn).sentence() == "2 entries, chain whole; 1 torn line, the first is line 3");
        folder.write("state/audit.jsonl", torn, 0600);
        CHECK(verdict(log_of(folder, 1)).sentence() == "3 entries, chain whole; 1 torn line, the first is line 3");
    }
    // An entry that lacks nothing but its newline is one.
    folder.write("state/audit.jsonl", log.substr(0, log.size() - 1), 0600);
    CHECK(verdict(log_of(folder, 1)).sentence() == "4 entries, chain whole");
}

TEST_CASE("audit: processes that write at once make one chain")
{
    Folder folder;
    constexpr int writers = 4, each = 50;
    std::vector<pid_t> pids;
    for (int i = 0; i < writers; ++i) {
        auto pid = fork();
        REQUIRE(pid >= 0);
        if (pid == 0) {
            auto audit = audit_in(folder);
            for (int n = 0; n < each; ++n) audit.call(list_files);
            _exit(audit.take_trouble() ? 1 : 0);
        }
        pids.push_back(pid);
    }
    for (auto pid : pids) {
        int status = 0;
        REQUIRE(waitpid(pid, &status, 0) == pid);
        CHECK(status == 0);
    }
    CHECK(verdict(folder.read("state/audit.jsonl")).sentence() == "200 entries, chain whole");
}

TEST_CASE("audit: long arguments are cut, with their length and their hash")
{
    auto long_text = std::string(5000, 'a');
    auto cut = std::string(audited(object({{"content", long_text}}), {}).text("content"));
    CHECK(cut == std::string(4096, 'a') + "… [5000 bytes, sha256 " + sha256(long_text) + "]");
    Json::Array many(100, Json(std::string(1000, 'b')));
    auto all = audited(object({{"list", many}}), {});
    CHECK(all.dump().size() < 8192);
    CHECK(*all.find("bytes") == Json(static_cast<std::int64_t>(object({{"list", many}}).dump().size())));
}

TEST_CASE("audit: a log that cannot be written is said once")
{
    Folder folder;
    folder.write("state", "a file where the folder should be");
    auto audit = audit_in(folder);
    audit.start();
    auto why = audit.take_trouble();
    REQUIRE(why);
    CHECK(why->starts_with("The audit log " + folder / "state/audit.jsonl" + " is not written: "));
    audit.call(list_files);
    CHECK_FALSE(audit.take_trouble());
}

TEST_CASE("audit: a log that others may write, a link and a full disk")
{
    Folder folder;
    folder.write("state/audit.jsonl", "", 0666);
    chmod("state/audit.jsonl", 0666);
    auto open_to_all = audit_in(folder);
    open_to_all.start();
    CHECK(open_to_all.take_trouble());
    CHECK(folder.read("state/audit.jsonl") == "");

    unlink("state/audit.jsonl");
    folder.write("other", "");
    REQUIRE(symlink((folder / "other").c_str(), "state/audit.jsonl") == 0);
    auto through_link = audit_in(folder);
    through_link.start();
    auto why = through_link.take_trouble();
    REQUIRE(why);
    CHECK(why->ends_with("it is a symbolic link"));
    CHECK(folder.read("other") == "");
}

TEST_CASE("audit: what a full disk tore is taken back")
{
    Home home;
    auto env = home.env({"IKIGAI_AUDIT=true", "XDG_STATE_HOME=" + home / "state"});
    REQUIRE(run({.argv = {ikigai(), "run", "glob", R"({"pattern":"*"})"}, .env = env}).status == 0);
    auto before = home.read("state/ikigai/audit.jsonl");
    auto full = run({.argv = {"/bin/bash", "-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" run glob '{\"pattern\":\"" + std::string(400, 'x') + "\"}'", ikigai()}, .env = env});
    auto after = home.read("state/ikigai/audit.jsonl");
    INFO(full.err << after);
    CHECK(full.status == 0);
    CHECK(after.size() <= 1024);
    CHECK(after.starts_with(before));
    CHECK(full.err.find("audit.jsonl is not written: ") != std::string::npos);
    CHECK(verdict(after).torn == 0);
    CHECK(verdict(after).broken == "");
}

TEST_CASE("audit: the heads go to the system's log")
{
    Folder folder;
    Fd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (folder / "log").copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    auto audit = audit_in(folder, Audit::To::syslog);
    audit.call({"1", "bash", object({{"command", "secret words"}})});
    CHECK_FALSE(audit.take_trouble());
    char buffer[4096];
    auto n = recv(fd.get(), buffer, sizeof buffer, 0);
    REQUIRE(n > 0);
    std::string said(buffer, static_cast<std::size_t>(n));
    INFO(said);
    CHECK(said.starts_with("<86>"));
    CHECK(said.find("ikigai[" + std::to_string(getpid()) + "]: {\"seq\":1,\"hash\":\"") != said.npos);
    CHECK(said.find("\"tool\":\"bash\"") != said.npos);
    CHECK(said.find("secret words") == said.npos);
    CHECK(said.find(entries(folder.read("state/audit.jsonl"))[0].text("hash")) != said.npos);

    fd.reset();
    audit.call(list_files);
    CHECK(audit.take_trouble());
    CHECK(verdict(folder.read("state/audit.jsonl")).entries == 2);
}

TEST_CASE("audit: a conversation is logged where the setting says so, and verified by hand")
{
    Home home;
    home.write(".config/ikigai/config.json", R"({"audit": true})", 0600);
    ModelServer server({stream_of({call("c1", "bash", R"({"command":"echo $((1+1)); exit 4"})")}), stream_of({text("ok")})});
    std::vector<std::string> env{"OPENAI_BASE_URL=" + server.base_url(), "IKIGAI_MODEL=scripted", "OPENAI_API_KEY=a-key-of-mine", "XDG_STATE_HOME=" + home / "state", "XDG_CONFIG_HOME=" + home / ".config"};
    auto ran = ikigai(home, {"chat", "-p", "hi a-key-of-mine"}, "", env);
    INFO(ran.err);
    CHECK(ran.out == "ok\n");
    auto log = home.read("state/ikigai/audit.jsonl");
    INFO(log);
    auto all = entries(log);
    REQUIRE(all.size() == 5);
    CHECK(all[1].text("tool") == "bash");
    CHECK(all[1].text("call") == "c1");
    CHECK(all[2].text("decision") == "allow");
    CHECK(*all[3].find("exit") == Json(4));
    CHECK(all[4].text("event") == "end");
    CHECK(*all[4].find("exit") == Json(0));
    CHECK(ikigai(home, {"run", "glob", R"({"pattern":"*"})"}, "", env).status == 0);

    auto verified = ikigai(home, {"audit", "verify"}, "", env);
    CHECK(verified.out == "7 entries, chain whole\n");
    CHECK(verified.status == 0);
    auto shown = ikigai(home, {"audit", "show", "-n", "1"}, "", env);
    CHECK(lines_of(shown.out) == std::vector{lines_of(home.read("state/ikigai/audit.jsonl")).back()});
    home.write("bad", log.substr(log.find('\n') + 1));
    auto broken = ikigai(home, {"audit", "verify", home / "bad"}, "", env);
    CHECK(broken.out == "line 1: entry 2 stands where entry 1 should\n");
    CHECK(broken.status == 1);
    CHECK(ikigai(home, {"audit", "verify", home / "none"}, "", env).status == 1);
}

TEST_CASE("audit: without the setting there is no log")
{
    Home home;
    std::vector<std::string> env{"XDG_STATE_HOME=" + home / "state"};
    CHECK(ikigai(home, {"run", "glob", R"({"pattern":"*"})"}, "", env).status == 0);
    CHECK_FALSE(home.exists("state/ikigai/audit.jsonl"));
}
