// Fd: one open file descriptor and its end. Everything opened here is close-on-exec.
#pragma once

#include "base/result.h"

#include <cstddef>

namespace ik {

class Fd {
public:
    explicit Fd(int fd = -1) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept { std::swap(fd_, other.fd_); return *this; }
    ~Fd() { reset(); }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    void reset();

private:
    int fd_;
};

struct Pipe { Fd read, write; };

Result<Pipe> make_pipe();
void make_nonblocking(const Fd&);

// All of bytes, over as many writes as it takes; false with errno set when it cannot be done.
// A descriptor that is not ready is waited for.
bool write_all(int fd, std::string_view bytes);

// read(2), again after EINTR.
std::ptrdiff_t read_some(int fd, char* buffer, std::size_t size);

// A file without a name for up to a few gigabytes, in $TMPDIR, /tmp, /var/tmp or memory.
Result<Fd> anonymous_file();

// A descriptor whose end comes at once, and which cannot be written to: /dev/null, or where there is none a pipe's end.
Fd nothing();

// 0, 1 and 2 are open after this, on nothing() where they were closed: no file of ours can get their numbers, and what
// is written to a closed one is an error as it was. Whatever else was inherited is close-on-exec.
void tidy_descriptors();

}
