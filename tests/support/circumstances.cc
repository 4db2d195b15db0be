#include "support/circumstances.h"

#include "base/fd.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ik::test {
namespace {

void must(bool done, const std::string& what)
{
    if (done)
        return;
    std::fprintf(stderr, "%s: %s\n", what.c_str(), std::strerror(errno));
    _exit(125);
}

}

Ran run_after(FunctionRef<void()> change, const Run& what)
{
    auto pipe = make_pipe();
    REQUIRE(pipe);
    pid_t id = fork();
    if (id == 0) {
        change();
        auto ran = run(what);
        bool told = write_all(pipe->write.get(), object({{"status", ran.status}, {"out", ran.out}, {"err", ran.err}, {"timed_out", ran.timed_out}}).dump());
        _exit(told ? 0 : 125);
    }
    pipe->write.reset();
    std::string text(1 << 16, '\0');
    std::size_t size = 0;
    for (std::ptrdiff_t n; (n = read_some(pipe->read.get(), text.data() + size, text.size() - size)) > 0; text.resize(text.size() + size))
        size += static_cast<std::size_t>(n);
    text.resize(size);
    int status = 0;
    waitpid(id, &status, 0);
    REQUIRE(status == 0);   // it says why not on standard error
    auto told = parse_json(text);
    REQUIRE(told);
    return {static_cast<int>(*told->find("status")->as<std::int64_t>()), std::string(told->text("out")), std::string(told->text("err")), *told->find("timed_out") == Json(true)};
}

namespace {

void install(std::vector<sock_filter> filter)
{
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp");
}

sock_filter refusal(int with) { return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(with)); }

}

void refuse_option(unsigned of_prctl, int with)
{
    install({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
             BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, of_prctl, 0, 1), refusal(with)});
}

void refuse_calls(const std::vector<unsigned>& numbers, int with)
{
    std::vector<sock_filter> filter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (auto number : numbers) {
        filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
        filter.push_back(refusal(with));
    }
    install(std::move(filter));
}

void own_mounts()
{
    must(unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "a mount namespace");
}

void mount_at(const std::string& folder, const std::string& options, unsigned long flags)
{
    must(mount("none", folder.c_str(), "tmpfs", flags, options.c_str()) == 0, "mount on " + folder);
}

void change_root(const std::string& folder) { must(chroot(folder.c_str()) == 0 && chdir("/") == 0, "chroot " + folder); }

}
