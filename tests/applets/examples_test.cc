// Every example in every man page is run, so no example can be wrong.
#include "applets/applet.h"

#include "support/server.h"
#include "support/world.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <list>
#include <map>

using namespace ik;

namespace {

// A variable of our own environment, for a while.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
    Variable(const Variable&) = delete;
    ~Variable() { unsetenv(name_); }

private:
    const char* name_;
};

// What the services answer that some tools ask.
struct Service { const char* address_variable; std::vector<const char*> keys; const char* answer; };
const std::map<std::string, Service> services = {
    {"web_search_brave", {"IKIGAI_BRAVE_URL", {"BRAVE_API_KEY"},
     R"({"type":"search","web":{"type":"search","results":[
         {"title":"Example Domain","url":"https://www.example.com/","description":"For use in <strong>documentation</strong>."},
         {"title":"Reserved Domains","url":"https://www.iana.org/domains/reserved","description":"Names that nobody can register."}]}})"}},
    {"web_search_google", {"IKIGAI_GOOGLE_SEARCH_URL", {"GOOGLE_SEARCH_API_KEY", "GOOGLE_SEARCH_ENGINE_ID"},
     R"({"kind":"customsearch#search","items":[
         {"title":"Example Domain","link":"https://www.example.com/","snippet":"For use in documentation."}]})"}},
};

void check_examples(const Applet& applet)
{
    for (auto& example : applet.doc.examples) {
        test::Folder folder;
        folder.write("abc.txt", "a\nb\nc\n");
        INFO(applet.doc.name << ": " << example.title);
        auto arguments = check(applet, *parse_json(example.input));
        REQUIRE(arguments);
        Answer answer;
        CHECK(applet.run(*arguments, answer));
        answer.end();
        CHECK(answer.take() == example.output);
    }
}

}

TEST_CASE("examples in the documentation are true")
{
    for (auto* applet : all_applets()) {
        auto service = services.find(applet->doc.name);
        if (service == services.end()) {
            check_examples(*applet);
            continue;
        }
        auto& [address_variable, keys, answer] = service->second;
        test::ModelServer server(std::vector(applet->doc.examples.size(), test::Reply{.pieces = {answer}, .headers = {"Content-Type: application/json"}}));
        Variable address(address_variable, server.base_url());
        std::list<Variable> set;
        for (auto* key : keys) set.emplace_back(key, "key");
        check_examples(*applet);
    }
}
