#include "spoken.h"

#include "base/text.h"

#include <utility>

namespace ik {

using term::Line;

void Spoken::feed(std::string_view text)
{
    if (!running_) {
        text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
        if (text.empty())
            return;
        running_ = true;
        marked_ = false;
        alone_ = text.starts_with('|') || text.starts_with("```");
    }
    if (!source_)
        return markdown_.feed(text);
    pending_ += text;
    while (auto line = take_line(pending_)) lines_.push_back(Line(*line));
}

void Spoken::end()
{
    if (!running_)
        return;
    running_ = false;
    if (!source_)
        return markdown_.end();
    if (!pending_.empty()) lines_.push_back(Line(std::exchange(pending_, {})));
}

// The bullet before the first line that has something in it.
std::vector<Line> Spoken::marked(std::vector<Line> lines, bool& marked) const
{
    std::vector<Line> out;
    for (auto& line : lines) {
        if (marked) {
            out.push_back(std::move(line));
            continue;
        }
        if (line.text.empty())
            continue;
        marked = true;
        Line bullet("● ", {.ink = term::Ink::prompt});
        if (!alone_) {
            out.push_back(std::move(bullet.add(line)));
            continue;
        }
        out.push_back(std::move(bullet));
        out.push_back(std::move(line));
    }
    return out;
}

std::vector<Line> Spoken::take_final()
{
    return marked(source_ ? std::exchange(lines_, {}) : markdown_.take_final(), marked_);
}

std::vector<Line> Spoken::live() const
{
    if (!running_)
        return {};
    bool already = marked_;
    if (!source_)
        return marked(markdown_.live(), already);
    return pending_.empty() ? std::vector<Line>() : marked({Line(pending_)}, already);
}

}
