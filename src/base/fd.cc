#include "base/fd.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ik {

void Fd::reset()
{
    if (fd_ >= 0)
        close(std::exchange(fd_, -1));
}

Result<Pipe> make_pipe()
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return Error{code::spawn_failed, std::string("Cannot make a pipe: ") + std::strerror(errno)};
    return Pipe{Fd(ends[0]), Fd(ends[1])};
}

void make_nonblocking(const Fd& fd) { fcntl(fd.get(), F_SETFL, O_NONBLOCK); }

bool write_all(int fd, std::string_view bytes)
{
    while (!bytes.empty()) {
        auto n = ::write(fd, bytes.data(), bytes.size());
        if (n >= 0)
            bytes.remove_prefix(static_cast<std::size_t>(n));
        else if (errno == EAGAIN) {
            pollfd ready{fd, POLLOUT, 0};
            ::poll(&ready, 1, -1);
        } else if (errno != EINTR)
            return false;
    }
    return true;
}

std::ptrdiff_t read_some(int fd, char* buffer, std::size_t size)
{
    for (;;) {
        auto n = ::read(fd, buffer, size);
        if (n >= 0 || errno != EINTR)
            return n;
    }
}

Result<Fd> anonymous_file()
{
    const char* named = std::getenv("TMPDIR");
    for (const char* folder : {named, "/tmp", "/var/tmp"}) {
        if (!folder || *folder != '/')
            continue;
        if (int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); fd >= 0)
            return Fd(fd);
        std::string name = std::string(folder) + "/ikigai-XXXXXX";
        if (int fd = mkostemp(name.data(), O_CLOEXEC); fd >= 0) {
            unlink(name.c_str());
            return Fd(fd);
        }
    }
    if (int fd = static_cast<int>(syscall(SYS_memfd_create, "ikigai", MFD_CLOEXEC)); fd >= 0)
        return Fd(fd);
    return Error{code::open_failed, std::string("Cannot make a temporary file: ") + std::strerror(errno)};
}

Fd nothing()
{
    if (Fd fd(open("/dev/null", O_RDONLY | O_CLOEXEC)); fd)
        return fd;
    auto pipe = make_pipe();
    return pipe ? std::move(pipe->read) : Fd();
}

namespace {

void fill_standard_descriptors()
{
    bool closed[3];
    for (int fd = 0; fd <= 2; ++fd)
        closed[fd] = fcntl(fd, F_GETFD) < 0;
    if (!closed[0] && !closed[1] && !closed[2])
        return;
    Fd low = nothing(), empty(fcntl(low.get(), F_DUPFD_CLOEXEC, 3));   // the low one may be one of the three
    low.reset();
    for (int fd = 0; fd <= 2; ++fd)
        if (closed[fd]) dup2(empty.get(), fd);
}

}

void tidy_descriptors()
{
    fill_standard_descriptors();
    if (syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */) == 0)
        return;
    for (int fd = 3; fd < 1024; ++fd)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

}
