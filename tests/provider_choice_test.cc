#include "local_server.h"
#include "provider_choice.h"
#include "support/server.h"
#include "support/world.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

// These variables and no others that matter here, until the end.
class Variables {
public:
    Variables(std::initializer_list<std::pair<const char*, const char*>> set)
    {
        for (auto* name : {"OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"}) {
            auto* value = std::getenv(name);
            before_.emplace_back(name, value ? std::optional<std::string>(value) : std::nullopt);
            unsetenv(name);
        }
        for (auto& [name, value] : set) setenv(name, value, 1);
    }
    Variables(const Variables&) = delete;
    ~Variables()
    {
        for (auto& [name, value] : before_)
            if (value) setenv(name, value->c_str(), 1);
            else unsetenv(name);
    }

private:
    std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

std::string chosen(std::string_view provider, std::string_view model, std::string_view base_url = "")
{
    auto choice = choose_provider({.provider = std::string(provider), .model = std::string(model), .base_url = std::string(base_url)});
    return choice ? choice->provider + " " + choice->model + " " + choice->key : std::string(choice.error().code);
}

}

TEST_CASE("provider: by the model's name")
{
    Variables none{};
    CHECK(chosen("", "claude-sonnet-4-5") == "anthropic claude-sonnet-4-5 ");
    CHECK(chosen("", "gemini-2.5-pro") == "google gemini-2.5-pro ");
    for (auto* model : {"gpt-5", "o1", "o3-mini", "o4-mini", "chatgpt-4o-latest"}) CHECK(chosen("", model) == "openai-responses " + std::string(model) + " ");
    CHECK(chosen("", "gpt-oss", "http://127.0.0.1:11434/v1") == "openai-chat gpt-oss ");
    CHECK(chosen("", "llama3", "http://127.0.0.1:11434/v1") == "openai-chat llama3 ");
    CHECK(chosen("anthropic", "whatever") == "anthropic whatever ");
}

TEST_CASE("provider: by what is set")
{
    {
        Variables set{{"ANTHROPIC_API_KEY", "a"}};
        CHECK(chosen("", "") == "anthropic claude-sonnet-4-6 a");
    }
    {
        Variables set{{"GOOGLE_API_KEY", "second"}};
        CHECK(chosen("", "") == "google gemini-2.5-flash second");
    }
    {
        Variables set{{"GOOGLE_API_KEY", "second"}, {"GEMINI_API_KEY", "first"}};
        CHECK(choose_provider({})->key_source == "GEMINI_API_KEY");
    }
    {
        Variables set{{"OPENAI_API_KEY", "o"}, {"ANTHROPIC_API_KEY", "a"}};
        CHECK(chosen("", "") == "openai-responses gpt-5-mini o");
        CHECK(chosen("", "claude-x") == "anthropic claude-x a");
    }
    {
        Variables set{{"OPENAI_BASE_URL", "http://127.0.0.1:8080/v1"}};
        CHECK(chosen("", "qwen") == "openai-chat qwen ");
        CHECK(chosen("", "") == "USAGE");   // no model is known there
    }
}

TEST_CASE("provider: what to do when nothing says which")
{
    Variables none{};
    auto choice = choose_provider({});
    REQUIRE(!choice);
    for (auto* name : {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_BASE_URL", "--provider offline"}) CHECK(choice.error().message.find(name) != std::string::npos);
    CHECK(choose_provider({.provider = "antropic"}).error().message.find("Did you mean: anthropic?") != std::string::npos);
}

TEST_CASE("local server: one that answers with its models, within its time")
{
    Reply models{.pieces = {R"({"object":"list","data":[{"id":"qwen3:8b"},{"id":"other"}]})"}, .headers = {"Content-Type: application/json"}};
    Reply hangs{.ending = Reply::hang}, welcome{.pieces = {"<html>{}</html>"}};
    ModelServer there({models}), silent({hangs}), page({welcome}), refusing({refusal(404, "no")});
    ServerKind kinds[] = {{"silent", silent.port()}, {"page", page.port()}, {"nobody", closed_port()}, {"refusing", refusing.port()}, {"there", there.port()}};
    auto before = std::chrono::steady_clock::now();
    auto found = local_servers(kinds);
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(3));
    REQUIRE(found.size() == 1);
    CHECK(found[0].name == "there");
    CHECK(found[0].model == "qwen3:8b");
    CHECK(found[0].base_url == there.base_url());
    CHECK(there.requests().at(0).path == "/v1/models");
}

TEST_CASE("local server: nobody else's socket is asked")
{
    auto table = [](std::string uid) {
        return "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
               "   0: 0100007F:2CAA 00000000:0000 0A 00000000:00000000 00:00000000 00000000  " + uid + "        0 1 1 0\n";
    };
    CHECK(listens_for(1000, 11434, table("1000")));
    CHECK(listens_for(1000, 11434, table("0")));
    CHECK(!listens_for(1000, 11434, table("1001")));
    CHECK(!listens_for(1000, 11434, table("0") + table("1001")));   // the more special address would win
    CHECK(!listens_for(1000, 8080, table("1000")));
    CHECK(!listens_for(1000, 11434, "   0: 0100007F:2CAA 0100007F:0050 01 00000000:00000000 00:00000000 00000000  1000        0 1 1 0\n"));
    CHECK(listens_for(1000, 11434, "   0: 00000000000000000000000000000000:2CAA 00000000000000000000000000000000:0000 0A 0:0 0:0 0 1000 0 1\n"));
    CHECK(!listens_for(1000, 11434, "nonsense\n\n 1 2 3"));
}
