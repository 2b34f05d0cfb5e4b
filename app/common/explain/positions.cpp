// What positions do to Q and K (RoPE) and to scores (ALiBi, beside the soft cap), forward and backward.
// p position, c column, θ = p · ω of the pair of columns that turn together.

#include <cmath>

#include <fmt/format.h>

#include "app/common/document/chain_rule.h"
#include "app/common/document/document.h"
#include "app/common/explain/parts.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "core/bias.h"
#include "core/note.h"
#include "core/rotary.h"
#include "core/scores/pair_rule.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/tex.h"

namespace attn::view {
namespace {

/// The pair of columns that a column turns with; none where it stays as it is.
struct Turn {
    Index pair, first, second;
};
std::optional<Turn> turn_of(const Rope& rope, Index d_k, Index column) {
    const Index dims = rope.dims.value_or(d_k);
    if (column >= dims) return std::nullopt;
    if (rope.pairs == RopePairs::interleaved)
        return Turn{column / 2, column - column % 2, column - column % 2 + 1};
    const Index pair = column % (dims / 2);
    return Turn{pair, pair, pair + dims / 2};
}

/// The cosine and the sine of the explained row's turn.
struct TurnFactors {
    Expr cosine, sine;
};

/// Adds ω and θ of the explained row, in radians; θ.
Expr add_angle(const AppState& state, Explanation& explanation, const Rope& rope, const Turn& turn,
               bool query) {
    const Index dims = rope.dims.value_or(state.document().d_k);
    const Index p = explanation.cell.row + (query ? state.document().size.query_offset : 0);
    const double omega = rope_frequency(rope, turn.pair, dims);
    const Expr power = combine(
        Op::power,
        {constant(rope.base), constant(-2.0 * static_cast<double>(turn.pair)) / constant(dims)});
    const bool scaled = is_rescaled(rope, turn.pair, dims);
    explanation.steps.push_back({"ω", R"(\omega)", scaled ? plain(omega) : power, omega});
    if (scaled)
        explanation.notes.push_back(fmt::format(
            "{}^(−2·{}/{}) = {}; RoPE scaling makes it ω = {}.", significant(rope.base, 6),
            turn.pair, dims, significant(evaluate(power), 4), significant(omega, 4)));
    const Expr theta = constant(p) * plain(omega);
    explanation.steps.push_back({"θ", R"(\theta)", theta, evaluate(theta)});
    return plain(evaluate(theta));
}

/// The factors of a turn by θ, or those of the tables.
TurnFactors add_factors(const AppState& state, Explanation& explanation, const Turn& turn,
                        bool query) {
    const Rope& rope = *state.document().spec.rope;
    if (!rope.tables) {
        const Expr theta = add_angle(state, explanation, rope, turn, query);
        return {combine(Op::cos, {theta}), combine(Op::sin, {theta})};
    }
    const RotaryTurn given =
        rotary_turn(rope, state.document().size, query ? Rotated::queries : Rotated::keys,
                    {state.batch, explanation.cell.row, turn.pair});
    return {constant(given.cosine), constant(given.sine)};
}

/// x cos θ ∓ y sin θ
Expr turned(const Expr& x, const Expr& y, const TurnFactors& by, bool minus) {
    return combine(minus ? Op::difference : Op::sum, {x * by.cosine, y * by.sine});
}

/// A column of a row that turns: forward of `from`'s values by θ, backward of its gradients by −θ.
void explain_turn(const AppState& state, Explanation& explanation, Stage stage, From from,
                  Stage source) {
    const CellRef cell = explanation.cell;
    const Rope& rope = *state.document().spec.rope;
    const bool query = stage == Stage::q || stage == Stage::q_norm || stage == Stage::q_rot;
    const bool back = from == From::gradients;
    const auto name = [&](Index c) {
        const std::string at =
            fmt::format("{}, {}", tex_label(state, query ? Axis::query : Axis::key, cell.row), c);
        return back ? tex_gradient(source, at) : fmt::format("{}[{}]", tex_symbol(source), at);
    };
    const auto value = [&](Index c) { return stage_expr(state, from, source, cell.row, c); };
    const auto turn = turn_of(rope, state.document().d_k, cell.column);
    if (!turn) {
        set_formula(explanation, name(cell.column) + tex::text_of(", this column does not rotate"));
        return (void)end_with(explanation, value(cell.column));
    }
    const TurnFactors by = add_factors(state, explanation, *turn, query);
    const bool first = cell.column == turn->first;
    const Index other = first ? turn->second : turn->first;
    const bool minus = first != back;
    set_formula(explanation, fmt::format(R"({} \cdot \cos\theta {} {} \cdot \sin\theta)",
                                         name(cell.column), minus ? "-" : "+", name(other)));
    const std::string row = axis_label(state, query ? Axis::query : Axis::key, cell.row);
    explanation.notes.push_back(
        rope.tables
            ? fmt::format("Columns {} and {} rotate together, by the given cosine and sine of {}.",
                          turn->first, turn->second, row)
            : fmt::format(
                  "Columns {} and {} rotate together; {} is at position {}. θ is in radians.",
                  turn->first, turn->second, row,
                  cell.row + (query ? state.document().size.query_offset : 0)));
    end_with(explanation, turned(value(cell.column), value(other), by, minus));
}

/// tanh(S / cap)
Expr bounded(const Expr& scaled, double cap) { return combine(Op::tanh, {scaled / constant(cap)}); }

}  // namespace

bool is_rescaled(const Rope& rope, Index pair, Index dims) {
    Rope bare = rope;
    bare.scaling = {};
    return rope_frequency(rope, pair, dims) != rope_frequency(bare, pair, dims);
}

void explain_rotated(const AppState& state, Explanation& explanation, Stage stage) {
    explain_turn(state, explanation, stage, From::values,
                 stage_or_source(stage == Stage::q_rot ? Stage::q_norm : Stage::k_norm,
                                 state.document().spec));
}

// forward:  q' = R q  so  d_q = Rᵀ d_q', and Rᵀ turns by −θ
void explain_rotation_gradient(const AppState& state, Explanation& explanation, Stage stage) {
    explain_turn(state, explanation, stage, From::gradients,
                 stage == Stage::q || stage == Stage::q_norm ? Stage::q_rot : Stage::k_rot);
}

namespace {

/// The number of the bias in the cell; 0 without a bias.
double bias_in(const AppState& state, const CellRef& cell) {
    return bias_at(state.document().spec.mask, state.batch, state.head, cell.row, cell.column);
}

/// `scaled` + bias
Expr plus(const Expr& scaled, double bias) {
    return bias < 0.0 ? scaled - constant(-bias) : scaled + constant(bias);
}

}  // namespace

void explain_biased(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const Document& document = state.document();
    const PairRule rule = pair_rule(document.spec, document.size, state.head);
    const Index p = cell.row + document.size.query_offset;
    const Index apart = std::abs(p - cell.column);
    Expr biased = cell_expr(state, {Stage::scaled, cell.row, cell.column});
    std::string formula = tex_symbol(Stage::scaled);
    const bool has_bias = document.spec.mask.bias != nullptr;
    const double bias = bias_in(state, cell);
    const auto add_bias = [&](bool here) {
        if (!has_bias || !here) return;
        biased = plus(biased, bias);
        formula += R"( + \mathrm{bias})";
    };
    add_bias(rule.bias_first);
    if (document.spec.softcap) {
        biased = constant(rule.cap) * bounded(biased, rule.cap);
        formula =
            fmt::format(R"(\mathrm{{cap}} \cdot \tanh(\frac{{{}}}{{\mathrm{{cap}}}}))", formula);
    }
    add_bias(!rule.bias_first);
    if (has_bias)
        explanation.notes.push_back(fmt::format(
            "The bias of query {} and key {} is {}.", axis_label(state, Axis::query, cell.row),
            axis_label(state, Axis::key, cell.column), significant(bias, 4)));
    if (document.spec.alibi) {
        biased = biased - constant(rule.slope) * constant(apart);
        formula += R"( - \mathrm{slope} \cdot |p - j|)";
        explanation.notes.push_back(fmt::format(
            "Query {} is at position {}, key {} at {}: distance {}. The slope of head {} of {} is "
            "{}.",
            axis_label(state, Axis::query, cell.row), p, axis_label(state, Axis::key, cell.column),
            cell.column, apart, state.head, document.size.heads, significant(rule.slope, 4)));
    }
    set_formula(explanation, std::move(formula));
    end_with(explanation, std::move(biased));
}

// forward:  B = cap tanh(S / cap) + bias − slope |p − j|  so  d_S = d_B (1 − tanh²(S / cap)), of S + bias where that is first
void explain_bias_gradient(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const AttentionSpec& spec = state.document().spec;
    const Expr after = stage_expr(state, From::gradients, Stage::biased, cell.row, cell.column);
    if (!spec.softcap) {
        set_formula(explanation,
                    tex_gradient(Stage::biased) +
                        tex::text_of(!spec.mask.bias ? ", ALiBi adds a constant to the score"
                                     : spec.alibi    ? ", bias and ALiBi add constants to the score"
                                                     : ", the bias is added to the score"));
        return (void)end_with(explanation, after);
    }
    const bool shifted = spec.mask.bias && spec.bias_before_softcap;
    set_formula(explanation,
                tex_gradient(Stage::biased) +
                    fmt::format(R"( \cdot (1 - \tanh^2(\frac{{{}}}{{\mathrm{{cap}}}})))",
                                shifted ? R"(S + \mathrm{bias})" : "S"));
    Expr scaled = cell_expr(state, {Stage::scaled, cell.row, cell.column});
    if (shifted) scaled = plus(scaled, bias_in(state, cell));
    const Expr square = combine(Op::power, {bounded(scaled, *spec.softcap), constant(2.0)});
    end_with(explanation, after * (constant(1.0) - square));
}

}  // namespace attn::view
