#include "applets/charset.h"

#include "base/json.h"
#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace ik {
namespace {

// A charset of one byte a character: its labels, and the characters of the bytes 0x80 to 0xFF.
// A space: the character with the byte's own number.
struct Table { std::string_view labels; std::u16string_view upper; };
constexpr Table tables[] = {
    {"866 cp866 csibm866 ibm866",
     u"АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмноп░▒▓│┤╡╢╖╕╣║╗╝╜╛┐"
     u"└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀рстуфхцчшщъыьэюяЁёЄєЇїЎў°∙·√№¤■\u00A0"},
    {"csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
     u"                                 Ą˘Ł¤ĽŚ§¨ŠŞŤŹ ŽŻ°ą˛ł´ľśˇ¸šşťź˝žż"
     u"ŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙"},
    {"csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
     u"                                 ЁЂЃЄЅІЇЈЉЊЋЌ ЎЏАБВГДЕЖЗИЙКЛМНОП"
     u"РСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя№ёђѓєѕіїјљњћќ§ўџ"},
    {"csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek",
     u"                                 ‘’£€₯¦§¨©ͺ«¬ \uFFFD―°±²³΄΅Ά·ΈΉΊ»Ό½ΎΏ"
     u"ΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ\uFFFDΣΤΥΦΧΨΩΪΫάέήίΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώ\uFFFD"},
    {"csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
     u"                                 ¡¢£€¥Š§š©ª«¬ ®¯°±²³Žµ¶·ž¹º»ŒœŸ¿"
     u"ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ"},
    {"cskoi8r koi koi8 koi8-r koi8_r",
     u"─│┌┐└┘├┤┬┴┼▀▄█▌▐░▒▓⌠■∙√≈≤≥\u00A0⌡°²·÷═║╒ё╓╔╕╖╗╘╙╚╛╜╝╞╟╠╡Ё╢╣╤╥╦╧╨╩╪╫╬©"
     u"юабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ"},
    {"koi8-ru koi8-u",
     u"─│┌┐└┘├┤┬┴┼▀▄█▌▐░▒▓⌠■∙√≈≤≥\u00A0⌡°²·÷═║╒ёє╔ії╗╘╙╚╛ґ╝╞╟╠╡ЁЄ╣ІЇ╦╧╨╩╪Ґ╬©"
     u"юабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ"},
    {"cp1250 windows-1250 x-cp1250",
     u"€ ‚ „…†‡ ‰Š‹ŚŤŽŹ ‘’“”•–— ™š›śťžź ˇ˘Ł¤Ą¦§¨©Ş«¬ ®Ż°±˛ł´µ¶·¸ąş»Ľ˝ľż"
     u"ŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙"},
    {"cp1251 windows-1251 x-cp1251",
     u"ЂЃ‚ѓ„…†‡€‰Љ‹ЊЌЋЏђ‘’“”•–— ™љ›њќћџ ЎўЈ¤Ґ¦§Ё©Є«¬ ®Ї°±Ііґµ¶·ё№є»јЅѕї"
     u"АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя"},
    {"ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252",
     u"€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ ¡¢£¤¥¦§¨©ª«¬ ®¯°±²³´µ¶·¸¹º»¼½¾¿"
     u"ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ"},
    {"cp1253 windows-1253 x-cp1253",
     u"€ ‚ƒ„…†‡ ‰ ‹     ‘’“”•–— ™ ›     ΅Ά£¤¥¦§¨©\uFFFD«¬ ®―°±²³΄µ¶·ΈΉΊ»Ό½ΎΏ"
     u"ΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ\uFFFDΣΤΥΦΧΨΩΪΫάέήίΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώ\uFFFD"},
    {"cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254",
     u"€ ‚ƒ„…†‡ˆ‰Š‹Œ    ‘’“”•–—˜™š›œ  Ÿ ¡¢£¤¥¦§¨©ª«¬ ®¯°±²³´µ¶·¸¹º»¼½¾¿"
     u"ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ"},
    {"cp1257 windows-1257 x-cp1257",
     u"€ ‚ „…†‡ ‰ ‹ ¨ˇ¸ ‘’“”•–— ™ › ¯˛  \uFFFD¢£¤\uFFFD¦§Ø©Ŗ«¬ ®Æ°±²³´µ¶·ø¹ŗ»¼½¾æ"
     u"ĄĮĀĆÄÅĘĒČÉŹĖĢĶĪĻŠŃŅÓŌÕÖ×ŲŁŚŪÜŻŽßąįāćäåęēčéźėģķīļšńņóōõö÷ųłśūüżž˙"},
};

static_assert(std::ranges::all_of(tables, [](auto& table) { return table.upper.size() == 128; }));

constexpr std::string_view utf8_labels = "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8";
constexpr std::string_view utf16_little_labels = "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le";
constexpr std::string_view utf16_big_labels = "unicodefffe utf-16be";

bool lists(std::string_view labels, std::string_view label)
{
    auto all = split(labels, ' ');
    return std::ranges::find(all, label) != all.end();
}

void append(std::string& out, char32_t c)
{
    auto put = [&](char32_t bits) { out += static_cast<char>(bits); };
    if (c < 0x80) return put(c);
    if (c < 0x800) put(0xC0 | c >> 6);
    else if (c < 0x10000) put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 0x3F));
    else put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 0x3F)), put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
}

std::string decode(std::string_view bytes, const Table& table)
{
    std::string out;
    out.reserve(bytes.size() + bytes.size() / 8);
    for (unsigned char byte : bytes) {
        if (byte < 0x80) {
            out += static_cast<char>(byte);
            continue;
        }
        char32_t c = table.upper[byte - 0x80u];
        append(out, c == ' ' ? byte : c);
    }
    return out;
}

std::string decode_utf16(std::string_view bytes, bool big)
{
    auto unit = [&](std::size_t i) {
        auto first = static_cast<unsigned char>(bytes[i]), second = static_cast<unsigned char>(bytes[i + 1]);
        return static_cast<char32_t>(big ? first << 8 | second : second << 8 | first);
    };
    std::string out;
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
        auto c = unit(i);
        bool high = c >= 0xD800 && c < 0xDC00, low = c >= 0xDC00 && c < 0xE000;
        if (high && i + 3 >= bytes.size())
            break;
        if (auto next = high ? unit(i + 2) : 0; next >= 0xDC00 && next < 0xE000) {
            c = 0x10000 + ((c - 0xD800) << 10) + (next - 0xDC00);
            i += 2;
        } else if (high || low)
            c = 0xFFFD;
        append(out, c);
    }
    return out;
}

// Nothing: it has none of the names above.
std::optional<std::string> decode(std::string_view bytes, std::string_view label)
{
    if (lists(utf8_labels, label)) return clean_utf8(bytes);
    if (lists(utf16_little_labels, label)) return decode_utf16(bytes, false);
    if (lists(utf16_big_labels, label)) return decode_utf16(bytes, true);
    for (auto& table : tables)
        if (lists(table.labels, label)) return decode(bytes, table);
    return {};
}

struct Mark { std::string_view bytes, label; };
constexpr Mark marks[] = {{"\xEF\xBB\xBF", "utf-8"}, {"\xFF\xFE", "utf-16le"}, {"\xFE\xFF", "utf-16be"}};

// The value behind `name=` in a tag.
std::string_view value_of(std::string_view tag, std::string_view name)
{
    auto at = tag.find(name);
    if (at == tag.npos)
        return {};
    auto rest = trim(tag.substr(at + name.size()));
    if (!rest.starts_with('='))
        return {};
    rest = trim(rest.substr(1));
    bool quoted = rest.starts_with('"') || rest.starts_with('\'');
    auto end = quoted ? rest.find(rest[0], 1) : rest.find_first_of(" \t\r\n;\"'>/?");
    return quoted ? rest.substr(1, end == rest.npos ? end : end - 1) : rest.substr(0, end);
}

// What the markup says of itself: <meta charset>, <meta http-equiv content>, <?xml encoding?>.
std::string label_in(std::string_view markup)
{
    auto text = lower(markup.substr(0, 1024));
    for (auto at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
        auto rest = std::string_view(text).substr(at);
        if (rest.starts_with("<!--")) {
            at = text.find("-->", at);
            if (at == text.npos)
                return {};
            continue;
        }
        auto name = rest.starts_with("<meta") ? "charset" : rest.starts_with("<?xml") ? "encoding" : nullptr;
        if (!name)
            continue;
        auto label = trim(value_of(rest.substr(0, rest.find('>')), name));
        // bytes in which this can be read are not UTF-16, whatever it says
        if (!label.empty()) return std::string(label.starts_with("utf-16") ? "utf-8" : label);
    }
    return {};
}

}

Result<std::string> to_utf8(const Encoded& page)
{
    auto characters = page.bytes.substr(0, page.bytes.size() - (page.cut ? incomplete_tail(page.bytes) : 0));
    for (auto& mark : marks)
        if (page.bytes.starts_with(mark.bytes)) return *decode(characters.substr(std::min(mark.bytes.size(), characters.size())), mark.label);
    auto label = lower(trim(page.label));
    if (label.empty() && page.markup) label = label_in(page.bytes);
    if (auto text = decode(characters, label))
        return std::move(*text);
    bool iso_2022 = !label.empty() && page.bytes.find('\x1B') != page.bytes.npos;   // ASCII to look at, and is none
    if (valid_utf8(characters) && !iso_2022)
        return std::string(characters);
    if (!label.empty())
        return Error{code::unsupported_type, "the charset " + label + " is not supported"};
    return *decode(characters, "windows-1252");
}

}
