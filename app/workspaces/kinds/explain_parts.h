#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/workspaces/kinds/explain.h"

namespace attn::view::kinds {

// What the arithmetic of a pair is written with.

inline constexpr std::size_t kMostTerms = 8;  // of a sum or a vector that is written out

using Row = std::vector<double>;

Expr value(double number, std::optional<Role> role = std::nullopt);
Expr constant(double number);
Expr combine(Op op, std::vector<Expr> args);
/// Σ x_c · y_c.
Expr products(const Row& x, Role x_role, const Row& y, Role y_role);
double length(const Row& x);
/// "the sum of 12 products": in place of many.
std::string sum_words(const Row& x);
/// "(0.30, 0.50, …)".
std::string listed(const Row& x);

/// What goes into one pair's number.
struct Pair {
    const KindComputed& side;
    const KindsResult& result;
    Index i, j;
    KindArithmetic& out;

    Row row_of(const TensorD& tensor, Index t) const;
    Row made_row(std::string_view key, Index t) const;  // of the operation's own stages
    bool turns() const { return side.spec.rope.has_value(); }
    Row q() const { return row_of(turns() ? side.trace[Stage::q_rot] : side.inputs.q, i); }
    Row k() const { return row_of(turns() ? side.trace[Stage::k_rot] : side.inputs.k, j); }
    std::string q_name() const { return turns() ? "q′" : "q"; }
    std::string k_name() const { return turns() ? "k′" : "k"; }
    Index position() const;
    double at(Stage stage) const { return side.stage(stage)(i, j); }
    const TensorD& param(Param which) const { return side.inputs.params[which]; }

    void add(std::string label, std::vector<Piece> pieces, double result_of) const;
    /// `brief` stands in place of many numbers.
    void add(std::string label, const Expr& expr, double result_of, std::string brief = "") const;
    void note(std::string_view words) const;
};

/// The weight of an operation that has no scores of pairs: linear, latents, state space.
void add_in_place(const Pair& pair);

}  // namespace attn::view::kinds
