#include "base/file.h"
#include "base/replacement.h"

#include "support/world.h"

#include <catch2/catch.hpp>

using namespace ik;
using namespace ik::test;

TEST_CASE("file: errno becomes an error")
{
    struct Row { Doing doing; int number; std::string_view code; const char* message; };
    const Row rows[] = {
        {Doing::opening, ENOENT, code::file_not_found, "File not found: p"},
        {Doing::opening, EACCES, code::permission_denied, "Permission denied: p"},
        {Doing::opening, EPERM, code::permission_denied, "Permission denied: p"},
        {Doing::opening, ENOTDIR, code::open_failed, "Cannot open file: p"},
        {Doing::opening, EMFILE, code::open_failed, "Cannot open file: p"},
        {Doing::reading, EIO, code::read_failed, "Failed to read file: p"},
        {Doing::reading, EACCES, code::read_failed, "Failed to read file: p"},
        {Doing::creating, ENOENT, code::open_failed, "Cannot open file: p"},
        {Doing::creating, EISDIR, code::open_failed, "Cannot open file: p"},
        {Doing::creating, EROFS, code::open_failed, "Cannot open file: p"},
        {Doing::creating, EACCES, code::permission_denied, "Permission denied: p"},
        {Doing::creating, ENOSPC, code::no_space, "No space left on device: p"},
        {Doing::writing, ENOSPC, code::no_space, "No space left on device: p"},
        {Doing::writing, EDQUOT, code::no_space, "No space left on device: p"},
        {Doing::writing, EFBIG, code::write_failed, "Failed to write file: p"},
        {Doing::writing, EIO, code::write_failed, "Failed to write file: p"},
    };
    for (auto& row : rows)
        CHECK(file_error(row.doing, "p", row.number) == Error{row.code, row.message});
}

TEST_CASE("file: names and folders of paths")
{
    CHECK(base_name("a/b/c") == "c");
    CHECK(base_name("c") == "c");
    CHECK(base_name("a/") == "");
    CHECK(folder_name("a/b/c") == "a/b");
    CHECK(folder_name("c") == ".");
    CHECK(folder_name("/c") == "/");
}

TEST_CASE("file: a replacement that is dropped leaves nothing behind")
{
    Folder folder;
    folder.write("a", "old");
    for (std::string name : {"a", "b"}) {
        auto fresh = Replacement::begin(name);
        REQUIRE(fresh);
        REQUIRE(fresh->append("new"));
    }
    CHECK(folder.read("a") == "old");
    CHECK(std::distance(std::filesystem::directory_iterator("."), {}) == 1);
}

TEST_CASE("file: a replacement in pieces")
{
    Folder folder;
    auto fresh = Replacement::begin("a");
    REQUIRE(fresh);
    for (auto piece : {"one ", "", "two ", "three"})
        REQUIRE(fresh->append(piece));
    CHECK(!folder.exists("a"));
    REQUIRE(fresh->commit());
    CHECK(folder.read("a") == "one two three");
}

TEST_CASE("file: only what was seen is replaced")
{
    Folder folder;
    folder.write("a", "old");
    auto seen = open_file("a");
    REQUIRE(seen);
    auto fresh = Replacement::begin("a");
    REQUIRE(fresh);
    fresh->only_if(stamp_of(*seen));
    REQUIRE(fresh->append("new"));
    std::filesystem::rename("a", "b");
    folder.write("a", "theirs");
    auto done = fresh->commit();
    REQUIRE(!done);
    CHECK(done.error().code == code::write_failed);
    CHECK(folder.read("a") == "theirs");
}
