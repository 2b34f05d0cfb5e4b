#include <cmath>

#include <fmt/format.h>

#include "app/common/document/chain_rule.h"
#include "app/common/document/document.h"
#include "app/common/document/mask_rules.h"
#include "app/common/document/toy.h"
#include "app/common/explain/parts.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "core/dropout.h"
#include "core/masks.h"
#include "core/note.h"
#include "core/rng.h"
#include "core/softmax.h"
#include "core/tex.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

bool is_edited(const AppState& state, const CellRef& cell) {
    const Document& document = state.document();
    return std::ranges::any_of(document.edits, [&](const InputEdit& edit) {
        return edit.layer == document.layer && edit.tensor == cell.tensor && edit.row == cell.row &&
               edit.column == cell.column;
    });
}

/// A number of the document's own tensors.
void explain_given(const AppState& state, Explanation& explanation) {
    const auto* file = std::get_if<FileOrigin>(&state.document().origin);
    set_formula(explanation, tex::text_of("a given number"));
    if (is_edited(state, explanation.cell)) {
        explanation.notes.emplace_back("This number was edited.");
        return;
    }
    if (const ModelOrigin* model = model_of(state.document()))
        return explanation.notes.push_back(fmt::format(
            "{} computed this number; layer {} reads it.", model->path, state.document().layer));
    explanation.notes.push_back(file ? fmt::format("This number comes from {}.", file->path)
                                     : std::string("This number is given."));
}

/// Q, K, V: row of X times column of W.
void explain_projection(const AppState& state, Explanation& explanation, Stage input, Param w,
                        Param bias) {
    const CellRef cell = explanation.cell;
    if (!state.document().inputs->projects()) return explain_given(state, explanation);
    const std::string token = tex_label(state, info(input).rows, cell.row);
    Chain chain{side_of("x", fmt::format("{}[{}, c]", tex_symbol(input), token), "x"),
                side_of("w", fmt::format("{}[c, {}]", tex_symbol(w), cell.column), "w")};
    for (Index c = 0; c < sheet_of(state, input).values.columns; ++c)
        chain.add(cell_expr(state, {input, cell.row, c}), cell_expr(state, {w, c, cell.column}),
                  std::to_string(c));
    add_sum(state, explanation, std::move(chain), "c", bias);
}

/// Forbidden keys are left out: they contribute nothing, even where V is NaN.
void forward_context(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const Document& document = state.document();
    const Stage weights = weight_stage(document);
    const Dimensions size = document.size;
    const auto takes_part = contributing_keys(state, {state.batch, state.head}, cell.row);
    const auto keys = axis_labels(state, Axis::key, size.tk);
    const std::string query = tex_label(state, Axis::query, cell.row);
    Chain chain{side_of("a", fmt::format("{}[{}, j]", tex_symbol(weights), query), "a"),
                side_of("v", fmt::format("V[j, {}]", cell.column), "v")};
    for (Index j = 0; j < size.tk; ++j)
        if (takes_part[j] != 0)
            chain.add(cell_expr(state, {weights, cell.row, j}),
                      cell_expr(state, {Stage::v, j, cell.column}), keys[j]);
    if (chain.labels.empty()) {
        set_formula(explanation, sum_tex(chain, "j"));
        explanation.notes.emplace_back("The mask leaves no key: the empty row gives 0.");
        return;
    }
    if (const auto left_out = keys.size() - chain.labels.size(); left_out > 0)
        explanation.notes.push_back(fmt::format(
            "{} masked key{} ha{} weight 0 and {} left out.", left_out, left_out == 1 ? "" : "s",
            left_out == 1 ? "s" : "ve", left_out == 1 ? "is" : "are"));
    chain.counts = "key";
    add_sum(state, explanation, std::move(chain), "j");
}

void forward_output(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const Document& document = state.document();
    const Index heads = document.size.heads;
    const Index width = document.size.d_v;
    const Index first = -state.head * width;  // columns count from the head shown
    if (document.inputs->params[Param::w_o].empty()) {
        set_formula(explanation, tex::text_of("the concatenated context, because there is no W_O"));
        end_with(explanation, cell_expr(state, {Stage::context, cell.row, cell.column + first}));
        return;
    }
    Chain chain{side_of("c",
                        fmt::format("\\mathrm{{{}}}[{}, n]", heads == 1 ? "context" : "concat",
                                    tex_label(state, Axis::query, cell.row)),
                        "context"),
                side_of("w", fmt::format("W_O[n, {}]", cell.column), "w")};
    chain.counts = "n";
    for (Index n = 0; n < heads * width; ++n)
        chain.add(cell_expr(state, {Stage::context, cell.row, n + first}),
                  cell_expr(state, {Param::w_o, n, cell.column}), std::to_string(n));
    if (document.heads > 1)
        explanation.notes.push_back(fmt::format("concat holds the {} heads' contexts, {} each.",
                                                heads, counted(width, "column")));
    add_sum(state, explanation, std::move(chain), "n", Param::b_o);
}

// ---- one number to one number

void forward_scaled(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const AttentionSpec& spec = state.document().spec;
    set_formula(explanation, tex_scaled(spec));
    if (spec.scale == ScaleKind::none) explanation.notes.emplace_back("Scaling is off.");
    if (spec.scale == ScaleKind::q_and_k)
        explanation.notes.emplace_back("Queries and keys were scaled before their product.");
    end_with(explanation, scaled_expr(spec, state.document().d_k,
                                      cell_expr(state, {Stage::scores, cell.row, cell.column})));
}

/// Which mask forbids the pair, in words; "" when it is allowed.
std::string reason_forbidden(const AppState& state, Index i, Index j) {
    const Document& document = state.document();
    const Dimensions size = document.size;
    const std::string query = axis_label(state, Axis::query, i);
    const std::string key = axis_label(state, Axis::key, j);
    const MaskSpec& all = document.spec.mask;
    const auto forbids = [&](const MaskSpec& mask) {
        return !may_attend(mask, size, state.batch, state.head, i, j);
    };
    const auto rule_forbids = [&](MaskRule rule) { return forbids(rule_alone(all, rule)); };
    if (rule_forbids(MaskRule::causal))
        return fmt::format("causal: key {} comes after query {}", key, query);
    if (rule_forbids(MaskRule::padding))
        return fmt::format("padding: key {} is past the last valid one", key);
    if (rule_forbids(MaskRule::window)) {
        const Index distance = i + size.query_offset - j;
        const WindowSides sides = window_sides(all);
        return fmt::format("window: {} and {} are {} apart, more than {}", query, key,
                           std::abs(distance), *(distance > 0 ? sides.left : sides.right));
    }
    if (rule_forbids(MaskRule::block))
        return fmt::format("block: {} and {} are in different blocks", query, key);
    if (!forbids(all)) return {};
    return "the mask forbids the pair";
}

void explain_masked(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const Stage source =
        std::get<Stage>(operand_of(state.document(), Stage::masked, Stage::scaled));
    const std::string reason = reason_forbidden(state, cell.row, cell.column);
    set_formula(explanation, reason.empty()
                                 ? tex_symbol(source) + tex::text_of(", the pair is allowed")
                                 : "-\\infty" + tex::text_of(", the pair is forbidden"));
    if (!reason.empty()) {
        explanation.notes.push_back(
            fmt::format("{}. exp(−∞) is exactly 0, so the weight is exactly 0 if the row has an "
                        "allowed key.",
                        reason));
        return;
    }
    end_with(explanation, cell_expr(state, {source, cell.row, cell.column}));
}

// ---- a row of scores to its weights

Expr shifted_exp(const AppState& state, const CellRef& masked, const Expr& largest) {
    return combine(Op::exp, {cell_expr(state, masked) - largest});
}

/// One row of M and of A, with what lies between. A sink is one more logit behind the keys'.
struct SoftmaxTable {
    const AppState& state;
    Index row, keys;
    SoftmaxRow sides;
    std::vector<double> m;
    std::vector<bool> allowed;

    CellRef logit(std::size_t n) const {
        const auto j = static_cast<Index>(n);
        if (j == keys) return {Param::sinks, 0, state.head};
        return {Stage::masked, row, j};
    }
};

/// Why a row of M has no ordinary softmax; "" when it has.
std::string softmax_trouble(const SoftmaxTable& softmax, EmptyRows policy, bool all_forbidden) {
    const std::vector<double>& m = softmax.m;
    const char* const logit = std::ssize(m) > softmax.keys ? "score, or the sink," : "score";
    const double inf = std::numeric_limits<double>::infinity();
    if (std::ranges::any_of(m, [](double value) { return std::isnan(value); }))
        return fmt::format("A {} of the row is NaN, so all its allowed weights are NaN.", logit);
    if (std::ranges::count(m, inf) > 0)
        return fmt::format(
            "A {} of the row is ∞: ∞ − ∞ is NaN, so all its allowed weights are NaN.", logit);
    if (std::ranges::any_of(m, [](double value) { return std::isfinite(value); })) return {};
    if (!all_forbidden) return "All allowed scores are −∞: 0 ÷ 0 is NaN.";
    return policy == EmptyRows::zero ? "The mask leaves no key: the empty row gives 0."
                                     : "The mask leaves no key: the empty row gives NaN.";
}

SoftmaxTable softmax_table(const AppState& state, Index row) {
    const auto values = sheet_of(state, Stage::masked).values;
    const auto pairs = allowed_pairs(state);
    const std::vector<float> m = logits_of(state, row);
    SoftmaxTable table{state, row, values.columns, {}, {}, {}};
    for (Index j = 0; j < table.keys; ++j)
        table.allowed.push_back(pairs[row * table.keys + j] != 0);
    if (std::ssize(m) > table.keys) table.allowed.push_back(true);  // the sink
    table.sides = softmax_sides(m);
    table.m.assign(m.begin(), m.end());
    return table;
}

/// Exactly 0, or the NaN of a row without keys.
TableRow masked_row(std::string label, const CellRef& weight, double value) {
    const std::string share = value == 0.0 ? "0" : number(value);
    return {std::move(label), {{"masked", {}, {}}, {}, {}, {share, {}, weight}}, false, true};
}

/// score, score − max, exp and share of each key: all that a pencil needs for any of its weights.
InspectorTable softmax_columns(const SoftmaxTable& softmax, Index chosen) {
    auto keys = axis_labels(softmax.state, Axis::key, softmax.keys);
    if (std::ssize(softmax.m) > softmax.keys) keys.emplace_back("sink");
    std::vector<double> shifted, exps, shares;
    for (std::size_t j = 0; j < softmax.m.size(); ++j) {
        shifted.push_back(softmax.m[j] - softmax.sides.max);
        exps.push_back(std::exp(shifted.back()));
        const CellRef weight{Stage::weights, softmax.row, static_cast<Index>(j)};
        shares.push_back(value_at(softmax.state, weight).value_or(exps.back() / softmax.sides.sum));
    }
    const auto m_texts = column_texts(softmax.m);
    const auto shifted_texts = column_texts(shifted);
    const auto exp_texts = column_texts(exps);
    const auto share_texts = column_texts(shares);
    InspectorTable table;
    table.label = "key";
    table.columns = {
        {"M", Role::score}, {"M − m", {}, true}, {"exp", {}}, {"weight", Role::weight}};
    double whole = 0.0;
    for (std::size_t j = 0; j < softmax.m.size(); ++j) {
        const CellRef logit = softmax.logit(j);
        const CellRef weight{Stage::weights, softmax.row, static_cast<Index>(j)};
        const bool of_key = logit.tensor == OperandId(Stage::masked);
        whole += shares[j];
        if (softmax.allowed[j])
            table.rows.push_back(
                {keys[j],
                 {{m_texts[j], Role::score, logit},
                  {shifted_texts[j], {}, {}},
                  {exp_texts[j], {}, {}},
                  {share_texts[j], Role::weight, of_key ? std::optional(weight) : std::nullopt}}});
        else
            table.rows.push_back(masked_row(keys[j], weight, shares[j]));
        table.rows.back().bar = std::isfinite(shares[j]) ? shares[j] : 0.0;
        table.rows.back().chosen = static_cast<Index>(j) == chosen;
    }
    table.total = TableRow{"Σ",
                           {{},
                            {},
                            {column_texts({softmax.sides.sum})[0], {}, {}},
                            {column_texts({whole})[0], {}, {}}}};
    return table;
}

/// How the score of the pair came about: raw, scaled, then biased. Only what the backend keeps.
void add_score_steps(const AppState& state, Explanation& explanation) {
    const AttentionSpec& spec = state.document().spec;
    const bool dot = is_plain_product(spec);
    const Stage q = read_by_scores(state, Stage::q), k = read_by_scores(state, Stage::k);
    if (!missing_of(state, {q, k, Stage::scores, Stage::scaled}).empty()) return;
    const auto add = [&](Stage stage, const std::string& label, const std::string& latex) {
        Explanation part;
        part.cell = {stage, explanation.cell.row, explanation.cell.column};
        part.value = *value_at(state, part.cell);
        explain_stage(state, part, stage);
        if (part.steps.empty()) return;
        Step step = part.steps.back();
        step.label = label;
        step.latex = latex;
        step.link = part.cell;
        explanation.steps.push_back(std::move(step));
    };
    add(Stage::scores, dot ? as_read(spec, "q·k") : "score",
        dot ? as_read(spec, R"(q \cdot k)", "'") : R"(\mathrm{score})");
    add(Stage::scaled, "S", "S");
    if (spec.biases() && is_stored_stage(state, Stage::biased)) add(Stage::biased, "B", "B");
}

/// m, exp(M − m), Σ exp and their quotient.
void add_softmax_steps(const AppState& state, Explanation& explanation,
                       const SoftmaxTable& softmax) {
    const CellRef cell = explanation.cell;
    Expr largest = plain(softmax.sides.max);
    largest.role = Role::score;
    std::vector<Expr> row, exps;
    std::optional<CellRef> at;
    for (std::size_t j = 0; j < softmax.m.size(); ++j) {
        if (!softmax.allowed[j]) continue;
        row.push_back(cell_expr(state, softmax.logit(j)));
        exps.push_back(shifted_exp(state, *row.back().link, largest));
        if (!at && row.back().value == softmax.sides.max) at = row.back().link;
    }
    const Expr own = shifted_exp(state, {Stage::masked, cell.row, cell.column}, largest);
    const std::string query = axis_label(state, Axis::query, cell.row);
    const std::string sink = explanation.has_sink ? ", sink" : "";
    explanation.steps.push_back({"m", "m", combine(Op::max, std::move(row)), softmax.sides.max,
                                 fmt::format("max_j M[{}, j]{}", query, sink), at});
    explanation.steps.push_back({"exp(M − m)", "e", own, evaluate(own)});
    explanation.steps.push_back(
        {"Σ exp", "\\Sigma", combine(Op::sum, std::move(exps)), softmax.sides.sum,
         fmt::format("Σ_j exp(M[{}, j] − m){}", query, sink.empty() ? "" : " + exp(sink − m)")});
    end_with(explanation, plain(evaluate(own)) / plain(softmax.sides.sum));
}

void explain_weight(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const SoftmaxTable softmax = softmax_table(state, cell.row);
    const bool own = softmax.allowed[cell.column];
    explanation.has_sink = std::ssize(softmax.m) > softmax.keys;
    const auto allowed = std::ranges::count(softmax.allowed, true) - explanation.has_sink;
    explanation.softmax_row = softmax.m;
    explanation.table = softmax_columns(softmax, cell.column);
    set_formula(explanation,
                fmt::format(R"(\frac{{\exp(M - m)}}{{\sum_j \exp(M_j - m){}}})",
                            explanation.has_sink ? R"( + \exp(\mathrm{sink} - m))" : ""));
    const std::string trouble =
        softmax_trouble(softmax, state.document().spec.empty_rows, allowed == 0);
    if (!trouble.empty()) explanation.notes.push_back(trouble);
    if (!own && explanation.value == 0.0)
        explanation.notes.emplace_back("The pair is masked: exp(−∞) = 0, the weight is exactly 0.");
    else if (own && allowed < softmax.keys)
        explanation.notes.emplace_back("Masked keys add exp(−∞) = 0 to the sum and are left out.");
    if (!trouble.empty() || !own) return;
    add_sharing_notes(state, explanation);
    add_score_steps(state, explanation);
    add_softmax_steps(state, explanation, softmax);
}

void explain_dropped(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const AttentionSpec& spec = state.document().spec;
    const double factor =
        dropout_factor(spec, state.document().size, state.batch, state.head, cell.row, cell.column);
    const Expr weight = cell_expr(state, {Stage::weights, cell.row, cell.column});
    if (!reason_forbidden(state, cell.row, cell.column).empty() && evaluate(weight) == 0.0) {
        set_formula(explanation, "0" + tex::text_of(", the pair is masked"));
        explanation.notes.emplace_back("The pair is masked: its weight is 0 before dropout.");
        return;
    }
    if (factor == 0.0) {
        set_formula(explanation, "0" + tex::text_of(", this weight is dropped"));
        explanation.notes.push_back(
            fmt::format("Dropout p = {} set this weight to 0.", significant(spec.dropout, 4)));
        return;
    }
    set_formula(explanation, R"(\frac{A}{1 - p})" + tex::text_of(", this weight is kept"));
    Expr retained = constant(1.0) - constant(spec.dropout);
    end_with(explanation, weight / std::move(retained));
}

// ---- what nothing computes

void explain_vector(const AppState& state, Explanation& explanation, Stage stage) {
    const CellRef cell = explanation.cell;
    if (!is_toy(state.document())) return explain_given(state, explanation);
    if (!is_embedding(state, stage, cell.row)) {
        set_formula(explanation, tex::text_of("a given number"));
        explanation.notes.emplace_back("This number is given with the sentence or was edited.");
        return;
    }
    const Document& document = state.document();
    const auto& tokens = stage == Stage::x ? tokens_of(document, state.batch) : document.tokens_kv;
    const std::string& token = tokens[cell.row];
    const Expr word = plain(word_value(hash_text(token), cell.column));
    const std::string of_word = fmt::format("word vector of “{}”", shown_token(token, kMostNamed));
    if (!document.sinusoid) {
        set_formula(explanation, tex::text_of(of_word));
        return (void)end_with(explanation, word);
    }
    set_formula(explanation, tex::text_of(fmt::format("{} + position {}", of_word, cell.row)));
    end_with(explanation, word + plain(position_value(cell.row, cell.column)));
    explanation.notes.push_back(fmt::format("Position: {}({} ÷ 10000^({}/{})).",
                                            cell.column % 2 == 0 ? "sin" : "cos", cell.row,
                                            cell.column - cell.column % 2, kWaveWidth));
}

}  // namespace

void explain_stage(const AppState& state, Explanation& explanation, Stage stage) {
    switch (stage) {
        case Stage::x:
        case Stage::x_kv:
            return explain_vector(state, explanation, stage);
        case Stage::q:
            return explain_projection(state, explanation, Stage::x, Param::w_q, Param::b_q);
        case Stage::k:
            return explain_projection(state, explanation, key_stage(state.document()), Param::w_k,
                                      Param::b_k);
        case Stage::v:
            return explain_projection(state, explanation, key_stage(state.document()), Param::w_v,
                                      Param::b_v);
        case Stage::q_norm:
        case Stage::k_norm:
            return explain_normalised(state, explanation, stage);
        case Stage::q_rot:
        case Stage::k_rot:
            return explain_rotated(state, explanation, stage);
        case Stage::scores:
            return explain_score(state, explanation);
        case Stage::scaled:
            return forward_scaled(state, explanation);
        case Stage::biased:
            return explain_biased(state, explanation);
        case Stage::masked:
            return explain_masked(state, explanation);
        case Stage::weights:
            return explain_weight(state, explanation);
        case Stage::dropped:
            return explain_dropped(state, explanation);
        case Stage::context:
            return forward_context(state, explanation);
        case Stage::output:
            return forward_output(state, explanation);
    }
}

bool is_embedding(const AppState& state, Stage stage, Index row) {
    const Document& document = state.document();
    if (!is_toy(document)) return false;
    const auto& tokens = stage == Stage::x ? tokens_of(document, state.batch) : document.tokens_kv;
    if (row >= std::ssize(tokens)) return false;
    const bool next = stage == Stage::x && !document.tokens_next.empty() && state.batch > 0;
    return is_computed(document, stage, next ? std::ssize(tokens) + row : row);
}

std::vector<float> logits_of(const AppState& state, Index row) {
    const auto m = sheet_of(state, Stage::masked).values.row(row);
    std::vector<float> logits(m.begin(), m.end());
    if (const Tensor& sinks = state.document().inputs->params[Param::sinks]; !sinks.empty())
        logits.push_back(sinks(0, 0, 0, state.head));
    return logits;
}

}  // namespace attn::view
