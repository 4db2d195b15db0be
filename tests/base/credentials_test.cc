#include "base/credentials.h"
#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

TEST_CASE("credentials: a text by its names")
{
    Folder folder;
    folder.write("keys.json", "{ // mine\n\"openai\": {\"api_key\": \"a\"}, \"OPENAI_API_KEY\": \"b\", \"empty\": \"\", \"number\": 1, }", 0600);
    auto keys = read_credentials("keys.json");
    CHECK(keys.warning == "");
    CHECK(keys.at({"openai", "api_key"}) == "a");
    CHECK(keys.at({"OPENAI_API_KEY"}) == "b");
    CHECK(keys.at({"empty"}) == "");
    CHECK(keys.at({"number"}) == "");
    CHECK(keys.at({"openai"}) == "");
    CHECK(keys.at({"google", "api_key"}) == "");
    CHECK(keys.at({"openai", "api_key", "more"}) == "");
}

TEST_CASE("credentials: a missing file has none, a broken one says where")
{
    Folder folder;
    CHECK(read_credentials("none").warning == "");
    CHECK(read_credentials("").warning == "");
    CHECK(read_credentials("none").at({"x"}) == "");
    folder.write("keys.json", "{\n\"a\": \"secret\"\n\"b\"", 0600);
    CHECK(read_credentials("keys.json").warning == "keys.json:3: Missing a comma or '}' after an object member. The file is not used.");
}

TEST_CASE("credentials: a file that others can read is refused")
{
    Folder folder;
    for (int mode : {0640, 0604, 0622, 0610}) {
        folder.write("keys.json", "{\"a\":\"secret\"}", mode);
        auto keys = read_credentials("keys.json");
        CHECK(keys.at({"a"}) == "");
        CHECK(keys.warning == "keys.json: not used: others can read keys.json: run chmod 600 keys.json");
    }
    folder.write("keys.json", "{\"a\":\"secret\"}", 0400);
    CHECK(read_credentials("keys.json").at({"a"}) == "secret");
}
