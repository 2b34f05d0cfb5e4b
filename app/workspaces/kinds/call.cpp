#include "app/workspaces/kinds/call.h"

#include <algorithm>
#include <utility>

#include "app/workspaces/kinds/state.h"
#include "core/engine.h"
#include "core/scores/score.h"

namespace attn::view {
namespace {

constexpr Index kSlopeHeads = 8;  // that ALiBi's slopes are counted over in a model of one head

TensorD part_of(const Tensor& tensor, Index batch, Index head) {
    const auto matrix =
        tensor.matrix(std::min(batch, tensor.shape().b - 1), std::min(head, tensor.shape().h - 1));
    TensorD part(Shape{1, 1, matrix.rows, matrix.columns});
    for (Index i = 0; i < matrix.rows; ++i)
        std::ranges::copy(matrix.row(i), part.matrix(0, 0).row(i).begin());
    return part;
}

/// Of a document that projects: those of its trace, or projected here.
Result<void> project(const AppState& state, KindsResult& result) {
    const Trace* trace = state.trace.get();
    const auto has = [&](Stage stage) { return !(*trace)[stage].empty(); };
    Result<Trace> own = Trace{};
    if (!has(Stage::q) || !has(Stage::k) || !has(Stage::v)) {
        own = attend(
            *state.document().inputs, state.document().spec, kAuto,
            StageSet{}.set(index_of(Stage::q)).set(index_of(Stage::k)).set(index_of(Stage::v)));
        if (!own) return tl::unexpected(own.error());
        trace = &*own;
    }
    const Index group = state.head_in(HeadAxis::key_value);
    result.q = part_of((*trace)[Stage::q], state.batch, state.head);
    result.k = part_of((*trace)[Stage::k], state.batch, group);
    result.v = part_of((*trace)[Stage::v], state.batch, group);
    return {};
}

}  // namespace

Result<void> take_inputs(const AppState& state, KindsResult& result) {
    const Inputs& inputs = *state.document().inputs;
    if (inputs.projects()) return project(state, result);
    const Index group = state.head_in(HeadAxis::key_value);
    result.q = part_of(inputs.q, state.batch, state.head);
    result.k = part_of(inputs.k, state.batch, group);
    result.v = part_of(inputs.v, state.batch, group);
    return {};
}

namespace {

// ---- one side as a call

/// The rows of the mask that are of one batch entry and head.
std::shared_ptr<const Mask> sliced(const Mask& mask, Index batch, Index head) {
    const Shape shape = mask.shape();
    Mask part(Shape{1, 1, shape.t, shape.d});
    const auto from = mask.matrix(std::min(batch, shape.b - 1), std::min(head, shape.h - 1));
    for (Index i = 0; i < from.rows; ++i)
        std::ranges::copy(from.row(i), part.matrix(0, 0).row(i).begin());
    return std::make_shared<const Mask>(std::move(part));
}

MaskSpec document_mask(const AppState& state) {
    MaskSpec mask = state.document().spec.mask;
    if (!mask.padding.empty()) mask.padding = {mask.padding[static_cast<std::size_t>(state.batch)]};
    if (mask.custom) mask.custom = sliced(*mask.custom, state.batch, state.head);
    return mask;
}

MaskSpec mask_of(const AppState& state, const AttentionKind& kind) {
    if (kind.mask == KindMask::document) return document_mask(state);
    MaskSpec mask;
    if (kind.mask == KindMask::causal || kind.mask == KindMask::causal_window)
        mask.causal = CausalAlign::top_left;  // by position: query 0 stands where the document says
    if (kind.mask == KindMask::window || kind.mask == KindMask::causal_window)
        mask.window = kind.window;
    return mask;
}

bool turns(const AttentionKind& kind) {
    return kind.position == KindPosition::rope_half ||
           kind.position == KindPosition::rope_interleaved;
}

/// Of an odd number of columns the last one does not turn.
Rope rope_of(const AttentionKind& kind, Index d_k) {
    const bool half = kind.position == KindPosition::rope_half;
    Rope rope{.pairs = half ? RopePairs::half : RopePairs::interleaved, .dims = std::nullopt};
    if (d_k % 2 == 1) rope.dims = d_k - 1;
    return rope;
}

AttentionSpec spec_of(const AppState& state, const AttentionKind& kind) {
    const Document& document = state.document();
    AttentionSpec spec;
    spec.score = kind.score;
    spec.scale = kind.scaled ? ScaleKind::sqrt_dk : ScaleKind::none;
    spec.temperature = kind.temperature;
    spec.query_offset = document.size.query_offset;
    if (turns(kind)) spec.rope = rope_of(kind, document.size.d_k);
    if (kind.softcap > 0.0) spec.softcap = kind.softcap;
    spec.alibi = kind.position == KindPosition::alibi;
    spec.mask = mask_of(state, kind);
    spec.empty_rows = kind.sink ? EmptyRows::zero : document.spec.empty_rows;
    return spec;
}

TensorD seeded(const KindsResult& result, Param param, Index rows, Index columns) {
    const Index d_k = result.q.shape().d;
    TensorD tensor(Shape{1, 1, rows, columns});
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j)
            tensor(0, 0, i, j) = seeded_parameter(result.seed, param, i, j, d_k);
    return tensor;
}

void add_parameters(const KindsResult& result, const AttentionKind& kind, Index heads,
                    ParamsD& params) {
    const Index d_k = result.q.shape().d;
    for (const Param param : info(kind.score).params)
        params[param] = seeded(result, param, param == Param::w_score_row ? 1 : d_k, d_k);
    if (kind.sink) params[Param::sinks] = TensorD(Shape{1, 1, 1, heads}, *kind.sink);
}

/// `q` as one of several heads, the others empty of numbers: ALiBi's slopes depend on how many there are.
TensorD among_heads(const TensorD& q, Index head, Index heads) {
    TensorD all(Shape{1, heads, q.shape().t, q.shape().d});
    std::ranges::copy(q.values(), all.matrix(0, head).data);
    return all;
}

}  // namespace

void set_call(const AppState& state, const KindsResult& result, KindComputed& side) {
    const AttentionKind& kind = side.kind;
    const Index of_document = std::max<Index>(state.document().size.heads, 1);
    Index heads = 1;
    if (kind.position == KindPosition::alibi) {
        heads = of_document == 1 ? kSlopeHeads : of_document;
        side.head = of_document == 1 ? 0 : state.head;
        side.slope = alibi_slope(side.head, heads);
    }
    side.slope_heads = heads;
    side.spec = spec_of(state, kind);
    side.spec.heads = heads;
    side.factor = score_factor(side.spec, result.q.shape().d);
    side.inputs.q = among_heads(result.q, side.head, heads);
    side.inputs.k = result.k;
    side.inputs.v = result.v;
    add_parameters(result, kind, heads, side.inputs.params);
}

}  // namespace attn::view
