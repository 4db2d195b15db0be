// Mouth: how a conversation is said: as text, as one JSON object, as a stream of them, or to
// a person, line by line. Computes bytes and writes them at once; decides nothing.
#pragma once

#include "agent/session.h"
#include "agent/wire.h"
#include "approval.h"
#include "preview.h"

namespace ik {

class Screen;

enum class Format { person, text, json, stream_json };

class Mouth {
public:
    Mouth(Format format, bool colour) : format_(format), colour_(colour) {}
    void attach(Screen& screen) { screen_ = &screen; }   // where a person sees all of it from now on; borrowed

    void session(std::string_view id, std::string_view provider, std::string_view model);
    void event(const Event&);
    void call(const ToolCall&);
    void result(const ToolCall&, const Json& envelope, milliseconds duration);
    void notice(const Json& notice);           // of a tool, for the user
    void question(const Approval::Question&, const Preview&);   // an empty preview: only how to answer
    void end(const End&, const Session&, std::string_view id, std::optional<double> cost);   // in US dollars, where it is known

    void said(std::string_view text);          // by the person, where that does not stand there already
    void say(std::string_view text);           // to the person: the answer of a command
    void warn(std::string_view sentence);      // to the person; on stderr where the answer is on stdout
    void prompt();
    void begin_block();                        // what comes next begins a line

    bool spoke() const;                        // text of the reply that runs was shown
    bool lost() const;                         // nobody hears us any more

private:
    bool to_person() const { return format_ == Format::person; }
    void line(const Json& object);
    void out(std::string_view bytes);
    std::string tinted(int colour, std::string_view text) const;

    Format format_;
    bool colour_;
    Screen* screen_ = nullptr;
    bool spoke_ = false, lost_ = false;
    bool in_line_ = false;   // the last byte to the person was no newline
    std::string retried_;    // the error that an answer could not survive
};

// Text that cannot drive a terminal: control characters and whatever is not UTF-8 are made visible.
std::string harmless(std::string_view text);

std::string excerpt(std::string_view text);             // what a person sees of a result: 3 lines or 400 characters
std::string arguments_line(const Json& arguments);      // name="value", name=2
std::string result_text(const Json& envelope);          // its output, its error, or the whole result

}
