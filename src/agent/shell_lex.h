// shell_lex: characters and words of a shell command line. Internal to shell_split.
#pragma once

#include "agent/shell_split.h"

namespace ik {

// One text that is read from its front to its end: a command line, the inside of backquotes, a here-document.
// Every function returns false once the text is unclear; then nothing more is to be read.
class ShellReader {
public:
    ShellReader(std::string_view text, ShellSplit& out, int depth) : text_(text), out_(out), depth_(depth) {}

    bool whole();   // the text as a program

private:
    struct HereDocument { std::string delimiter; bool quoted, tabs; };
    struct Word : ShellWord {
        std::string shape;   // a character as it is where it is not quoted, \1 for one that is, \2 for an expansion
    };

    // shell_lex.cc
    bool unclear(std::string why);
    bool at_end() const { return at_ >= text_.size(); }
    char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
    bool next_is(std::string_view what) const { return text_.substr(at_).starts_with(what); }
    void skip_blanks();
    bool skip_comment();
    bool newline();
    bool here_document(const HereDocument&);
    bool here_text(std::string_view body);
    bool ends_word() const;
    bool read_word(Word&);
    bool finish_word(Word&);
    bool single_quotes(Word&);
    bool double_quotes(Word&);
    bool dollar(Word&, bool quoted);
    bool parameter(Word&, bool quoted);
    bool arithmetic(Word&, bool quoted);
    bool substitution(Word&, bool quoted);
    bool backquotes(Word&, bool quoted);
    static void add(Word&, char, bool quoted);
    static void expand(Word&, bool quoted);

    // shell_split.cc
    std::string_view reserved() const;
    bool take(std::string_view word);
    bool list(std::initializer_list<std::string_view> ends);
    bool separator(bool& more);
    bool pipeline();
    bool command();
    bool group(std::string_view end);
    bool conditional();
    bool loop();
    bool for_loop();
    bool choice();
    bool choice_arm();
    bool simple();
    bool simple_word(ShellCommand&);
    bool redirection(ShellCommand&, std::string descriptor);
    bool redirections_behind();
    bool skip_newlines();
    bool keep(ShellCommand);

    std::string_view text_;
    ShellSplit& out_;
    int depth_;
    std::size_t at_ = 0;
    std::vector<HereDocument> pending_;   // announced on this line
    bool inside_ = false;                 // of $( )
    bool outer_pending_ = false;          // a here-document was announced around the $( )
};

}
