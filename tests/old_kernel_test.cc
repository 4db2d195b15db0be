// Kernels without pidfd or close_range (3.10, 4.18), played by a filter that answers ENOSYS.
#include "support/world.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstddef>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

void refuse(const std::vector<unsigned>& calls)
{
    std::vector<sock_filter> filter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (auto call : calls) {
        filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
        filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
    }
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

// What the command printed and how it ended, without these system calls.
Ran run_without(const std::vector<unsigned>& calls, const Home& home, const std::vector<std::string>& words)
{
    pid_t id = fork();
    if (id == 0) {
        refuse(calls);
        auto ran = ikigai(home, words);
        home.write("out", ran.out);
        home.write("err", ran.err);
        _exit(ran.status);
    }
    int status = 0;
    waitpid(id, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), home.read("out"), home.read("err"), false};
}

const std::vector<std::vector<unsigned>> kernels{{SYS_pidfd_open}, {SYS_close_range}, {SYS_pidfd_open, SYS_close_range, SYS_memfd_create, SYS_getrandom, SYS_statx}};

}

TEST_CASE("old kernels: without Landlock no tool runs, unless without a sandbox")
{
    constexpr unsigned create_ruleset = 444;
    Home home;
    auto without = [&](std::vector<std::string> words) { return run_without({create_ruleset}, home, words); };
    auto refused = without({"run", "bash", R"({"command":"touch ran"})", "--sandbox", "workspace"});
    CHECK(refused.status == 2);
    CHECK(refused.out.empty());
    CHECK(refused.err.find("tools cannot be sandboxed: this kernel has no Landlock") != std::string::npos);
    CHECK(without({"-p", "run touch ran", "--provider", "offline", "--sandbox", "read-only"}).status == 2);
    CHECK(without({"sandbox", "--", "/bin/sh", "-c", "touch ran"}).status == 0);   // IKIGAI_SANDBOX is off here
    CHECK(home.exists("ran"));
    auto command = without({"sandbox", "--policy", "workspace", "--", "/bin/sh", "-c", "touch again"});
    CHECK(command.status == 1);
    CHECK(command.err.find("tools cannot be sandboxed") != std::string::npos);
    CHECK_FALSE(home.exists("again"));
    CHECK(without({"run", "bash", R"({"command":"echo hi"})", "--sandbox", "off"}).status == 0);
    auto said = without({"chat", "--provider", "offline", "--sandbox", "workspace", "hello"});
    CHECK(said.err.find("Tools run without a sandbox") + said.out.find("Tools run without a sandbox") != 2 * std::string::npos);
}

TEST_CASE("old kernels: tools run, are limited and leave nothing behind")
{
    for (auto& calls : kernels) {
        Home home;
        CHECK(run_without(calls, home, {"run", "bash", R"({"command":"echo hi"})"}).out == "{\"tool_success\":true,\"result\":{\"output\":\"hi\",\"exit_code\":0}}\n");
        auto slow = run_without(calls, home, {"run", "bash", R"({"command":"echo $$ > pid; echo part; sleep 300"})", "--timeout", "0.3"});
        CHECK(slow.out.find("TOOL_TIMEOUT") != std::string::npos);
        CHECK(slow.out.find("part") != std::string::npos);
        CHECK_FALSE(runs(static_cast<pid_t>(std::stoi(home.read("pid")))));
    }
}

TEST_CASE("old kernels: tools are found, and a conversation is held")
{
    for (auto& calls : kernels) {
        Home home;
        home.tool("mine", "#!/bin/sh\necho '{\"name\":\"mine\"}'\n");
        CHECK(run_without(calls, home, {"discover"}).out.find("mine") != std::string::npos);
        auto said = run_without(calls, home, {"chat", "-p", "run echo through", "--provider", "offline"});
        CHECK(said.out.find("through") != std::string::npos);
        CHECK(said.status == 0);
    }
}

TEST_CASE("old kernels: without getrandom the ids of calls still differ")
{
    Home home;
    std::string ids[2];
    for (auto& id : ids) {
        auto ran = run_without({SYS_getrandom}, home, {"-p", "run echo hi", "--provider", "offline", "--output-format", "stream-json"});
        INFO(ran.out << ran.err);
        auto at = ran.out.find("call_");
        REQUIRE(at != ran.out.npos);
        id = ran.out.substr(at, 29);
        CHECK(id != "call_000000000000000000000000");
    }
    CHECK(ids[0] != ids[1]);
}
