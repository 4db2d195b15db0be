#include "applets/charset.h"

#include <catch2/catch.hpp>

using namespace ik;

namespace {

std::string text(std::string_view bytes, std::string_view label = "", bool markup = false)
{
    auto out = to_utf8({.bytes = bytes, .label = label, .markup = markup});
    return out ? *out : out.error().message;
}

}

TEST_CASE("charset: labels")
{
    CHECK(text("\xE4", "ISO-8859-1") == "ä");
    CHECK(text("\x80\x93", "latin1") == "€“");
    CHECK(text("\xB1\xE6", "iso-8859-2") == "ąć");
    CHECK(text("\xB0\xEF\xF0", "iso-8859-5") == "Ая№");
    CHECK(text("\xC1\xF9", "iso-8859-7") == "Αω");
    CHECK(text("\xFD\xF0", "iso-8859-9") == "ığ");
    CHECK(text("\xA4", "iso-8859-15") == "€");
    CHECK(text("\x9C\xA0\xB9", "windows-1250") == "ś\u00A0ą");
    CHECK(text("\xCF\xF0", "cp1251") == "Пр");
    CHECK(text("\xF0\xD2", " KOI8-R ") == "Пр");
    CHECK(text("\xA4\xB4", "koi8-u") == "єЄ");
    CHECK(text("\x8F", "cp866") == "П");
    CHECK(text(std::string_view("a\0\xE4\0\x3D\xD8\x00\xDE", 8), "utf-16") == "aä😀");
    CHECK(text(std::string_view("\0a\xD8\x3D\xDE\x00\xDC\x00\0", 9), "utf-16be") == "a😀\uFFFD");
    CHECK(text("\xC3\xA4\xFF", "utf8") == "ä\uFFFD");
}

TEST_CASE("charset: byte order marks, markup, and guesses")
{
    CHECK(text("\xEF\xBB\xBFä", "windows-1252") == "ä");
    CHECK(text(std::string_view("\xFF\xFE" "a\0", 4), "utf-8") == "a");
    CHECK(text(std::string_view("\xFE\xFF\0a", 4)) == "a");
    CHECK(text("<meta charset=\"windows-1251\">\xCF", "", true) == "<meta charset=\"windows-1251\">П");
    CHECK(text("<META http-equiv=Content-Type content='text/html; charset=koi8-r'>\xF0", "", true).ends_with("П"));
    CHECK(text("<?xml version='1.0' encoding='iso-8859-2'?>\xB1", "", true).ends_with("ą"));
    CHECK(text("<!-- <meta charset=koi8-r> --><meta charset=iso-8859-2>\xB1", "", true).ends_with("ą"));
    CHECK(text("<meta charset=utf-16>ä", "", true).ends_with("ä"));
    CHECK(text("<meta charset=koi8-r>\xCF", "windows-1251", true).ends_with("П"));
    CHECK(text("<meta charset=koi8-r>ä", "", false).ends_with("ä"));
    CHECK(text(std::string(1100, ' ') + "<meta charset=koi8-r>\xCF", "", true).ends_with("Ï"));
    CHECK(text("ä") == "ä");
    CHECK(text("\xE4") == "ä");
    CHECK(text("a\xFF\xE2\x82", "utf-8") == "a\uFFFD\uFFFD\uFFFD");
    CHECK(*to_utf8({.bytes = "aä\xE2\x82", .cut = true}) == "aä");
    CHECK(*to_utf8({.bytes = "aä\xE2\x82", .label = "utf-8", .cut = true}) == "aä");
    CHECK(text("\x1B[1mä") == "\x1B[1mä");
    CHECK(text("") == "");
}

TEST_CASE("charset: what is not supported is said")
{
    for (auto* label : {"shift_jis", "gbk", "EUC-KR", "big5", "iso-8859-8"}) {
        auto out = to_utf8({.bytes = "\x83\x65\x83", .label = label});
        REQUIRE(!out);
        CHECK(out.error().code == code::unsupported_type);
        CHECK(text("plain", label) == "plain");
        CHECK(text("ä", label) == "ä");
    }
    CHECK(text("\x83\x65\x83", "Shift_JIS") == "the charset shift_jis is not supported");
    CHECK(text("\x1B$B$\"", "iso-2022-jp") == "the charset iso-2022-jp is not supported");
}
