#pragma once

// A claim is a sentence of the screen that says how numbers lie: "largest", "all", "n of m", "a → b". Each has a template
// here, and a check that computes the numbers again. A sentence with a claim word that no template knows is a failure:
// a new sentence brings its check.

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/cell.h"
#include "app/common/state.h"
#include "core/matrix_view.h"
#include "core/stages.h"

namespace attn::view {

struct AppState;

inline constexpr double kClaimMemory = 16e9;  // of the machine, in bytes
using Rows = MatrixView<const float>;

/// What a sentence says of a state; part[n] stood at the n-th {} of its template.
struct Match {
    const AppState& state;
    std::string_view text;
    std::vector<std::string> part;

    double number(std::size_t n) const;
    Index count(std::size_t n) const { return static_cast<Index>(number(n)); }
};
struct Claim {
    std::string_view pattern;
    bool (*holds)(const Match& match);
};
// In the order in which they are tried.
std::span<const Claim> row_claims();       // a row of weights, masks, softmax, gradients
std::span<const Claim> pair_claims();      // Compare, Heads
std::span<const Claim> kind_claims();      // Kinds, Masks
std::span<const Claim> lookup_claims();    // Lookup
std::span<const Claim> number_claims();    // Numerics, Positions, Cost, Tensors, Verify
std::span<const Claim> step_claims();      // what an edit did
std::span<const Claim> state_claims();     // the document, masks, what is checked and compared
std::span<const Claim> why_claims();       // Saturation
std::span<const Claim> gradient_claims();  // Gradients
std::span<const Claim> learn_claims();     // Learn
std::span<const Claim> verify_claims();    // what is checked
std::span<const Claim> generate_claims();  // Generate
std::span<const Claim> model_claims();     // Whole model
std::span<const Claim> reason_claims();    // the texts behind ⓘ
std::span<const Claim> plain_claims();     // numbers that stand alone

/// "−1.2·10⁻⁵", "40 %", "∞", "exactly 0", "1,024"; NaN of what is no number.
double number_of(std::string_view text);
/// Where the number at the end of `text` begins: "cat 20 %", "cat < 0.1 %".
inline std::size_t number_at(std::string_view text) {
    const auto space = text.rfind(' ', text.size() - (text.ends_with(" %") ? 3 : 1));
    for (const std::string_view sign : {"<", ">", "less than", "more than"})
        if (text.substr(0, space).ends_with(sign)) return space - sign.size();
    return space + 1;
}
inline Index count_of(std::string_view text) { return static_cast<Index>(number_of(text)); }
/// Whether `text` is `value` as well as its digits can say.
bool shows(std::string_view text, double value);
/// What stands at each {} of the pattern; nullopt: the words are others.
std::optional<std::vector<std::string>> parts_of(std::string_view pattern, std::string_view text);
std::vector<std::string> split(std::string_view text, std::string_view at);

/// Of the sequence and head shown; 0 × 0: not there.
Rows rows_of(const AppState& state, Stage stage);
inline Rows weights_of(const AppState& state) { return rows_of(state, Stage::weights); }
/// Whether query i may attend to key j, in the sequence and head shown.
bool allows(const AppState& state, Index i, Index j);
/// The index of a label along an axis; −1: there is none.
Index labelled(const AppState& state, Axis axis, std::string_view label);

/// |b − a|; 0 of two that are the same ∞ or both NaN, ∞ where one alone is NaN.
inline double distance(double a, double b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return 0.0;
    const double by = std::abs(b - a);
    return std::isnan(by) ? HUGE_VAL : by;
}
/// How far each number of a matrix moved.
inline std::vector<double> distances(Rows a, Rows b) {
    std::vector<double> all;
    for (const auto [i, j] : each_cell(b)) all.push_back(distance(a(i, j), b(i, j)));
    return all;
}
inline bool has_nan(std::span<const float> row) {
    return std::ranges::any_of(row, [](float v) { return std::isnan(v); });
}
/// A cell by its labels: "sat → cat and 2 other pairs", "A[sat, cat]"; −1: there is none.
struct NamedCell {
    Stage stage = Stage::x;
    Index row = -1, column = -1, others = 0;
};
NamedCell named_pair(const AppState& state, std::string_view text);
std::optional<NamedCell> named(const AppState& state, std::string_view name);

/// The words without ", and 2 others as large" or ", tied with 2 others" at their end, and how many those are.
struct Tied {
    std::string text;
    Index others = 0;
};
Tied tied(std::string_view text);

inline constexpr double kTie = 1e-6;  // of the largest size: float32's rounding of a sum

/// So many entries that are as large as any but for rounding; NaN are none.
template <class Numbers>
Index count_largest(const Numbers& numbers) {
    double most = -HUGE_VAL, size = 0.0;
    for (const double each : numbers) {
        if (each > most) most = each;
        if (std::isfinite(each)) size = std::max(size, std::abs(each));
    }
    return std::ranges::count_if(
        numbers, [&](double each) { return each == most || most - each <= kTie * size; });
}
/// Linear between order statistics; NaN where one is.
inline double at_share(std::vector<double> values, double p) {
    if (std::ranges::any_of(values, [](double v) { return std::isnan(v); })) return std::nan("");
    std::ranges::sort(values);
    const double at = std::clamp(p, 0.0, 1.0) * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    return std::lerp(values[below], values[std::min(below + 1, values.size() - 1)],
                     at - static_cast<double>(below));
}
inline double median(const std::vector<double>& values) { return at_share(values, 0.5); }
/// Whether one of them is as large as any but for rounding.
inline bool is_most(const std::vector<double>& numbers, std::size_t n) {
    const double most = std::ranges::max(numbers);
    return numbers[n] == most || most - numbers[n] <= kTie * most;
}

}  // namespace attn::view
