#include "term/sequences.h"

#include "base/text.h"

#include <array>

namespace ik::term {
namespace {

constexpr std::size_t longest_sequence = 256, longest_string = 4096;

struct Named { int code; Key::Kind kind; std::string_view words = {}; };

// CSI letter, CSI 1 ; modifiers letter, SS3 letter: ECMA-48, DEC VT220.
constexpr Named letters[] = {
    {'A', Key::up}, {'B', Key::down}, {'C', Key::right}, {'D', Key::left}, {'H', Key::home}, {'F', Key::end}, {'M', Key::enter},
    {'P', Key::function, "1"}, {'Q', Key::function, "2"}, {'R', Key::function, "3"}, {'S', Key::function, "4"},
};

// CSI number ~: VT220, xterm, the Linux console, rxvt.
constexpr Named numbers[] = {
    {1, Key::home}, {2, Key::insert}, {3, Key::erase}, {4, Key::end}, {5, Key::page_up}, {6, Key::page_down}, {7, Key::home}, {8, Key::end},
    {11, Key::function, "1"}, {12, Key::function, "2"}, {13, Key::function, "3"}, {14, Key::function, "4"}, {15, Key::function, "5"},
    {17, Key::function, "6"}, {18, Key::function, "7"}, {19, Key::function, "8"}, {20, Key::function, "9"}, {21, Key::function, "10"},
    {23, Key::function, "11"}, {24, Key::function, "12"},
};

// Keys by code point: https://sw.kovidgoyal.net/kitty/keyboard-protocol/ (functional key definitions), and the ASCII controls.
constexpr Named codes[] = {
    {8, Key::backspace}, {9, Key::tab}, {10, Key::enter}, {13, Key::enter}, {27, Key::escape}, {127, Key::backspace},
    {57409, Key::text, "."}, {57410, Key::text, "/"}, {57411, Key::text, "*"}, {57412, Key::text, "-"}, {57413, Key::text, "+"},
    {57414, Key::enter}, {57415, Key::text, "="}, {57416, Key::text, ","}, {57417, Key::left}, {57418, Key::right}, {57419, Key::up},
    {57420, Key::down}, {57421, Key::page_up}, {57422, Key::page_down}, {57423, Key::home}, {57424, Key::end}, {57425, Key::insert}, {57426, Key::erase},
};

template <std::size_t N>
const Named* find(const Named (&table)[N], int code)
{
    for (auto& row : table)
        if (row.code == code)
            return &row;
    return nullptr;
}

Key key_of(const Named& named) { return {named.kind, std::string(named.words)}; }

// 1 + a sum of 1 Shift, 2 Alt, 4 Ctrl, 8 Super, 16 Hyper, 32 Meta, 64 and 128 locks.
Key with(Key key, int modifiers)
{
    int bits = modifiers > 0 ? modifiers - 1 : 0;
    key.shift = key.shift || bits & 1;
    key.alt = key.alt || bits & (2 | 32);
    key.ctrl = key.ctrl || bits & 4;
    return key;
}

std::string encode(int c)
{
    auto part = [](int bits) { return static_cast<char>(bits); };
    if (c < 0x80) return {part(c)};
    if (c < 0x800) return {part(0xC0 | c >> 6), part(0x80 | (c & 0x3F))};
    if (c < 0x10000) return {part(0xE0 | c >> 12), part(0x80 | (c >> 6 & 0x3F)), part(0x80 | (c & 0x3F))};
    return {part(0xF0 | c >> 18), part(0x80 | (c >> 12 & 0x3F)), part(0x80 | (c >> 6 & 0x3F)), part(0x80 | (c & 0x3F))};
}

// A key by its code point, as CSI u and modifyOtherKeys have it.
std::optional<Key> coded(int code, int shifted, int modifiers)
{
    if (auto* named = find(codes, code))
        return with(key_of(*named), modifiers);
    if (code >= 57399 && code <= 57408)
        return with({Key::text, std::string(1, static_cast<char>('0' + code - 57399))}, modifiers);
    bool for_the_desktop = modifiers > 0 && (modifiers - 1) & (8 | 16);
    bool character = !for_the_desktop && code >= 32 && code < 0x110000 && !(code >= 0xD800 && code < 0xE000) && !(code >= 57344 && code <= 63743);
    if (!character)
        return {};
    auto key = with({Key::text, encode(code)}, modifiers);
    if (key.shift && !key.ctrl && !key.alt) {   // xterm sends the letter as it is, kitty the key below it
        if (shifted >= 32 && shifted < 0x110000 && !(shifted >= 0xD800 && shifted < 0xE000)) key.words = encode(shifted);
        else if (code >= 'a' && code <= 'z') key.words = encode(code - 32);
    }
    if (key.ctrl && code >= 'A' && code <= 'Z') key.words = encode(code + 32);
    return key;
}

Key control(char c)
{
    if (c == '\r') return {Key::enter};
    if (c == '\t') return {Key::tab};
    if (c == 0x7F || c == 0x08) return {Key::backspace};
    if (c == 0) return {Key::text, " ", true};
    char on_keyboard = static_cast<char>(c < 27 ? c + 96 : c + 64);   // ^A is Ctrl+a, ^_ is Ctrl+_
    return {Key::text, std::string(1, on_keyboard), true};
}

// The numbers of a CSI: groups by ';', in a group by ':'. Absent: 0.
struct Numbers {
    std::array<std::array<int, 4>, 8> group{};
    std::size_t groups = 1;
};

Numbers numbers_of(std::string_view text)
{
    Numbers out;
    std::size_t group = 0, part = 0;
    for (char c : text) {
        if (c == ';') ++group, part = 0;
        else if (c == ':') ++part;
        else if (c >= '0' && c <= '9' && group < 8 && part < 4)
            if (auto& number = out.group[group][part]; number < 10'000'000) number = number * 10 + (c - '0');
    }
    out.groups = group + 1;
    return out;
}

std::optional<Key> csi_key(std::string_view parameters, char final)
{
    bool reply = !parameters.empty() && (parameters[0] == '?' || parameters[0] == '>');
    if (reply)
        return Key{Key::reply, "[" + std::string(parameters) + final};
    if (!parameters.empty() && parameters[0] >= '<')
        return {};   // a mouse
    auto n = numbers_of(parameters);
    int first = n.group[0][0], modifiers = n.group[1][0];
    if (n.group[1][1] == 3)
        return {};   // a key that is let go
    if (final == 'u')
        return coded(first, n.group[0][1], modifiers);
    if (final == '~' && first == 27 && n.groups == 3)
        return coded(n.group[2][0], 0, modifiers);
    if (final == 'Z')
        return Key{Key::tab, {}, false, false, true};
    if (final == 'R' && first != 1 && n.groups == 2)
        return {};   // where the cursor is
    if (final >= 'a' && final <= 'd')   // rxvt: Shift
        return with(key_of(*find(letters, final - 32)), 2);
    if (auto* named = final != 'M' ? find(letters, final) : nullptr)
        return with(key_of(*named), modifiers);
    auto* named = find(numbers, first);
    if (!named)
        return {};
    switch (final) {
    case '~': return with(key_of(*named), modifiers);
    case '$': return with(key_of(*named), 2);   // rxvt
    case '^': return with(key_of(*named), 5);
    case '@': return with(key_of(*named), 6);
    default: return {};
    }
}

// text begins with "ESC [".
Unit csi(std::string_view text)
{
    if (text.size() > 2 && text[2] == '[')   // the Linux console: ESC [ [ A is F1
        return text.size() < 4 ? Unit{} : text[3] >= 'A' && text[3] <= 'E' ? Unit{4, Key{Key::function, std::string(1, static_cast<char>(text[3] - 16))}} : Unit{4};
    for (std::size_t i = 2; i < text.size(); ++i) {
        char c = text[i];
        if (c >= 0x20 && c <= 0x3F && i < longest_sequence && !(c == '$' && text.find_first_of("?;") >= i))
            continue;
        bool final = (c >= 0x40 && c <= 0x7E) || c == '$';
        if (!final)
            return {i == longest_sequence ? i + 1 : i};   // broken: what breaks it counts for itself
        if (c == 'M' && i == 2)                           // an old mouse: three bytes follow
            return text.size() < 6 ? Unit{} : Unit{6};
        return {i + 1, csi_key(text.substr(2, i - 2), c)};
    }
    return {};
}

// text begins with "ESC O".
Unit ss3(std::string_view text)
{
    std::size_t i = 2;
    while (i < text.size() && i < 6 && text[i] >= '0' && text[i] <= ';') ++i;   // some put modifiers here
    if (i >= text.size())
        return {};
    char c = text[i];
    int modifiers = i > 2 ? numbers_of(text.substr(2, i - 2)).group[i > 3 ? 1 : 0][0] : 0;
    if (auto* named = find(letters, c))
        return {i + 1, with(key_of(*named), modifiers)};
    if (c >= 'a' && c <= 'd')   // rxvt: Ctrl
        return {i + 1, with(key_of(*find(letters, c - 32)), 5)};
    if (c >= 'j' && c <= 'y')   // the keypad
        return {i + 1, Key{Key::text, std::string(1, static_cast<char>(c - 64))}};
    if (c < 0x20 || c > 0x7E)
        return {i};
    return {i + 1};
}

// OSC, DCS, APC, PM, SOS: up to BEL or ESC backslash.
Unit string_sequence(std::string_view text)
{
    for (std::size_t i = 2; i < text.size(); ++i) {
        bool bell = text[i] == '\a', escape = text[i] == '\x1b', stop = text[i] == 0x18 || text[i] == 0x1A;
        if (escape && i + 1 == text.size())
            return {};
        if (bell || escape)
            return {i + (escape && text[i + 1] == '\\' ? 2 : bell ? 1 : 0), Key{Key::reply, clean_utf8(text.substr(1, i - 1))}};
        if (stop || i == longest_string)
            return {i + 1};
    }
    return {};
}

Unit escaped(std::string_view text)
{
    if (text.size() < 2)
        return {};
    switch (text[1]) {
    case '[': return csi(text);
    case 'O': return ss3(text);
    case ']': case 'P': case '_': case '^': case 'X': return string_sequence(text);
    case '\x1b':   // Alt and a key that has a sequence; else the first was the key Esc
        if (text.size() < 3)
            return {};
        if ((text[2] != '[' && text[2] != 'O') || text.substr(1).starts_with(paste_begin))
            return {1, Key{Key::escape}};
        break;
    default: break;
    }
    auto inner = first_unit(text.substr(1));
    if (inner.size == 0)
        return {};
    if (inner.key && inner.key->kind != Key::reply) inner.key->alt = true;
    return {inner.size + 1, std::move(inner.key)};
}

}

Unit first_unit(std::string_view text)
{
    auto first = static_cast<unsigned char>(text[0]);
    if (first == 0x1B)
        return escaped(text);
    if (first < 0x20 || first == 0x7F)
        return {1, control(text[0])};
    if (auto size = utf8_length(text))
        return {size, Key{Key::text, std::string(text.substr(0, size))}};
    std::size_t wanted = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    bool may_come = first >= 0xC2 && first <= 0xF4 && text.size() < wanted;
    for (std::size_t i = 1; may_come && i < text.size(); ++i)
        may_come = (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
    return may_come ? Unit{} : Unit{1, Key{Key::text, "\uFFFD"}};
}

Unit last_unit(std::string_view text)
{
    if (text == "\x1b")
        return {1, Key{Key::escape}};
    if (text.size() == 2 && text[0] == '\x1b' && static_cast<unsigned char>(text[1]) < 0x80)
        return text[1] == '\x1b' ? Unit{1, Key{Key::escape}} : Unit{2, Key{Key::text, std::string(1, text[1]), false, true}};
    if (text[0] == '\x1b')
        return {text.size()};
    return {1, Key{Key::text, "\uFFFD"}};
}

}
