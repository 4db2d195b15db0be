#include "llm/models.h"

#include <catch2/catch.hpp>

using namespace ik::providers;

TEST_CASE("models: the row that fits best")
{
    CHECK(model_named("claude-sonnet-4-5-20250929").in == 3);
    CHECK(model_named("claude-sonnet-4-5-20250929").thinking == Thinking::budget);
    CHECK(model_named("anthropic/claude-opus-4-6").thinking == Thinking::adaptive);
    CHECK(model_named("claude-something-new").thinking == Thinking::adaptive_hidden);
    CHECK(model_named("gpt-5-mini-2025-08-07").out == 2);
    CHECK(model_named("gpt-5").in == 1.25);
    CHECK(model_named("gpt-5.9").thinking == Thinking::effort);
    CHECK(model_named("gpt-5-chat-latest").thinking == Thinking::none);
    CHECK(model_named("gpt-4o-mini").in == 0.15);
    CHECK(model_named("gemini-2.5-flash-lite").out == 0.4);
    CHECK(model_named("gemini-9").thinking == Thinking::level);
    CHECK(model_named("qwen3:8b").context == 0);
    CHECK(model_named("").start.empty());
}
