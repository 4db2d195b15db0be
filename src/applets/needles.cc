#include "applets/needles.h"

#include <algorithm>
#include <initializer_list>
#include <span>

namespace ik {
namespace {

constexpr std::size_t max_needles = 16, max_length = 32;

// How often each byte is found in the sources of Linux, among 10,000; 1 for what is rare.
constexpr std::uint16_t frequency[128] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 391, 348, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1123, 6, 48, 29, 2, 7, 22, 3, 105, 105, 102, 9, 138, 87, 47, 48, 178, 62, 58, 36, 30, 20, 25, 15, 27, 14, 22, 108, 19, 76, 57, 1,
    5, 85, 34, 88, 69, 108, 42, 37, 24, 96, 1, 17, 67, 64, 67, 62, 74, 8, 86, 93, 93, 38, 24, 14, 21, 13, 4, 11, 8, 11, 1, 478,
    2, 287, 84, 246, 238, 538, 154, 90, 98, 345, 4, 53, 187, 137, 292, 248, 165, 19, 339, 313, 430, 171, 86, 44, 84, 41, 12, 29, 8, 29, 1, 1,
};

}

double share_of(const ByteSet& set)
{
    double sum = 0;
    for (std::size_t i = 0; i < 256; ++i)
        if (set[i])
            sum += i < 128 ? frequency[i] : 1;
    return std::min(1.0, sum / 10000);
}

double share_of(const Needle& needle)
{
    std::vector<double> shares;
    for (auto& set : needle)
        shares.push_back(share_of(set));
    std::ranges::sort(shares);
    double out = 1;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, shares.size()); ++i)
        out *= shares[i];
    return out;
}

namespace {

// Every match is one of exact; or else it begins with one of front, ends with one of back, and holds one of inside.
// An empty run says nothing. Each list has at least one.
using Runs = std::vector<Needle>;

struct Known {
    std::optional<Runs> exact;
    Runs front{{}}, back{{}}, inside{{}};

    const Runs& begins() const { return exact ? *exact : front; }
    const Runs& ends() const { return exact ? *exact : back; }
};

double sum_of_shares(const Runs& runs)
{
    double sum = 0;
    for (auto& run : runs)
        sum += share_of(run);
    return sum;
}

Runs rarest(std::initializer_list<const Runs*> all)
{
    return **std::ranges::min_element(all, {}, [](const Runs* runs) { return sum_of_shares(*runs); });
}

Runs best_of(const Known& known)
{
    return known.exact ? *known.exact : rarest({&known.front, &known.back, &known.inside});
}

std::optional<Runs> joined(const Runs& a, const Runs& b)
{
    if (a.size() * b.size() > max_needles)
        return {};
    Runs out;
    for (auto& first : a)
        for (auto& second : b) {
            if (first.size() + second.size() > max_length)
                return {};
            out.push_back(first);
            out.back().insert(out.back().end(), second.begin(), second.end());
        }
    return out;
}

std::optional<Runs> either(const Runs& a, const Runs& b)
{
    if (a.size() == 1 && b.size() == 1 && a[0].size() == 1 && b[0].size() == 1)
        return Runs{{a[0][0] | b[0][0]}};
    if (a.size() + b.size() > max_needles)
        return {};
    auto out = a;
    out.insert(out.end(), b.begin(), b.end());
    return out;
}

Known nothing() { return {.exact = Runs{{}}}; }

Known then(const Known& a, const Known& b)
{
    if (a.exact && b.exact)
        if (auto exact = joined(*a.exact, *b.exact))
            return {.exact = std::move(exact)};
    Known out;
    out.front = a.exact ? joined(*a.exact, b.begins()).value_or(*a.exact) : a.front;
    out.back = b.exact ? joined(a.ends(), *b.exact).value_or(*b.exact) : b.back;
    auto middle = joined(a.ends(), b.begins()).value_or(Runs{{}});
    out.inside = rarest({&a.inside, &b.inside, &middle, &a.ends(), &b.begins()});
    return out;
}

Known otherwise(const Known& a, const Known& b)
{
    if (a.exact && b.exact)
        if (auto exact = either(*a.exact, *b.exact))
            return {.exact = std::move(exact)};
    return {.exact = {}, .front = either(a.begins(), b.begins()).value_or(Runs{{}}), .back = either(a.ends(), b.ends()).value_or(Runs{{}}),
            .inside = either(best_of(a), best_of(b)).value_or(Runs{{}})};
}

Known repeated(const Known& part, int least, int most)
{
    if (most == 0)
        return nothing();
    if (least == 0)
        return most == 1 && part.exact ? otherwise(nothing(), part) : Known();
    auto copies = std::min(least, static_cast<int>(max_length));
    auto out = part;
    for (int i = 1; i < copies; ++i)
        out = then(out, part);
    if (least == most && copies == least)
        return out;
    return {.exact = {}, .front = out.begins(), .back = out.ends(), .inside = best_of(out)};
}

class Analysis {
public:
    explicit Analysis(const PatternTree& tree) : tree_(tree) {}

    Known of(std::size_t index) const
    {
        auto& node = tree_.nodes[index];
        switch (node.kind) {
        case PatternTree::set: return {.exact = Runs{{tree_.sets[node.set]}}};
        case PatternTree::sequence: return fold(node.parts, then, nothing());
        case PatternTree::choice: return fold(std::span(node.parts).subspan(1), otherwise, of(node.parts[0]));
        case PatternTree::repeat: return repeated(of(node.parts[0]), node.least, node.most);
        case PatternTree::line_begin: case PatternTree::line_end: return nothing();
        case PatternTree::anything: break;
        }
        return {};
    }

private:
    Known fold(std::span<const std::size_t> parts, Known (*with)(const Known&, const Known&), Known out) const
    {
        for (auto part : parts)
            out = with(out, of(part));
        return out;
    }

    const PatternTree& tree_;
};

}

std::optional<Needles> needles_of(const PatternTree& tree)
{
    auto known = Analysis(tree).of(tree.root);
    Needles out{.any_of = best_of(known), .whole = known.exact && !tree.places};
    if (std::ranges::any_of(out.any_of, &Needle::empty))
        return {};
    out.share = sum_of_shares(out.any_of);
    return out;
}

}
