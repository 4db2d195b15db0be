// Who can change what a path leads to, as root sees it and as other users do.
#include "base/owner.h"

#include "base/places.h"
#include "support/world.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

using namespace ik;
using namespace ik::test;

namespace {

namespace fs = std::filesystem;

constexpr uid_t nobody = 65534, somebody = 54321;   // the second is in no file

// We are that user while it lives.
class As {
public:
    explicit As(uid_t user) { REQUIRE((setegid(user) == 0 && seteuid(user) == 0)); }
    As(const As&) = delete;
    ~As()
    {
        if (seteuid(0) < 0 || setegid(0) < 0)
            std::abort();
    }
};

std::string why(const std::string& path) { return not_ours(path).value_or(""); }

void mode(const std::string& path, mode_t bits) { REQUIRE(chmod(path.c_str(), bits) == 0); }
void owner(const std::string& path, uid_t user, gid_t group = 0) { REQUIRE(lchown(path.c_str(), user, group) == 0); }

}

TEST_CASE("owner: modes of the last and of every folder above it")
{
    Folder folder;
    folder.write("a/b/file", "x");
    auto file = folder / "a/b/file";
    CHECK(why(file) == "");
    CHECK(why("a/b/file") == "");
    CHECK(why("a/./b/../b//file") == "");
    mode(file, 0646);
    CHECK(why(file) == file + " is writable by others");
    CHECK(why("a/b/file") == file + " is writable by others");
    mode(file, 0644);
    mode(folder / "a", 0777);
    CHECK(why(file) == folder / "a is writable by others");
    mode(folder / "a", 01777);   // as /tmp: what is ours in it stays ours
    CHECK(why(file) == "");
    CHECK(why(folder / "a") == folder / "a is writable by others");
    CHECK(why(folder / "a/.") == folder / "a is writable by others");
    CHECK(why(folder / "a/b/..") == folder / "a is writable by others");
    CHECK(why("/tmp") == "/tmp is writable by others");
    CHECK(why("/") == "");
    CHECK(why("/etc/passwd") == "");
    CHECK(why(folder / "none") == "cannot look at " + folder / "none: No such file or directory");
    CHECK(why("").empty());   // the current folder
}

TEST_CASE("owner: links, and what is on their way")
{
    Folder folder;
    folder.write("real/file", "x");
    folder.write("open/x", "x");
    fs::create_symlink("../real/file", folder / "open/link");
    fs::create_directory_symlink("open", folder / "way");
    CHECK(why(folder / "way/link") == "");
    mode(folder / "open", 0777);   // what is linked is fine, but others can turn the link
    CHECK(why(folder / "way/link") == folder / "open is writable by others");
    mode(folder / "open", 0755);
    mode(folder / "real", 0777);
    CHECK(why(folder / "way/link") == folder / "real is writable by others");
    fs::create_symlink("loop", folder / "loop");
    CHECK(why(folder / "loop") == "cannot look at " + folder / "loop: Too many levels of symbolic links");
    fs::create_symlink("nothing", folder / "dangling");
    CHECK(why(folder / "dangling") == "cannot look at " + folder / "nothing: No such file or directory");
    fs::create_symlink("/", folder / "top");
    CHECK(why(folder / "top/etc/passwd") == "");
}

TEST_CASE("owner: users and groups")
{
    if (!is_root())
        return skip("only root can give files away");
    Folder folder;
    folder.write("a/file", "x");
    auto file = folder / "a/file";
    owner(file, nobody);
    CHECK(why(file) == file + " belongs to nobody (65534)");
    owner(file, somebody);
    CHECK(why(file) == file + " belongs to 54321");
    owner(file, 0);
    owner(folder / "a", somebody);
    CHECK(why(file) == folder / "a belongs to 54321");
    mode(folder / "a", 01777);   // the owner of a sticky folder may do everything in it
    CHECK(why(file) == folder / "a belongs to 54321");
    owner(folder / "a", 0);
    fs::create_symlink("file", folder / "a/link");
    owner(folder / "a/link", somebody);
    CHECK(why(folder / "a/link") == folder / "a/link belongs to 54321");

    mode(folder / "a", 0755);
    mode(file, 0664);
    CHECK(why(file) == "");   // root's group
    owner(file, 0, nobody);
    CHECK(why(file) == file + " is writable by group nogroup (65534)");
    {
        As user(nobody);      // it is the first group of other users too
        CHECK(why(file) == file + " is writable by group nogroup (65534)");
    }
    owner(file, somebody, somebody);
    As user(somebody);
    CHECK(why(file) == file + " is writable by group 54321");   // nobody knows who is in it
}

TEST_CASE("owner: a group that nobody else is in may write, unless an access list means somebody else")
{
    if (!is_root())
        return skip("only root can give files away");
    if (sh("[ \"$(id -u www-data)\" = 33 ] && getent group www-data | grep -q '^www-data:x:33:$'").status)
        return skip("there is no user with a group of its own");
    Folder folder;
    folder.write("file", "x");
    owner(folder / "file", 33, 33);
    mode(folder / "file", 0664);
    CHECK(why(folder / "file").find("belongs to www-data (33)") != std::string::npos);
    {
        As user(33);
        CHECK(why(folder / "file") == "");
    }
    // ACL: version 2, then tag, permissions, id: owner rw, user 54321 rw, group r, mask rw, others r.
    struct Entry { std::uint16_t tag, permissions; std::uint32_t id; };
    struct { std::uint32_t version = 2; std::array<Entry, 5> entries{{{1, 6, ~0u}, {2, 6, somebody}, {4, 4, ~0u}, {16, 6, ~0u}, {32, 4, ~0u}}}; } list;
    if (setxattr((folder / "file").c_str(), "system.posix_acl_access", &list, sizeof list, 0) < 0)
        return skip("the file system has no access lists");
    As user(33);
    CHECK(why(folder / "file") == folder / "file is writable by others, by its access list");
}

TEST_CASE("owner: the home of another user is not ours")
{
    if (!is_root())
        return skip("only root can give files away");
    Home home;
    home.write(".config/ikigai/config.json", R"({"max_turns":7})");
    auto turns = [&] {
        auto ran = ikigai(home, {"config"});
        auto at = ran.out.find("max_turns");
        return ran.out.substr(at, ran.out.find('\n', at) - at);
    };
    CHECK(turns().find(" 7 ") != std::string::npos);
    owner(home.path, nobody, nobody);   // as sudo leaves it with -E
    CHECK(turns().find(" 7 ") == std::string::npos);
    owner(home.path, 0);
    owner(home / ".config", nobody, nobody);
    CHECK(ikigai(home, {"config"}, "", {"XDG_CONFIG_HOME=" + home / ".config"}).out.find("config.json: not used: " + home / ".config belongs to nobody (65534)") != std::string::npos);
    owner(home / ".config", 0);
    mode(home.path, 0777);
    CHECK(ikigai(home, {"config"}).out.find("config.json: not used: " + home.path + " is writable by others") != std::string::npos);
}
