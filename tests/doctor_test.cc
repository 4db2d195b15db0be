// `ikigai doctor` and `ikigai models` against a service on the loopback.
#include "support/server.h"
#include "support/world.h"

#include "base/text.h"

#include <catch2/catch.hpp>
#include <ctime>

using namespace ik;
using namespace ik::test;

namespace {

Reply model_list(std::vector<std::string> headers = {})
{
    headers.push_back("Content-Type: application/json");
    return {.pieces = {R"({"object":"list","data":[{"id":"gpt-5-mini"},{"id":"claude-haiku-4-5"},{"id":"homemade"}]})"}, .headers = headers};
}

std::string http_date(std::time_t time)
{
    char text[64];
    std::tm parts{};
    gmtime_r(&time, &parts);
    std::strftime(text, sizeof text, "Date: %a, %d %b %Y %H:%M:%S GMT", &parts);
    return text;
}

Ran doctor(const Home& home, const ModelServer& server, std::vector<std::string> words = {}, std::vector<std::string> env = {})
{
    words.insert(words.begin(), "doctor");
    env.insert(env.end(), {"OPENAI_BASE_URL=" + server.base_url(), "IKIGAI_MODEL=homemade", "LC_ALL=C.UTF-8", "NO_PROXY=127.0.0.1"});
    return ikigai(home, words, "", env);
}

// The line of a check.
std::string line(const Ran& ran, const std::string& name)
{
    for (auto each : split(ran.out, '\n'))
        if (each.size() > 5 && each.substr(5).starts_with(name + " ")) return std::string(each);
    return "";
}

}

TEST_CASE("doctor: everything in order")
{
    Home home;
    ModelServer server({model_list({http_date(std::time(nullptr))})});
    auto ran = doctor(home, server, {}, {"OPENAI_API_KEY=sekret"});
    INFO(ran.out << ran.err);
    CHECK(ran.status == 0);
    CHECK(ran.err == "");
    CHECK(ran.out.find("sekret") == std::string::npos);
    CHECK(ran.out.find("warn") == std::string::npos);
    CHECK(ran.out.find("FAIL") == std::string::npos);
    CHECK(line(ran, "program").find("ikigai 0.1.0") != std::string::npos);
    CHECK(line(ran, "tools").find("bash, file_edit") != std::string::npos);
    CHECK(line(ran, "provider") == "ok   provider     openai (openai-chat), model homemade, key from OPENAI_API_KEY, " + server.base_url());
    CHECK(line(ran, "name") == "ok   name         127.0.0.1 is 127.0.0.1");
    CHECK(line(ran, "service").find(" ms, 3 models") != std::string::npos);
    CHECK(line(ran, "clock") == "ok   clock        right");
    CHECK(server.requests().at(0).path == "/v1/models");
}

TEST_CASE("doctor: what would make a conversation fail fails, and says what to do")
{
    Home home;
    auto none = ikigai(home, {"doctor"});
    CHECK(none.status == 1);
    CHECK(line(none, "provider").starts_with("FAIL provider     No provider: set OPENAI_API_KEY"));

    auto no_key = ikigai(home, {"doctor", "--provider", "anthropic"});
    CHECK(no_key.status == 1);
    CHECK(line(no_key, "key").starts_with("FAIL key          No key for anthropic: set ANTHROPIC_API_KEY"));

    ModelServer server({refusal(401, "bad key")});
    auto refused = doctor(home, server, {}, {"OPENAI_API_KEY=sekret"});
    CHECK(refused.status == 1);
    CHECK(line(refused, "service").starts_with("FAIL service      bad key (HTTP 401"));
    CHECK(line(refused, "service").find("The key came from OPENAI_API_KEY") != std::string::npos);

    auto closed = ikigai(home, {"doctor", "--model", "m", "--base-url", "http://127.0.0.1:" + std::to_string(closed_port()) + "/v1"});
    CHECK(closed.status == 1);
    CHECK(line(closed, "service").find("connection refused") != std::string::npos);

    auto certificates = ikigai(home, {"doctor", "--model", "m", "--base-url", "https://127.0.0.1:9/v1"}, "", {"SSL_CERT_FILE=/nowhere"});
    CHECK(line(certificates, "certificates").starts_with("FAIL certificates /nowhere: no such file"));
}

TEST_CASE("doctor: what only may hurt is a warning")
{
    Home home;
    home.write(".config/ikigai/config.json", "{\"modle\":1}");
    home.write(".config/ikigai/credentials.json", "{}", 0644);
    home.write(".local/state/ikigai/x", "", 0644);
    home.tool("broken", "#!/bin/sh\nexit 3\n");
    ModelServer server({refusal(404, "no such path")});
    auto ran = doctor(home, server, {}, {"LC_ALL=C"});
    CHECK(ran.status == 0);
    CHECK(ran.out.find("warn settings     " + home / ".config/ikigai/config.json" + ":1: unknown key \"modle\" (did you mean \"model\"?)\n") != std::string::npos);
    CHECK(line(ran, "keys").find("chmod 600") != std::string::npos);
    CHECK(line(ran, "state").find("run chmod 700") != std::string::npos);
    CHECK(ran.out.find("warn tools        skipped " + home / ".ikigai/tools/broken" + " (exit 3)\n") != std::string::npos);
    CHECK(line(ran, "service").starts_with("warn service      answers, but does not list its models"));
}

TEST_CASE("doctor: a clock that is wrong, a model that is not there")
{
    Home home;
    ModelServer server({model_list({http_date(std::time(nullptr) - 3600)})});
    auto ran = doctor(home, server, {"--model", "homemad3"});
    CHECK(line(ran, "clock").starts_with("warn clock        36"));
    CHECK(line(ran, "service").find("but not homemad3. Did you mean: homemade?") != std::string::npos);
    CHECK(ran.status == 0);
}

TEST_CASE("doctor: as one object")
{
    Home home;
    auto ran = ikigai(home, {"doctor", "--json", "--provider", "offline"});
    auto json = parse_json(ran.out);
    REQUIRE(json);
    CHECK(ran.status == 0);
    CHECK(*json->find("ok") == Json(true));
    CHECK(json->find("checks")->as<Json::Array>()->at(0).text("check") == "program");
    CHECK(json->find("checks")->as<Json::Array>()->at(0).text("verdict") == "ok");
}

TEST_CASE("models: one a line, with what is known of it")
{
    Home home;
    home.write(".config/ikigai/config.json", R"({"prices":{"home":{"input":0.5,"output":2}}})");
    ModelServer server({model_list(), model_list()});
    auto ran = ikigai(home, {"models", "--base-url", server.base_url()});
    CHECK(ran.out == "claude-haiku-4-5  200k  $1 in, $5 out a million tokens\n"
                     "gpt-5-mini        400k  $0.25 in, $2 out a million tokens\n"
                     "homemade                $0.5 in, $2 out a million tokens\n");
    CHECK(ran.status == 0);
    auto json = ikigai(home, {"models", "--json", "--base-url", server.base_url()});
    CHECK(json.out.starts_with(R"({"models":[{"name":"claude-haiku-4-5","context_tokens":200000,"output_tokens":64000,"price":{"input":1.0,"output":5.0,"cached":0.1}},)"));
}

TEST_CASE("models: what went wrong, in the words of an answer")
{
    Home home;
    ModelServer server({refusal(401, "bad key"), {.pieces = {"<html>"}, .headers = {"Content-Type: text/html"}}});
    auto refused = ikigai(home, {"models", "--base-url", server.base_url()});
    CHECK(refused.status == 1);
    CHECK(refused.err == "ikigai: bad key (HTTP 401, openai-chat). No key was sent.\n");
    auto page = ikigai(home, {"models", "--base-url", server.base_url()});
    CHECK(page.err.find("did not answer with a list of models") != std::string::npos);
    auto none = ikigai(home, {"models"});
    CHECK(none.status == 2);
    CHECK(ikigai(home, {"models", "--provider", "offline"}).out == "offline\n");
}
