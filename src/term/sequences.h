// Sequences: the key at the start of what a terminal sent, from tables. Knows nothing of time; a paste is not its own.
#pragma once

#include "term/keys.h"

namespace ik::term {

inline constexpr std::string_view paste_begin = "\x1b[200~", paste_end = "\x1b[201~";

// The bytes that belong together, and the key in them, if it is one. size 0: more is needed to tell.
struct Unit {
    std::size_t size = 0;
    std::optional<Key> key = {};
};
Unit first_unit(std::string_view text);   // text is not empty

// What an unfinished unit is when nothing more comes.
Unit last_unit(std::string_view text);

}
