#include "fuzz/fuzz.h"

#include "base/fd.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace ik::fuzz {
namespace {

constexpr Target table[] = {
#define TARGET(name) {#name, name},
#include "fuzz/targets.def"
#undef TARGET
};

struct Scratch {
    std::string path;

    Scratch()
    {
        auto tmp = std::getenv("TMPDIR");
        path = std::string(tmp ? tmp : "/tmp") + "/fuzz-XXXXXX";
        claim(mkdtemp(path.data()), "there is a temporary folder");
    }
    Scratch(const Scratch&) = delete;
    ~Scratch()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
};

}

std::span<const Target> targets() { return table; }

const std::string& scratch()
{
    static const Scratch folder;
    return folder.path;
}

void write_scratch(const std::string& name, std::string_view content)
{
    Fd fd(open((scratch() + "/" + name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    claim(fd && write_all(fd.get(), content), "the temporary folder can be written");
}

std::string_view take(std::string_view& bytes)
{
    auto end = bytes.find('\0');
    auto out = bytes.substr(0, end);
    bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + 1);
    return out;
}

}
