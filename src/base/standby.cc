#include "base/standby.h"

#include "base/poll.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ik {
namespace {

constexpr std::size_t most_files = 16, most_bytes = 16u << 20;   // of one request

// A request: this, with the descriptors beside it, then the limits as they are in memory, then the strings, each with
// its end. Both sides are the same program.
struct Head {
    std::uint32_t words, variables, limits, files;
    std::uint64_t bytes;   // of all that follows
};

union Control {
    char bytes[CMSG_SPACE(most_files * sizeof(int))];
    cmsghdr aligned;
};

std::string following(const Program& program, const Confinement& confinement)
{
    std::string out;
    for (auto& limit : confinement.limits) out.append(reinterpret_cast<const char*>(&limit), sizeof limit);
    for (auto* strings : {&program.argv, &program.env})
        for (auto& each : *strings) out.append(each.c_str(), each.size() + 1);
    return out;
}

bool send_request(int socket, Head head, const std::vector<int>& files, std::string bytes)
{
    Control control{};
    iovec parts[]{{&head, sizeof head}, {bytes.data(), bytes.size()}};
    msghdr message{.msg_name = nullptr, .msg_namelen = 0, .msg_iov = parts, .msg_iovlen = 2, .msg_control = control.bytes,
                   .msg_controllen = CMSG_SPACE(files.size() * sizeof(int)), .msg_flags = 0};
    auto* first = CMSG_FIRSTHDR(&message);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    std::memcpy(CMSG_DATA(first), files.data(), files.size() * sizeof(int));
    return sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof head + bytes.size());
}

struct Request {
    Head head;
    std::vector<int> files;
    std::string text;
};

// 0, or errno; -1 where nobody asks any more.
int receive(int socket, Request& request)
{
    Control control{};
    iovec part{&request.head, sizeof request.head};
    msghdr message{.msg_name = nullptr, .msg_namelen = 0, .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
                   .msg_controllen = sizeof control.bytes, .msg_flags = 0};
    auto got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    if (got <= 0)
        return got == 0 ? -1 : errno;
    auto& head = request.head;
    auto* first = CMSG_FIRSTHDR(&message);
    if (got != static_cast<ssize_t>(sizeof head) || !first || first->cmsg_type != SCM_RIGHTS || head.files < 3 || head.files > most_files
        || first->cmsg_len != CMSG_LEN(head.files * sizeof(int)) || head.bytes > most_bytes || head.limits * sizeof(ResourceLimit) > head.bytes)
        return EPROTO;
    request.files.resize(head.files);
    std::memcpy(request.files.data(), CMSG_DATA(first), head.files * sizeof(int));
    request.text.resize(head.bytes);
    auto rest = recv(socket, request.text.data(), head.bytes, MSG_WAITALL);
    return rest < 0 ? errno : static_cast<std::size_t>(rest) < head.bytes ? -1 : 0;
}

// So many strings from there on, and the null pointer after them.
std::vector<char*> pointers(char*& at, char* end, std::size_t count)
{
    std::vector<char*> out;
    for (; out.size() < count && at < end; at += std::strlen(at) + 1) out.push_back(at);
    out.push_back(nullptr);
    return out;
}

// errno, where it comes back.
int become_what_is_asked(Request request)
{
    Confinement confinement{.limits = std::vector<ResourceLimit>(request.head.limits), .join = {request.files.begin() + 3, request.files.end()}};
    char *at = request.text.data(), *end = at + request.text.size();
    for (auto& limit : confinement.limits) {
        std::memcpy(&limit, at, sizeof limit);
        at += sizeof limit;
    }
    auto argv = pointers(at, end, request.head.words), env = pointers(at, end, request.head.variables);
    for (int i = 0; i < 3; ++i)
        if (dup2(request.files[static_cast<std::size_t>(i)], i) < 0)
            return errno;
    if (int why = confine(confinement))
        return why;
    execve(argv[0], argv.data(), env.data());
    return errno;
}

}

Result<Standby> Standby::start(std::vector<std::string> waiter, const Confinement& confinement)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return Error{code::spawn_failed, std::string("no socket: ") + std::strerror(errno)};
    Fd ours(ends[0]), its(ends[1]), none = nothing();
    timeval patience{5, 0};
    setsockopt(ours.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    auto process = Process::start({.argv = std::move(waiter), .env = {}, .in = its.get(), .out = none.get(), .err = none.get(), .confinement = &confinement});
    if (!process)
        return process.error();
    Standby out;
    out.process_ = std::move(*process);
    out.socket_ = std::move(ours);
    return out;
}

bool Standby::waits()
{
    Exit exit;
    return process_.running() && !process_.reap(exit);
}

std::optional<Process> Standby::become(const Program& program) &&
{
    auto confinement = program.confinement ? *program.confinement : Confinement{};
    std::vector<int> files{program.in, program.out, program.err};
    files.insert(files.end(), confinement.join.begin(), confinement.join.end());
    auto bytes = following(program, confinement);
    Head head{static_cast<std::uint32_t>(program.argv.size()), static_cast<std::uint32_t>(program.env.size()),
              static_cast<std::uint32_t>(confinement.limits.size()), static_cast<std::uint32_t>(files.size()), bytes.size()};
    if (files.size() > most_files || bytes.size() > most_bytes || !send_request(socket_.get(), head, files, std::move(bytes)))
        return {};
    // Its end closes with exec, and says nothing then. Who takes longer has its limit of time all the same.
    pollfd answer{socket_.get(), POLLIN, 0};
    while (poll(&answer, 1, 5000) < 0 && errno == EINTR)
        ;
    int why;
    if (answer.revents && recv(socket_.get(), &why, sizeof why, MSG_DONTWAIT) > 0)
        return {};
    return std::move(process_);
}

int stand_by()
{
    struct stat info {};
    if (fstat(0, &info) < 0 || !S_ISSOCK(info.st_mode))
        return 2;
    Fd socket(fcntl(0, F_DUPFD_CLOEXEC, 3));
    Request request{};
    int why = receive(socket.get(), request);
    if (why < 0)
        return 0;
    if (!why) why = become_what_is_asked(std::move(request));
    [[maybe_unused]] auto told = send(socket.get(), &why, sizeof why, MSG_NOSIGNAL);
    return 127;
}

}
