// What a person sees of a call before it happens.
#include "preview.h"

#include "base/text.h"
#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

namespace {

using Lines = std::vector<std::string>;

Preview of(const std::string& tool, Json arguments) { return preview_of({"c", tool, std::move(arguments)}); }

}

TEST_CASE("preview: a command with everything in it to be seen")
{
    auto preview = of("bash", object({{"command", "ls \u202e\u200bx\x1b[2K\r\n\trm\x7f \xff ä"}}));
    CHECK(preview.subject == "bash");
    CHECK(preview.lines == Lines{"ls <U+202E><U+200B>x^[[2K^M", "\trm^? <FF> ä"});
    CHECK(exposed("a\u00a0b\u2066\U000E0041\u3000\ufeff") == "a<U+00A0>b<U+2066><U+E0041><U+3000><U+FEFF>");
    CHECK(exposed("Grüße, 世界 🎉\n") == "Grüße, 世界 🎉\n");
}

TEST_CASE("preview: what a write and an edit change")
{
    Folder folder;
    folder.write("a.txt", "one\ntwo\nthree\ntwo\n");
    auto write = of("file_write", object({{"file_path", "a.txt"}, {"content", "one\n2\u202e\nthree\ntwo\n"}}));
    CHECK(write.subject == "file_write a.txt");
    CHECK(unified(write.hunks) == "@@ -1,4 +1,4 @@\n one\n-two\n+2<U+202E>\n three\n two\n");
    CHECK(write.note == "");
    auto edit = [](Json arguments) { return of("file_edit", std::move(arguments)); };
    CHECK(unified(edit(object({{"file_path", "a.txt"}, {"old_string", "two"}, {"new_string", "2"}, {"replace_all", true}})).hunks) ==
          "@@ -1,4 +1,4 @@\n one\n-two\n+2\n three\n-two\n+2\n");
    CHECK(unified(edit(object({{"file_path", "a.txt"}, {"old_string", "three\n"}, {"new_string", ""}})).hunks) == "@@ -1,4 +1,3 @@\n one\n two\n-three\n two\n");
    auto missing = edit(object({{"file_path", "a.txt"}, {"old_string", "nine"}, {"new_string", "9"}}));
    CHECK(missing.note == "the file does not have the text that is to be replaced");
    CHECK(unified(missing.hunks) == "@@ -1 +1 @@\n-nine\n\\ No newline at end of file\n+9\n\\ No newline at end of file\n");
    CHECK(edit(object({{"file_path", "none"}, {"old_string", "a"}, {"new_string", "b"}})).note == "there is no such file");
    CHECK(of("file_write", object({{"file_path", "a.txt"}, {"content", "one\ntwo\nthree\ntwo\n"}})).note == "nothing changes");
}

TEST_CASE("preview: files that are new, no text, too large or no files")
{
    Folder folder;
    auto fresh = of("file_write", object({{"file_path", "x\n\u200by"}, {"content", "a\n"}}));
    CHECK(fresh.subject == "file_write x^J<U+200B>y");
    CHECK(fresh.note == "a new file");
    CHECK(unified(fresh.hunks) == "@@ -0,0 +1 @@\n+a\n");
    folder.write("binary", std::string("a\0b", 3));
    auto binary = of("file_write", object({{"file_path", "binary"}, {"content", "a\n"}}));
    CHECK(binary.note == "the file is no text (3 bytes): its change is not shown");
    CHECK(binary.lines == Lines{"a", ""});
    folder.write("large", std::string(1'500'000, 'x'));
    CHECK(of("file_write", object({{"file_path", "large"}, {"content", "a"}})).note == "the file is larger than 1 MB (1500000 bytes): its change is not shown");
    CHECK(of("file_write", object({{"file_path", "."}, {"content", "a"}})).note == "Failed to read file: .");
    CHECK(of("file_write", object({{"file_path", "new"}, {"content", std::string(1'500'000, 'x')}})).note == "the new content is larger than 1 MB (1500000 bytes)");
}

TEST_CASE("preview: any other call as its arguments")
{
    CHECK(of("theirs\x1b", object({{"a", "\u202e"}, {"b", 1}})).subject == "theirs^[");
    CHECK(of("theirs", object({{"a", "\u202e"}, {"b", 1}})).lines == Lines{R"({"a":"<U+202E>","b":1})"});
    CHECK(of("bash", object({{"command", 7}})).lines == Lines{R"({"command":7})"});
    CHECK(of("file_write", "no object").lines == Lines{R"("no object")"});
}
