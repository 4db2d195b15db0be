// Compaction: a conversation that is too long becomes a summary and its last turns. Decides what is
// summarised and what stays, writes the questions for the summary, and puts the shorter conversation
// together. Pure: it asks nobody. Messages have the neutral form (ikigai-hacking.7).
#pragma once

#include "base/json.h"

#include <optional>
#include <span>

namespace ik {

// What was done to a conversation: enough to do it again to the same messages.
struct Compacted {
    Json summary;                       // the message that stands for what was before kept_from: role user, text; and its parts, for the next time:
                                        // summary, task, paths. Null: nothing was before
    std::size_t kept_from = 0;          // the first message that stayed
    std::size_t in_front = 0;           // messages that stand in front of it now
    std::size_t longest_envelope = 0;   // bytes: longer ones that stayed were cut; 0: none was
    std::int64_t before = 0, after = 0; // tokens, about
    friend bool operator==(const Compacted&, const Compacted&) = default;
};

// The conversation that goes on.
Json::Array compacted(const Json::Array& messages, const Compacted&);

class Compaction {
public:
    struct Room {
        std::int64_t tokens = 0;       // of the window, for messages; 0: not known
        std::string keep = {};         // what the user wants kept in particular
    };
    // Nothing where nothing would become shorter.
    static std::optional<Compaction> of(const Json::Array& messages, Room);

    bool needs_answer() const { return at_ < transcript_.size(); }   // else done() says what came of it

    // The next question: messages, to be asked with summary_system and without tools. A conversation that is
    // longer than the window is asked about in pieces, each with the summary of those before.
    Json::Array question() const;

    // The answer, as it comes.
    void hear(std::string_view text) { heard_ += text; }
    void hear_again() { heard_.clear(); }

    // The answer is complete. Error: API_ERROR where it says nothing.
    Status take_answer();

    // Asks about a piece half as long. False when it is as short as makes sense.
    bool ask_less();

    Compacted done() const;

private:
    std::string_view piece() const;

    Room room_;
    std::string transcript_;                 // of what is summarised
    std::size_t at_ = 0, piece_size_ = 0;    // bytes of it: summarised already, asked about at once
    std::string heard_, summary_;
    std::string task_;                       // the user's last message, where it does not stay by itself
    std::vector<std::string> paths_;
    std::size_t kept_from_ = 0, longest_envelope_ = 0;
};

extern const std::string_view summary_system;

// Paths that the messages name: first those of the calls' file_path and path arguments, newest first,
// then what looks like one in commands and texts. At most 400 and 100.
std::vector<std::string> paths_in(std::span<const Json> messages);

}
