// Spending: what the turns of a conversation have taken, in tokens and, where the model's price is known, in US dollars.
#pragma once

#include "agent/session.h"
#include "llm/models.h"

namespace ik {

class Spending {
public:
    explicit Spending(std::optional<providers::Price> price) : price_(price) {}
    void use_price(std::optional<providers::Price> price) { price_ = price; }   // from now on

    std::optional<double> cost(const Usage&) const;   // at the price of now
    void add(const Usage&);
    std::string line() const;                         // for a person, without a newline

private:
    std::optional<providers::Price> price_;
    Usage used_;
    double dollars_ = 0;
};

}
