// Blocks as lines of markdown: what stands before each line, and where a line is left blank.
#include "applets/html_blocks.h"

#include "base/text.h"

#include <algorithm>
#include <string_view>

namespace ik::html {
namespace {

class Writer {
public:
    explicit Writer(const std::vector<Block>& blocks) : blocks_(blocks) {}

    std::string write();

private:
    struct Frame {
        std::size_t end;
        std::size_t prefix;            // the size of what stands before lines outside
        Block::Kind kind;
        bool loose;                    // list: blank lines between its items
        std::size_t last;              // the block in it that was written last
    };

    bool is_loose(std::size_t list) const;
    bool has_blank_line(const Frame& parent, std::size_t next) const;
    void separate(std::size_t next);
    void enter(std::size_t);
    void line(std::string_view);

    const std::vector<Block>& blocks_;
    std::string out_;
    std::string prefix_, first_;       // what stands before lines; before the next one
    std::vector<Frame> frames_;
};

constexpr std::size_t none = SIZE_MAX;

// Whether the blocks of one of the items are more than text and lists below it.
bool Writer::is_loose(std::size_t list) const
{
    for (auto item = list + 1; item < blocks_[list].end; item = blocks_[item].end) {
        std::size_t count = 0;
        bool simple = true;
        for (auto i = item + 1; i < blocks_[item].end; i = blocks_[i].end, ++count)
            simple &= blocks_[i].kind == Block::list || (count == 0 && blocks_[i].kind == Block::paragraph);
        if (count > 1 && !simple)
            return true;
    }
    return false;
}

bool Writer::has_blank_line(const Frame& parent, std::size_t next) const
{
    if (parent.kind == Block::list)
        return parent.loose;
    auto last = blocks_[parent.last].kind;
    bool list_below_text = parent.kind == Block::item && blocks_[next].kind == Block::list && (last == Block::paragraph || last == Block::list);
    return !list_below_text;
}

void Writer::line(std::string_view text)
{
    out_ += first_;
    out_ += text;
    if (text.empty()) out_.resize(out_.find_last_not_of(' ') + 1);
    out_ += '\n';
    first_ = prefix_;
}

void Writer::separate(std::size_t next)
{
    auto& parent = frames_.back();
    if (parent.last != none && has_blank_line(parent, next)) line("");
    parent.last = next;
}

void Writer::enter(std::size_t i)
{
    auto& block = blocks_[i];
    frames_.push_back({block.end, prefix_.size(), block.kind, block.kind == Block::list && is_loose(i), none});
    if (block.kind == Block::quote) {
        first_ += "> ";
        prefix_ += "> ";
    } else {
        first_ += block.text;
        prefix_.append(block.text.size(), ' ');
    }
}

std::string Writer::write()
{
    frames_.push_back({blocks_.size(), 0, Block::quote, false, none});   // the page
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        while (frames_.back().end <= i) {
            prefix_.resize(frames_.back().prefix);
            first_ = prefix_;
            frames_.pop_back();
        }
        separate(i);
        if (blocks_[i].kind != Block::paragraph && blocks_[i].kind != Block::other)
            enter(i);
        else
            for (auto text : split(blocks_[i].text, '\n')) line(text);
    }
    if (!out_.empty()) out_.pop_back();
    return std::move(out_);
}

}

std::string write_blocks(const std::vector<Block>& blocks) { return Writer(blocks).write(); }

}
