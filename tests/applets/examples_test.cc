// Every example in every man page is run, so no example can be wrong.
#include "applets/applet.h"

#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;

TEST_CASE("examples in the documentation are true")
{
    for (auto* applet : all_applets())
        for (auto& example : applet->doc.examples) {
            test::Folder folder;
            folder.write("abc.txt", "a\nb\nc\n");
            INFO(applet->doc.name << ": " << example.title);
            auto arguments = check(*applet, *parse_json(example.input));
            REQUIRE(arguments);
            Answer answer;
            CHECK(applet->run(*arguments, answer));
            answer.end();
            CHECK(answer.take() == example.output);
        }
}
