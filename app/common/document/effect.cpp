#include "app/common/document/effect.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "core/masks.h"
#include "core/metrics.h"
#include "core/spec_arrays.h"
#include "core/spec_fields.h"
#include "core/stages.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

using Matrix = MatrixView<const float>;
constexpr Index kMostEntropies = 6;    // rows named one by one
constexpr double kSameWeight = 1e-6;   // of weights that are one but for rounding
constexpr double kSameEntropy = 1e-6;  // nats of rounding

/// Stages that an edit leads to.
using Reached = StageSet;

bool is_same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool is_same(const Matrix& a, const Matrix& b) {
    if (a.rows != b.rows || a.columns != b.columns) return false;
    for (Index i = 0; i < a.rows; ++i)
        if (!std::ranges::equal(a.row(i), b.row(i), [](float x, float y) { return is_same(x, y); }))
            return false;
    return true;
}

/// One sequence and head of a document.
struct Part {
    const Document& document;
    Index batch;
    Index head;

    /// 0 × 0 where it is not there.
    Matrix of(const Tensor& tensor, HeadAxis axis) const {
        const Index h = head_in(document.size, axis, head);
        if (batch >= tensor.shape().b || h >= tensor.shape().h) return {};
        return tensor.matrix(batch, h);
    }
    /// A parameter's columns of this head; all of W_O's and b_O's.
    Matrix of(Param param) const {
        const Tensor& tensor = document.inputs->params[param];
        if (tensor.empty()) return {};
        const Matrix whole = tensor.matrix(0, 0);
        if (info(param).use == ParamUse::sink) return whole.column_block(head, 1);
        const auto [first, width] = head_columns(document.size, param, head);
        if (width == 0) return whole;
        if (first + width > whole.columns) return {};
        return whole.column_block(first, width);
    }
};

bool same_scale(const Document& a, const Document& b) {
    return same_settings(Stage::scaled, a.spec, b.spec) &&
           (a.spec.scale != ScaleKind::sqrt_dk || a.size.d_k == b.size.d_k);
}

bool same_offset(const Part& a, const Part& b) {
    return a.document.size.query_offset == b.document.size.query_offset;
}

/// Whether the tensor that is given for a stage was edited; false where it is computed.
bool is_replaced(Stage stage, const Part& before, const Part& after) {
    if (before.document.inputs == after.document.inputs) return false;
    const HeadAxis axis = info(stage).heads;
    return !is_same(before.of(tensor_of(*before.document.inputs, stage), axis),
                    after.of(tensor_of(*after.document.inputs, stage), axis));
}

bool is_edited(Param param, const Part& before, const Part& after) {
    if (before.document.inputs == after.document.inputs) return false;
    return !is_same(before.of(param), after.of(param));
}

/// Whether the stage itself was edited: given numbers, or what it does to its operands.
bool is_edited(Stage stage, const Part& before, const Part& after) {
    const AttentionSpec& was = before.document.spec;
    const AttentionSpec& is = after.document.spec;
    switch (stage) {
        case Stage::x:
        case Stage::x_kv:
            return is_replaced(stage, before, after);
        case Stage::q:
            return is_replaced(stage, before, after) || is_edited(Param::b_q, before, after);
        case Stage::k:
            return is_replaced(stage, before, after) || is_edited(Param::b_k, before, after);
        case Stage::v:
            return is_replaced(stage, before, after) || is_edited(Param::b_v, before, after);
        case Stage::q_norm:
        case Stage::k_norm:
            return !same_settings(Stage::q_norm, was, is);
        case Stage::q_rot:
            return !same_settings(stage, was, is) || !same_offset(before, after);
        case Stage::k_rot:
            return !same_settings(Stage::q_rot, was, is);
        case Stage::scores:
            return !same_settings(stage, was, is) ||
                   (was.scale == ScaleKind::q_and_k) != (is.scale == ScaleKind::q_and_k);
        case Stage::scaled:
            return !same_scale(before.document, after.document);
        case Stage::biased:
            return !same_settings(stage, was, is) ||
                   (is.alibi && (!same_offset(before, after) ||
                                 before.document.size.heads != after.document.size.heads));
        case Stage::masked:
            return !same_mask(was, is) || (is.mask.any() && !same_offset(before, after));
        case Stage::weights:
            return !same_settings(stage, was, is);
        case Stage::dropped:
            return !same_settings(stage, was, is) || was.seed != is.seed;
        case Stage::context:
            return false;
        case Stage::output:
            return is_edited(Param::b_o, before, after);
    }
    return false;
}

/// Whether the stage reads other operands than before: RoPE, a bias or dropout came or went.
bool reads_others(Stage stage, const Part& before, const Part& after) {
    return !std::ranges::equal(operands_of(before.document, stage),
                               operands_of(after.document, stage), {}, &Operand::id, &Operand::id);
}

/// Every stage of one head that an edit leads to, by the operands of the stage table. What other heads hand to
/// `output` is added by compare().
Reached reached(const Part& before, const Part& after) {
    Reached reached;
    for (const StageInfo& stage : stage_table()) {
        bool edited =
            is_edited(stage.stage, before, after) || reads_others(stage.stage, before, after);
        for (const Operand& operand : operands_of(after.document, stage.stage)) {
            const Stage* const from = std::get_if<Stage>(&operand.id);
            edited = edited || (from ? reached[index_of(*from)]
                                     : is_edited(std::get<Param>(operand.id), before, after));
        }
        reached[index_of(stage.stage)] = edited;
    }
    return reached;
}

/// How far apart; from or to what is no number, farther than anything.
double distance(float a, float b) {
    if (is_same(a, b)) return 0.0;
    const double apart = std::abs(static_cast<double>(a) - static_cast<double>(b));
    return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
}

StageChange compared(const Matrix& was, const Matrix& is, bool reached) {
    StageChange change;
    change.fate = reached ? Fate::same : Fate::cannot;
    if (was.rows != is.rows || was.columns != is.columns)
        change.fate = was.rows == 0 ? Fate::appeared : Fate::resized;
    if (change.fate == Fate::resized || change.fate == Fate::appeared) return change;
    std::vector<double> apart;
    for (const auto [i, j] : each_cell(is)) apart.push_back(distance(was(i, j), is(i, j)));
    const auto most = largest_places(std::span<const double>(apart), kSameWeight);
    if (most.empty() || apart[most.front()] == 0.0) return change;
    const Index i = most.front() / is.columns, j = most.front() % is.columns;
    change = {Fate::changed, i, j, was(i, j), is(i, j), std::ssize(most) - 1};
    return change;
}

// ---- words

/// A stage in a sentence: "Q", "scaled scores", "weights after dropout".
std::string noun_of(Stage stage) {
    switch (stage) {
        case Stage::scaled:
            return "scaled scores";
        case Stage::biased:
            return "biased scores";
        case Stage::masked:
            return "masked scores";
        case Stage::weights:
            return "weights";
        case Stage::dropped:
            return "weights after dropout";
        case Stage::output:
            return "output";
        default:
            return name_of(stage);
    }
}

bool is_plural(Stage stage) { return pair_stages()[index_of(stage)]; }

/// "Q, K and scores". Scaled and masked scores go without saying after a list's scores.
std::string list_of(const std::vector<Stage>& stages) {
    std::vector<std::string> nouns;
    for (const Stage stage : stages) {
        const auto listed = [&](Stage before) { return std::ranges::count(stages, before) > 0; };
        const bool stated =
            (stage == Stage::scaled && listed(Stage::scores)) ||
            (stage == Stage::masked && (listed(Stage::scaled) || listed(Stage::biased)));
        if (!stated) nouns.push_back(noun_of(stage));
    }
    if (nouns.size() < 2) return nouns.empty() ? "" : nouns.front();
    const std::string last = nouns.back();
    nouns.pop_back();
    return fmt::format("{} and {}", fmt::join(nouns, ", "), last);
}

bool is_singular(const std::vector<Stage>& stages) {
    return stages.size() == 1 && !is_plural(stages.front());
}

/// Given, not computed: X, and Q, K and V of a file that brings them.
bool is_given(const Document& document, Stage stage) {
    if (stage == Stage::x || stage == Stage::x_kv) return true;
    const bool projected = stage == Stage::q || stage == Stage::k || stage == Stage::v;
    return projected && !document.inputs->projects();
}

// ---- the row that is looked at

/// The largest weight of one row that is a number; nullopt: none is.
struct Largest {
    Index key = 0;
    float weight = 0.0F;
};
std::optional<Largest> largest_of(std::span<const float> row) {
    std::optional<Largest> largest;
    for (std::size_t j = 0; j < row.size(); ++j)
        if (!std::isnan(row[j]) && (!largest || row[j] > largest->weight))
            largest = {static_cast<Index>(j), row[j]};
    return largest;
}

Index looked_at(const AppState& state, Index rows) {
    const auto& cell = state.selected;
    const Stage* const stage = cell ? std::get_if<Stage>(&cell->tensor) : nullptr;
    const bool query = stage != nullptr && info(*stage).rows == Axis::query;
    return query && cell->row < rows ? cell->row : 0;
}

/// Both with as many decimals as it takes to tell them apart.
std::pair<std::string, std::string> cells_apart(float before, float after) {
    for (const int decimals : {2, 3, 4, 6}) {
        std::string was = cell_number(before, decimals);
        std::string is = cell_number(after, decimals);
        if (was != is) return {was, is};
    }
    return {exact(before), exact(after)};
}

/// "sat 0.40 → 0.52", "The 0.40 → sat 0.52".
std::string from_to(const AppState& state, const Largest& was, const Largest& is) {
    const auto [before, after] = cells_apart(was.weight, is.weight);
    const std::string old_key =
        axis_label(*state.effect->before.document, Axis::key, was.key, state.batch);
    const std::string key = axis_label(state, Axis::key, is.key);
    if (was.key == is.key && was.weight == is.weight)
        return fmt::format("key {}, still {}", key, cell_number(is.weight, 2));
    if (old_key == key) return fmt::format("key {}, {} → {}", key, before, after);
    return fmt::format("key {}, {} → key {}, {}", old_key, before, key, after);
}

bool has_a_key(const AppState& state, Index row) {
    const Document& document = state.document();
    for (Index j = 0; j < document.size.tk; ++j)
        if (may_attend(document.spec.mask, document.size, state.batch, state.head, row, j))
            return true;
    return false;
}

/// What the row of A that is looked at was and is; "" where the weights did not change.
std::string row_description(const AppState& state) {
    const StageChange* const change = change_of(state, Stage::weights);
    if (change == nullptr || change->fate == Fate::cannot || change->fate == Fate::same) return {};
    const MatrixView<const float> is = sheet_of(state, Stage::weights).values;
    if (is.rows == 0 || is.columns == 0) return {};
    const Index row = looked_at(state, is.rows);
    const std::string query = axis_label(state, Axis::query, row);
    const auto isnan = [](float weight) { return std::isnan(weight); };
    if (std::ranges::any_of(is.row(row), isnan))
        return fmt::format("row {} has NaN weights: a score is NaN or ∞, or no key is allowed",
                           query);
    const auto now = largest_of(is.row(row));
    if (!now || now->weight == 0.0F)
        return has_a_key(state, row) ? fmt::format("all weights of row {} are 0", query)
                                     : fmt::format("row {} may attend to no key", query);
    const Tensor& old = (*state.effect->before.trace)[Stage::weights];
    const Document& document = *state.effect->before.document;
    const bool there = state.batch < old.shape().b && state.head < old.shape().h &&
                       row < old.shape().t &&
                       axis_label(document, Axis::query, row, state.batch) == query;
    const auto was =
        there ? largest_of(old.matrix(state.batch, state.head).row(row)) : std::nullopt;
    const auto others = std::ssize(largest_places(is.row(row), kSameWeight)) - 1;
    const std::string ties =
        others == 0 ? "" : fmt::format(", and {} as large", counted(others, "other"));
    if (!was || was->weight == 0.0F)
        return fmt::format("largest weight of row {}: key {}, {}{}", query,
                           axis_label(state, Axis::key, now->key), cell_number(now->weight, 2),
                           ties);
    return fmt::format("largest weight of row {}: {}{}", query, from_to(state, *was, *now), ties);
}

/// Of every row, in nats, before the last edit and now; none where the weights are no others or of other sizes, a sink takes
/// part, or one is NaN.
struct Entropies {
    std::vector<double> before, after;
};
Entropies entropies_of(const AppState& state) {
    const StageChange* const change = change_of(state, Stage::weights);
    const bool sinks = !state.document().inputs->params[Param::sinks].empty();
    if (change == nullptr || change->fate != Fate::changed || sinks) return {};
    const Part was{*state.effect->before.document, state.batch, state.head};
    const Matrix old =
        was.of((*state.effect->before.trace)[Stage::weights], info(Stage::weights).heads);
    const Matrix now = sheet_of(state, Stage::weights).values;
    Entropies all;
    for (Index i = 0; i < now.rows; ++i) {
        all.before.push_back(row_metrics(old.row(i), now.columns).entropy);
        all.after.push_back(row_metrics(now.row(i), now.columns).entropy);
        if (std::isnan(all.before.back()) || std::isnan(all.after.back())) return {};
    }
    return all;
}

/// "entropy of rows in nats: cat 1.02 → 0.97, sat …"; of many in how many it rises and falls. "" where scaling and temperature
/// are what they were.
std::string entropy_text(const AppState& state) {
    const auto [before, after] = entropies_of(state);
    if (before.empty() || same_scale(*state.effect->before.document, state.document())) return {};
    std::vector<std::string> rows;
    Index rise = 0, fall = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        rise += after[i] > before[i] + kSameEntropy;
        fall += after[i] < before[i] - kSameEntropy;
        rows.push_back(fmt::format("row {}: {} → {}",
                                   axis_label(state, Axis::query, static_cast<Index>(i)),
                                   cell_number(before[i], 2), cell_number(after[i], 2)));
    }
    const Index count = std::ssize(rows);
    if (count <= kMostEntropies) return fmt::format("entropy in nats, {}", fmt::join(rows, ", "));
    if (rise == count || fall == count)
        return fmt::format("entropy {} in all {} rows", rise == count ? "rises" : "falls", count);
    return fmt::format("entropy rises in {} and falls in {} of {} rows", rise, fall, count);
}

/// "head 1: " where there are several: the sentence speaks of the one shown.
std::string part_text(const AppState& state) {
    const Dimensions& size = state.document().size;
    std::string text;
    if (size.batch > 1) text += fmt::format("sequence {}, ", state.batch);
    if (size.heads > 1) text += fmt::format("head {}, ", state.head);
    return text.empty() ? "" : "in " + text;
}

/// Heads whose part of the stage changed, though the one shown did not: "1, 3".
std::string other_heads(const AppState& state, Stage stage) {
    std::vector<Index> heads;
    for (Index h = 0; h < state.effect->heads; ++h) {
        const Fate fate = state.effect->at(state.batch, h, stage).fate;
        if (fate != Fate::same && fate != Fate::cannot) heads.push_back(h);
    }
    return fmt::format("{}", fmt::join(heads, ", "));
}

}  // namespace

bool same_mask(const AttentionSpec& a, const AttentionSpec& b) {
    return same_settings(Stage::masked, a, b) && a.mask.custom == b.mask.custom &&
           a.mask.bias == b.mask.bias;
}

EditEffect compare(Moment before, const Moment& after) {
    const Dimensions& size = after.document->size;
    EditEffect effect;
    effect.heads = std::max<Index>(size.heads, 1);
    const bool other_heads = before.document->size.heads != size.heads;
    for (Index b = 0; b < std::max<Index>(size.batch, 1); ++b) {
        std::vector<Reached> heads;
        bool output = other_heads;
        for (Index h = 0; h < effect.heads; ++h) {
            heads.push_back(reached({*before.document, b, h}, {*after.document, b, h}));
            output = output || heads.back()[index_of(Stage::output)];
        }
        for (Index h = 0; h < effect.heads; ++h) {
            heads[h][index_of(Stage::output)] = output;
            auto& part = effect.parts.emplace_back();
            for (const StageInfo& stage : stage_table())
                part[index_of(stage.stage)] = compared(
                    Part{*before.document, b, h}.of((*before.trace)[stage.stage], stage.heads),
                    Part{*after.document, b, h}.of((*after.trace)[stage.stage], stage.heads),
                    heads[h][index_of(stage.stage)]);
        }
    }
    effect.before = std::move(before);
    return effect;
}

const StageChange* change_of(const AppState& state, Stage stage) {
    if (!state.effect) return nullptr;
    const Index batches = static_cast<Index>(state.effect->parts.size()) / state.effect->heads;
    if (state.head >= state.effect->heads || state.batch >= batches) return nullptr;
    return &state.effect->at(state.batch, state.head, stage);
}

std::vector<std::string> entropy_changes(const AppState& state) {
    const auto [before, after] = entropies_of(state);
    std::vector<std::string> rows(before.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (before[i] != after[i])
            rows[i] = fmt::format("H = {} nats, {} before the last edit", number(after[i]),
                                  number(before[i]));
    return rows;
}

EffectStages effect_stages(const AppState& state) {
    EffectStages stages;
    for (const Stage stage : ribbon_stages(state.document())) {
        const StageChange* const change = change_of(state, stage);
        if (change == nullptr || is_given(state.document(), stage) ||
            !is_stored_stage(state, stage))
            continue;
        if (change->fate == Fate::cannot)
            stages.cannot.push_back(stage);
        else if (change->fate == Fate::same)
            stages.same.push_back(stage);
        else
            stages.change.push_back(stage);
    }
    return stages;
}

std::string effect_text(const AppState& state) {
    const EffectStages stages = effect_stages(state);
    if (stages.change.empty() && stages.cannot.empty() && stages.same.empty()) return {};
    std::vector<std::string> parts{
        stages.change.empty() ? "no computed number changes"
                              : fmt::format("{} {}", list_of(stages.change),
                                            is_singular(stages.change) ? "changes" : "change")};
    if (!stages.cannot.empty()) parts.push_back(list_of(stages.cannot) + " cannot change");
    if (!stages.same.empty())
        parts.push_back(fmt::format("{} could change, but {} not, up to rounding",
                                    list_of(stages.same),
                                    is_singular(stages.same) ? "does" : "do"));
    if (const std::string row = row_description(state); !row.empty()) parts.push_back(row);
    if (const std::string rows = entropy_text(state); !rows.empty()) parts.push_back(rows);
    return fmt::format("{}{}", part_text(state), fmt::join(parts, "; "));
}

std::string change_text(const AppState& state, Stage stage) {
    const StageChange* const change = change_of(state, stage);
    if (change == nullptr || !is_stored_stage(state, stage)) return {};
    std::string text;
    switch (change->fate) {
        case Fate::changed: {
            const auto [was, is] = cells_apart(change->before, change->after);
            return fmt::format("● changed by the last edit, most at {}: {} → {}{}",
                               cell_name(state, {stage, change->row, change->column}), was, is,
                               as_much_text(change->others));
        }
        case Fate::resized:
            return "● size changed by the last edit";
        case Fate::appeared:
            return "● created by the last edit";
        case Fate::same:
            text = "○ unchanged: this stage depends on the last edit, but no number changed";
            break;
        case Fate::cannot:
            text = "○ unchanged: this stage does not depend on the last edit";
            break;
    }
    if (const std::string others = other_heads(state, stage); !others.empty())
        text += fmt::format("; changed in head {}", others);
    return text;
}

}  // namespace attn::view
