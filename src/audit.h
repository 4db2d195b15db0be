// Audit: the log of what tools were called, who allowed it and what came of it: JSON lines, appended, each chained to
// the one before (audit_chain). A log that cannot be written stops no work: it is said once.
#pragma once

#include "agent/session.h"
#include "audit_chain.h"
#include "base/poll.h"

namespace ik {

class Audit {
public:
    enum class To { nowhere, file, syslog };   // syslog: the file, and the heads of its entries to the system's log
    struct Options {
        To to = To::nowhere;
        std::string session = {};
        std::string path = {};
        std::vector<std::string> secrets = {};    // that appear nowhere in it
        std::string socket = "/dev/log";
    };
    explicit Audit(Options options);

    void start();
    void call(const ToolCall&);
    void decision(const ToolCall&, std::string_view decision, std::string_view by);   // allow, ask, deny, …; the rule or who said it
    void result(const ToolCall&, const Json& envelope, milliseconds duration);
    void end(int status);

    // Why the log is not written: a sentence, once.
    std::optional<std::string> take_trouble() { return std::exchange(trouble_, {}); }

private:
    void note(std::string_view event, const ToolCall*, Json::Object more);
    Result<audit::Head> append(const Json::Object& entry);
    void complain(std::string sentence);
    void tell_system(const Json::Object& entry, const audit::Head&);

    Options options_;
    std::string cwd_, host_;
    std::optional<std::string> trouble_;
    bool complained_ = false;
};

// "": nowhere; true and file, syslog.
Audit::To audit_to(std::string_view setting);
std::string audit_log();   // its path; empty without a home

// The arguments as the log has them: without secrets, strings over 4 KB cut, at most 16 KB in all.
Json audited(const Json& arguments, const std::vector<std::string>& secrets);

// `ikigai audit verify [FILE]` and `ikigai audit show [FILE]`, the last entries: exit status.
int verify_audit(const std::string& file);
int show_audit(const std::string& file, std::size_t count);

}
