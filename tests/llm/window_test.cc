#include "llm/window.h"

#include <catch2/catch.hpp>
#include <map>

using namespace ik;
using namespace ik::providers;

namespace {

// A server with these pages; what it was asked, in order.
struct Pages {
    std::map<std::string, std::string> pages;
    std::vector<std::string> asked = {};

    std::string line(std::string_view model = "m", std::string_view base = "/v1")
    {
        auto ask = [&](const std::string& path, const Json* body) -> std::optional<Json> {
            asked.push_back((body ? "POST " : "GET ") + path);
            auto page = pages.find(path);
            auto json = page == pages.end() ? Result<Json>(Json()) : parse_json(page->second);
            return page == pages.end() || !json ? std::nullopt : std::optional(*json);
        };
        return window_line(model, base, ask).dump();
    }
};

const std::string none = R"({"type":"window"})";
std::string models(const std::string& owner, const std::string& more = "") { return R"({"data":[{"id":"other"},{"id":"m","owned_by":")" + owner + "\"" + more + "}]}"; }
std::string shown(const std::string& parameters) { return R"({"parameters":")" + parameters + R"(","model_info":{"general.architecture":"llama","llama.context_length":131072}})"; }

}

TEST_CASE("window: of vLLM, in its list of models")
{
    Pages server{{{"/v1/models", models("vllm", R"(,"max_model_len":32768)")}}};
    CHECK(server.line() == R"({"type":"window","server":"vLLM","context_tokens":32768})");
    CHECK(server.asked == std::vector<std::string>{"GET /v1/models"});
}

TEST_CASE("window: of llama-server, each slot's")
{
    Pages server{{{"/v1/models", models("llamacpp")}, {"/props", R"({"default_generation_settings":{"n_ctx":8192}})"}}};
    CHECK(server.line() == R"({"type":"window","server":"llama-server","context_tokens":8192})");
    CHECK(server.asked == std::vector<std::string>{"GET /v1/models", "GET /props"});
}

TEST_CASE("window: of LM Studio, the loaded model's")
{
    Pages server{{{"/v1/models", models("organization_owner")}, {"/api/v0/models", R"({"data":[{"id":"m","max_context_length":131072,"loaded_context_length":4096}]})"}}};
    CHECK(server.line() == R"({"type":"window","server":"LM Studio","context_tokens":4096})");
}

TEST_CASE("window: of Ollama, which cuts without a word")
{
    SECTION("nothing is set and nothing is loaded: its usual one, perhaps")
    {
        Pages server{{{"/v1/models", models("library")}, {"/api/show", shown("stop x")}}};
        CHECK(server.line() == R"({"type":"window","server":"Ollama","context_tokens":4096,"assumed":true,"cuts":true})");
    }
    SECTION("num_ctx in the model's parameters")
    {
        Pages server{{{"/v1/models", models("library")}, {"/api/show", shown("stop x\\nnum_ctx                        16384")}}};
        CHECK(server.line() == R"({"type":"window","server":"Ollama","context_tokens":16384,"cuts":true})");
    }
    SECTION("a loaded one's counts, whoever owns it; :latest is understood")
    {
        Pages server{{{"/v1/models", models("me")}, {"/api/show", shown("num_ctx 16384")}, {"/api/ps", R"({"models":[{"name":"m:latest","context_length":32768}]})"}}};
        CHECK(server.line() == R"({"type":"window","server":"Ollama","context_tokens":32768,"cuts":true})");
    }
    SECTION("a model that reads less than is usual")
    {
        Pages server{{{"/v1/models", models("library")}, {"/api/show", R"({"model_info":{"a.context_length":2048}})"}}};
        CHECK(server.line() == R"({"type":"window","server":"Ollama","context_tokens":2048,"cuts":true})");
    }
}

TEST_CASE("window: of anything else nothing is known")
{
    CHECK(Pages{{}}.line() == none);
    CHECK(Pages{{{"/v1/models", "[]"}}}.line() == none);
    CHECK(Pages{{{"/v1/models", R"({"data":7})"}}}.line() == none);
    CHECK(Pages{{{"/v1/models", models("llamacpp")}, {"/props", R"({"default_generation_settings":{"n_ctx":"many"}})"}}}.line() == none);
    Pages elsewhere{{{"/api/models", models("me")}, {"/api/props", R"({"default_generation_settings":{"n_ctx":512}})"}}};
    CHECK(elsewhere.line("m", "/api") == R"({"type":"window","server":"llama-server","context_tokens":512})");
}
