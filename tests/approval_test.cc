// Approval: what happens to a call that the policy does not simply allow; as values, and as a person and a script see it.
#include "approval.h"
#include "support/server.h"
#include "support/terminal.h"

#include <catch2/catch.hpp>
#include <csignal>

using namespace ik;
using namespace ik::test;

namespace {

using Step = Approval::Next::Kind;
using Answer = Approval::Answer;

ToolCall shell(const std::string& id, const std::string& command) { return {id, "bash", object({{"command", command}})}; }

// The shell, as if it were some other program's.
const Tool& a_shell()
{
    static const Tool tool{.name = "bash", .path = "/bin/sh", .origin = "builtin", .argv = {"/bin/sh"}, .schema = {}};
    return tool;
}

Policy policy(Approve approve, std::vector<std::string> allow = {}, std::vector<std::string> deny = {})
{
    Policy out;
    out.approve = approve;
    for (auto& text : allow) out.allow.push_back(*parse_rule(text));
    for (auto& text : deny) out.deny.push_back(*parse_rule(text));
    return out;
}

std::string ids(const std::vector<Approval::Next>& all)
{
    std::string out;
    for (auto& next : all) out += next.call.id + " ";
    return out;
}

// A project folder in a home, and a model that asks for calls.
struct Scene {
    explicit Scene(std::vector<Reply> replies) : server(std::move(replies))
    {
        std::filesystem::create_directories(home / "project");
        std::filesystem::current_path(home / "project");
    }

    std::vector<std::string> env(std::vector<std::string> more = {}) const
    {
        more.insert(more.end(), {"OPENAI_BASE_URL=" + server.base_url(), "IKIGAI_MODEL=scripted", "IKIGAI_SANDBOX=workspace", "TERM=dumb"});
        return more;
    }

    Ran print(std::vector<std::string> words) const
    {
        words.insert(words.begin(), {"chat", "-p", "go"});
        return test::ikigai(home, std::move(words), "", env());
    }

    std::vector<std::string> whole_env() const
    {
        return environment_with(home.env(env()));
    }

    // What the model was told of the call, in the request after it.
    std::string told(std::size_t request) const
    {
        auto asked = server.requests().at(request).json();
        auto& messages = *asked.find("messages")->as<Json::Array>();
        return std::string(messages.back().text("content"));
    }

    Home home;
    ModelServer server;
};

std::vector<Reply> shell_then_done(const std::string& command)
{
    return {stream_of({call("c1", "bash", object({{"command", command}}).dump())}), stream_of({text("Done.")})};
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Person : Terminal {
    explicit Person(const Scene& scene, std::vector<std::string> words = {}) : Terminal(words_of(std::move(words)), scene.whole_env()) {}

    static std::vector<std::string> words_of(std::vector<std::string> words)
    {
        words.insert(words.begin(), {test::ikigai(), "chat"});
        return words;
    }
    void until(const std::string& part)
    {
        INFO("waiting for " << part << " in:\n" << shown());
        CHECK(says(shown_when([&] { return says(shown(), part); }), part));
    }
};

}

TEST_CASE("approval: nobody there is a no, and is told")
{
    Approval approval({.policy = policy(Approve::ask)});
    auto next = approval.consider(shell("1", "rm x"), &a_shell());
    CHECK(next.kind == Step::answered);
    CHECK(next.envelope.text("error_code") == "TOOL_DENIED");
    CHECK(says(std::string(next.envelope.text("error")), "nobody is there to be asked"));
    CHECK(approval.denied_without_person());
    CHECK_FALSE(approval.question());
    CHECK_FALSE(approval.offer_outside(shell("1", "rm x"), Json()));
}

TEST_CASE("approval: what is allowed runs, what is denied does not, and neither asks")
{
    Approval approval({.policy = policy(Approve::ask, {"bash(ls:*)"}, {"bash(rm:*)"}), .person = true});
    CHECK(approval.consider(shell("1", "ls -l"), &a_shell()).kind == Step::run);
    auto denied = approval.consider(shell("2", "ls; rm x"), &a_shell());
    CHECK(denied.kind == Step::answered);
    CHECK(says(std::string(denied.envelope.text("error")), "bash(rm:*)"));
    CHECK_FALSE(approval.question());
    CHECK_FALSE(approval.denied_without_person());
    CHECK(approval.consider({"3", "nothing", {}}, nullptr).kind == Step::run);   // the host says that there is none
}

TEST_CASE("approval: questions wait in a row, and a rule settles those that it covers")
{
    Approval approval({.policy = policy(Approve::ask), .person = true});
    for (auto& [id, command] : {std::pair{"1", "make a"}, {"2", "git log"}, {"3", "make b"}})
        CHECK(approval.consider(shell(id, command), &a_shell()).kind == Step::waits);
    REQUIRE(approval.question());
    CHECK(approval.question()->call.id == "1");
    std::string warning;
    auto no = approval.answer(Answer::no, "use ninja", warning);
    CHECK(ids(no) == "1 ");
    CHECK(no[0].envelope.text("error") == "Tool 'bash' was not run: the user said no: use ninja");
    CHECK(approval.question()->always == "bash(git log:*)");
    approval.consider(shell("4", "git log -3"), &a_shell());
    auto yes = approval.answer(Answer::session, "", warning);
    CHECK(ids(yes) == "2 4 ");
    CHECK(yes[0].kind == Step::run);
    CHECK(approval.question()->call.id == "3");
    auto cancelled = approval.cancel();
    CHECK(ids(cancelled) == "3 ");
    CHECK(cancelled[0].envelope.text("error_code") == "TOOL_CANCELLED");
    CHECK_FALSE(approval.question());
    CHECK(approval.consider(shell("5", "git log --oneline"), &a_shell()).kind == Step::run);
}

TEST_CASE("approval: what the sandbox refused is offered outside of it, and stands where that is refused too")
{
    Approval approval({.policy = policy(Approve::automatic), .person = true});
    auto envelope = object({{"tool_success", true}});
    REQUIRE(approval.offer_outside(shell("1", "touch /x"), envelope));
    CHECK(approval.question()->outside);
    CHECK(approval.question()->always.empty());
    std::string warning;
    CHECK(approval.answer(Answer::no, "", warning).at(0).envelope == envelope);
    approval.offer_outside(shell("2", "touch /x"), envelope);
    CHECK(approval.answer(Answer::once, "", warning).at(0).kind == Step::run_outside);
}

TEST_CASE("approval: -p denies what would be asked about, tells the model, and exits 4 though there is an answer")
{
    Scene scene(shell_then_done("touch made"));
    auto ran = scene.print({"--approve", "ask"});
    CHECK(ran.status == 4);
    CHECK(ran.out == "Done.\n");
    CHECK(says(scene.told(1), "TOOL_DENIED"));
    CHECK_FALSE(scene.home.exists("project/made"));
}

TEST_CASE("approval: -p inside the sandbox asks nothing; a rule allows, a rule denies")
{
    Scene free(shell_then_done("touch made"));
    CHECK(free.print({}).status == 0);
    CHECK(free.home.exists("project/made"));

    Scene by_rule(shell_then_done("touch made"));
    by_rule.home.write(".config/ikigai/config.json", R"-({"allow": ["bash(touch:*)"]})-");
    CHECK(by_rule.print({"--approve", "ask"}).status == 0);
    CHECK(by_rule.home.exists("project/made"));

    Scene denied(shell_then_done("touch made"));
    denied.home.write(".config/ikigai/config.json", R"-({"deny": ["bash(touch:*)"]})-");
    CHECK(denied.print({}).status == 0);   // it is not for want of a person
    CHECK(says(denied.told(1), "TOOL_DENIED"));
    CHECK_FALSE(denied.home.exists("project/made"));

    Scene plan(shell_then_done("touch made"));
    plan.print({"--approve", "plan"});
    CHECK_FALSE(plan.home.exists("project/made"));
}

TEST_CASE("approval: a file outside of the workspace is denied without a person, and written outside of the sandbox where a rule allows it")
{
    Home elsewhere;
    auto path = elsewhere / "out.txt";
    std::vector<Reply> replies{stream_of({call("c1", "file_write", object({{"file_path", path}, {"content", "x"}}).dump())}), stream_of({text("Done.")})};
    Scene denied(replies);
    CHECK(denied.print({}).status == 4);
    CHECK_FALSE(elsewhere.exists("out.txt"));

    Scene allowed(replies);
    allowed.home.write(".config/ikigai/config.json", object({{"allow", Json::Array{"file_write(" + elsewhere.path + "/**)"}}}).dump());
    CHECK(allowed.print({}).status == 0);
    CHECK(elsewhere.read("out.txt") == "x");
}

TEST_CASE("approval: a person sees the command and says yes, once")
{
    Scene scene(shell_then_done("touch made"));
    Person person(scene, {"--approve", "ask"});
    person.until("❯ ");
    person.type("go\ny\n");   // the y is typed before the question: no answer to it
    person.until("Allow it? y once");
    CHECK(says(person.shown(), "? bash: every change is asked about\n    touch made\n"));
    CHECK_FALSE(scene.home.exists("project/made"));
    person.type("what?\n");
    person.until("WHY: what?\nAllow it?");
    person.type("y\n");
    person.until("● Done.");
    CHECK(scene.home.exists("project/made"));
    CHECK_FALSE(scene.home.exists(".config/ikigai/rules.json"));
}

TEST_CASE("approval: no with a word, and always")
{
    Scene scene({stream_of({call("c1", "bash", R"({"command":"touch one"})")}), stream_of({call("c2", "bash", R"({"command":"git log -1"})")}),
                 stream_of({call("c3", "bash", R"({"command":"git log -2"})")}), stream_of({text("Done.")})});
    Person person(scene, {"--approve", "ask"});
    person.until("❯ ");
    person.type("go\n");
    person.until("touch one\nAllow it?");
    person.type("n not that file\n");
    person.until("a always (bash(git log:*))");
    CHECK(says(scene.told(1), "the user said no: not that file"));
    person.type("a\n");
    person.until("● Done.");
    CHECK(says(scene.home.read(".config/ikigai/rules.json"), "\"bash(git log:*)\""));
    CHECK_FALSE(scene.home.exists("project/one"));
}

TEST_CASE("approval: a refused call can be run again outside of the sandbox")
{
    Home elsewhere;
    Scene scene(shell_then_done("touch " + elsewhere.path + "/made"));
    Person person(scene);
    person.until("❯ ");
    person.type("go\n");
    person.until("Run it outside of the sandbox?");
    CHECK_FALSE(elsewhere.exists("made"));
    person.type("y\n");
    person.until("● Done.");
    CHECK(elsewhere.exists("made"));
}

TEST_CASE("approval: Ctrl+C and the end of the input answer a question")
{
    for (const std::string key : {"\x03", "\x04"}) {
        Scene scene(shell_then_done("touch made"));
        Person person(scene, {"--approve", "ask"});
        person.until("❯ ");
        person.type("go\n");
        person.until("Allow it?");
        key == "\x03" ? person.signal(SIGINT) : person.type(key);
        person.until("✗ cancelled");
        CHECK_FALSE(scene.home.exists("project/made"));
        if (key == "\x03") person.until("✗ cancelled\n❯ "), person.type("/quit\n");
        CHECK(person.status() == 0);
    }
}

TEST_CASE("approval: the mode is shown and set")
{
    Scene scene({stream_of({text("Done.")})});
    Person person(scene);
    person.until("❯ ");
    person.type("/approve\n");
    person.until("Approval: auto");
    person.type("/approve plan\n");
    person.until("Approval: plan");
    person.type("/approve everything\n");
    person.until("There is no mode 'everything'");
    person.type("/quit\n");
    CHECK(person.status() == 0);
}
