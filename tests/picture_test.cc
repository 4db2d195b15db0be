// The picture in the README is what the program shows: a conversation with a scripted service, in a terminal emulator,
// drawn as SVG. `make picture` writes it anew.
#include "sandbox.h"
#include "support/picture.h"
#include "support/server.h"
#include "support/world.h"

#include "base/poll.h"
#include "base/process.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <pty.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

constexpr int columns = 96, rows = 60;

// A shop's server on the morning of a deploy.
void furnish(const Folder& folder)
{
    std::string access;
    auto request = [&](const char* path, int status) { access += "203.0.113.7 - - [12/May/2026:06:14:07 +0000] \"GET " + std::string(path) + " HTTP/1.1\" " + std::to_string(status) + " 162\n"; };
    for (int i = 0; i < 212; ++i) request("/cart", 502);
    for (int i = 0; i < 1893; ++i) request("/", 200);
    for (int i = 0; i < 97; ++i) request("/checkout", 502);
    auto errors = "06:12:31 connect() failed (111: Connection refused), upstream 127.0.0.1:8001\n";
    folder.write("log/access.log", access);
    folder.write("log/error.log", errors);
    folder.write("log/deploy.log", "06:12:20 shop 4.2 is up, listening on 127.0.0.1:8010\n");
    folder.write("shop.conf", "location / {\n    root /srv/shop/static;\n}\n"
                              "location ~ ^/(cart|checkout) {\n    proxy_pass http://127.0.0.1:8001;\n    proxy_read_timeout 30s;\n}\n");
}

std::vector<Reply> service()
{
    auto count = object({{"command", "awk '{print $9, $7}' log/access.log | sort | uniq -c | sort -rn"}});
    auto search = object({{"pattern", "refused|listening"}, {"glob", "log/*"}});
    auto edit = object({{"file_path", "shop.conf"}, {"old_string", "127.0.0.1:8001"}, {"new_string", "127.0.0.1:8010"}});
    return {
        stream_of({call("c1", "bash", count.dump())}),
        stream_of({call("c2", "grep", search.dump())}),
        stream_of({text("**Found it.** The deploy of 06:12 moved the shop to another port; nginx still asks the old one:\n\n"
                        "| request | 502 | nginx asks | the shop listens |\n|---|--:|---|---|\n| `/` | 0 | static files | |\n"
                        "| `/cart` | 212 | port 8001 | port **8010** |\n| `/checkout` | 97 | port 8001 | port **8010** |\n\n"
                        "I correct `shop.conf`. Then this puts it to use:\n\n```sh\nnginx -t && systemctl reload nginx   # keeps open connections\n```\n"),
                   call("c3", "file_edit", edit.dump())}),
    };
}

// The program on a terminal of that size, as a person has it who sits before it.
class Sight {
public:
    Sight(const std::vector<std::string>& argv, const std::vector<std::string>& env) : screen(columns, rows)
    {
        winsize window{rows, columns, 0, 0};
        int master, slave;
        REQUIRE(openpty(&master, &slave, nullptr, nullptr, &window) == 0);
        master_ = Fd(master);
        Fd end(slave);
        auto program = Process::start({.argv = argv, .env = env, .in = slave, .out = slave, .err = slave});
        REQUIRE(program);
        program_ = std::move(*program);
    }

    void type(std::string_view keys) { REQUIRE(write_all(master_.get(), keys)); }

    bool shows(std::string_view words)
    {
        return eventually([&] { return look(), text().find(words) != std::string::npos; });
    }

    std::string text() const
    {
        std::string out;
        for (auto& row : screen.everything()) out += row + "\n";
        return out;
    }

    Screen screen;

private:
    void look()
    {
        Poll poll;
        poll.read(master_);
        poll.until(Clock::now() + std::chrono::milliseconds(20));
        poll.wait();
        char bytes[65536];
        if (poll.ready(master_))
            if (auto n = read(master_.get(), bytes, sizeof bytes); n > 0) screen.feed({bytes, static_cast<std::size_t>(n)});
        if (auto replies = screen.replies(); !replies.empty()) write_all(master_.get(), replies);
    }

    Fd master_;
    Process program_;
};

std::string picture() { return root() + "/man/conversation.svg"; }

std::string in_file() { return contents_of(picture()); }

}

TEST_CASE("picture: the README's is what the program shows")
{
    if (auto why = no_sandbox()) return skip(*why);   // which would stand in the picture
    Folder shop;
    Home home;
    std::filesystem::current_path(shop.path);
    furnish(shop);
    home.write(".config/ikigai/config.json", R"({"ask": ["file_edit"], "sandbox": "workspace"})");
    ModelServer server(service());
    Sight sight({ikigai(), "chat"}, environment_with(home.env({"OPENAI_BASE_URL=" + server.base_url(), "IKIGAI_MODEL=scripted", "TERM=xterm-256color",
                                                              "COLORTERM", "COLORFGBG", "LC_ALL=C.UTF-8", "IKIGAI_SANDBOX",
                                                              no_leak_check})));
    REQUIRE(sight.shows("❯"));
    sight.type("customers get 502 since this morning. what is wrong?\r");
    auto asked = sight.shows("no, and why");
    INFO(sight.text());
    REQUIRE(asked);
    auto now = picture_of(sight.screen, columns, rows, "ikigai chat");
    if (std::getenv("IKIGAI_PICTURE")) std::ofstream(picture(), std::ios::binary) << now;
    CHECK((now == in_file()));   // where the change is meant: make picture
}
