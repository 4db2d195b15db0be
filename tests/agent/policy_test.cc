// Who may do what: a table of command lines against one set of rules, paths, hosts and modes.
#include "agent/policy.h"

#include "base/file.h"
#include "support/world.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

using namespace ik;
using namespace ik::test;

namespace {

using Kind = Verdict::Kind;

std::vector<Rule> rules(std::vector<std::string> texts)
{
    std::vector<Rule> out;
    for (auto& text : texts) {
        auto rule = parse_rule(text);
        INFO(text);
        REQUIRE(rule);
        out.push_back(*rule);
    }
    return out;
}

// What the table is judged by.
Policy table_policy()
{
    return {.approve = Approve::ask,
            .allow = rules({"bash(git log:*)", "bash(git status:*)", "bash(git diff:*)", "bash(ls:*)", "bash(cat:*)", "bash(grep:*)", "bash(make test)",
                            "bash(make build:*)", "bash(find:*)", "bash(sort:*)", "bash(sed:*)", "bash(awk:*)", "bash(rg:*)", "bash(echo:*)", "bash(wc:*)",
                            "bash(cd:*)", "bash(env:*)", "bash(xargs:*)", "bash(sh:*)", "bash(export:*)", "bash(printf:*)", "bash(test:*)", "bash([:*)",
                            "bash(head:*)", "bash(npm test:*)", "bash(tar -tf:*)", "bash(sudo systemctl status nginx)", "bash(uniq:*)", "bash(go test:*)",
                            "bash(mytool:*)", "bash(eval:*)", "bash(alias:*)", "bash(command:*)", "bash(ls; whoami > out)"}),
            .ask = rules({"bash(docker:*)"}),
            .deny = rules({"bash(rm:*)", "bash(git push:*)", "bash(shutdown)"}),
            .closed = false};
}

struct World {
    std::string folder = "/home/u/project";
    std::map<std::string, std::string> links = {};      // what resolve says of a path
    std::string writable = "/home/u/project/";
};

Verdict judged(const Policy& policy, const ToolCall& call, const World& world = {}, bool sandboxed = true, bool ours = true)
{
    auto resolve = [&](const std::string& path) {
        auto real = world.links.find(path);
        auto from = path_from("/", path);
        return real != world.links.end() ? real->second : from.starts_with('/') ? from : "/" + from;
    };
    auto may_write = [&](const std::string& path) { return path.starts_with(world.writable); };
    return decide(policy, call, {.sandboxed = sandboxed, .ours = ours, .folder = world.folder, .may_write = may_write, .resolve = resolve});
}

ToolCall bash(const std::string& command) { return {"c", "bash", object({{"command", command}})}; }
ToolCall file(const std::string& tool, const std::string& path) { return {"c", tool, object({{"file_path", path}})}; }
ToolCall fetch(const std::string& url) { return {"c", "web_fetch", object({{"url", url}})}; }

char letter(Kind kind) { return kind == Kind::allow ? '+' : kind == Kind::ask ? '?' : '-'; }

// + allowed, ? asked, - denied.
struct Row { char verdict; std::string command; };
const Row table[] = {
    // what people do
    {'+', "git log"}, {'+', "git log --oneline -n 5"}, {'+', "git log --pretty=format:%h"}, {'+', "git  log\t-p"}, {'+', "git status && git diff"},
    {'+', "git diff --stat | head -n 20"}, {'+', "ls -la; ls src"}, {'+', "ls *.cc"}, {'+', "ls -la > /dev/null 2>&1"}, {'+', "cat a.txt | grep -n 'x y' | wc -l"},
    {'+', "make test"}, {'+', "  make test  "}, {'+', "make build"}, {'+', "make build all"}, {'+', "git log -- src/*.cc"}, {'+', "echo \"$HOME\""},
    {'+', "echo $(git log)"}, {'+', "echo `git log`"}, {'+', "echo \"a $(ls | wc -l) b\""}, {'+', "( ls; git status )"}, {'+', "{ ls; git status; }"},
    {'+', "if ls; then git log; else git status; fi"}, {'+', "for f in a b c; do cat \"$f\"; done"}, {'+', "while grep x y; do ls; done"},
    {'+', "until false; do ls; break; done"}, {'+', "case x in a|b) ls ;; *) git log ;; esac"}, {'+', "case $1 in (a) ls;; esac"}, {'+', "! git diff"},
    {'+', "ls & git log"}, {'+', "ls\ngit log\n"}, {'+', "ls # a comment; rm x"}, {'+', "ls \\\n -la"}, {'+', "git \\\n log"}, {'+', "g\\\nit log"}, {'+', "'git' \"log\""},
    {'+', "cat <<EOF\nhello rm x\nEOF"}, {'+', "cat <<'EOF'\n$(rm x)\nEOF"}, {'+', "cat <<-EOF\n\tx\n\tEOF\nls"}, {'+', "cat <<A <<B\na\nA\nb\nB\nls"},
    {'+', "cat < in.txt"}, {'+', "find . -name '*.cc'"}, {'+', "sort -u a"}, {'+', "sed -n 1,5p a"}, {'+', "sed s/a/b/g a"}, {'+', "awk '{ print $1 }' a"},
    {'+', "rg -n foo"}, {'+', "echo $((1 + 2))"}, {'+', "grep -c ^a$ x"}, {'+', "cd src"}, {'+', "cd src && ls"}, {'+', "true && ls || exit 1"}, {'+', "test -f x && ls"},
    {'+', "[ -f x ] && ls"}, {'+', "printf '%s\\n' x"}, {'+', "npm test"}, {'+', "npm test -- --watch=false"}, {'+', "tar -tf x.tar"}, {'+', "sudo systemctl status nginx"},
    {'+', "ls; whoami > out"}, {'+', "uniq a"}, {'+', "go test ./... -run X -v"}, {'+', "echo {}"}, {'+', "echo 'rm -rf /'"}, {'+', "grep rm x"}, {'+', "echo a{b"},
    {'+', "cat \"a b\" 'c d' e\\ f"}, {'+', "echo ${HOME} ${x:-y} ${#x}"}, {'+', "echo a\\;b"}, {'+', "echo 'a'\\''b'"}, {'+', "echo \"a\\\"b\""}, {'+', "echo -n >/dev/null"},
    {'+', "(ls) 2>/dev/null"}, {'+', "if ls; then ls; elif ls; then ls; fi"}, {'+', "ls|wc"}, {'+', "ls||wc"}, {'+', "ls;"}, {'+', "echo !"}, {'+', "echo a#b"},
    {'+', "echo ä"}, {'+', "mytool --verbose a"}, {'+', "git diff HEAD~1"}, {'+', "git diff HEAD@{1}"}, {'+', "git log 2>&1"},
    // what no rule allows
    {'?', "whoami"}, {'?', "ls && whoami"}, {'?', "ls; whoami"}, {'?', "ls | whoami"}, {'?', "ls & whoami"}, {'?', "ls || whoami"}, {'?', "ls\nwhoami"},
    {'?', "git"}, {'?', "git commit"}, {'?', "git -C x log"}, {'?', "gitlog"}, {'?', "git logx"}, {'?', "make"}, {'?', "make test x"}, {'?', "make  test2"}, {'?', ""}, {'?', "  "},
    {'?', "LOG log"}, {'?', "Git log"}, {'?', "# only a comment"}, {'?', "sudo ls"}, {'?', "sudo systemctl status nginx x"}, {'?', "ls; whoami > out2"},
    // evasions: another command inside
    {'?', "echo $(whoami)"}, {'?', "echo `whoami`"}, {'?', "echo \"$(whoami)\""}, {'?', "echo \"`whoami`\""}, {'?', "echo $(echo $(whoami))"}, {'?', "( whoami )"}, {'?', "{ whoami; }"},
    {'?', "if whoami; then ls; fi"}, {'?', "if ls; then whoami; fi"}, {'?', "if ls; then ls; else whoami; fi"}, {'?', "while whoami; do ls; done"}, {'?', "for f in $(whoami); do ls; done"},
    {'?', "for f in a; do whoami; done"}, {'?', "case $(whoami) in a) ls;; esac"}, {'?', "case a in a) whoami;; esac"}, {'?', "case a in $(whoami)) ls;; esac"},
    {'?', "cat <<EOF\n$(whoami)\nEOF"}, {'?', "cat <<EOF\n`whoami`\nEOF"}, {'?', "cat <<EOF\nx\nEOF\nwhoami"}, {'?', "cat <<'EOF'\nx\nEOF\nwhoami"}, {'?', "cat <<\\EOF\nx\nEOF\nwhoami"},
    {'?', "cat <<EOF; whoami\nx\nEOF"}, {'?', "cat <<EOF | whoami\nx\nEOF"}, {'?', "cat <<EOF\nx\n"}, {'?', "cat <<EOF\n${x:-$(whoami)}\nEOF"}, {'?', "cat <<-EOF\n\tx\n\tEOF\nwhoami"},
    {'?', "cat <<EOF $(ls\nx)\nEOF\n"}, {'?', "cat <<\"E F\"\nx\nE F\nwhoami"}, {'?', "cat <<EOF\nx\\\nEOF\nwhoami\nEOF"}, {'?', "echo ${x:-$(whoami)}"}, {'?', "echo \"${x:-`whoami`}\""},
    {'?', "ls > $(whoami)"}, {'?', "ls 2>&1 >x"}, {'?', "! whoami"}, {'?', "ls &&\nwhoami"}, {'?', "ls |\nwhoami"}, {'?', "ls # x\nwhoami"}, {'?', "ls 'a\n' ; whoami"},
    // evasions: the shell's own words
    {'?', "eval ls"}, {'?', "eval 'git log'"}, {'?', "$'ls'"}, {'?', "ls $'a'"}, {'?', "echo $\"x\""}, {'?', "alias ls=whoami"}, {'?', "alias ls=whoami; ls"}, {'?', "ls() { whoami; }; ls"},
    {'?', "function ls { whoami; }"}, {'?', "function ls() { whoami; }; ls"}, {'?', "[[ -f x ]]"}, {'?', "[[ $(whoami) ]] && ls"}, {'?', "(( x = 1 ))"}, {'?', "((whoami))"}, {'?', "ls <(whoami)"},
    {'?', "ls >(whoami)"}, {'?', "cat <<<x"}, {'?', "a=(whoami)"}, {'?', "a=(1); ls"}, {'?', "ls {a,b}"}, {'?', "{git,log}"}, {'?', "ls {1..3}"}, {'?', "ls &> x"}, {'?', "ls |& cat"}, {'?', "ls &>/dev/null"},
    {'?', "echo $((x))"}, {'?', "echo $((a[$(whoami)]))"}, {'?', "echo $[1]"}, {'?', "echo ${!x}"}, {'?', "echo ${x:=y}"}, {'?', "echo ${x@P}"}, {'?', "echo ${x/a/b}"}, {'?', "echo ${x[0]}"}, {'?', "${x}"},
    {'?', "$x"}, {'?', "$x log"}, {'?', "g$x log"}, {'?', "git l$x"}, {'?', "git$IFS$1log"}, {'?', "g?t log"}, {'?', "git lo[g]"}, {'?', "/bin/l?"}, {'?', "~/git log"}, {'?', "./git log"}, {'?', "/tmp/git log"},
    {'?', "exec ls"}, {'?', "trap whoami EXIT"}, {'?', ". ./x"}, {'?', "source x"}, {'?', "command ls"}, {'?', "builtin echo"}, {'?', "coproc ls"}, {'?', "time ls"}, {'?', "select x in a; do ls; done"},
    {'?', "export PATH=/tmp; ls"}, {'?', "set -- x"}, {'?', "read x"}, {'?', "unset PATH"}, {'?', "enable -f x y"}, {'?', "hash -p /tmp/x ls"}, {'?', "shopt -s x"}, {'?', "bind x"},
    // evasions: assignments
    {'?', "PATH=/tmp ls"}, {'?', "PATH=/tmp; ls"}, {'?', "GIT_PAGER=whoami git log"}, {'?', "LD_PRELOAD=x git log"}, {'?', "a=b"}, {'?', "a=$(whoami)"}, {'?', "a= ls"}, {'?', "IFS=x ls"}, {'?', "IFS=/; ls"},
    {'?', "for PATH in /tmp; do ls; done"}, {'?', "for http_proxy in x; do ls; done"}, {'?', "a+=b ls"}, {'?', "a[0]=b ls"}, {'?', "x=1 y=2 git log"},
    // evasions: wrappers
    {'?', "env ls"}, {'?', "env X=1 git log"}, {'?', "env -S 'git log'"}, {'?', "xargs ls"}, {'?', "ls | xargs cat"}, {'?', "sh -c ls"}, {'?', "bash -c 'git log'"}, {'?', "nice ls"}, {'?', "nohup ls"},
    {'?', "timeout 5 ls"}, {'?', "setsid ls"}, {'?', "stdbuf -o0 ls"}, {'?', "ssh host ls"}, {'?', "watch ls"}, {'?', "parallel ls"}, {'?', "strace ls"}, {'?', "su -c ls"}, {'?', "doas ls"},
    {'?', "chroot / ls"}, {'?', "unshare ls"}, {'?', "busybox ls"}, {'?', "echo ls | sh"}, {'?', "flock x ls"}, {'?', "/lib64/ld-linux-x86-64.so.2 /bin/ls"},
    // evasions: options and operands that write or run
    {'?', "git log --output=x"}, {'?', "git log --output x"}, {'?', "git log --outp=x"}, {'?', "git log \"--output=x\""}, {'?', "git log --out\\put=x"}, {'?', "git log '-''-output=x'"},
    {'?', "git log $x"}, {'?', "git log \"$x\""}, {'?', "git log *"}, {'?', "git log $(ls)"}, {'?', "git diff --ext-diff"}, {'?', "git diff --textconv"}, {'?', "git -c core.pager=x log"},
    {'?', "git --exec-path=x log"}, {'?', "find . -exec ls {} +"}, {'?', "find . -exec whoami \\;"}, {'?', "find . -ok ls \\;"}, {'?', "find . -delete"}, {'?', "find . -fprintf x y"}, {'?', "find . -execdir ls \\;"},
    {'?', "find . $x"}, {'?', "find . -na* x"}, {'?', "sort -o x y"}, {'?', "sort -uo x y"}, {'?', "sort --output=x y"}, {'?', "sort --compress-prog=x y"}, {'?', "sed -i s/a/b/ x"}, {'?', "sed -n -i p x"},
    {'?', "sed --in-place s/a/b/ x"}, {'?', "sed s/a/b/e x"}, {'?', "sed 's/a/b/w out' x"}, {'?', "sed 'w out' x"}, {'?', "sed 1e x"}, {'?', "sed e x"}, {'?', "sed -e p x"}, {'?', "sed -f script x"}, {'?', "sed '1p;w x' y"},
    {'?', "awk 'BEGIN { system(\"whoami\") }'"}, {'?', "awk '{ print > \"x\" }' y"}, {'?', "awk '{ print | \"sh\" }' y"}, {'?', "awk 'BEGIN { \"whoami\" | getline }'"}, {'?', "awk -f x y"}, {'?', "awk \"$x\" y"},
    {'?', "rg --pre whoami x"}, {'?', "rg --pre=whoami x"}, {'?', "tar -tf x --to-command=whoami"}, {'?', "tar -tf x --checkpoint=1 --checkpoint-action=exec=whoami"}, {'?', "tar -tf x -I whoami"},
    {'?', "tar -tf x --use-compress-prog whoami"}, {'?', "tar -tf host:x x"}, {'?', "make build SHELL=x"}, {'?', "make build -f x"}, {'?', "make build --eval=x"}, {'?', "npm test --script-shell=x"}, {'?', "uniq a b"},
    {'?', "printf -v PATH x"}, {'?', "test -v 'a[$(whoami)]'"}, {'?', "[ -v 'a[$(whoami)]' ]"}, {'?', "mytool -o x"}, {'?', "mytool --exec x"}, {'?', "mytool -c x"}, {'?', "go test -exec x"}, {'?', "go test -toolexec=x"},
    // evasions: redirections
    {'?', "ls > x"}, {'?', "ls >> x"}, {'?', "ls >| x"}, {'?', "ls <> x"}, {'?', "ls 2> x"}, {'?', "> x"}, {'?', "ls >&x"}, {'?', "ls > /dev/nullx"}, {'?', "ls > \"$x\""}, {'?', "(ls) > x"},
    {'?', "if ls; then ls; fi > x"}, {'?', "while ls; do ls; done >> x"}, {'?', "cat < /dev/tcp/h/1"}, {'?', "cat < $x"}, {'?', "ls 12> x"}, {'?', "echo x > ~/.bashrc"}, {'?', "ls {fd}> x"}, {'?', "ls > /dev/null > x"},
    // evasions: places
    {'?', "cd .."}, {'?', "cd /tmp"}, {'?', "cd"}, {'?', "cd -"}, {'?', "cd ~"}, {'?', "cd src && git status"}, {'?', "cd src/../.. && ls"}, {'?', "cd \"$x\" && ls"}, {'?', "cd src; make test"},
    // evasions: characters
    {'?', "ls\rwhoami"}, {'?', "ls \x1b[2K"}, {'?', "ls\u00a0x"}, {'?', "ls \u202e x"}, {'?', "ls\u200b"}, {'?', "git\u3000log"}, {'?', "ls \xff"}, {'?', "ls \ufeff"}, {'?', "ls \x7f"}, {'?', "ls \v x"},
    // what is broken
    {'?', "ls '"}, {'?', "ls \""}, {'?', "ls $("}, {'?', "ls `"}, {'?', "ls )"}, {'?', "( ls"}, {'?', "ls ;; ls"}, {'?', "ls \\"}, {'?', "if ls"}, {'?', "then ls"}, {'?', "ls && "}, {'?', "| ls"}, {'?', "ls | | ls"}, {'?', "& ls"},
    {'?', "case x in"}, {'?', "for x"}, {'?', "done"}, {'?', "ls > "}, {'?', "ls $(ls"}, {'?', "ls }"  " ; }"}, {'?', "echo ${x"}, {'?', "$((1)"}, {'?', "if ls; then fi"}, {'?', "ls (x)"},
    // ask and deny
    {'?', "docker ps"}, {'?', "ls; docker ps"}, {'?', "env docker ps"}, {'-', "rm x"}, {'-', "ls; rm x"}, {'-', "ls && rm -rf /"}, {'-', "/bin/rm x"}, {'-', "r\\m x"}, {'-', "'rm' x"}, {'-', "\"r\"m x"},
    {'-', "echo $(rm x)"}, {'-', "echo \"`rm x`\""}, {'-', "sudo rm x"}, {'-', "env A=1 rm x"}, {'-', "find . -exec rm {} +"}, {'-', "xargs rm"}, {'-', "sh -c 'rm x'"}, {'-', "sh -c \"ls; rm x\""},
    {'-', "eval 'rm x'"}, {'-', "eval rm x"}, {'-', "eval \"r''m x\""}, {'-', "eval r\\\\m x"}, {'-', "bash -c \"bash -c 'rm x'\""}, {'-', "X=1 rm x"}, {'-', "rm x > y"}, {'-', "if ls; then rm x; fi"}, {'-', "cat <<EOF\n$(rm x)\nEOF"},
    {'-', "f() { rm x; }; f"}, {'-', "[[ -f x ]] && rm x"}, {'-', "git push"}, {'-', "git push --force"}, {'-', "git -C x push"}, {'-', "git -c a=b push"}, {'-', "git --git-dir x push origin"}, {'-', "timeout 5 git push"},
    {'-', "shutdown"}, {'-', "/sbin/shutdown"}, {'+', "git log push"}, {'-', "nohup rm x &"}, {'-', "ls | rm x"}, {'-', "( rm x )"}, {'-', "! rm x"}, {'-', "command rm x"}, {'-', "exec rm x"}, {'-', "time rm x"}, {'-', "$'rm' x"},
};

constexpr const char* programs[] = {"git", "ls", "cat", "grep", "make", "find", "sort", "sed", "awk", "rg", "wc", "head", "npm", "tar", "uniq", "go", "mytool",
                                    "sudo", "whoami", "rm", "env", "xargs", "sh", "bash", "docker", "systemctl"};

// Programs of all those names that do nothing but tell how they were called.
void make_stubs(const Folder& folder)
{
    for (auto* name : programs)
        folder.write(std::string("stubs/") + name,
                     "#!/bin/sh\nset -f\nl=\"${0##*/}\"\nfor a; do l=\"$l|$a\"; done\nprintf '%s\\036' \"$l\" >> \"$TRACE\"\n", 0755);
    folder.write("run/in.txt", "");
    std::filesystem::create_directories(folder / "run/src");
}

std::vector<std::string> called(const Folder& folder, const std::string& shell, const std::string& command)
{
    // What runs in the background is waited for; where the command exits before that, it writes to a file of its own.
    static int number = 0;
    auto name = "trace" + std::to_string(++number);
    folder.write(name, "");
    run({.argv = {shell, "-c", "eval \"$1\"\nwait", shell, command}, .env = {"PATH=" + folder / "stubs", "TRACE=" + folder / name}, .limit = std::chrono::seconds(20)});
    std::vector<std::string> out;
    auto trace = folder.read(name);
    for (std::size_t at = 0, end; (end = trace.find('\036', at)) != std::string::npos; at = end + 1) out.push_back(trace.substr(at, end - at));
    return out;
}

// Whether the splitter has a command that may have been this one.
bool listed(const ShellSplit& split, const std::string& call)
{
    return std::ranges::any_of(split.commands, [&](auto& command) {
        std::string want;
        for (auto& word : command.words) {
            want += (want.empty() ? "" : "|") + word.text;
            if (!word.known) return call.starts_with(want);
        }
        return call == want;
    });
}

}

TEST_CASE("policy: the table of commands")
{
    auto policy = table_policy();
    std::size_t rows = 0;
    for (auto& row : table) {
        auto verdict = judged(policy, bash(row.command));
        INFO(row.command << "   " << verdict.reason << "   unclear: " << split_shell(row.command).unclear);
        CHECK(letter(verdict.kind) == row.verdict);
        CHECK(verdict.reason.empty() == (verdict.kind == Kind::allow));
        ++rows;
    }
    CHECK(rows > 300);
}

TEST_CASE("policy: what is allowed runs nothing but the commands that were seen")
{
    auto policy = table_policy();
    Folder folder;
    make_stubs(folder);
    CHECK(called(folder, "/bin/sh", "ls -la 'a b' | wc & git log").size() == 3);
    CHECK(called(folder, "/bin/sh", "ls -la 'a b'") == std::vector<std::string>{"ls|-la|a b"});
    for (auto& row : table) {
        if (row.verdict != '+' || row.command.find("while") != std::string::npos)
            continue;
        auto split = split_shell(row.command);
        for (auto* shell : {"/bin/dash", "/bin/bash"})
            for (auto& call : std::filesystem::exists(shell) ? called(folder, shell, row.command) : std::vector<std::string>()) {
                INFO(shell << ": " << row.command << " called " << call);
                bool written_so = row.command == "ls; whoami > out" || row.command.starts_with("sudo");
                CHECK((listed(split, call) || written_so));
            }
    }
}

TEST_CASE("policy: pieces in any order, where they are allowed, run what was seen")
{
    const char* pieces[] = {"git log", "ls", "whoami", "rm x", "'", "\"", "$(", ")", "`", ";", "&&", "|", "&", "\n", "\\\n", "\\", " ", "#", "(", "{ ", "; }", "<<E\n", "\nE\n",
                            "> /dev/null", "2>&1", "if ", "; then ", "; fi", "case x in ", "x) ", ";;", " esac", "${x:-", "}", "$x", "$((1+1))", "*", "!", "echo ", "for a in ", "; do ", "; done", "\\'", "$'", "E"};
    auto policy = table_policy();
    Folder folder;
    make_stubs(folder);
    std::mt19937 random(20261121);
    int allowed = 0;
    for (int i = 0; i < 60000 && allowed < 150; ++i) {
        std::string command;
        for (auto n = 3 + random() % 9; n > 0; --n) command += pieces[random() % std::size(pieces)];
        if (judged(policy, bash(command)).kind != Kind::allow || command.size() < 12)
            continue;
        ++allowed;
        auto split = split_shell(command);
        for (auto* shell : {"/bin/dash", "/bin/bash"})
            for (auto& call : std::filesystem::exists(shell) && i % 2 == (shell[5] == 'd') ? called(folder, shell, command) : std::vector<std::string>()) {
                INFO(shell << ": " << command << " called " << call);
                CHECK(listed(split, call));
            }
    }
    CHECK(allowed > 50);
}

TEST_CASE("policy: files by their path, as it is written and behind links")
{
    Policy policy{.approve = Approve::ask, .allow = rules({"file_write(src/**)", "file_write(*.md)", "file_edit(/etc/motd)", "file_write(/srv/www/*.html)"}), .ask = {},
                  .deny = rules({"file_write(src/secret/**)", "file_read(.env)", "file_edit(**/*.key)"})};
    World world;
    world.links = {{"/home/u/project/src/out/x", "/etc/x"}, {"/home/u/project/link", "/home/u/project/src/secret/a"}, {"/home/u/project/other/..", "/elsewhere"}};
    auto kind = [&](const std::string& tool, const std::string& path) { return letter(judged(policy, file(tool, path), world).kind); };
    for (auto* path : {"src/a.cc", "./src/a/b.cc", "src/../src/a", "/home/u/project/src/a", "src//a", "README.md", "/srv/www/a.html"}) {
        INFO(path);
        CHECK(kind("file_write", path) == '+');
    }
    for (auto* path : {"src", "src/../a", "src/../../x", "/src/a", "/home/u/src/a", "/home/u/project2/src/a", "a/b.md", "src/.git/config", ".x.md", "src/out/x", "../project/x", "/srv/www/a/b.html",
                       "/srv/www/../x.html", "xsrc/a"}) {
        INFO(path);
        CHECK(kind("file_write", path) == '?');
    }
    for (auto* path : {"src/secret/a", "src/./secret/.a", "src/x/../secret/a/b", "link", "/home/u/project/src/secret/a"}) {
        INFO(path);
        CHECK(kind("file_write", path) == '-');
    }
    CHECK(kind("file_edit", "/etc/motd") == '+');
    CHECK(judged(policy, file("file_edit", "/etc/motd"), world).outside);
    CHECK(kind("file_edit", "a/b/c.key") == '-');
    CHECK(kind("file_edit", "c.key") == '-');
    CHECK(kind("file_read", ".env") == '-');
    CHECK(kind("file_read", "x") == '+');
    CHECK(letter(judged(policy, {"c", "file_write", object({{"file_path", "src/a"}, {"file_path", "/etc/passwd"}})}, world).kind) == '?');
    CHECK(letter(judged(policy, {"c", "file_write", object({{"content", "x"}})}, world).kind) == '?');
}

TEST_CASE("policy: hosts as they are fetched")
{
    Policy policy{.approve = Approve::ask, .allow = rules({"web_fetch(domain:Example.com)"}), .ask = {}, .deny = rules({"web_fetch(domain:bad.example.com)"})};
    auto kind = [&](const std::string& url) { return letter(judged(policy, fetch(url)).kind); };
    for (auto* url : {"https://example.com", "http://EXAMPLE.com:8080/x", "https://a.b.example.com/?q=http://evil", "https://example.com./", "https://evil.org@example.com/"}) CHECK(kind(url) == '+');
    for (auto* url : {"https://example.com.evil.org", "https://example.com@evil.org", "https://notexample.com", "https://evil.org/example.com", "https://evil.org#example.com", "ftp://example.com", "example.com",
                      "https://evil.org?example.com", "https://example.com%2eevil.org"}) {
        INFO(url);
        CHECK(kind(url) == '?');
    }
    CHECK(kind("https://bad.example.com") == '-');
    CHECK(kind("https://BAD.example.com./x") == '-');
}

TEST_CASE("policy: the modes")
{
    auto verdicts = [](Approve approve, bool sandboxed = true) {
        Policy policy{.approve = approve, .allow = {}, .ask = {}, .deny = {}};
        std::string out;
        for (auto& call : {file("file_read", "/etc/passwd"), ToolCall{"c", "glob", object({})}, ToolCall{"c", "grep", object({})}, file("file_write", "a"), file("file_edit", "/etc/a"), bash("ls"),
                           fetch("https://x.org"), ToolCall{"c", "web_search_brave", object({})}})
            out += letter(judged(policy, call, {}, sandboxed).kind);
        return out + letter(judged(policy, {"c", "theirs", object({})}, {}, sandboxed, false).kind) + letter(judged(policy, file("file_read", "a"), {}, sandboxed, false).kind);
    };
    //                                            read glob grep write outside bash fetch search foreign, one that is called file_read
    CHECK(verdicts(Approve::automatic) == "++++?+++++");
    CHECK(verdicts(Approve::automatic, false) == "++++??++??");
    CHECK(verdicts(Approve::edits) == "++++??++??");
    CHECK(verdicts(Approve::ask) == "+++???????");
    CHECK(verdicts(Approve::plan) == "+++---++--");
    for (auto* name : {"auto", "edits", "ask", "plan"}) CHECK(name_of(*approve_named(name)) == name);
    CHECK(!approve_named("none"));
}

TEST_CASE("policy: deny counts more than ask, ask more than allow, in every mode")
{
    Policy policy{.approve = Approve::automatic, .allow = rules({"*"}), .ask = rules({"bash(git:*)", "web_fetch"}), .deny = rules({"bash(git push:*)", "theirs"})};
    auto kind = [&](const ToolCall& call, bool ours = true) { return letter(judged(policy, call, {}, true, ours).kind); };
    CHECK(kind(bash("ls")) == '+');
    CHECK(kind(bash("git log")) == '?');
    CHECK(kind(bash("git push")) == '-');
    CHECK(kind(bash("$x push")) == '?');          // it cannot be seen
    CHECK(kind(bash("git $x")) == '?');
    CHECK(kind(bash("echo x | sh")) == '?');
    CHECK(kind(fetch("https://x.org")) == '?');
    CHECK(kind({"c", "theirs", object({})}, false) == '-');
    policy.approve = Approve::plan;
    CHECK(kind(bash("ls")) == '-');
    CHECK(kind(file("file_read", "x")) == '+');
    policy = {.approve = Approve::ask, .allow = {}, .ask = rules({"*"}), .deny = {}};
    CHECK(kind(file("file_read", "x")) == '+');
    CHECK(kind(fetch("https://x.org")) == '?');
    policy.deny = rules({"file_read"});
    CHECK(kind(file("file_read", "x")) == '-');
}

TEST_CASE("policy: the rule that always would write allows that call and is no broader than it looks")
{
    Policy policy{.approve = Approve::ask, .allow = {}, .ask = {}, .deny = {}};
    auto always = [&](const ToolCall& call, bool ours = true) {
        auto text = judged(policy, call, {}, true, ours).always;
        if (!text.empty()) {
            Policy with = policy;
            with.allow = rules({text});
            INFO(text);
            CHECK(judged(with, call, {}, true, ours).kind == Kind::allow);
        }
        return text;
    };
    CHECK(always(bash("git log --oneline")) == "bash(git log:*)");
    CHECK(always(bash("ls -la")) == "bash(ls:*)");
    CHECK(always(bash("ls")) == "bash(ls)");
    CHECK(always(bash("git log > x")) == "bash(git log > x)");
    CHECK(always(bash("sudo ls -l")) == "bash(sudo ls -l)");
    CHECK(always(bash("ls; whoami")) == "bash(ls; whoami)");
    CHECK(always(bash("ls \u202e")) == "");
    CHECK(always(bash("ls\nls")) == "");
    CHECK(always(bash(std::string(300, 'x'))) == "");
    CHECK(always(bash("ls (x)")) == "bash(ls (x))");
    CHECK(always(file("file_write", "src/a.cc")) == "file_write(src/**)");
    CHECK(always(file("file_write", "a.cc")) == "file_write(a.cc)");
    CHECK(always(file("file_write", "src/.x")) == "file_write(src/.x)");
    CHECK(always(file("file_write", "a*")) == "");
    CHECK(always(file("file_write", "/etc/motd")) == "file_write(/etc/motd)");
    CHECK(always(fetch("https://a.example.com/x")) == "web_fetch(domain:a.example.com)");
    CHECK(always({"c", "theirs", object({})}, false) == "theirs");
    policy.closed = true;
    CHECK(always(bash("ls")) == "");
}

TEST_CASE("policy: what is no rule says why")
{
    for (auto* text : {"", "(x)", "bash(", "bash()", "bash(git *)", "bash(a; b:*)", "bash($x:*)", "file_write(../x)", "web_fetch(example.com)", "web_fetch(domain:)", "glob(x)", "theirs(x)", "a b", "bash(x) y"}) {
        INFO(text);
        auto rule = parse_rule(text);
        CHECK(!rule);
        if (!rule) CHECK(rule.error().message.starts_with(std::string(text) + ": "));
    }
    for (auto* text : {"bash", "*", "web-fetch", "bash(*)", "bash(git log:*)", "bash(x | y)", "file_write(**)"}) CHECK(parse_rule(text));
    CHECK(parse_rule("web-fetch")->tool == "web_fetch");
}
