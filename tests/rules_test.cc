// Rules from the settings, from "always", and from the administrator.
#include "rules.h"

#include "support/world.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

using Lines = std::vector<std::string>;

// A home that this process has too, and a root with an /etc.
struct Place : Home {
    Place() : home_(std::getenv("HOME") ? std::getenv("HOME") : "")
    {
        setenv("HOME", path.c_str(), 1);
        for (auto* name : {"XDG_CONFIG_HOME", "IKIGAI_APPROVE", "IKIGAI_ALLOW", "IKIGAI_ASK", "IKIGAI_DENY"}) unsetenv(name);
    }
    ~Place() { setenv("HOME", home_.c_str(), 1); }

    Result<Rules> rules(bool can_sandbox = true, uid_t owner = geteuid()) const
    {
        return read_rules(read_settings({.root = path + "/root"}), {.root = path + "/root", .owner = owner, .can_sandbox = can_sandbox});
    }
    void bound(const std::string& text, int mode = 0644) const { write("root/etc/ikigai/policy.json", text, mode); }

private:
    std::string home_;
};

Lines texts(const std::vector<Rule>& rules)
{
    Lines out;
    for (auto& rule : rules) out.push_back(rule.text);
    return out;
}

constexpr const char* rules_file = ".config/ikigai/rules.json";

}

TEST_CASE("rules: the settings and what always has written, added up")
{
    Place place;
    place.write(".config/ikigai/config.json", R"j({"approve":"edits","allow":["bash(ls:*)","bash(git *)"],"deny":["bash(rm:*)","glob(x)"]})j");
    place.write(rules_file, R"j({"allow":["bash(ls:*)","web_fetch(domain:a.org)"]})j");
    auto rules = place.rules();
    REQUIRE(rules);
    CHECK(rules->policy.approve == Approve::edits);
    CHECK(texts(rules->policy.allow) == Lines{"bash(ls:*)", "web_fetch(domain:a.org)"});
    CHECK(texts(rules->policy.deny) == Lines{"bash(rm:*)"});
    auto file = place / ".config/ikigai/config.json";
    CHECK(rules->warnings == Lines{file + ":1: bash(git *): write bash(git:*) for a command with any arguments", file + ":1: glob(x): glob takes no pattern"});
    place.write(".config/ikigai/config.json", "{}");
    CHECK(place.rules(true)->policy.approve == Approve::automatic);
    CHECK(place.rules(false)->policy.approve == Approve::ask);
}

TEST_CASE("rules: always writes a rule, once, for us alone")
{
    Place place;
    REQUIRE(add_rule("bash(git log:*)"));
    REQUIRE(add_rule("bash(ls:*)"));
    REQUIRE(add_rule("bash(ls:*)"));
    CHECK(place.read(rules_file) == "{\n  \"allow\": [\n    \"bash(git log:*)\",\n    \"bash(ls:*)\"\n  ]\n}\n");
    struct stat info {};
    REQUIRE(stat((place / rules_file).c_str(), &info) == 0);
    CHECK((info.st_mode & 07777) == 0600);
    CHECK(texts(place.rules()->policy.allow) == Lines{"bash(git log:*)", "bash(ls:*)"});
    CHECK(add_rule("bash(git *)").error().code == code::invalid_arg);
}

TEST_CASE("rules: a broken file is said and stays as it is")
{
    Place place;
    for (auto* text : {"{\"allow\":[", "[]", "{\"allow\":7}"}) {
        place.write(rules_file, text, 0600);
        auto added = add_rule("bash(ls)");
        REQUIRE(!added);
        CHECK(added.error().message.starts_with(place / rules_file));
        CHECK(added.error().message.ends_with("The rule was not added."));
        CHECK(place.read(rules_file) == text);
        CHECK(place.rules()->warnings.size() == 1);
    }
    place.write(rules_file, R"j({"deny":["bash(rm)"],"other":1})j", 0600);
    REQUIRE(add_rule("bash(ls)"));
    CHECK(place.read(rules_file) == "{\n  \"deny\": [\n    \"bash(rm)\"\n  ],\n  \"other\": 1,\n  \"allow\": [\n    \"bash(ls)\"\n  ]\n}\n");
}

TEST_CASE("rules: the machine's policy is kept whatever the user has set")
{
    Place place;
    place.write(".config/ikigai/config.json", R"j({"approve":"auto","allow":["bash(ls:*)"],"deny":["bash(dd:*)"]})j");
    place.bound(R"j({"approve":"ask","sandbox":"read-only","deny":["bash(rm:*)"],"ask":["web_fetch"]})j");
    auto rules = place.rules();
    REQUIRE(rules);
    CHECK(rules->policy.approve == Approve::ask);
    CHECK(rules->sandbox == "read-only");
    CHECK(texts(rules->policy.deny) == Lines{"bash(dd:*)", "bash(rm:*)"});
    CHECK(texts(rules->policy.ask) == Lines{"web_fetch"});
    CHECK(texts(rules->policy.allow) == Lines{"bash(ls:*)"});
    CHECK(!rules->policy.closed);
    place.bound(R"j({"approve":"auto","allow":["bash(git log:*)"]})j");
    rules = place.rules(false);
    CHECK(rules->policy.approve == Approve::automatic);   // the user's own
    CHECK(texts(rules->policy.allow) == Lines{"bash(git log:*)"});
    CHECK(rules->policy.closed);
}

TEST_CASE("rules: a policy that cannot be kept stops everything, with the reason")
{
    Place place;
    auto why = [&](uid_t owner = geteuid()) {
        auto rules = place.rules(true, owner);
        return rules ? std::string("kept") : rules.error().message;
    };
    auto path = place / "root/etc/ikigai/policy.json";
    const std::string cannot = "The policy of this machine cannot be kept: ";
    CHECK(why() == "kept");
    place.bound("{}");
    CHECK(why() == "kept");
    CHECK(why(geteuid() + 1) == cannot + path + " belongs to another user (" + std::to_string(geteuid()) + "), not to " + std::to_string(geteuid() + 1));
    chmod(path.c_str(), 0666);
    CHECK(why() == cannot + "others can write to " + path);
    place.bound("{\"approve\":\"never\"}");
    chmod(path.c_str(), 0644);
    CHECK(why() == cannot + path + ":1: \"approve\" must be one of auto, edits, ask, plan");
    for (auto* text : {"{", "[]", "{\"aprove\":\"ask\"}", "{\"deny\":[\"bash(git *)\"]}", "{\"deny\":\"bash\"}"}) {
        place.bound(text);
        INFO(text << why());
        CHECK(why().starts_with(cannot + path));
    }
}
