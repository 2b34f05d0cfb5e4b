#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/expr.h"
#include "app/common/format.h"

namespace attn::view {
namespace {

constexpr int kMostDecimals = 4;
/// Terms that a table holds: more are read from a copy.
constexpr std::size_t kMostRows = 512;

/// Seven characters hold the largest number with its sign.
int decimals_for(double largest) {
    int decimals = kMostDecimals;
    for (double ten = 10.0; decimals > 1 && largest >= ten; ten *= 10.0) --decimals;
    return decimals;
}

std::string column_number(double value, int decimals) {
    const bool vanishes = value != 0.0 && std::abs(value) < 0.5 * std::pow(10.0, -decimals);
    return vanishes ? significant(value, 1) : cell_number(value, decimals);
}

double largest_of(const std::vector<double>& values) {
    double largest = 0.0;
    for (const double value : values)
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    return largest;
}

std::optional<CellRef> link_of(const Factor& factor, std::size_t n) {
    return n < factor.links.size() ? factor.links[n] : std::nullopt;
}

std::string heading_of(const Factor& factor) {
    return factor.heading.empty() ? factor.letter : factor.heading;
}

struct Sums {
    std::vector<double> products, running;
};

Sums sums_of(const DotProduct& pair) {
    Sums sums;
    double sum = 0.0;
    for (std::size_t n = 0; n < pair.left.values.size(); ++n) {
        sums.products.push_back(pair.left.values[n] * pair.right.values[n]);
        sums.running.push_back(sum += sums.products.back());
    }
    if (pair.bias) sums.running.push_back(sum + *pair.bias);
    return sums;
}

std::vector<TableColumn> product_columns(const DotProduct& pair) {
    const std::string left = heading_of(pair.left);
    const std::string right = heading_of(pair.right);
    return {{left, pair.left.role},
            {right, pair.right.role},
            {fmt::format("{}·{}", left, right), std::nullopt},
            {"sum", std::nullopt, true}};
}

}  // namespace

std::vector<std::string> column_texts(const std::vector<double>& values) {
    const int decimals = decimals_for(largest_of(values));
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(column_number(value, decimals));
    return texts;
}

InspectorTable product_table(const DotProduct& pair) {
    const Sums sums = sums_of(pair);
    const double largest = largest_of(sums.products);
    const auto left = column_texts(pair.left.values);
    const auto right = column_texts(pair.right.values);
    const auto products = column_texts(sums.products);
    const auto running = column_texts(sums.running);
    InspectorTable table{"", pair.counts, product_columns(pair), {}, std::nullopt};
    const std::size_t shown = std::min(left.size(), kMostRows);
    if (shown < left.size())
        table.title = fmt::format("the first {} of {} terms", shown, left.size());
    for (std::size_t n = 0; n < shown; ++n) {
        TableRow row{pair.labels[n], {}};
        row.cells = {{left[n], pair.left.role, link_of(pair.left, n)},
                     {right[n], pair.right.role, link_of(pair.right, n)},
                     {products[n], {}, {}},
                     {running[n], {}, {}}};
        if (largest > 0.0 && std::isfinite(sums.products[n])) row.bar = sums.products[n] / largest;
        table.rows.push_back(std::move(row));
    }
    if (pair.bias)
        table.total = TableRow{
            "bias", {{}, {}, {column_texts({*pair.bias})[0], {}, {}}, {running.back(), {}, {}}}};
    return table;
}

std::optional<InspectorTable> explanation_table(const Explanation& explanation) {
    if (explanation.table) return explanation.table;
    if (!explanation.dot || explanation.dot->left.values.empty()) return std::nullopt;
    return product_table(*explanation.dot);
}

}  // namespace attn::view
