#include "base/config.h"
#include "support/world.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>

using namespace ik;
using namespace ik::test;

namespace {

constexpr ConfigKey keys[] = {
    {"model", Kind::text},       {"thinking", Kind::text, "none|low"}, {"turns", Kind::integer, "", 1}, {"time", Kind::number},
    {"loud", Kind::boolean},     {"tools", Kind::texts},               {"providers", Kind::object},
};

ConfigFile config(const Folder& folder, std::string_view text, int mode = 0644)
{
    folder.write("config.json", text, mode);
    return read_config("config.json", keys);
}

std::string values(const ConfigFile& file)
{
    std::string out;
    for (auto& value : file.values) out += value.origin + " " + value.name + "=" + value.value.dump() + "\n";
    return out;
}

using Lines = std::vector<std::string>;

}

TEST_CASE("config: comments, trailing commas, and where each value is")
{
    Folder folder;
    auto file = config(folder, "\xEF\xBB\xBF// mine\n{\n  \"model\": \"m\", /* two\nlines */ \"turns\": 3,\n\n"
                               "  \"tools\": [\"a\", \"b\",],\n  \"providers\": {\n    \"work\": {\n      \"model\": \"x\"}}, \"time\": 2.5, \"loud\": true,\n}\n// end\n");
    CHECK(file.warnings == Lines{});
    CHECK(values(file) == "config.json:3 model=\"m\"\nconfig.json:4 turns=3\nconfig.json:6 tools=[\"a\",\"b\"]\n"
                          "config.json:7 providers={\"work\":{\"model\":\"x\"}}\nconfig.json:9 time=2.5\nconfig.json:9 loud=true\n");
    CHECK(file.place("providers.work.model") == "config.json:9");
}

TEST_CASE("config: what is wrong is named with its line and ignored, the rest is used")
{
    Folder folder;
    auto file = config(folder, "{\n\"modle\": \"m\",\n\"turns\": 1.5,\n\"time\": 1,\n\"tools\": [1],\n\"thinking\": \"loud\",\n\"zzzzzz\": 1,\n\"loud\": 1,\n\"providers\": []\n,\"turns\": 0,\"time\":2}");
    CHECK(file.warnings == Lines{"config.json:2: unknown key \"modle\" (did you mean \"model\"?)", "config.json:3: \"turns\" must be an integer",
                                 "config.json:5: \"tools\" must be a list of strings", "config.json:6: \"thinking\" must be one of none, low",
                                 "config.json:7: unknown key \"zzzzzz\"", "config.json:8: \"loud\" must be true or false",
                                 "config.json:9: \"providers\" must be an object", "config.json:3: \"turns\" must be at least 1",
                                 "config.json:4: \"time\" is there twice: the first counts"});
    CHECK(values(file) == "config.json:4 time=1\n");
}

TEST_CASE("config: a broken file says where and why, and is not used")
{
    Folder folder;
    CHECK(config(folder, "{\n\"model\": \"m\"\n\"turns\": 1\n}").warnings == Lines{"config.json:3: Missing a comma or '}' after an object member. The file is not used."});
    CHECK(config(folder, "[1]").warnings == Lines{"config.json:1: must be an object. The file is not used."});
    CHECK(config(folder, "").warnings == Lines{"config.json:1: The document is empty. The file is not used."});
    CHECK(config(folder, "{} x").warnings.size() == 1);
    CHECK(config(folder, "{ /* no end").warnings.size() == 1);
    CHECK(config(folder, "{\"model\":" + std::string(2000, '[')).warnings.size() == 1);
    CHECK(config(folder, std::string((1 << 20) + 1, ' ')).warnings == Lines{"config.json: not used: config.json is larger than 1 MB"});
    CHECK(!config(folder, "{").there);
}

TEST_CASE("config: a missing file is none, a folder in its place is a warning")
{
    Folder folder;
    CHECK(read_config("none.json", keys).warnings == Lines{});
    folder.write("config.json/x", "");
    CHECK(read_config("config.json", keys).warnings == Lines{"config.json: not used: Failed to read file: config.json"});
}

TEST_CASE("config: a file that others can write is refused with what to run")
{
    Folder folder;
    CHECK(config(folder, "{\"model\":\"m\"}", 0664).warnings == Lines{"config.json: not used: others can write to config.json: run chmod go-w config.json"});
    CHECK(config(folder, "{\"model\":\"m\"}", 0646).values.empty());
    CHECK(config(folder, "{\"model\":\"m\"}", 0644).values.size() == 1);
    chmod(folder.path.c_str(), 0777);
    CHECK(config(folder, "{\"model\":\"m\"}").warnings == Lines{"config.json: not used: others can write to the folder of config.json: run chmod go-w ."});
    chmod(folder.path.c_str(), 0755);
    if (!is_root())
        return skip("only root can give a file away");
    REQUIRE(chown("config.json", 12345, 12345) == 0);
    CHECK(read_config("config.json", keys).warnings == Lines{"config.json: not used: config.json belongs to another user (12345): chown it, or remove it"});
}

TEST_CASE("config: a variable's text becomes the value of its kind")
{
    CHECK(*value_of(keys[0], "x") == Json("x"));
    CHECK(*value_of(keys[2], " 7 ") == Json(7));
    CHECK(*value_of(keys[3], "0.5") == Json(0.5));
    CHECK(*value_of(keys[4], "true") == Json(true));
    CHECK(value_of(keys[5], "a, b,")->dump() == R"(["a","b"])");
    CHECK(value_of(keys[2], "many").error().message == "must be an integer");
    CHECK(value_of(keys[2], "0").error().message == "must be at least 1");
    CHECK(value_of(keys[1], "high").error().message == "must be one of none, low");
    CHECK(value_of(keys[3], "nan").error().message == "must be at least 0");
}
