#include "local_server.h"

#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <charconv>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ik {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::string_view listening = "0A";
constexpr std::size_t most = 1 << 20;

std::vector<std::string_view> words(std::string_view line)
{
    std::vector<std::string_view> out;
    for (auto word : split(line, ' '))
        if (!word.empty()) out.push_back(word);
    return out;
}

template <class Number>
Number number(std::string_view text, int base)
{
    Number value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, base);
    return value;
}

void add_file(std::string& to, const char* path)
{
    Fd fd(open(path, O_RDONLY | O_CLOEXEC));
    char bytes[16384];
    while (fd)
        if (auto n = read_some(fd.get(), bytes, sizeof bytes); n > 0)
            to.append(bytes, static_cast<std::size_t>(n));
        else
            return;
}

std::string sockets()
{
    std::string out;
    add_file(out, "/proc/net/tcp");
    add_file(out, "/proc/net/tcp6");
    return out;
}

// One server that is being asked.
struct Asking {
    const ServerKind* kind;
    Fd fd;
    bool sent = false;
    std::string answer = {};

    void begin();
    void go_on();
};

void Asking::begin()
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(kind->port));
    fd = Fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd && connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 && errno != EINPROGRESS)
        fd.reset();
}

// Something has happened: the connection stands, or bytes have come, or it is over.
void Asking::go_on()
{
    constexpr std::string_view request = "GET /v1/models HTTP/1.0\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n\r\n";
    if (!sent) {
        sent = true;
        if (send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) fd.reset();
        return;
    }
    char bytes[16384];
    auto n = recv(fd.get(), bytes, sizeof bytes, 0);
    if (n > 0 && answer.size() < most)
        answer.append(bytes, static_cast<std::size_t>(n));
    else if (n >= 0 || (errno != EAGAIN && errno != EINTR))
        fd.reset();
}

// The first model of {"data":[{"id"}]}; empty when the answer is something else, or not there yet.
std::string model_in(std::string_view answer)
{
    auto head = answer.find("\r\n\r\n");
    if (head == answer.npos || !answer.starts_with("HTTP/1.") || answer.substr(8, 5) != " 200 ")
        return {};
    auto body = answer.substr(head + 4);
    auto open = body.find('{'), close = body.rfind('}');   // sizes of chunks may stand around it
    auto value = close == body.npos || open > close ? Result<Json>(Json()) : parse_json(clean_utf8(body.substr(open, close - open + 1)));
    auto* data = value ? value->find("data") : nullptr;
    auto* list = data ? data->as<Json::Array>() : nullptr;
    return list && !list->empty() ? std::string(list->front().text("id")) : "";
}

void ask(std::vector<Asking>& all, Clock::time_point end)
{
    for (;;) {
        std::vector<pollfd> set;
        std::vector<Asking*> waiting;
        for (auto& one : all)
            if (one.fd && model_in(one.answer).empty()) {
                set.push_back({one.fd.get(), static_cast<short>(one.sent ? POLLIN : POLLOUT), 0});
                waiting.push_back(&one);
            }
        auto left = std::chrono::ceil<milliseconds>(end - Clock::now()).count();
        if (set.empty() || left <= 0 || poll(set.data(), set.size(), static_cast<int>(left)) == 0)
            return;
        for (std::size_t i = 0; i < set.size(); ++i)
            if (set[i].revents) waiting[i]->go_on();
    }
}

}

bool listens_for(uid_t user, int port, std::string_view table)
{
    bool found = false;
    for (auto line : split(table, '\n')) {
        auto columns = words(line);   // sl local_address rem_address st queues timer retransmits uid …
        if (columns.size() < 8 || columns[3] != listening)
            continue;
        if (number<int>(columns[1].substr(columns[1].rfind(':') + 1), 16) != port)
            continue;
        auto owner = number<uid_t>(columns[7], 10);
        if (owner != user && owner != 0)
            return false;
        found = true;
    }
    return found;
}

std::vector<LocalServer> local_servers(std::span<const ServerKind> kinds, milliseconds limit)
{
    auto before = sockets();
    std::vector<Asking> all;
    for (auto& kind : kinds)
        if (listens_for(geteuid(), kind.port, before))
            all.push_back({.kind = &kind, .fd = Fd()});
    for (auto& one : all) one.begin();
    ask(all, Clock::now() + limit);

    auto after = all.empty() ? std::string() : sockets();   // nobody has taken the port over meanwhile
    std::vector<LocalServer> out;
    for (auto& one : all)
        if (auto model = model_in(one.answer); !model.empty() && listens_for(geteuid(), one.kind->port, after))
            out.push_back({std::string(one.kind->name), "http://127.0.0.1:" + std::to_string(one.kind->port) + "/v1", model});
    return out;
}

}
