// file_read: a file, or some of its lines, in little memory whatever its size.
#include "applets/applet.h"

#include "base/file.h"

namespace ik {
namespace {

struct Args {
    std::string file_path;
    std::optional<std::int64_t> offset, limit;
};

constexpr Param<Args> params[] = {
    {"file_path", &Args::file_path, "Absolute or relative path to file"},
    {"offset", &Args::offset, "Line number to start reading from (1-based)"},
    {"limit", &Args::limit, "Number of lines to read"},
};

constexpr Example examples[] = {
    {"A whole file", R"({"file_path":"abc.txt"})", R"({"output":"a\nb\nc\n"})"},
    {"One line, the second", R"({"file_path":"abc.txt","offset":2,"limit":1})", R"({"output":"b\n"})"},
    {"Behind the end there is nothing", R"({"file_path":"abc.txt","offset":9})", R"({"output":""})"},
};

constexpr std::size_t chunk_size = 1 << 17;

// Which part of the bytes that go by is wanted, in whole lines.
class Lines {
public:
    Lines(std::int64_t skip, std::optional<std::int64_t> take) : skip_(skip), take_(take) {}

    bool over() const { return take_ && *take_ <= 0; }

    std::string_view wanted(std::string_view bytes)
    {
        if (skip_ > 0)
            bytes.remove_prefix(pass(bytes, skip_));
        return take_ && skip_ <= 0 ? bytes.substr(0, pass(bytes, *take_)) : bytes;
    }

private:
    // The size of the lines at the start, at most `lines` of them, which are counted off.
    static std::size_t pass(std::string_view bytes, std::int64_t& lines)
    {
        std::size_t size = 0;
        while (lines > 0 && size < bytes.size()) {
            auto end = bytes.find('\n', size);
            if (end == bytes.npos)
                return bytes.size();
            size = end + 1;
            --lines;
        }
        return size;
    }

    std::int64_t skip_;
    std::optional<std::int64_t> take_;
};

Status run(const Args& args, Answer& answer)
{
    auto file = open_file(args.file_path);
    if (!file)
        return file.error();

    Lines lines(std::max<std::int64_t>(args.offset.value_or(1), 1) - 1, args.limit);
    std::vector<char> chunk(chunk_size);
    do {
        auto size = read_file(*file, args.file_path, chunk.data(), chunk.size());
        if (!size)
            return size.error();
        if (!answer.begun())   // not before it is known that there is something to read
            answer.open_text("output");
        if (*size == 0)
            break;
        answer.text(lines.wanted({chunk.data(), *size}));
    } while (!lines.over() && !answer.lost());
    answer.close_text();
    return Done{};
}

}

constinit const Applet applets::file_read = applet<Args, params, run>({
    .name = "file_read",
    .summary = "Read contents of a file",
    .details = "The answer's\n.Va output\nis the file as it is, or the lines that are asked for, with their ends.\n"
               "A byte that is not UTF-8 is shown as U+FFFD.\n"
               "The file may have any size: it passes through in little memory.\n"
               ".Pp\n"
               "An\n.Va offset\nbelow 1 counts as 1; behind the end of the file there is nothing, which is no error.\n"
               "A\n.Va limit\nof 0 or less reads nothing.\n"
               ".Pp\n"
               "Symbolic links are followed.\n"
               "Files of\n.Pa /proc\nand\n.Pa /sys\nare read to their end.\n"
               "Where reading fails in the middle, the answer has the output until there,\n"
               "followed by the error.",
    .errors = ".It Dv FILE_NOT_FOUND\nThere is no such file.\n"
              ".It Dv PERMISSION_DENIED\nThe file or its folder may not be read.\n"
              ".It Dv OPEN_FAILED\nThe file cannot be opened for another reason.\n"
              ".It Dv READ_FAILED\nReading failed, or this is no file with an end: a directory, a pipe, a socket, a device.\n",
    .examples = examples,
});

}
