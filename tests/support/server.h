// ModelServer: a model's service on the loopback, played from a script. It answers the requests in
// the order of its replies, whatever their paths, and keeps what it was asked.
//
//     ModelServer server({stream_of({call("c1", "bash", R"({"command":"ls"})")}), stream_of({text("Done.")})});
//     … OPENAI_BASE_URL=server.base_url() …
//     CHECK(server.requests()[1].json().find("messages") …);
//
// A request beyond the script is answered with HTTP 400. Everything ends with the object.
#pragma once

#include "base/fd.h"
#include "base/json.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace ik::test {

struct Reply {
    enum Ending {
        whole,      // the connection stays open for the next request
        closing,    // complete, then the connection is closed without having said so
        cut,        // closed in the middle of the body
        reset,      // the same, with a TCP reset
        hang,       // nothing more comes
    };
    int status = 200;
    std::vector<std::string> pieces = {};    // of the body; each is one write
    std::vector<std::string> headers = {"Content-Type: text/event-stream"};
    Ending ending = whole;
    std::size_t hold_before = SIZE_MAX;      // the piece that waits for server.go_on()
    std::string raw = {};                    // these bytes instead of an HTTP answer
};

struct Request {
    std::string method, path;
    std::vector<std::string> headers;        // "Name: value", as they came
    std::string body;
    int connection = 0;                      // 1, 2, … in the order they were opened

    Json json() const;
    std::string header(std::string_view name) const;   // empty when there is none
};

class ModelServer {
public:
    enum Family { v4, v6 };
    explicit ModelServer(std::vector<Reply> replies, Family family = v4);
    ModelServer(const ModelServer&) = delete;
    ~ModelServer();

    int port() const { return port_; }
    std::string base_url() const { return (family_ == v4 ? "http://127.0.0.1:" : "http://[::1]:") + std::to_string(port_) + "/v1"; }

    std::vector<Request> requests() const;
    bool asked(std::size_t times) const;     // waits until that many requests have come; false after 10 s
    int connections() const { return opened_; }
    void beyond(std::function<Reply(const Request&)> answer);   // answers what is asked beyond the script
    void go_on();                            // lets one held piece through

private:
    void accept_all();
    void serve(Fd connection, int number);
    bool answer(int fd, const Reply&);
    bool held();
    Reply next(Request);

    Fd listener_;
    Pipe stop_;                              // closed: everything ends
    Family family_;
    int port_ = 0;                           // 0: the loopback has no such addresses here
    std::atomic<int> opened_ = 0;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::vector<Reply> replies_;
    std::function<Reply(const Request&)> beyond_;
    std::vector<Request> requests_;
    std::vector<std::thread> threads_;       // one a connection
    std::thread accepter_;
    int passes_ = 0;
    bool stopping_ = false;
};

// A proxy on the loopback that opens a tunnel to one port of it, whatever host it is asked for.
class TunnelProxy {
public:
    explicit TunnelProxy(int to);
    TunnelProxy(const TunnelProxy&) = delete;
    ~TunnelProxy();

    int port() const { return port_; }
    std::vector<std::string> heads() const;   // what it was asked, up to the empty line

private:
    void serve();
    void tunnel(int client);

    int to_, port_ = 0;
    Fd listener_;
    Pipe stop_;
    mutable std::mutex mutex_;
    std::vector<std::string> heads_;
    std::thread thread_;
};

// A port of the loopback where nobody listens.
int closed_port();

// Pieces of a Chat Completions stream, and a whole stream of them: the finish reason, the usage and [DONE] are added.
std::string text(std::string_view delta);
std::string thinking(std::string_view delta);
std::string call(std::string_view id, std::string_view name, std::string_view arguments, int index = 0);
Reply stream_of(std::vector<std::string> pieces);

// {"error":{"message":…,"type":…}} with a status.
Reply refusal(int status, std::string_view message, std::vector<std::string> headers = {});

// One event of any stream.
std::string event(std::string_view data);

}
