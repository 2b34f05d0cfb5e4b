#include "app/view/large_words.h"

#include <fmt/format.h>

namespace attn::view {
namespace {

constexpr double kQuickFlops = 1e13;  // a minute of a small laptop

double pairs_of(const large::WeightSource& source) {
    const double all = static_cast<double>(source.size.tq) * static_cast<double>(source.size.tk);
    const bool square = source.size.tq == source.size.tk;
    if (!source.spec.mask.causal || !square) return all;
    return (all + static_cast<double>(source.size.tq)) / 2.0;
}

}  // namespace

std::string grouped(Index number) {
    if (number < 0) return "−" + grouped(-number);
    if (number < 1000) return fmt::format("{}", number);
    return fmt::format("{},{:03}", grouped(number / 1000), number % 1000);
}

std::string pooling_words(large::Pooling pooling) {
    switch (pooling) {
        case large::Pooling::mean:
            return "the mean weight";
        case large::Pooling::max:
            return "the largest weight";
        case large::Pooling::log_mean:
            break;
    }
    return "the geometric mean of the weights";
}

std::string no_needle_words(const LargeLook& look) {
    if (!look.input) return "The matrix is not there yet.";
    if (look.input->needle) return {};
    if (std::holds_alternative<MapFile>(look.origin))
        return "Only generated matrices have a needle.";
    return "This matrix was generated without a needle.";
}

double pass_flops(const large::WeightSource& source) {
    return 2.0 * pairs_of(source) * static_cast<double>(source.size.d_k);
}

bool wants_full_pass(const LargeLook& look) {
    const bool quick = look.input && pass_flops(look.input->source) <= kQuickFlops;
    return look.full_pass.value_or(quick);
}

}  // namespace attn::view
