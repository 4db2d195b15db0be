// Providers of the configuration and where their keys come from, as a user meets them; and that a key
// is seen nowhere else.
#include "support/server.h"
#include "support/world.h"

#include "base/child.h"
#include "base/text.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;

constexpr const char* config_file = ".config/ikigai/config.json";
constexpr const char* keys_file = ".config/ikigai/credentials.json";

void declare(const Home& home, const ModelServer& server, const std::string& more)
{
    home.write(config_file, "{\"providers\":{\"work\":{\"dialect\":\"openai-chat\",\"model\":\"m\",\"base_url\":\"" + server.base_url() + "\"" + more + "}}}");
}

Ran ask(const Home& home, std::vector<std::string> env = {}) { return ikigai(home, {"chat", "-p", "hi", "--provider", "work"}, "", env); }

std::string sent_key(const ModelServer& server, std::size_t request = 0) { return server.requests().at(request).header("Authorization"); }

}

TEST_CASE("declared provider: address, model, headers and strict schemas")
{
    Home home;
    ModelServer server({stream_of({text("yes")})});
    declare(home, server, R"(,"headers":{"X-Team":"ops"},"strict":true)");
    auto ran = ask(home, {"OPENAI_API_KEY=not-for-them"});
    INFO(ran.err);
    CHECK(ran.out == "yes\n");
    auto request = server.requests().at(0);
    CHECK(request.path == "/v1/chat/completions");
    CHECK(request.header("X-Team") == "ops");
    CHECK(request.header("Authorization") == "");   // OpenAI's key is OpenAI's
    CHECK(request.json().text("model") == "m");
    CHECK(request.body.find("\"strict\":true") != std::string::npos);
}

TEST_CASE("declared provider: the only one is chosen without a word")
{
    Home home;
    ModelServer server({stream_of({text("yes")})});
    declare(home, server, "");
    CHECK(ikigai(home, {"-p", "hi"}).out == "yes\n");
}

TEST_CASE("declared provider: the key of a variable, of the file, of a command, in this order")
{
    Home home;
    ModelServer server({stream_of({text("1")}), stream_of({text("2")}), stream_of({text("3")})});
    declare(home, server, R"(,"key_variable":"WORK_LOGIN","key_command":"echo from-command; echo second line; echo words >&2")");
    CHECK(ask(home).out == "1\n");
    CHECK(sent_key(server, 0) == "Bearer from-command");
    home.write(keys_file, R"({"providers":{"work":{"api_key":"from-file"}}})", 0600);
    CHECK(ask(home).out == "2\n");
    CHECK(sent_key(server, 1) == "Bearer from-file");
    CHECK(ask(home, {"WORK_LOGIN=from-variable"}).out == "3\n");
    CHECK(sent_key(server, 2) == "Bearer from-variable");
}

TEST_CASE("declared provider: a key that cannot be had is one sentence and status 2")
{
    Home home;
    ModelServer server({});
    auto says = [&](const std::string& more) {
        declare(home, server, more);
        auto ran = ask(home);
        CHECK(ran.status == 2);
        CHECK(ran.out == "");
        return ran.err;
    };
    CHECK(says(R"(,"key_command":"echo 'pass: not in the store' >&2; exit 3")") == "ikigai: The key_command of the provider work failed (exit 3): pass: not in the store\n");
    CHECK(says(R"(,"key_command":"true")") == "ikigai: The key_command of the provider work printed no key\n");
    CHECK(says(R"(,"key_variable":"WORK_KEY")") == "ikigai: No key for work: set WORK_KEY\n");
    auto wrong = ikigai(home, {"chat", "-p", "hi", "--provider", "wrok"});
    CHECK(wrong.err == "ikigai: Unknown provider: wrok. Did you mean: work?\n");
    CHECK(wrong.status == 2);
}

TEST_CASE("credentials: both forms of the file, after the environment; an empty value is none")
{
    Home home;
    ModelServer server({stream_of({text("1")}), stream_of({text("2")}), stream_of({text("3")}), stream_of({text("4")})});
    auto key = [&, n = std::size_t(0)](std::string file, std::vector<std::string> env = {}) mutable {
        home.write(keys_file, file, 0600);
        auto ran = ikigai(home, {"chat", "-p", "hi", "--provider", "openai", "--base-url", server.base_url(), "--model", "m"}, "", env);
        CHECK(ran.err == "");
        return sent_key(server, n++);
    };
    CHECK(key(R"({"openai":{"api_key":"nested"}})") == "Bearer nested");
    CHECK(key(R"({"OPENAI_API_KEY":"flat"})") == "Bearer flat");
    CHECK(key(R"({"OPENAI_API_KEY":"","openai":{"api_key":"nested"}})", {"OPENAI_API_KEY="}) == "Bearer nested");
    CHECK(key(R"({"openai":{"api_key":"nested"}})", {"OPENAI_API_KEY=variable"}) == "Bearer variable");
}

TEST_CASE("credentials: a refused key names the file, a file that others can read is not used")
{
    Home home;
    ModelServer server({refusal(401, "bad key")});
    home.write(keys_file, R"({"openai":{"api_key":"nested"}})", 0600);
    auto ran = ikigai(home, {"chat", "-p", "hi", "--provider", "openai-chat", "--base-url", server.base_url(), "--model", "m"});
    CHECK(ran.err.find("The key came from " + home / keys_file + ": check it.") != std::string::npos);

    chmod((home / keys_file).c_str(), 0644);
    auto open = ikigai(home, {"chat", "-p", "hi", "--provider", "openai-chat"});
    CHECK(open.status == 2);
    CHECK(open.err.find(home / keys_file + ": not used: others can read " + home / keys_file + ": run chmod 600 " + home / keys_file + "\n") != std::string::npos);
    CHECK(open.err.find("nested") == std::string::npos);
}

TEST_CASE("keys: in no process's environment or command line, in no output, in no file")
{
    const std::string key = "sk-verysecretkey123", login = "hunterhunter22", web = "BSAbravekey";
    Home home;
    ModelServer server({stream_of({call("c1", "bash", R"({"command":"env; tr '\\0' '\\n' </proc/$PPID/environ; touch up; while ! [ -e seen ]; do sleep 0.01; done"})"),
                                   call("c2", "told", "{}", 1)}),
                        refusal(400, "no")});
    declare(home, server, R"(,"key_variable":"WORK_LOGIN")");
    home.tool("told", "#!/bin/sh\n[ \"$1\" ] && echo '{\"name\":\"told\",\"description\":\"x\"}' && exit\nenv >told.txt; echo '{}'\n");
    auto env = environment_with(home.env({"OPENAI_API_KEY=" + key, "WORK_LOGIN=" + login, "BRAVE_API_KEY=" + web}));
    auto child = Child::start({.argv = {ikigai(), "chat", "-p", "hi", "--provider", "work", "--output-format", "stream-json"}, .env = env, .limit = std::chrono::seconds(30)});
    REQUIRE(child);
    std::string seen;
    std::size_t looked_at = 0;
    while (!child->exit) {
        Poll poll;
        child->add_to(poll);
        poll.until(Clock::now() + std::chrono::milliseconds(20));
        poll.wait();
        child->advance(poll);
        if (!fs::exists("up") || fs::exists("seen"))
            continue;
        std::vector<std::string> ours{std::to_string(child->id())};
        for (std::size_t i = 0; i < ours.size(); ++i)
            for (auto& entry : fs::directory_iterator("/proc")) {
                if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
                auto stat = contents_of(entry.path() / "stat");
                auto after = stat.rfind(") ");
                if (after != stat.npos && stat.substr(after + 4, stat.find(' ', after + 4) - after - 4) == ours[i]) ours.push_back(entry.path().filename());
            }
        for (auto& id : ours) {
            for (auto* what : {"environ", "cmdline"}) seen += contents_of("/proc/" + id + "/" + what);
            ++looked_at;
        }
        home.write("seen", "");
    }
    CHECK(looked_at >= 4);   // the supervisor, the chat, the model's child, the shell
    CHECK(!seen.empty());
    auto told = home.read("told.txt");
    CHECK(told.find("PATH=") != std::string::npos);
    std::string files;
    for (auto& entry : fs::recursive_directory_iterator(home.path))
        if (entry.is_regular_file()) files += contents_of(entry.path());
    for (auto& secret : {key, login, web})
        for (auto* text : {&seen, &files, &child->out, &child->err}) {
            INFO(secret);
            CHECK(text->find(secret) == std::string::npos);
        }
    REQUIRE(server.requests().size() == 2);
    CHECK(sent_key(server) == "Bearer " + login);
    CHECK(server.requests()[1].body.find(login) == std::string::npos);
}
