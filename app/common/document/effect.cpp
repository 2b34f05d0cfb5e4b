#include "app/common/document/effect.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/common/sheet.h"
#include "app/common/state.h"

namespace attn::view {
namespace {

using Matrix = MatrixView<const float>;
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

    Index head_of(HeadAxis axis) const {
        if (axis == HeadAxis::none) return 0;
        const Dimensions& size = document.size;
        if (axis == HeadAxis::query || size.kv_heads == 0) return head;
        return head / std::max<Index>(size.heads / size.kv_heads, 1);
    }
    /// 0 × 0 where it is not there.
    Matrix of(const Tensor& tensor, HeadAxis axis) const {
        const Index h = head_of(axis);
        if (batch >= tensor.shape().b || h >= tensor.shape().h) return {};
        return tensor.matrix(batch, h);
    }
    /// A parameter's columns of this head; all of W_O's and b_O's.
    Matrix of(Param param) const {
        const Tensor& tensor = document.inputs->params[param];
        if (tensor.empty()) return {};
        const Matrix whole = tensor.matrix(0, 0);
        const Axis columns = info(param).columns;
        if (columns != Axis::d_k && columns != Axis::d_v) return whole;
        const bool query = param == Param::w_q || param == Param::b_q;
        const Index width = columns == Axis::d_k ? document.size.d_k : document.size.d_v;
        const Index first = head_of(query ? HeadAxis::query : HeadAxis::key_value) * width;
        if (first + width > whole.columns) return {};
        return whole.column_block(first, width);
    }
};

bool same_mask(const MaskSpec& a, const MaskSpec& b) {
    const bool windows = a.window == b.window && a.window_left == b.window_left &&
                         a.window_right == b.window_right && a.global_tokens == b.global_tokens;
    return windows && a.causal == b.causal && a.block == b.block && a.padding == b.padding &&
           a.custom == b.custom;
}

bool same_scale(const Document& a, const Document& b) {
    if (a.spec.scale != b.spec.scale || a.spec.temperature != b.spec.temperature) return false;
    if (a.spec.scale == ScaleKind::value) return a.spec.scale_value == b.spec.scale_value;
    return a.spec.scale == ScaleKind::none || a.size.d_k == b.size.d_k;
}

/// Whether the tensor that is given for a stage was edited; false where it is computed.
bool is_given_anew(Stage stage, const Part& before, const Part& after) {
    if (before.document.inputs == after.document.inputs) return false;
    const auto differs = [&](const Tensor Inputs::*given) {
        const HeadAxis axis = info(stage).heads;
        return !is_same(before.of((*before.document.inputs).*given, axis),
                        after.of((*after.document.inputs).*given, axis));
    };
    switch (stage) {
        case Stage::x:
            return differs(&Inputs::x);
        case Stage::x_kv:
            return differs(&Inputs::x_kv);
        case Stage::q:
            return differs(&Inputs::q);
        case Stage::k:
            return differs(&Inputs::k);
        case Stage::v:
            return differs(&Inputs::v);
        default:
            return false;
    }
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
            return is_given_anew(stage, before, after);
        case Stage::q:
            return is_given_anew(stage, before, after) || is_edited(Param::b_q, before, after);
        case Stage::k:
            return is_given_anew(stage, before, after) || is_edited(Param::b_k, before, after);
        case Stage::v:
            return is_given_anew(stage, before, after) || is_edited(Param::b_v, before, after);
        case Stage::scaled:
            return !same_scale(before.document, after.document);
        case Stage::masked:
            return !same_mask(was.mask, is.mask);
        case Stage::weights:
            return was.empty_rows != is.empty_rows;
        case Stage::dropped:
            return was.active_dropout() != is.active_dropout() || was.seed != is.seed;
        case Stage::context:
            return weight_stage(before.document) != weight_stage(after.document);
        case Stage::output:
            return is_edited(Param::b_o, before, after);
        case Stage::q_rot:
        case Stage::k_rot:
        case Stage::biased:
        case Stage::scores:
            return false;
    }
    return false;
}

/// Every stage of one head that an edit leads to, by the operands of the stage table. What other heads hand to
/// `output` is added by compare().
Reached reached(const Part& before, const Part& after) {
    Reached reached;
    for (const StageInfo& stage : stage_table()) {
        bool edited = is_edited(stage.stage, before, after);
        for (const auto& operand : stage.operands) {
            if (!operand) continue;
            const OperandId id = operand_of(after.document, stage.stage, operand->id);
            const Stage* const from = std::get_if<Stage>(&id);
            edited = edited || (from ? reached[index_of(*from)]
                                     : is_edited(std::get<Param>(id), before, after));
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
    if (was.rows != is.rows || was.columns != is.columns) change.fate = Fate::resized;
    if (change.fate == Fate::resized) return change;
    double largest = 0.0;
    for (Index i = 0; i < is.rows; ++i)
        for (Index j = 0; j < is.columns; ++j)
            if (const double apart = distance(was(i, j), is(i, j)); apart > largest) {
                largest = apart;
                change = {Fate::changed, i, j, was(i, j), is(i, j)};
            }
    return change;
}

}  // namespace

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
            heads[static_cast<std::size_t>(h)][index_of(Stage::output)] = output;
            auto& part = effect.parts.emplace_back();
            for (const StageInfo& stage : stage_table())
                part[index_of(stage.stage)] = compared(
                    Part{*before.document, b, h}.of((*before.trace)[stage.stage], stage.heads),
                    Part{*after.document, b, h}.of((*after.trace)[stage.stage], stage.heads),
                    heads[static_cast<std::size_t>(h)][index_of(stage.stage)]);
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

}  // namespace attn::view
