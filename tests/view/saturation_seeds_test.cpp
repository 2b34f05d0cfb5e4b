// What Saturation says of the four gradients hangs on no seed but for its numbers: at every stop, of every tab.

#include <doctest/doctest.h>

#include <regex>

#include "app/common/format.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/gradients.h"

using namespace attn;
using namespace attn::view;

namespace {

constexpr std::array kTabs{GradientOf::z, GradientOf::s, GradientOf::q, GradientOf::w_q};

std::string without_numbers(std::string stated) {
    return std::regex_replace(stated, std::regex("(over )?[^ ]+ times|[0-9.]+ %"), "#");
}

/// The headline and the muted line of every tab, without their numbers.
std::vector<std::string> texts_at(const GradientPoint& point) {
    std::vector<std::string> stated;
    for (const GradientOf of : kTabs)
        stated.push_back(without_numbers(gradient_sentence(of, point)));
    for (const GradientOf of : kTabs)
        stated.push_back(without_numbers(gradient_closing(of, point)));
    return stated;
}

}  // namespace

TEST_CASE("the sentences of the four gradients are the same but for numbers for seeds 1 to 20") {
    const auto widths = sweep_widths();
    std::vector<std::vector<std::string>> first;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto points = gradient_sweep({.seed = seed}, widths).value();
        for (std::size_t n = 0; n < widths.size(); ++n) {
            if (seed == 1) first.push_back(texts_at(points[n]));
            INFO("seed ", seed, ", widths[n] ", widths[n]);
            const auto stated = texts_at(points[n]);
            for (std::size_t tab = 0; tab < stated.size(); ++tab)
                CHECK(stated[tab] == first[n][tab]);
        }
    }
    CHECK(first[0][2] == "At d_k = 1, ÷√d_k divides by √1 = 1 and changes nothing.");
    CHECK(first[9][2] ==
          "Without scaling at d_k = 512, the median row's gradient is # smaller, but the mean is # "
          "as large.");
    CHECK(first[9][4] == "Without scaling, # of the rows pass almost no gradient.");
    CHECK(first[9][6] ==
          "Without scaling, # of the rows pass almost no gradient: the gradient is sparse and "
          "heavy-tailed.");
    CHECK(first[2][4].empty());
}
