#include "support/machine.h"

#include "sandbox.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ik::test {
namespace {

namespace fs = std::filesystem;

constexpr long mount_setattr_call = 442;
constexpr const char* of_usr[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32"};

[[noreturn]] void give_up(const std::string& what)
{
    std::fprintf(stderr, "the test cannot %s: %s\n", what.c_str(), std::strerror(errno));
    std::fflush(stderr);
    _exit(97);
}

}

void step::must(bool done, const std::string& what)
{
    if (!done) give_up(what);
}

void step::bind_mount(const std::string& from, const std::string& to, bool below)
{
    must(mount(from.c_str(), to.c_str(), nullptr, below ? MS_BIND | MS_REC : MS_BIND, nullptr) == 0, "bind " + from + " to " + to);
}

void step::temporary(const std::string& at, const char* mode) { must(mount("tmpfs", at.c_str(), "tmpfs", MS_NOSUID, mode) == 0, "mount a tmpfs at " + at); }

void step::read_only(const std::string& path, bool below)
{
    struct { std::uint64_t set, clear, propagation, namespace_fd; } attributes{1 /* MOUNT_ATTR_RDONLY */, 0, 0, 0};
    constexpr unsigned recursive = 0x8000;
    must(syscall(mount_setattr_call, -1, path.c_str(), below ? recursive : 0, &attributes, sizeof attributes) == 0, "make " + path + " read-only");
}

void step::become(unsigned user)
{
    must(setgroups(0, nullptr) == 0 && setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0, "be another user");
}

namespace {

using namespace step;

void enter(const std::string& root)
{
    must(unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "have mounts of its own");
    bind_mount(root, root, false);
    bind_mount("/proc", root + "/proc");
    bind_mount("/dev", root + "/dev");
}

void furnish(const std::string& root)
{
    bind_mount("/usr", root + "/usr");
    for (auto* name : of_usr)
        if (auto from = std::string("/") + name; fs::is_directory(from) && !fs::is_symlink(from)) bind_mount(from, root + from);
    bind_mount(root + "/local", root + "/usr/local", false);
}

std::vector<char*> pointers(const std::vector<std::string>& strings)
{
    std::vector<char*> out;
    for (auto& s : strings) out.push_back(const_cast<char*>(s.c_str()));
    out.push_back(nullptr);
    return out;
}

}

// The steps are done in a child of its own, by which what is printed goes to files.
Ran run_after(const std::string& root, const Means& means, const std::function<void()>& steps)
{
    Folder said;
    auto argv = pointers(means.argv), env = pointers(means.env);
    pid_t id = fork();
    if (id == 0) {
        int number = 0;
        for (auto name : {"/dev/null", "out", "err"}) {
            int fd = open(name, number ? O_WRONLY | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0666);
            if (fd < 0 || dup2(fd, number++) < 0) _exit(97);
        }
        enter(root);
        if (fs::is_directory(root + "/local")) furnish(root);   // it is a Machine
        must(chroot(root.c_str()) == 0 && chdir("/") == 0, "enter the machine");
        try {
            steps();
        } catch (const std::exception& e) {
            give_up(e.what());
        }
        must(chdir(means.folder.c_str()) == 0, "go to " + means.folder);
        execve(argv[0], argv.data(), env.data());
        give_up(std::string("start ") + argv[0]);
    }
    int status = 0;
    bool ended = eventually([&] { return waitpid(id, &status, WNOHANG) == id; }, std::chrono::seconds(60));
    if (!ended) {
        kill(id, SIGKILL);
        waitpid(id, &status, 0);
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), said.read("out"), said.read("err"), !ended};
}

std::string Machine::inside(const std::string& path)
{
    constexpr std::string_view local = "/usr/local/";
    return path.starts_with(local) ? "local/" + path.substr(local.size()) : path.substr(1);
}

Machine::Machine()
{
    for (auto* name : {"usr", "proc", "dev", "tmp", "etc", "root", "home", "run/user", "var/tmp", "var/log", "var/lib/private", "local/bin", "local/sbin"})
        fs::create_directories(root() + "/" + name);
    for (std::string name : of_usr)
        if (fs::is_symlink("/" + name)) fs::copy_symlink("/" + name, root() + "/" + name);
        else if (fs::exists("/" + name)) fs::create_directory(root() + "/" + name);
    for (auto* name : {"tmp", "var/tmp"}) chmod((root() + "/" + name).c_str(), 01777);
    chmod((root() + "/root").c_str(), 0700);
    write("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n");
    write("/etc/group", "root:x:0:\n");
    write("/etc/hosts", "127.0.0.1 localhost\n");
}

void Machine::install(const std::string& program, const std::string& path) const
{
    auto to = root() + "/" + inside(path);
    fs::create_directories(fs::path(to).parent_path());
    fs::copy_file(program, to);
    chmod(to.c_str(), 0755);
}

std::string no_machine()
{
    if (!is_root() || sh("unshare -m true").status != 0)
        return "namespaces for mounts cannot be made";
    if (syscall(mount_setattr_call, -1, "", 0, nullptr, 0) < 0 && errno == ENOSYS)
        return "the kernel has no mount_setattr";
    return no_sandbox().value_or("");
}

Ran run_in(const std::string& root, const std::vector<std::string>& argv, const std::vector<std::string>& env, unsigned user, const std::string& folder)
{
    return run_after(root, {argv, env, folder}, [user] {
        if (user) step::become(user);
    });
}

Ran run_on(const Machine& machine, const std::vector<std::string>& argv, const std::vector<std::string>& env, unsigned user, const std::string& folder)
{
    auto with = env;
    if (sanitized()) with.push_back(no_leak_check);
    return run_in(machine.root(), argv, with, user, folder);
}

}
