// φ(x) = elu(x) + 1; A_in, A_out what latents and tokens take; A′, B′, C of the state space.

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/workspaces/kinds/explain_parts.h"

namespace attn::view::kinds {
namespace {

void add_linear(const Pair& pair) {
    const Row q = pair.made_row("phi_q", pair.i);
    const Row k = pair.made_row("phi_k", pair.j);
    pair.note(fmt::format("φ(x) = elu(x) + 1: φ(q) = {}, φ(k) = {}.", listed(q), listed(k)));
    const Expr product = products(q, Role::query, k, Role::key);
    const double sum = pair.side.made_of("denominator")(pair.i, 0);
    pair.add("φ(q)·φ(k)", product, evaluate(product), sum_words(q));
    pair.add("φ(q)·z", {Piece{"z is the sum of φ(k) over the keys that the query may see"}}, sum);
    pair.add("a", combine(Op::quotient, {value(evaluate(product)), value(sum)}), pair.out.weight);
}

/// Â = A_out A_in.
void add_latents(const Pair& pair) {
    const Row out = pair.made_row("weights_out", pair.i);
    const auto in = pair.side.made_of("weights_in");
    Row column;
    for (Index m = 0; m < in.rows; ++m) column.push_back(in(m, pair.j));
    pair.note(fmt::format("What the query takes of each latent: {}.", listed(out)));
    pair.note(fmt::format("What each latent takes of the key: {}.", listed(column)));
    pair.add("a", products(out, Role::query, column, Role::key), pair.out.weight, sum_words(out));
}

/// Σ_n C_i (A′ of the tokens between) B′_j of each column of V, and their mean.
void add_state_space(const Pair& pair) {
    if (pair.j > pair.i) {
        pair.note("The key comes after the query: a recurrence only looks back.");
        return;
    }
    const Row c = pair.made_row("c", pair.i);
    const auto states = std::ssize(c);
    const auto a_bar = pair.side.made_of("a_bar");
    const auto b_bar = pair.side.made_of("b_bar");
    const Index columns = b_bar.columns / states;
    std::vector<Expr> each;
    for (Index v = 0; v < columns; ++v) {
        double sum = 0.0;
        for (Index n = 0; n < states; ++n) {
            double carried = b_bar(pair.j, v * states + n);
            for (Index t = pair.j + 1; t <= pair.i; ++t) carried *= a_bar(t, v * states + n);
            sum += c[static_cast<std::size_t>(n)] * carried;
        }
        each.push_back(value(sum));
    }
    pair.note(fmt::format("C of the query: {}.", listed(c)));
    pair.note(fmt::format(
        "Each column of V has a weight of its own, Σ_n C · A′ · B′ over {} state{}, A′ taken "
        "{} time{}: this is their mean. D adds the token's own value besides.",
        states, states == 1 ? "" : "s", pair.i - pair.j, pair.i - pair.j == 1 ? "" : "s"));
    const Expr sum = combine(Op::sum, std::move(each));
    pair.add("Σ", sum, evaluate(sum), fmt::format("the sum of {} columns' weights", columns));
    pair.add("a",
             combine(Op::quotient, {value(evaluate(sum)), constant(static_cast<double>(columns))}),
             pair.out.weight);
}

}  // namespace

void add_in_place(const Pair& pair) {
    if (!pair.side.may(pair.i, pair.j)) {
        pair.note("The mask forbids the pair.");
        return;
    }
    if (pair.side.kind.operation == KindOperation::linear) return add_linear(pair);
    if (pair.side.kind.operation == KindOperation::latents) return add_latents(pair);
    add_state_space(pair);
}

}  // namespace attn::view::kinds
