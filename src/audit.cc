#include "audit.h"

#include "base/date.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/places.h"
#include "base/text.h"
#include "redact.h"
#include "say.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace ik {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t longest_string = 4096, longest_arguments = 16 << 10;
constexpr std::size_t tail = 1 << 20;     // of the log, where the last entry must be
constexpr auto patience = 2s;             // with another process that appends
constexpr int info_of_authpriv = 10 * 8 + 6;

std::string cut(std::string text)
{
    if (text.size() <= longest_string)
        return text;
    return std::string(utf8_prefix(text, longest_string)) + "… [" + std::to_string(text.size()) + " bytes, sha256 " + sha256(text) + "]";
}

Json with_cuts(const Json& value)
{
    if (auto* text = value.as<std::string>())
        return cut(*text);
    Json out = value;
    if (auto* items = out.as<Json::Array>())
        for (auto& item : *items) item = with_cuts(item);
    if (auto* members = out.as<Json::Object>())
        for (auto& [name, member] : *members) name = cut(name), member = with_cuts(member);
    return out;
}

// A tool's exit status; 0 where it answered and names none, null where it never ran or did not end by itself.
Json exit_of(const Json& envelope)
{
    auto* result = envelope.find("result");
    bool answered = envelope.find("tool_success") && *envelope.find("tool_success") == Json(true);
    auto* code = answered && result ? result->find("exit_code") : envelope.find("exit_code");
    if (code && code->as<std::int64_t>())
        return *code;
    return answered ? Json(0) : Json();
}

std::string error_code_of(const Json& envelope)
{
    auto* result = envelope.find("result");
    auto own = envelope.text("error_code");
    return std::string(own.empty() && result ? result->text("error_code") : own);
}

// Waits for the others who append, but not for one that never ends.
bool lock(const Fd& fd, bool wait)
{
    auto end = Clock::now() + patience;
    while (flock(fd.get(), LOCK_EX | LOCK_NB) < 0) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || !wait || Clock::now() > end)
            return false;
        timespec pause{0, 2'000'000};
        nanosleep(&pause, nullptr);
    }
    return true;
}

// The end of the log.
std::string end_of(const Fd& fd, std::int64_t size)
{
    std::string text(std::min(tail, static_cast<std::size_t>(size)), '\0');
    std::size_t at = 0;
    while (at < text.size()) {
        auto n = pread(fd.get(), text.data() + at, text.size() - at, size - static_cast<std::int64_t>(text.size() - at));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        at += static_cast<std::size_t>(n);
    }
    text.resize(at);
    return text;
}

Error unwritten(const std::string& path, const std::string& why) { return {code::write_failed, "The audit log " + path + " is not written: " + why}; }

Result<Fd> open_log(const std::string& path)
{
    if (path.empty())
        return unwritten("in ~/.local/state/ikigai", "there is no home");
    if (!make_folders(folder_name(path)))
        return unwritten(path, std::strerror(errno));
    Fd fd(open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK, 0600));
    struct stat info {};
    if (!fd || fstat(fd.get(), &info) < 0)
        return unwritten(path, errno == ELOOP ? "it is a symbolic link" : std::strerror(errno));
    if (!S_ISREG(info.st_mode) || (info.st_uid != geteuid() && info.st_uid != 0) || (info.st_mode & 022))
        return unwritten(path, "it must be a file that belongs to us or to root and that nobody else may write");
    return fd;
}

}

Audit::Audit(Options options) : options_(std::move(options)), cwd_(options_.to == To::nowhere ? "" : current_folder()), host_(options_.to == To::nowhere ? "" : host_name()) {}

void Audit::start() { note("start", nullptr, {}); }
void Audit::end(int status) { note("end", nullptr, {{"exit", status}}); }

void Audit::call(const ToolCall& call)
{
    if (options_.to != To::nowhere)
        note("call", &call, {{"arguments", audited(call.arguments, options_.secrets)}});
}

void Audit::decision(const ToolCall& call, std::string_view decision, std::string_view by)
{
    note("decision", &call, {{"decision", decision}, {"by", cut(redacted(by, options_.secrets))}});
}

void Audit::result(const ToolCall& call, const Json& envelope, milliseconds duration)
{
    note("result", &call, {{"exit", exit_of(envelope)}, {"error_code", cut(error_code_of(envelope))}, {"duration_ms", duration.count()}});
}

void Audit::note(std::string_view event, const ToolCall* call, Json::Object more)
{
    if (options_.to == To::nowhere)
        return;
    Json::Object entry{{"time", utc_time()}, {"session", options_.session}, {"event", event}};
    if (call) {
        entry.emplace_back("call", cut(call->id));
        entry.emplace_back("tool", cut(call->name));
    }
    for (auto& member : more) entry.push_back(std::move(member));
    entry.insert(entry.end(), {{"uid", static_cast<std::int64_t>(getuid())}, {"cwd", cwd_}, {"host", host_}});
    auto head = append(entry);
    if (!head)
        complain(head.error().message);
    if (options_.to == To::syslog)
        tell_system(entry, head ? *head : audit::Head{});
}

void Audit::complain(std::string sentence)
{
    if (!std::exchange(complained_, true))
        trouble_ = std::move(sentence);
}

// One write, under a lock: processes that run at once make one chain. What was torn by a crash or a full disk stays
// a line of its own.
Result<audit::Head> Audit::append(const Json::Object& entry)
{
    auto fd = open_log(options_.path);
    if (!fd)
        return fd.error();
    if (!lock(*fd, !complained_))
        return unwritten(options_.path, "another process holds it");
    struct stat info {};
    fstat(fd->get(), &info);
    auto end = end_of(*fd, info.st_size);
    auto before = audit::last_entry(end);
    auto [line, head] = audit::sealed(entry, before);
    auto bytes = (end.empty() || end.ends_with('\n') ? "" : "\n") + line + "\n";
    ssize_t written;
    do written = write(fd->get(), bytes.data(), bytes.size());
    while (written < 0 && errno == EINTR);
    if (written == static_cast<ssize_t>(bytes.size()))
        return head;
    auto why = written < 0 ? std::strerror(errno) : std::strerror(ENOSPC);
    if (written > 0 && ftruncate(fd->get(), info.st_size) < 0)
        return unwritten(options_.path, std::string(why) + " (an entry is torn)");
    return unwritten(options_.path, why);
}

// As syslog(3) would, but it never waits.
void Audit::tell_system(const Json::Object& entry, const audit::Head& head)
{
    Json::Object said;
    if (head.seq)
        said = {{"seq", head.seq}, {"hash", head.hash}};
    for (auto& [name, value] : entry)
        if (name == "session" || name == "event" || name == "call" || name == "tool" || name == "decision" || name == "exit" || name == "error_code")
            said.emplace_back(name, value);
    std::time_t now = std::time(nullptr);
    std::tm local{};
    char time[32] = "";
    localtime_r(&now, &local);
    std::strftime(time, sizeof time, "%b %e %H:%M:%S", &local);
    auto message = "<" + std::to_string(info_of_authpriv) + ">" + time + " ikigai[" + std::to_string(getpid()) + "]: " + Json(said).dump();

    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    options_.socket.copy(address.sun_path, sizeof address.sun_path - 1);
    Fd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd || sendto(fd.get(), message.data(), message.size(), MSG_NOSIGNAL, reinterpret_cast<sockaddr*>(&address), sizeof address) < 0)
        complain("The audit log's heads do not reach " + options_.socket + ": " + std::strerror(errno));
}

Audit::To audit_to(std::string_view setting)
{
    if (setting == "syslog") return Audit::To::syslog;
    return setting == "true" || setting == "file" ? Audit::To::file : Audit::To::nowhere;
}

std::string audit_log()
{
    auto state = state_folder();
    return state.empty() ? "" : state + "/audit.jsonl";
}

Json audited(const Json& arguments, const std::vector<std::string>& secrets)
{
    auto whole = redacted_json(arguments, secrets);
    auto out = with_cuts(whole);
    auto size = out.dump().size();
    if (size <= longest_arguments)
        return out;
    auto text = whole.dump();
    return object({{"cut", utf8_prefix(text, longest_string)}, {"bytes", text.size()}, {"sha256", sha256(text)}});
}

namespace {

// Says why there is none.
std::optional<std::ifstream> opened(const std::string& path)
{
    struct stat info {};
    bool there = stat(path.c_str(), &info) == 0;
    std::ifstream in;
    if (there && !S_ISDIR(info.st_mode))
        in.open(path, std::ios::binary);
    if (in.is_open())
        return in;
    auto why = there && S_ISDIR(info.st_mode) ? "it is a folder" : std::strerror(errno);
    write_all(2, "ikigai: cannot read " + (path.empty() ? "the audit log: no home" : path + ": " + why) + "\n");
    return {};
}

}

int verify_audit(const std::string& file)
{
    auto in = opened(file);
    if (!in)
        return 1;
    auto verdict = audit::verify(*in);
    return print(verdict.sentence() + "\n") == 0 && verdict.broken.empty() ? 0 : 1;
}

int show_audit(const std::string& file, std::size_t count)
{
    auto in = opened(file);
    if (!in)
        return 1;
    std::deque<std::string> last;
    for (std::string line; std::getline(*in, line);) {
        last.push_back(clean_utf8(line));
        if (last.size() > count) last.pop_front();
    }
    std::string out;
    for (auto& line : last) out += line + "\n";
    return print(out);
}

}
