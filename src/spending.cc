#include "spending.h"

#include <cstdio>

namespace ik {

std::optional<double> Spending::cost(const Usage& usage) const
{
    if (!price_)
        return {};
    auto dollars = [](std::int64_t tokens, double of_a_million) { return static_cast<double>(tokens) * of_a_million / 1e6; };
    return dollars(usage.input - usage.cached, price_->in) + dollars(usage.cached, price_->cached) + dollars(usage.output, price_->out);
}

void Spending::add(const Usage& usage)
{
    used_ = {used_.input + usage.input, used_.output + usage.output, used_.cached + usage.cached};
    dollars_ += cost(usage).value_or(0);
}

std::string Spending::line() const
{
    char dollars[32] = ", no price known";
    if (dollars_ > 0) std::snprintf(dollars, sizeof dollars, ", $%.4f", dollars_);
    return std::to_string(used_.input) + " tokens in (" + std::to_string(used_.cached) + " of them cached), " + std::to_string(used_.output) + " out" + dollars;
}

}
