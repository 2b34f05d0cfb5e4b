// What of a row of scores makes one of them large, in words. i query, j key, c column; p_c = q_c k_c.

#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/mask_rules.h"
#include "app/common/explain/parts.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "core/call.h"
#include "core/metrics.h"
#include "core/trace.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostColumns = 3;  // named one by one

/// "column 1 (0.80)", "columns 1 (0.80) and 0 (0.12)", largest in size first.
std::string columns_text(std::vector<std::pair<Index, double>> columns) {
    std::ranges::stable_sort(columns, std::ranges::greater{},
                             [](const auto& each) { return std::abs(each.second); });
    const std::size_t shown = std::min(columns.size(), kMostColumns);
    std::string text = columns.size() == 1 ? "column" : "columns";
    for (std::size_t n = 0; n < shown; ++n)
        text += fmt::format("{}{} ({})",
                            n == 0                                      ? " "
                            : n + 1 == shown && shown == columns.size() ? " and "
                                                                        : ", ",
                            columns[n].first, number(columns[n].second));
    if (columns.size() > shown) text += fmt::format(" and {} more", columns.size() - shown);
    return text;
}

/// The largest products of a score.
std::string products_text(const std::vector<double>& products) {
    std::vector<double> sizes;
    for (const double product : products) sizes.push_back(std::abs(product));
    const auto largest = largest_places(std::span<const double>(sizes), kTied);
    if (largest.empty() || sizes[largest.front()] == 0.0)
        return "Every product is 0: q and k share no column, and the score is 0.";
    std::vector<std::pair<Index, double>> columns;
    for (const Index c : largest) columns.emplace_back(c, products[c]);
    const char* const products_are = columns.size() == 1 ? "product" : "products";
    return fmt::format("The largest {} by magnitude: {}.", products_are, columns_text(columns));
}

/// The allowed key, but `own`, with the largest score of the row; nullopt: there is none, or a score is NaN.
std::optional<Index> rival_of(const AppState& state, Index row, Index own) {
    const auto scores = sheet_of(state, Stage::scores).values.row(row);
    const auto allowed = allowed_pairs(state);
    std::optional<Index> rival;
    for (Index j = 0; j < std::ssize(scores); ++j) {
        const auto at = static_cast<std::size_t>(j);
        if (!std::isfinite(scores[at])) return std::nullopt;
        const bool may = allowed[static_cast<std::size_t>(row * std::ssize(scores)) + at] != 0;
        if (j == own || !may) continue;
        if (!rival || scores[at] > scores[*rival]) rival = j;
    }
    return rival;
}

/// q · (k_j − k_rival), column by column.
std::string rival_text(const AppState& state, const CellRef& cell, const Chain& chain,
                       Index rival) {
    const Stage k = read_by_scores(state, Stage::k);
    std::vector<std::pair<Index, double>> for_own, for_rival;
    for (Index c = 0; c < std::ssize(chain.labels); ++c) {
        const auto at = static_cast<std::size_t>(c);
        const double q = chain.left.numbers[at].value;
        const double by =
            q * (chain.right.numbers[at].value - cell_expr(state, {k, rival, c}).value);
        if (by > 0.0) for_own.emplace_back(c, by);
        if (by < 0.0) for_rival.emplace_back(c, by);
    }
    const std::string own = fmt::format("“{}”", axis_label(state, Axis::key, cell.column));
    const std::string other = fmt::format("“{}”", axis_label(state, Axis::key, rival));
    if (for_own.empty() && for_rival.empty())
        return fmt::format("No column distinguishes {} from {}: their scores are equal.", own,
                           other);
    std::string text = fmt::format("Against {} (score {})", other,
                                   number(sheet_of(state, Stage::scores).values(cell.row, rival)));
    const auto favours = [&](const auto& columns, const std::string& key) {
        return columns.empty() ? "no column favours " + key
                               : fmt::format("{} {} {}", columns_text(columns),
                                             columns.size() == 1 ? "favours" : "favour", key);
    };
    return fmt::format("{}: {}; {}.", text, favours(for_own, own), favours(for_rival, other));
}

}  // namespace

void add_deciding_notes(const AppState& state, Explanation& explanation, const Chain& chain) {
    const CellRef& cell = explanation.cell;
    std::vector<double> products;
    for (std::size_t c = 0; c < chain.labels.size(); ++c)
        products.push_back(chain.left.numbers[c].value * chain.right.numbers[c].value);
    if (!std::ranges::all_of(products, [](double each) { return std::isfinite(each); })) return;
    explanation.notes.push_back(products_text(products));
    const Document& document = state.document();  // a factor below 0 turns the order around
    if (!(score_factor(document.spec, document.size.d_k) > 0.0)) return;
    if (const auto rival = rival_of(state, cell.row, cell.column))
        explanation.notes.push_back(rival_text(state, cell, chain, *rival));
}

void add_sharing_notes(const AppState& state, Explanation& explanation) {
    const Index i = explanation.cell.row, j = explanation.cell.column;
    std::vector<double> logits;
    for (const double logit : explanation.softmax_row)
        if (std::isfinite(logit)) logits.push_back(logit);
    const bool sinks_too = explanation.has_sink && std::isfinite(explanation.softmax_row.back());
    if (logits.size() > 1 && std::ranges::count(logits, logits.front()) == std::ssize(logits))
        explanation.notes.push_back(
            fmt::format("The {} scores that count in this row{} are all {}: whatever the number, "
                        "equal scores get equal weights of 1/{}.",
                        logits.size(), sinks_too ? ", including the sink’s," : "",
                        number(logits.front()), logits.size()));
    const Document& document = state.document();
    if (i == j || document.size.tq != document.size.tk || !document.inputs->x_kv.empty()) return;
    const auto m = sheet_of(state, Stage::masked).values,
               a = sheet_of(state, Stage::weights).values;
    if (!std::isfinite(m(j, i)) || m(i, j) != m(j, i)) return;
    if (std::isnan(a(j, i)) ||
        largest_places(std::vector{double{a(i, j)}, double{a(j, i)}}, kTied).size() == 2)
        return;
    explanation.notes.push_back(fmt::format(
        "{} and {} are the same score, and yet {} is {}: softmax divides each row by its own sum.",
        cell_name(state, {Stage::masked, i, j}), cell_name(state, {Stage::masked, j, i}),
        cell_name(state, {Stage::weights, j, i}), percent(a(j, i))));
}

}  // namespace attn::view
