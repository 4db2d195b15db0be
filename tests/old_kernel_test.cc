// Old kernels, and containers that refuse what they do not know, played by a filter of system calls: what is missing
// answers ENOSYS, or EPERM.
#include "support/circumstances.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <sys/prctl.h>
#include <sys/syscall.h>

using namespace ik;
using namespace ik::test;

namespace {

struct Call { const char* name; unsigned number; };

// What came after Linux 3.10, with the version that it came with. By number where the headers of an older system lack it.
const std::vector<Call> newer{
    {"renameat2, 3.15", SYS_renameat2}, {"seccomp, 3.17", SYS_seccomp}, {"getrandom, 3.17", SYS_getrandom}, {"memfd_create, 3.17", SYS_memfd_create},
    {"execveat, 3.19", SYS_execveat}, {"membarrier, 4.3", SYS_membarrier}, {"mlock2, 4.4", SYS_mlock2}, {"copy_file_range, 4.5", SYS_copy_file_range},
    {"preadv2, 4.6", SYS_preadv2}, {"pwritev2, 4.6", SYS_pwritev2}, {"statx, 4.11", SYS_statx}, {"rseq, 4.18", SYS_rseq},
    {"pidfd_send_signal, 5.1", 424}, {"io_uring_setup, 5.1", 425}, {"pidfd_open, 5.3", 434}, {"clone3, 5.3", 435}, {"openat2, 5.6", 437},
    {"pidfd_getfd, 5.6", 438}, {"faccessat2, 5.8", 439}, {"close_range, 5.9", 436}, {"epoll_pwait2, 5.11", 441}, {"landlock_add_rule, 5.13", 445},
    {"landlock_restrict_self, 5.13", 446}, {"futex_waitv, 5.16", 449}, {"fchmodat2, 6.6", 452},
};
constexpr unsigned landlock_create_ruleset = 444;

std::vector<unsigned> all_newer()
{
    std::vector<unsigned> out{landlock_create_ruleset};
    for (auto& call : newer) out.push_back(call.number);
    return out;
}

// What a container of Docker may not do, with a profile from before it knew Landlock.
const std::vector<unsigned> refused_in_container{
    SYS_acct, SYS_add_key, SYS_bpf, SYS_clock_settime, SYS_delete_module, SYS_finit_module, SYS_get_mempolicy, SYS_init_module, SYS_kcmp, SYS_kexec_load,
    SYS_keyctl, SYS_mbind, SYS_mount, SYS_move_pages, SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_perf_event_open, SYS_pivot_root, SYS_process_vm_readv,
    SYS_process_vm_writev, SYS_ptrace, SYS_quotactl, SYS_reboot, SYS_request_key, SYS_set_mempolicy, SYS_setns, SYS_settimeofday, SYS_swapoff, SYS_swapon,
    SYS_umount2, SYS_unshare, SYS_userfaultfd, SYS_vhangup, 424, 425, 428, 434, 435, 436, 437, 438, 439, 441, landlock_create_ruleset, 445, 446,
};

Ran ikigai_without(const std::vector<unsigned>& calls, int answer, const Home& home, std::vector<std::string> words, std::string input = {})
{
    words.insert(words.begin(), ikigai());
    auto ran = run_after([&] { refuse_calls(calls, answer); }, {.argv = words, .input = std::move(input), .env = home.env({no_leak_check}), .limit = std::chrono::seconds(60)});
    CHECK_FALSE(ran.timed_out);
    UNSCOPED_INFO(words[1] << " -> " << ran.status << " " << ran.out.substr(0, 500) << " " << ran.err.substr(0, 500));
    return ran;
}

constexpr const char* hi = "{\"tool_success\":true,\"result\":{\"output\":\"hi\",\"exit_code\":0}}\n";

}

TEST_CASE("old kernels: without Landlock no tool runs, unless without a sandbox")
{
    Home home;
    int number = GENERATE(ENOSYS, EOPNOTSUPP, EPERM);   // an old kernel, one that was told not to, and an old container
    std::string why = number == EPERM ? "Landlock is refused here" : "this kernel has no Landlock";
    auto without = [&](std::vector<std::string> words) { return ikigai_without({landlock_create_ruleset}, number, home, words); };
    auto refused = without({"run", "bash", R"({"command":"touch ran"})", "--sandbox", "workspace"});
    CHECK(refused.status == 2);
    CHECK(refused.out.empty());
    CHECK(refused.err.find("tools cannot be sandboxed: " + why) != std::string::npos);
    CHECK(without({"-p", "run touch ran", "--provider", "offline", "--sandbox", "read-only"}).status == 2);
    CHECK(without({"sandbox", "--", "/bin/sh", "-c", "touch ran"}).status == 0);   // IKIGAI_SANDBOX is off here
    CHECK(home.exists("ran"));
    auto command = without({"sandbox", "--policy", "workspace", "--", "/bin/sh", "-c", "touch again"});
    CHECK(command.status == 1);
    CHECK(command.err.find("tools cannot be sandboxed") != std::string::npos);
    CHECK_FALSE(home.exists("again"));
    CHECK(without({"run", "bash", R"({"command":"echo hi"})", "--sandbox", "off"}).out == hi);
    auto said = without({"chat", "--provider", "offline", "--sandbox", "workspace", "hello"});
    CHECK(said.err.find("Tools run without a sandbox: " + why) + said.out.find("Tools run without a sandbox: " + why) != 2 * std::string::npos);
    CHECK(without({"doctor", "--provider", "offline"}).out.find("warn sandbox      none: " + why) != std::string::npos);
}

TEST_CASE("old kernels: without seccomp there is no sandbox either")
{
    Home home;
    auto ran = run_after([] { refuse_option(PR_GET_SECCOMP, EINVAL); },
                         {.argv = {ikigai(), "run", "bash", R"({"command":"touch ran"})", "--sandbox", "workspace"}, .env = home.env({no_leak_check})});
    CHECK(ran.status == 2);
    CHECK(ran.err.find("tools cannot be sandboxed: this kernel has no seccomp") != std::string::npos);
    CHECK_FALSE(home.exists("ran"));
}

TEST_CASE("old kernels: each call that they lack")
{
    Home home;
    for (auto& call : newer)
        for (int number : {ENOSYS, EPERM}) {
            INFO(call.name << " answers " << number);
            auto tool = [&](const char* name, const char* input) { return ikigai_without({call.number}, number, home, {name}, input).out; };
            home.write("f.txt", "alpha\n");
            CHECK(tool("file-edit", R"({"file_path":"f.txt","old_string":"alpha","new_string":"beta"})") == R"({"output":"Replaced 1 occurrence in f.txt","replacements":1})");
            CHECK(tool("file-read", R"({"file_path":"f.txt"})") == R"({"output":"beta\n"})");
            CHECK(tool("grep", R"({"pattern":"be[t]a","glob":"*.txt"})") == R"({"output":"f.txt:1: beta","count":1})");
            CHECK(tool("bash", R"({"command":"echo hi"})") == R"({"output":"hi","exit_code":0})");
            if (number == EPERM)
                continue;   // as ENOSYS: all at once below
            auto said = ikigai_without({call.number}, number, home, {"chat", "-p", "run echo hi", "--provider", "offline"});
            CHECK(said.status == 0);
            CHECK(said.out.find("    hi\n") != std::string::npos);
            CHECK(said.err.empty());
        }
}

TEST_CASE("old kernels: all of them at once")
{
    Home home;
    auto [calls, number] = GENERATE(values({std::pair(all_newer(), ENOSYS), std::pair(all_newer(), EPERM), std::pair(refused_in_container, EPERM)}));
    auto without = [&](std::vector<std::string> words) { return ikigai_without(calls, number, home, std::move(words)); };
    home.tool("mine", "#!/bin/sh\necho '{\"name\":\"mine\"}'\n");
    auto found = without({"discover"});
    CHECK(found.out.find("mine") != std::string::npos);
    CHECK(found.out.find("\ngrep ") != std::string::npos);
    CHECK(without({"run", "bash", R"({"command":"echo hi"})"}).out == hi);
    CHECK(without({"run", "file_write", R"({"file_path":"f.txt","content":"alpha\n"})"}).status == 0);
    CHECK(without({"run", "file_edit", R"({"file_path":"f.txt","old_string":"alpha","new_string":"beta"})"}).out.find("Replaced 1") != std::string::npos);
    CHECK(without({"run", "file_read", R"({"file_path":"f.txt"})"}).out.find("beta") != std::string::npos);
    CHECK(without({"run", "grep", R"({"pattern":"be[t]a","glob":"*.txt"})"}).out.find("f.txt:1: beta") != std::string::npos);
    CHECK(without({"run", "glob", R"({"pattern":"*.txt"})"}).out.find("f.txt") != std::string::npos);
    CHECK(without({"sandbox", "--", "/bin/sh", "-c", "exit 3"}).status == 3);
    CHECK(without({"doctor", "--provider", "offline"}).status == 0);

    auto slow = without({"run", "bash", R"({"command":"echo $$ > pid; echo part; sleep 300"})", "--timeout", "0.3"});
    CHECK(slow.out.find("TOOL_TIMEOUT") != std::string::npos);
    CHECK(slow.out.find("part") != std::string::npos);
    CHECK_FALSE(runs(static_cast<pid_t>(std::stoi(home.read("pid")))));

    auto said = without({"chat", "-p", "run echo hi", "--provider", "offline"});
    CHECK(said.out.find("    hi\n") != std::string::npos);
    CHECK(said.status == 0);
    CHECK(without({"sessions", "list"}).out.find("run echo hi") != std::string::npos);
}

TEST_CASE("old kernels: without getrandom the ids of calls still differ")
{
    Home home;
    std::string ids[2];
    for (auto& id : ids) {
        auto ran = ikigai_without({SYS_getrandom}, ENOSYS, home, {"-p", "run echo hi", "--provider", "offline", "--output-format", "stream-json"});
        INFO(ran.out << ran.err);
        auto at = ran.out.find("call_");
        REQUIRE(at != ran.out.npos);
        id = ran.out.substr(at, 29);
        CHECK(id != "call_000000000000000000000000");
    }
    CHECK(ids[0] != ids[1]);
}
