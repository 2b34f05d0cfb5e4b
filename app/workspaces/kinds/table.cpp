#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/workspaces/kinds/compute.h"
#include "app/workspaces/kinds/view.h"

namespace attn::view {
namespace {

double mean_of(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

/// ½ Σ_j |B − A| of a row, mean of the rows; NaN where a weight is none.
double moved_share(const KindsResult& result) {
    const auto a = result.a.weights();
    const auto b = result.b.weights();
    double sum = 0.0;
    for (Index i = 0; i < a.rows; ++i)
        for (Index j = 0; j < a.columns; ++j) sum += std::abs(b(i, j) - a(i, j));
    return sum / 2.0 / static_cast<double>(a.rows);
}

/// "0.21  at cat → The", or 0 alone.
std::string placed(double value, const std::string& where) {
    return value == 0.0 || std::isnan(value) ? number(value)
                                             : fmt::format("{}  at {}", number(value), where);
}

std::vector<KindRow> error_rows(const AppState& state, const KindsResult& result) {
    const OutputError& error = result.error;
    const KindsDifference& most = result.difference;
    const auto query = [&](Index i) { return axis_label(state.document(), Axis::query, i); };
    return {
        {"weights, largest change", "max |B − A|",
         "The largest change of one weight, ringed in the third matrix.", "", "",
         placed(most.value, fmt::format("{} → {}", query(most.row),
                                        axis_label(state.document(), Axis::key, most.column)))},
        {"weights, change of a row", "mean of ½ Σ_j |B − A|",
         "Where both rows sum to 1 it is the share that goes to other keys.", "", "",
         number(moved_share(result))},
        {"output, largest change", "max |O_B − O_A|",
         "O = A V of this head: the largest change of one number of it.", "", "",
         placed(error.largest, fmt::format("row {}, column {}", query(error.row), error.column))},
        {"output, relative change", "‖O_B − O_A‖ / ‖O_A‖",
         "Root of the sum of squares of the change, over that of A's output.", "", "",
         std::isnan(error.relative) ? "no number" : percent(error.relative)}};
}

KindRow entropy_row(const KindsResult& result) {
    const auto words = [](const KindComputed& side) {
        if (!side.has_shares) return std::string("no shares");
        return fmt::format("{} nats", number(mean_of(side.entropy)));
    };
    return {"entropy, mean of the rows",
            "H = −Σ a ln a",
            "How evenly a row shares its weight: 0 for one key, ln n for n equal ones. Each row's "
            "stands beside it.",
            words(result.a),
            words(result.b),
            ""};
}

KindRow pairs_row(const KindsResult& result) {
    const auto count = [](const KindComputed& side) {
        Index pairs = 0;
        for (const Index row : side.allowed_of_row) pairs += row;
        return fmt::format("{} of {}", grouped(pairs), grouped(std::ssize(side.allowed)));
    };
    return {"pairs that the mask allows",
            "n_q · n_k at most",
            "Pairs of a query and a key that get a weight.",
            count(result.a),
            count(result.b),
            ""};
}

std::string kept_words(const KindComputed& side) {
    std::string words;
    for (const OperationKept& kept : side.cost.kept)
        words += fmt::format("{}{}: {} numbers", words.empty() ? "" : "; ", kept.what,
                             grouped(static_cast<Index>(kept.entries)));
    return words;
}

/// By the operations' own counts, of this head.
std::vector<KindRow> cost_rows(const KindsResult& result) {
    const auto flops = [](const KindComputed& side) {
        return grouped(static_cast<Index>(side.cost.flops()));
    };
    const auto bytes = [](const KindComputed& side) {
        return fmt::format("{} B", grouped(static_cast<Index>(side.cost.kept_bytes())));
    };
    return {{"FLOPs of this head", "multiply-adds 2, the rest 1",
             "Products of scores and values as of a dot product, and 5 a pair for the softmax; "
             "what cosine, W_score or positions need besides is not counted.",
             flops(result.a), flops(result.b), ""},
            {"kept besides Q, K, V", "4 bytes a number",
             fmt::format("A: {}. B: {}.", kept_words(result.a), kept_words(result.b)),
             bytes(result.a), bytes(result.b), ""}};
}

}  // namespace

std::vector<KindRow> kinds_rows(const AppState& state) {
    const KindsResult& result = *kinds_look(state).result;
    std::vector<KindRow> rows = error_rows(state, result);
    rows.push_back(entropy_row(result));
    rows.push_back(pairs_row(result));
    for (KindRow& row : cost_rows(result)) rows.push_back(std::move(row));
    return rows;
}

}  // namespace attn::view
