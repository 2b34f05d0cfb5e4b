#include "app/workspaces/kinds/explain_parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/format.h"

namespace attn::view::kinds {

Expr value(double number, std::optional<Role> role) {
    Expr expr;
    expr.value = number;
    expr.role = role;
    return expr;
}

Expr constant(double number) {
    Expr expr = value(number);
    expr.constant = true;
    return expr;
}

Expr combine(Op op, std::vector<Expr> args) {
    Expr expr;
    expr.op = op;
    expr.args = std::move(args);
    return expr;
}

Expr products(const Row& x, Role x_role, const Row& y, Role y_role) {
    std::vector<Expr> terms;
    for (std::size_t c = 0; c < x.size(); ++c)
        terms.push_back(combine(Op::product, {value(x[c], x_role), value(y[c], y_role)}));
    return combine(Op::sum, std::move(terms));
}

double length(const Row& x) {
    double squares = 0.0;
    for (const double each : x) squares += each * each;
    return std::sqrt(squares);
}

std::string sum_words(const Row& x) { return fmt::format("the sum of {} products", x.size()); }

std::string listed(const Row& x) {
    std::string text;
    for (std::size_t c = 0; c < std::min(x.size(), kMostTerms); ++c)
        text += (c == 0 ? "" : ", ") + number(x[c]);
    return "(" + text + (x.size() > kMostTerms ? ", …)" : ")");
}

Row Pair::row_of(const TensorD& tensor, Index t) const {
    const Index head = std::min(side.head, tensor.shape().h - 1);
    const auto row = tensor.matrix(0, head).row(t);
    return {row.begin(), row.end()};
}

Row Pair::made_row(std::string_view key, Index t) const {
    const auto row = side.made_of(key).row(t);
    return {row.begin(), row.end()};
}

Index Pair::position() const { return i + result.document->size.query_offset; }

void Pair::add(std::string label, std::vector<Piece> pieces, double result_of) const {
    out.steps.push_back({std::move(label), std::move(pieces), result_of});
}

void Pair::add(std::string label, const Expr& expr, double result_of, std::string brief) const {
    const bool long_sum = count_numbers(expr) > 2 * kMostTerms && !brief.empty();
    add(std::move(label),
        long_sum ? std::vector<Piece>{Piece{std::move(brief)}} : write(expr, Dialect::screen),
        result_of);
}

void Pair::note(std::string_view words) const { out.notes.emplace_back(words); }

}  // namespace attn::view::kinds
