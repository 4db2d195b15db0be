#include "support/server.h"

#include "base/text.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <csignal>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace ik::test {
namespace {

using namespace std::chrono_literals;

// Bound to a free port of the loopback.
Fd bound(int& port)
{
    Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size);
    getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    return fd;
}

bool send_all(int fd, std::string_view bytes)
{
    while (!bytes.empty()) {
        auto n = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

// The same on ::1; the port stays 0 where there is no such address.
Fd bound_v6(int& port)
{
    Fd fd(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    socklen_t size = sizeof address;
    if (fd && bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) == 0 && getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0)
        port = ntohs(address.sin6_port);
    return fd;
}

// Waits for fd; false when the end comes first.
bool readable(int fd, const Fd& stop)
{
    pollfd set[] = {{fd, POLLIN, 0}, {stop.get(), POLLIN, 0}};
    while (poll(set, 2, -1) < 0)
        ;
    return set[1].revents == 0;
}

// The next request on the connection; bytes beyond it stay in buffer. Nothing when it is over.
std::optional<Request> read_request(int fd, const Fd& stop, std::string& buffer)
{
    Request request;
    std::size_t length = 0, body = std::string::npos;
    for (;;) {
        if (body == std::string::npos)
            if (auto end = buffer.find("\r\n\r\n"); end != std::string::npos) {
                for (std::size_t at = 0; at < end;) {
                    auto stop_at = buffer.find("\r\n", at);
                    request.headers.push_back(buffer.substr(at, stop_at - at));
                    at = stop_at + 2;
                }
                auto first = request.headers.front();
                request.headers.erase(request.headers.begin());
                auto words = split(first, ' ');
                if (words.size() > 1) {
                    request.method = words[0];
                    request.path = words[1];
                }
                auto size = request.header("Content-Length");
                std::from_chars(size.data(), size.data() + size.size(), length);
                body = end + 4;
            }
        if (body != std::string::npos && buffer.size() >= body + length) {
            request.body = buffer.substr(body, length);
            buffer.erase(0, body + length);
            return request;
        }
        char bytes[16384];
        if (!readable(fd, stop)) return {};
        auto n = recv(fd, bytes, sizeof bytes, 0);
        if (n <= 0) return {};
        buffer.append(bytes, static_cast<std::size_t>(n));
    }
}

std::string chunk(std::string_view bytes)
{
    char size[16];
    auto end = std::to_chars(size, size + sizeof size, bytes.size(), 16).ptr;
    return std::string(size, end) + "\r\n" + std::string(bytes) + "\r\n";
}

std::string delta(Json members)
{
    return object({{"id", "chatcmpl-1"}, {"object", "chat.completion.chunk"},
                   {"choices", Json::Array{object({{"index", 0}, {"delta", std::move(members)}, {"finish_reason", nullptr}})}}}).dump();
}

}

Json Request::json() const
{
    auto value = parse_json(body);
    return value ? *value : Json();
}

std::string Request::header(std::string_view name) const
{
    for (auto& line : headers)
        if (auto colon = line.find(':'); lower(std::string_view(line).substr(0, colon)) == lower(name))
            return std::string(trim(std::string_view(line).substr(colon + 1)));
    return {};
}

ModelServer::ModelServer(std::vector<Reply> replies, Family family) : stop_(*make_pipe()), family_(family), replies_(std::move(replies))
{
    listener_ = family == v4 ? bound(port_) : bound_v6(port_);
    listen(listener_.get(), 64);
    accepter_ = std::thread([this] { accept_all(); });
}

ModelServer::~ModelServer()
{
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    stop_.write.reset();
    accepter_.join();   // no thread is added after this
    for (auto& thread : threads_) thread.join();
}

void ModelServer::accept_all()
{
    while (readable(listener_.get(), stop_.read)) {
        Fd connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!connection) continue;
        int one = 1;
        setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        timeval limit{10, 0};   // a reader that never reads does not hold the end
        setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        threads_.emplace_back([this, fd = std::move(connection), number = ++opened_]() mutable { serve(std::move(fd), number); });
    }
}

void ModelServer::beyond(std::function<Reply(const Request&)> answer)
{
    std::lock_guard lock(mutex_);
    beyond_ = std::move(answer);
}

Reply ModelServer::next(Request request)
{
    std::lock_guard lock(mutex_);
    auto number = requests_.size();
    requests_.push_back(std::move(request));
    changed_.notify_all();
    if (number >= replies_.size() && beyond_)
        return beyond_(requests_.back());
    return number < replies_.size() ? replies_[number] : refusal(400, "the script has no more replies");
}

void ModelServer::serve(Fd connection, int number)
{
    std::string buffer;
    while (auto request = read_request(connection.get(), stop_.read, buffer)) {
        request->connection = number;
        if (!answer(connection.get(), next(std::move(*request))))
            return;
    }
}

bool ModelServer::held()
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return passes_ > 0 || stopping_; });
    --passes_;
    return !stopping_;
}

// False when the connection is over.
bool ModelServer::answer(int fd, const Reply& reply)
{
    if (!reply.raw.empty()) {
        send_all(fd, reply.raw);
        return false;
    }
    bool bodiless = reply.status == 204;   // not even the end of one: it would be taken for the next answer
    std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " Status\r\n" + (bodiless ? "" : "Transfer-Encoding: chunked\r\n");
    for (auto& line : reply.headers) head += line + "\r\n";
    if (!send_all(fd, head + "\r\n"))
        return false;
    if (bodiless)
        return true;
    for (std::size_t i = 0; i < reply.pieces.size(); ++i)
        if ((i == reply.hold_before && !held()) || !send_all(fd, chunk(reply.pieces[i])))
            return false;
    if (reply.ending == Reply::hang) {
        char byte;
        while (readable(fd, stop_.read) && recv(fd, &byte, 1, 0) > 0)
            ;
        return false;
    }
    if (reply.ending == Reply::reset) {
        linger now{1, 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
    if (reply.ending == Reply::cut || reply.ending == Reply::reset)
        return false;
    return send_all(fd, "0\r\n\r\n") && reply.ending == Reply::whole;
}

std::vector<Request> ModelServer::requests() const
{
    std::lock_guard lock(mutex_);
    return requests_;
}

bool ModelServer::asked(std::size_t times) const
{
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return requests_.size() >= times; });
}

void ModelServer::go_on()
{
    {
        std::lock_guard lock(mutex_);
        ++passes_;
    }
    changed_.notify_all();
}

TunnelProxy::TunnelProxy(int to) : to_(to), stop_(*make_pipe())
{
    listener_ = bound(port_);
    listen(listener_.get(), 8);
    thread_ = std::thread([this] { serve(); });
}

TunnelProxy::~TunnelProxy()
{
    stop_.write.reset();
    thread_.join();
}

std::vector<std::string> TunnelProxy::heads() const
{
    std::lock_guard lock(mutex_);
    return heads_;
}

// One tunnel after the other.
void TunnelProxy::serve()
{
    while (readable(listener_.get(), stop_.read)) {
        Fd client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (client) tunnel(client.get());
    }
}

void TunnelProxy::tunnel(int client)
{
    std::string head;
    char bytes[16384];
    while (head.find("\r\n\r\n") == head.npos) {
        auto n = readable(client, stop_.read) ? recv(client, bytes, sizeof bytes, 0) : 0;
        if (n <= 0) return;
        head.append(bytes, static_cast<std::size_t>(n));
    }
    {
        std::lock_guard lock(mutex_);
        heads_.push_back(head);
    }
    Fd server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(to_));
    if (connect(server.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || !send_all(client, "HTTP/1.1 200 Connection established\r\n\r\n"))
        return;
    for (;;) {
        pollfd set[] = {{client, POLLIN, 0}, {server.get(), POLLIN, 0}, {stop_.read.get(), POLLIN, 0}};
        if (poll(set, 3, -1) < 0) continue;
        if (set[2].revents) return;
        for (int from : {0, 1}) {
            if (!set[from].revents) continue;
            auto n = recv(set[from].fd, bytes, sizeof bytes, 0);
            if (n <= 0 || !send_all(set[1 - from].fd, {bytes, static_cast<std::size_t>(n)})) return;
        }
    }
}

int closed_port()
{
    int port = 0;
    bound(port);
    return port;
}

std::string event(std::string_view data) { return "data: " + std::string(data) + "\n\n"; }

std::string text(std::string_view words) { return delta(object({{"content", words}})); }
std::string thinking(std::string_view words) { return delta(object({{"reasoning_content", words}})); }

std::string call(std::string_view id, std::string_view name, std::string_view arguments, int index)
{
    auto function = object({{"name", name}, {"arguments", arguments}});
    return delta(object({{"tool_calls", Json::Array{object({{"index", index}, {"id", id}, {"type", "function"}, {"function", function}})}}}));
}

Reply stream_of(std::vector<std::string> pieces)
{
    bool calls = std::ranges::any_of(pieces, [](auto& p) { return p.find("\"tool_calls\"") != p.npos; });
    Reply reply;
    for (auto& piece : pieces) reply.pieces.push_back(event(piece));
    reply.pieces.push_back(event(R"({"choices":[{"index":0,"delta":{},"finish_reason":")" + std::string(calls ? "tool_calls" : "stop") + "\"}]}"));
    reply.pieces.push_back(event(R"({"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}})"));
    reply.pieces.push_back(event("[DONE]"));
    return reply;
}

Reply refusal(int status, std::string_view message, std::vector<std::string> headers)
{
    headers.push_back("Content-Type: application/json");
    auto body = object({{"error", object({{"message", message}, {"type", ""}})}});
    return {.status = status, .pieces = {body.dump()}, .headers = std::move(headers)};
}

}
