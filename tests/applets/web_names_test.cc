// web_fetch and names: in a network of the test's own, with a name server that changes its mind, or says nothing.
#include "base/fd.h"
#include "base/poll.h"
#include "support/world.h"

#include <arpa/inet.h>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <functional>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <thread>

using namespace ik;
using namespace ik::test;

namespace {

constexpr const char *public_address = "93.184.216.34", *silent_address = "93.184.216.35", *name_server = "127.0.0.1";

sockaddr_in address_of(const char* text, int port)
{
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_port = htons(static_cast<in_port_t>(port));
    inet_pton(AF_INET, text, &out.sin_addr);
    return out;
}

bool give_address(const char* interface, const char* text)
{
    Fd any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    std::snprintf(request.ifr_name, sizeof request.ifr_name, "%s", interface);
    auto address = address_of(text, 0);
    std::memcpy(&request.ifr_addr, &address, sizeof address);
    if (ioctl(any.get(), SIOCSIFADDR, &request) < 0)
        return false;
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    return ioctl(any.get(), SIOCSIFFLAGS, &request) == 0;
}

// The thread's network has nothing in it but these addresses; names are asked of name_server.
bool leave_the_network(const std::string& resolv_conf)
{
    if (unshare(CLONE_FS | CLONE_NEWNET | CLONE_NEWNS) < 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0)
        return false;
    return mount(resolv_conf.c_str(), "/etc/resolv.conf", nullptr, MS_BIND, nullptr) == 0 && give_address("lo", "127.0.0.1") && give_address("lo:1", public_address);
}

// Answers on a socket until it is over.
class Service {
public:
    Service(int type, const char* address, int port, std::function<void(int fd)> serve) : stop_(*make_pipe())
    {
        socket_ = Fd(socket(AF_INET, type | SOCK_CLOEXEC, 0));
        auto where = address_of(address, port);
        int on = 1;
        setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        ready_ = bind(socket_.get(), reinterpret_cast<sockaddr*>(&where), sizeof where) == 0 && (type == SOCK_DGRAM || listen(socket_.get(), 8) == 0);
        thread_ = std::thread([this, serve] {
            for (;;) {
                Poll poll;
                poll.read(socket_);
                poll.read(stop_.read);
                poll.wait();
                if (poll.ready(stop_.read)) return;
                ++asked_;
                serve(socket_.get());
            }
        });
    }
    Service(const Service&) = delete;
    ~Service()
    {
        stop_.write.reset();
        thread_.join();
    }
    bool ready() const { return ready_; }
    int asked() const { return asked_; }

private:
    Pipe stop_;
    Fd socket_;
    std::thread thread_;
    std::atomic<int> asked_ = 0;
    bool ready_ = false;
};

// The question with answers of type A behind it, as RFC 1035 has it; for AAAA none.
std::string dns_answer(std::string question, const std::vector<std::string>& addresses)
{
    auto type = static_cast<unsigned char>(question[question.size() - 3]);   // no options are asked with
    question[2] = '\x81';
    question[3] = '\x80';
    if (type != 1)
        return question;
    question[7] = static_cast<char>(addresses.size());
    for (auto& address : addresses) {
        in_addr bytes{};
        inet_pton(AF_INET, address.c_str(), &bytes);
        question += std::string("\xC0\x0C\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04", 12) + std::string(reinterpret_cast<char*>(&bytes), 4);
    }
    return question;
}

// One list for each look-up; the last stays.
std::function<void(int)> names(std::deque<std::vector<std::string>> answers)
{
    return [answers](int fd) mutable {
        char bytes[512];
        sockaddr_in from{};
        socklen_t size = sizeof from;
        auto n = recvfrom(fd, bytes, sizeof bytes, 0, reinterpret_cast<sockaddr*>(&from), &size);
        if (n < 16) return;
        std::string question(bytes, static_cast<std::size_t>(n));
        auto answer = dns_answer(question, answers.front());
        bool is_a = question[question.size() - 3] == 1;
        if (is_a && answers.size() > 1) answers.pop_front();
        sendto(fd, answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
    };
}

std::function<void(int)> web(const std::string& answer)
{
    return [answer](int listener) {
        Fd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
        char bytes[4096];
        if (read_some(fd.get(), bytes, sizeof bytes) > 0)
            write_all(fd.get(), "HTTP/1.1 " + answer);
    };
}

const std::string a_page = "200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\nConnection: close\r\n\r\npublic";
const std::string a_redirect = "302 Found\r\nLocation: http://changing.example/inside\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

void in_own_network(const std::function<void()>& work)
{
    if (!is_root())
        skip("only root can make a network");
    Folder folder;
    folder.write("resolv.conf", std::string("nameserver ") + name_server + "\n");
    bool left = false;
    std::thread thread([&] {
        left = leave_the_network(folder / "resolv.conf");
        if (left) work();
    });
    thread.join();
    if (!left)
        skip("this machine lets nobody make a network");
}

Json fetched(const std::string& url) { return call("web-fetch-tool", object({{"url", url}})); }

}

TEST_CASE("web_fetch: a name that leads inside later is looked up once a request, and refused then")
{
    in_own_network([] {
        Service inside(SOCK_STREAM, "127.0.0.1", 80, web(a_page));
        Service outside(SOCK_STREAM, public_address, 80, web(a_redirect));
        Service server(SOCK_DGRAM, name_server, 53, names({{public_address}, {"127.0.0.1"}}));
        CHECK((inside.ready() && outside.ready() && server.ready()));
        auto answer = fetched("http://changing.example/");
        CHECK(answer.text("error_code") == "BLOCKED_ADDRESS");
        CHECK(outside.asked() == 1);
        CHECK(inside.asked() == 0);
    });
}

TEST_CASE("web_fetch: of several addresses, one that is inside is refused and one that does not answer is passed over")
{
    in_own_network([] {
        Service inside(SOCK_STREAM, "127.0.0.1", 80, web(a_page));
        Service outside(SOCK_STREAM, public_address, 80, web(a_page));
        Service server(SOCK_DGRAM, name_server, 53, names({{silent_address, public_address}, {"127.0.0.1", public_address}}));
        CHECK((inside.ready() && outside.ready() && server.ready()));
        CHECK(fetched("http://several.example/").text("content") == "public");
        CHECK(fetched("http://several.example/").text("error_code") == "BLOCKED_ADDRESS");
        CHECK(inside.asked() == 0);
    });
}

TEST_CASE("web_fetch: a name server that says nothing does not hold it up for longer than 12 s")
{
    in_own_network([] {
        Service server(SOCK_DGRAM, name_server, 53, [](int fd) {
            char bytes[512];
            [[maybe_unused]] auto n = recv(fd, bytes, sizeof bytes, 0);
        });
        auto ran = run({.argv = {tool("web-fetch-tool")}, .input = R"({"url":"http://silent.example/"})", .env = {"RES_OPTIONS=timeout:30"}, .limit = std::chrono::seconds(14)});
        CHECK_FALSE(ran.timed_out);
        CHECK(ran.out.find("NETWORK_ERROR") != ran.out.npos);
        CHECK(server.asked() > 0);
    });
}
