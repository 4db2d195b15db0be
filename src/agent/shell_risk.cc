#include "agent/shell_risk.h"

#include "base/text.h"

#include <algorithm>

namespace ik {
namespace {

using Words = std::string_view;   // separated by blanks

bool has(Words words, std::string_view word)
{
    for (auto each : split(words, ' '))
        if (each == word) return true;
    return false;
}

constexpr Words running =
    ". source env xargs nice nohup timeout sudo sudoedit doas su runuser pkexec command builtin exec eval time trap setsid stdbuf "
    "sh bash rbash dash ash zsh ksh mksh lksh fish csh tcsh ssh rsh mosh sshpass pssh watch parallel strace ltrace gdb lldb valgrind perf bpftrace "
    "chroot unshare nsenter setpriv capsh busybox toybox ionice chrt taskset prlimit numactl choom uclampset cgexec cpulimit script expect unbuffer "
    "flock at batch systemd-run machinectl start-stop-daemon daemon daemonize screen tmux dtach entr npx bunx uvx pipx "
    "vi vim view nvim ed ex emacs nano rlwrap xvfb-run dbus-run-session dbus-launch firejail bwrap proot fakeroot fakechroot faketime torsocks proxychains proxychains4 "
    "setarch linux32 linux64 chpst setuidgid softlimit tini dumb-init gosu su-exec run-parts socat logsave trickle catchsegv xdg-open coproc function select";
constexpr Words feeding = ". source eval trap sh bash rbash dash ash zsh ksh mksh lksh fish csh tcsh xargs parallel busybox toybox at batch";
constexpr Words changing =
    "alias unalias export readonly declare typeset local set unset shopt enable hash read mapfile readarray getopts let umask ulimit return shift "
    "bind complete compgen compopt fc history pushd popd dirs cd chdir disown suspend";
constexpr Words nothing = "true false : exit break continue";
constexpr Words mild =
    "true false : exit break continue echo pwd ls cat head tail wc grep egrep fgrep cut tr basename dirname du df stat id whoami groups uname ps free uptime "
    "nl od cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum comm cmp diff join paste rev tac fold fmt expand unexpand seq readlink realpath "
    "sleep type which strings jq hexdump base64 base32 lsof getent nproc arch lscpu lsblk w who last printenv tty expr";

// Long options, of any command, by how they begin; an abbreviation of them counts too.
constexpr Words long_everywhere =
    "output exec command eval execute to-command checkpoint-action use-compress-program compress-program rsh rsync-path upload-pack receive-pack "
    "in-place script run shell pager editor config hook preload plugin require import init-file rcfile program strip-program interpreter ext-diff textconv "
    "write save post-file log-file filter";
constexpr std::string_view short_everywhere = "cexo";

struct Row {
    Words names;
    std::string_view shorts;               // letters of short options
    Words longs = "";                      // more long options
    Words words = "";                      // operands and whole options with one dash
    bool literal = false;                  // no word may have an expansion
    bool (*bad)(std::string_view operand) = nullptr;
};

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts)
{
    return std::ranges::any_of(parts, [&](auto part) { return text.find(part) != text.npos; });
}

// s/a/b/flags without e and w; or an address with p, d, q or =.
bool plain_sed(std::string_view script)
{
    if (script.find('\n') != script.npos)
        return false;
    if (script.size() > 3 && script[0] == 's' && std::string_view("/|,#:@!%_+").find(script[1]) != std::string_view::npos) {
        auto parts = split(script.substr(2), script[1]);
        return parts.size() == 3 && parts[2].find_first_not_of("gpiI0123456789") == std::string_view::npos && script.find('\\') == script.npos;
    }
    return !script.empty() && script.substr(0, script.size() - 1).find_first_not_of("0123456789,$") == std::string_view::npos
        && std::string_view("pdq=").find(script.back()) != std::string_view::npos;
}

bool writing_awk(std::string_view program) { return contains_any(program, {"system", "|", ">", "getline", "@"}); }
bool assigns(std::string_view operand) { return operand.find('=') != operand.npos; }
bool remote(std::string_view operand) { return operand.find(':') != operand.npos; }
bool helper_protocol(std::string_view operand) { return operand.find("::") != operand.npos; }
bool output_operand(std::string_view operand) { return operand.starts_with("of="); }
bool toolchain(std::string_view operand) { return operand.starts_with('+'); }
bool any(std::string_view) { return true; }

constexpr Row rows[] = {
    {.names = "git", .shorts = "cCoOxu", .longs = "git-dir work-tree config-env exec-path template open-files-in-pager extcmd separate-git-dir super-prefix tool",
     .words = "config bisect submodule filter-branch difftool mergetool send-email daemon credential hook instaweb help alias archive upload-archive", .bad = helper_protocol},
    {.names = "sort", .shorts = "o"},
    {.names = "find gfind", .shorts = "", .words = "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls", .literal = true},
    {.names = "sed gsed", .shorts = "iefcosxl", .longs = "expression file", .literal = true},
    {.names = "awk gawk mawk nawk", .shorts = "feEiloWdDpPSO", .longs = "file source include load dump debug profile pretty", .literal = true, .bad = writing_awk},
    {.names = "rg", .shorts = "", .longs = "pre hostname-bin"},
    {.names = "fd fdfind", .shorts = "xX", .longs = "exec exec-batch"},
    {.names = "tar gtar bsdtar", .shorts = "IFoxc", .longs = "info-script new-volume-script rmt-command rsh-command", .literal = true, .bad = remote},
    {.names = "make gmake ninja", .shorts = "fCIEoxct", .longs = "file makefile directory include-dir eval old-file", .literal = true, .bad = assigns},
    {.names = "curl", .shorts = "oOJcDKTEwe", .longs = "remote-name cookie-jar dump-header trace stderr libcurl etag-save hsts alt-svc upload-file engine netrc next"},
    {.names = "wget", .shorts = "OoaPie", .longs = "append-output directory-prefix use-askpass input-file"},
    {.names = "rsync", .shorts = "eM", .longs = "remote-option backup-dir"},
    {.names = "man", .shorts = "PHCceo", .longs = "html browser"},
    {.names = "tree", .shorts = "oR"},
    {.names = "date", .shorts = "s", .longs = "set"},
    {.names = "hostname", .shorts = "bF", .longs = "file boot", .literal = true, .bad = any},
    {.names = "file", .shorts = "Cz", .longs = "compile uncompress"},
    {.names = "printf", .shorts = "v", .literal = true},
    {.names = "test [", .shorts = "vR", .literal = true},
    {.names = "uniq xxd", .shorts = "o", .literal = true},   // the second operand is written
    {.names = "dd", .shorts = "", .literal = true, .bad = output_operand},
    {.names = "ip", .shorts = "b", .longs = "batch", .words = "-b -batch netns vrf exec"},
    {.names = "ss", .shorts = "KD", .longs = "kill diag"},
    {.names = "dmesg", .shorts = "CcnDE", .longs = "clear read-clear console-level console-off console-on"},
    {.names = "journalctl", .shorts = "", .longs = "vacuum rotate flush sync relinquish cursor-file setup-keys update-catalog smart-relinquish"},
    {.names = "go", .shorts = "", .longs = "toolexec vettool overlay modfile coverprofile cpuprofile memprofile blockprofile mutexprofile trace o ldflags gcflags asmflags",
     .words = "-exec -toolexec -vettool -o -C -overlay -modfile -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir "
              "-ldflags -gcflags -asmflags -gccgoflags -pkgdir run generate tool env",
     .literal = true},
    {.names = "docker podman nerdctl", .shorts = "H", .longs = "host context", .words = "run exec cp build compose save export load import plugin"},
    {.names = "kubectl oc", .shorts = "", .longs = "kubeconfig raw as server", .words = "exec run cp edit debug plugin config proxy attach"},
    {.names = "npm yarn pnpm bun", .shorts = "C", .longs = "script-shell node-options prefix userconfig globalconfig ignore", .words = "exec x dlx config set explore edit create init"},
    {.names = "cargo", .shorts = "ZC", .longs = "manifest-path target-dir", .words = "run install", .bad = toolchain},
    {.names = "pytest py.test", .shorts = "pcoe", .longs = "rootdir confcutdir basetemp junit resultlog pastebin pdbcls"},
    {.names = "systemctl", .shorts = "HM", .longs = "root image host machine", .words = "edit set-environment import-environment"},
};

const Row* row_of(std::string_view name)
{
    auto row = std::ranges::find_if(rows, [&](auto& each) { return has(each.names, name); });
    return row == std::end(rows) ? nullptr : row;
}

// A dangerous option is meant by any beginning of it that is one, and by any longer one.
bool long_in(Words words, std::string_view name)
{
    for (auto each : split(words, ' '))
        if (!each.empty() && (each.starts_with(name) || name.starts_with(each))) return true;
    return false;
}

bool option_risk(const Row* row, std::string_view word)
{
    auto name = word.substr(0, word.find('='));
    if (name.starts_with("--"))
        return name.size() > 2 && (long_in(long_everywhere, name.substr(2)) || (row && long_in(row->longs, name.substr(2))));
    return (row && has(row->words, name)) || word.substr(1).find_first_of(row ? row->shorts : short_everywhere) != word.npos;
}

// Words that only together say what they do.
std::string operand_risk(std::string_view name, const ShellCommand& command)
{
    std::vector<std::string_view> operands;
    for (auto& word : std::span(command.words).subspan(1))
        if (!word.text.starts_with('-')) operands.push_back(word.text);
    if (has("sed gsed", name) && (operands.empty() || !plain_sed(operands[0])))
        return "a script of sed that may write or run something";
    if (has("uniq xxd", name) && operands.size() > 1)
        return std::string(name) + " writes to its second file";
    if (has("tar gtar bsdtar", name) && !operands.empty() && command.words[1].text == operands[0] && operands[0].find_first_of("IFoxc") != std::string_view::npos)
        return "letters of tar that write or run something";
    return "";
}

}

bool runs_others(std::string_view name)
{
    return has(running, name) || name.starts_with("ld-linux") || name.starts_with("ld.so") || name.starts_with("ld-musl");
}
bool reads_commands(std::string_view name) { return has(feeding, name); }
bool changes_shell(std::string_view name) { return has(changing, name); }
bool changes_nothing(std::string_view name) { return has(nothing, name); }
bool harmless(std::string_view name) { return has(mild, name); }

std::string risk(const ShellCommand& command, std::size_t from)
{
    std::string_view name = command.words[0].text;
    if (harmless(name))
        return "";
    auto* row = row_of(name);
    for (auto& word : std::span(command.words).subspan(from)) {
        if (!word.known && ((row && row->literal) || word.splits || word.text.empty() || word.text[0] == '-'))
            return "what " + std::string(name) + " is told is known only when it runs";
        bool option = word.text.size() > 1 && word.text[0] == '-';
        if (option && option_risk(row, word.text))
            return std::string(name) + " " + word.text + " may write or run something";
        if (!option && row && (has(row->words, word.text) || (row->bad && row->bad(word.text))))
            return std::string(name) + " … " + word.text + " may write or run something";
    }
    return from < command.words.size() || has("sed gsed", name) ? operand_risk(name, command) : "";
}

std::string risk(const ShellRedirection& redirection)
{
    auto& to = redirection.target;
    if (redirection.operation.starts_with("<<") || redirection.operation == ">&" || redirection.operation == "<&")
        return "";
    if (redirection.operation == "<")
        return to.known && !to.text.starts_with("/dev/tcp") && !to.text.starts_with("/dev/udp") ? "" : "it reads a file that is not known";
    if (redirection.operation != "<>" && to.known && to.text == "/dev/null")
        return "";
    return "it writes to " + (to.known ? to.text : "a file that is not known");
}

}
