// Included by scan.cc in a namespace for each width, behind its own Vector, load, splat and so on. No include guard:
// the same few lines are compiled for other processors.

// The first byte at or behind at where needles may have their first position, as long as whole vectors
// can be read; otherwise where to go on one by one. `in` gets the buckets.
const char* look(const Scan::Plan& plan, const char* at, const char* end, unsigned& in)
{
    const auto nibble = splat(15);
    const auto low0 = table(plan.at[0].low), low1 = table(plan.at[1].low), low2 = table(plan.at[2].low);
    const auto high0 = table(plan.at[0].high), high1 = table(plan.at[1].high), high2 = table(plan.at[2].high);
    auto which = [&](const char* p, Vector low, Vector high) __attribute__((always_inline)) {
        auto bytes = load(p);
        return both(shuffle(low, both(bytes, nibble)), shuffle(high, both(halved(bytes), nibble)));
    };
    const auto *p0 = at + plan.at[0].offset, *p1 = at + plan.at[1].offset, *p2 = at + plan.at[2].offset;
    for (auto room = end - at - static_cast<std::ptrdiff_t>(plan.reach); room >= width; room -= width, p0 += width, p1 += width, p2 += width) {
        auto found = both(both(which(p0, low0, high0), which(p1, low1, high1)), which(p2, low2, high2));
        if (auto bits = ~bits_of(equal(found, splat(0))) & all) {
            auto first = __builtin_ctz(bits);
            alignas(width) unsigned char lanes[width];
            store(lanes, found);
            in = lanes[first];
            return p0 - plan.at[0].offset + first;
        }
    }
    in = 0;
    return p0 - plan.at[0].offset;
}

// The same for one needle whose two positions can be compared.
const char* compare(const Scan::Plan& plan, const char* at, const char* end, unsigned& in)
{
    const auto mask0 = splat(plan.at[0].mask), mask1 = splat(plan.at[1].mask);
    const auto value0 = splat(plan.at[0].value), value1 = splat(plan.at[1].value);
    auto same = [&](const char* p, const char* q) __attribute__((always_inline)) {
        return both(equal(either(load(p), mask0), value0), equal(either(load(q), mask1), value1));
    };
    const auto *p = at + plan.at[0].offset, *q = at + plan.at[1].offset;
    auto room = end - at - static_cast<std::ptrdiff_t>(plan.reach);
    for (; room >= 2 * width; room -= 2 * width, p += 2 * width, q += 2 * width)
        if (bits_of(either(same(p, q), same(p + width, q + width))))
            break;
    for (; room >= width; room -= width, p += width, q += width)
        if (auto bits = bits_of(same(p, q))) {
            in = 1;
            return p - plan.at[0].offset + __builtin_ctz(bits);
        }
    in = 0;
    return p - plan.at[0].offset;
}

// Newlines in the whole vectors at the front of a text; at is moved behind them.
std::size_t count(const char*& at, const char* end)
{
    const auto newline = splat('\n');
    std::size_t out = 0;
    for (; end - at >= width; at += width)
        out += static_cast<std::size_t>(__builtin_popcount(bits_of(equal(load(at), newline))));
    return out;
}
