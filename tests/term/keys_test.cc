// Keys: what terminals send, as tables; cut into pieces at every place.
#include "term/keys.h"

#include "base/text.h"

#include <catch2/catch.hpp>
#include <random>

using namespace ik;
using namespace ik::term;
using namespace std::chrono_literals;

namespace {

const Clock::time_point start = Clock::time_point{} + 1000s;

std::string name(const Key& key)
{
    static const char* const kinds[] = {"", "enter", "tab", "backspace", "delete", "esc", "up", "down", "left", "right", "home", "end", "pgup", "pgdn", "insert", "f", "paste:", "reply:"};
    return std::string(key.ctrl ? "C-" : "") + (key.alt ? "A-" : "") + (key.shift ? "S-" : "") + kinds[key.kind] + (key.words == " " ? "space" : key.words);
}

std::string names(const std::vector<Key>& keys)
{
    std::string out;
    for (auto& key : keys) out += (out.empty() ? "" : " ") + name(key);
    return out;
}

void append(std::vector<Key>& to, std::vector<Key> more) { to.insert(to.end(), more.begin(), more.end()); }

// The keys of bytes that come in pieces of `size`, and what is left when nothing more comes.
std::string keys_of(std::string_view bytes, std::size_t size = 1 << 20)
{
    Keys keys;
    std::vector<Key> out;
    auto now = start;
    for (std::size_t at = 0; at < bytes.size(); at += size)
        append(out, keys.on(bytes.substr(at, size), now += 1ms));
    for (int i = 0; i < 20 && keys.until(); ++i)
        append(out, keys.late(now = *keys.until()));
    CHECK_FALSE(keys.until());
    return names(out);
}

}

TEST_CASE("keys: what terminals send")
{
    struct Case { std::string_view bytes, keys; };
    auto c = GENERATE(values<Case>({
        {"a", "a"}, {"é漢😀", "é 漢 😀"}, {"\r", "enter"}, {"\n", "C-j"}, {"\t", "tab"}, {"\x7f", "backspace"}, {"\x08", "backspace"},
        {"\x01\x05\x0b", "C-a C-e C-k"}, {"\x1f", "C-_"}, {"\x1c", "C-\\"}, {" ", "space"},
        // cursor keys: normal, application, with modifiers, rxvt's, behind Alt
        {"\x1b[A\x1b[B\x1b[C\x1b[D", "up down right left"}, {"\x1bOA\x1bOD", "up left"}, {"\x1b[1;5C\x1b[1;3D\x1b[1;2A", "C-right A-left S-up"},
        {"\x1b[5C", "right"}, {"\x1bOa\x1bOd", "C-up C-left"}, {"\x1b[a\x1b[d", "S-up S-left"}, {"\x1b\x1b[A", "A-up"}, {"\x1b\x1bOC", "A-right"}, {"\x1b[1;6A", "C-S-up"},
        // Home and End, editing keys
        {"\x1b[H\x1b[F", "home end"}, {"\x1bOH\x1bOF", "home end"}, {"\x1b[1~\x1b[4~", "home end"}, {"\x1b[7~\x1b[8~", "home end"}, {"\x1b[1;5H", "C-home"},
        {"\x1b[2~\x1b[3~\x1b[5~\x1b[6~", "insert delete pgup pgdn"}, {"\x1b[3;5~", "C-delete"}, {"\x1b[3$\x1b[3^\x1b[3@", "S-delete C-delete C-S-delete"},
        // function keys: xterm, VT, the Linux console
        {"\x1bOP\x1b[15~\x1b[24~\x1b[[A\x1b[[E", "f1 f5 f12 f1 f5"}, {"\x1b[1;2R", "S-f3"},
        {"\x1b[Z", "S-tab"}, {"\x1bOM", "enter"}, {"\x1bOq\x1bOk", "1 +"},
        // Alt
        {"\x1b" "b", "A-b"}, {"\x1b\x7f", "A-backspace"}, {"\x1b\r", "A-enter"}, {"\x1b\n", "C-A-j"}, {"\x1b" "é", "A-é"}, {"\x1b\x01", "C-A-a"},
        // the kitty keyboard protocol
        {"\x1b[13;2u\x1b[13;5u\x1b[13u", "S-enter C-enter enter"}, {"\x1b[27u", "esc"}, {"\x1b[97;5u", "C-a"}, {"\x1b[98;3u", "A-b"}, {"\x1b[97;6u", "C-S-a"}, {"\x1b[9;5u", "C-tab"},
        {"\x1b[127;3u", "A-backspace"}, {"\x1b[97:65;2u", "S-A"}, {"\x1b[228;5u", "C-ä"}, {"\x1b[97;5:3u", ""}, {"\x1b[97;5:2u", "C-a"}, {"\x1b[57414u\x1b[57399u", "enter 0"}, {"\x1b[57441;2u", ""},
        {"\x1b[1;1:3A", ""}, {"\x1b[97;9u", ""}, {"\x1b[13;66u", "S-enter"},
        // xterm's modifyOtherKeys
        {"\x1b[27;2;13~\x1b[27;5;106~\x1b[27;3;98~", "S-enter C-j A-b"}, {"\x1b[27;6;65~", "C-S-a"}, {"\x1b[27;5;9~", "C-tab"},
        // what is no key
        {"\x1b[I\x1b[Oa", "a"}, {"\x1b[<0;10;10M\x1b[<0;10;10mx", "x"}, {"\x1b[M !!y", "y"}, {"\x1b[12;40Rz", "z"}, {"\x1b[999~\x1b[=5z", ""}, {"\x1b[1;2;3;4;5;6;7;8;9;10;11Ab", "S-up b"},
        {"\x1b[12345678901234567890~q", "q"}, {"\x1b[3\x01" "a", "C-a a"}, {"\x1b[3\x1b[A", "up"},
        // replies
        {"\x1b[?1u\x1b[?62;22c", "reply:[?1u reply:[?62;22c"}, {"\x1b]11;rgb:1111/2222/3333\x1b\\a", "reply:]11;rgb:1111/2222/3333 a"}, {"\x1b]11;rgb:ff/ff/ff\a", "reply:]11;rgb:ff/ff/ff"},
        {"\x1bP1+r\x1b\\a", "reply:P1+r a"}, {"\x1b[?2026;2$yb", "reply:[?2026;2$y b"},
        // what is unfinished
        {"\x1b", "esc"}, {"\x1b\x1b", "esc esc"}, {"\x1b[", "A-["}, {"\x1bO", "A-O"}, {"\x1b[1;", ""}, {"\x1b]11;", ""},
        // bytes that are not UTF-8
        {"\xFF", "\uFFFD"}, {"\xC3", "\uFFFD"}, {"\xE6\xBC" "a", "\uFFFD \uFFFD a"}, {"\xED\xA0\x80", "\uFFFD \uFFFD \uFFFD"},
        // paste
        {"\x1b[200~one\rtwo\x1b[201~", "paste:one\rtwo"}, {"\x1b[200~\x1b[201~", "paste:"}, {"a\x1b[200~x\x1b[A\x1b[201~b", "a paste:x\x1b[A b"}, {"\x1b\x1b[200~x\x1b[201~", "esc paste:x"},
        {"\x1b[200~safe\x1b[201~\rrm\r\x1b[201~", "paste:safe\rrm\r"},                    // the end mark was in the text
        {"\x1b[200~safe\x1b[201~\rrm\r\x1b[200~x\x1b[201~", "paste:safe\rrm\r\x1b[200~x"},  // and a begin mark
        {"\x1b[200~lost", "paste:lost"}, {"\x1b[200~caf\xC3\x1b[201~", "paste:caf\uFFFD"},
    }));
    CHECK(keys_of(c.bytes) == c.keys);
    bool lone_escapes = c.bytes.starts_with("\x1b\x1b");
    if (!lone_escapes)
        for (std::size_t size : {1, 2, 3, 5})
            CHECK(keys_of(c.bytes, size) == c.keys);
}

TEST_CASE("keys: Esc alone is decided by time")
{
    Keys keys;
    CHECK(keys.on("\x1b", start).empty());
    REQUIRE(keys.until());
    CHECK(*keys.until() == start + 50ms);
    CHECK(keys.late(start + 49ms).empty());
    CHECK(names(keys.on("[A", start + 49ms)) == "up");
    CHECK_FALSE(keys.until());
    CHECK(keys.on("\x1b", start).empty());
    CHECK(names(keys.late(start + 50ms)) == "esc");
    CHECK(names(keys.on("[A", start + 60ms)) == "[ A");
}

TEST_CASE("keys: a key after a paste is a key")
{
    Keys keys;
    CHECK(keys.on("\x1b[200~text\x1b[201~", start).empty());
    auto out = keys.late(*keys.until());
    append(out, keys.on("\r", start + 26ms));
    CHECK(names(out) == "paste:text enter");
    CHECK(keys.on("\x1b[200~text\x1b[201~", start).empty());
    out = keys.on("\r", start + 30ms);   // nobody asked in between
    CHECK(names(out) == "paste:text enter");
}

TEST_CASE("keys: a paste that breaks itself into two, with a pause between them")
{
    Keys keys;
    CHECK(keys.on("\x1b[200~safe\x1b[201~\rrm -rf\r\x1b[200~", start).empty());
    CHECK(keys.late(start + 25ms).empty());
    CHECK(keys.on(" more", start + 1s).empty());
    CHECK(keys.on("\x1b[201~", start + 2s).empty());
    CHECK(names(keys.late(start + 3s)) == "paste:safe\rrm -rf\r\x1b[200~ more");
}

TEST_CASE("keys: a paste is bounded, and fast")
{
    std::string big(Keys::longest_paste + 1000, 'x');
    Keys keys;
    std::vector<Key> out = keys.on("\x1b[200~", start);
    for (std::size_t at = 0; at < big.size(); at += 65536) append(out, keys.on(std::string_view(big).substr(at, 65536), start));
    append(out, keys.on("\x1b[201~", start));
    append(out, keys.late(start + 1s));
    REQUIRE(out.size() == 1);
    CHECK(out[0].words.size() == Keys::longest_paste);
}

TEST_CASE("keys: nothing that comes breaks them")
{
    std::mt19937 random(11);
    static constexpr std::string_view bits[] = {"\x1b", "[", "O", "]", "P", ";", ":", "1", "27", "200~", "201~", "u", "~", "M", "A", "\r", "é", "\xE6", "?", "<", "\x07", "\\", "$", "a"};
    for (int round = 0; round < 2000; ++round) {
        Keys keys;
        auto now = start;
        std::vector<Key> out;
        for (auto n = random() % 60; n > 0; --n) {
            append(out, keys.on(random() % 5 ? std::string(bits[random() % std::size(bits)]) : std::string(1, static_cast<char>(random())), now));
            if (random() % 8 == 0) append(out, keys.late(now += 100ms));
        }
        for (int i = 0; i < 20 && keys.until(); ++i) append(out, keys.late(now = *keys.until()));
        REQUIRE_FALSE(keys.until());
        for (auto& key : out) {
            REQUIRE(valid_utf8(key.words));
            REQUIRE((key.kind != Key::text || !key.words.empty()));
        }
    }
}

TEST_CASE("keys: what a terminal says of itself")
{
    Told told;
    told.hear("]11;rgb:ffff/ffff/dddd");
    CHECK(told.light == true);
    CHECK_FALSE(told.kitty);
    told.hear("[?0u");
    CHECK(told.kitty);
    CHECK_FALSE(told.complete);
    told.hear("[?62;c");
    CHECK(told.complete);
    Told dark;
    dark.hear("]11;rgb:1e/1e/2e");
    CHECK(dark.light == false);
    dark = {};
    for (auto nonsense : {"]11;rgb", "]11;rgb:", "]11;rgb:z/z/z", "]11;rgb:ff", "]11;?", ""}) dark.hear(nonsense);
    CHECK_FALSE(dark.light);
}
