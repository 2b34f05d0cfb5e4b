#include "core/operations/parts.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/call.h"
#include "core/kernels/reference_parts.h"
#include "core/masks.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/stages.h"

namespace attn {
namespace {

/// Moves each tensor of `from` whose stage the operation's table has.
void move_shared(TraceD&& from, OperationTraceD& to) {
    const std::span<const OperationStage> rows = info(to.operation).stages;
    for (std::size_t s = 0; s < rows.size(); ++s)
        if (const std::optional<Stage> stage = find_stage(rows[s].key))
            to.stages[s] = std::move(from[*stage]);
}

/// forward:  product = implied V  so  d_implied = d_product Vᵀ
TensorD implied_gradient(const Dimensions& size, const TensorD& d_product, const TensorD& v) {
    TensorD d(Shape{size.batch, size.heads, size.tq, size.tk});
    for (Index b = 0; b < size.batch; ++b)
        for (Index h = 0; h < size.heads; ++h)
            add_product_transposed(d_product.matrix(b, h),
                                   v.matrix(b, h / (size.heads / size.kv_heads)), d.matrix(b, h));
    return d;
}

/// Zeros for the stages named, nothing for the others of the operation's table.
OperationTraceD zeros(const CallD& call, const OperationSpec& spec, StageKeys keys) {
    OperationTraceD trace;
    trace.operation = spec.operation;
    const std::span<const OperationStage> rows = info(spec.operation).stages;
    trace.stages.resize(rows.size());
    for (std::size_t s = 0; s < rows.size(); ++s)
        if (std::ranges::find(keys, rows[s].key) != keys.end())
            trace.stages[s] =
                TensorD(operation_stage_shape(rows[s], call.size(), call.spec(), spec));
    return trace;
}

std::string_view key_of(const OperandId& id) {
    return std::visit([](auto which) { return info(which).key; }, id);
}

/// A custom mask that forbids a key to every head and query, or to none.
bool is_of_keys(const Mask& mask) { return mask.shape().h == 1 && mask.shape().t == 1; }

}  // namespace

OperationStage shared_row(Stage stage) {
    const StageInfo& row = info(stage);
    OperationStage made{row.key,  row.symbol,  row.step,  row.title,  row.tex,
                        row.rows, row.columns, row.heads, row.exists, row.colors,
                        row.role, {},          row.text,  row.source};
    for (std::size_t n = 0; n < row.operands.size(); ++n)
        if (row.operands[n])
            made.operands[n] = {key_of(row.operands[n]->id), row.operands[n]->lights};
    return made;
}

std::vector<OperationStage> stages_of(std::string_view source, std::span<const Stage> shared,
                                      std::initializer_list<OperationStage> own) {
    std::vector<OperationStage> rows;
    for (const Stage stage : shared) rows.push_back(shared_row(stage));
    rows.insert(rows.end(), own.begin(), own.end());
    for (OperationStage& row : rows)
        if (row.source.empty()) row.source = source;
    rows.push_back(shared_row(Stage::output));
    return rows;
}

OperationStage context_row(std::string_view tex, std::string_view text) {
    OperationStage row = shared_row(Stage::context);
    row.tex = tex;
    row.text = text;
    row.source = {};
    row.operands[0] = {"implied", Lights::same_row};
    return row;
}

ForwardPass::ForwardPass(const CallD& of, const OperationSpec& spec, StageKeys keys)
    : call(of),
      context(stage_shape(Stage::context, of.size(), of.spec())),
      trace(zeros(of, spec, keys)) {}

OperationTraceD ForwardPass::finish() {
    shared[Stage::output] = join_heads(call.inputs(), call.size(), context);
    shared[Stage::context] = std::move(context);
    move_shared(std::move(shared), trace);
    return std::move(trace);
}

BackwardPass::BackwardPass(const CallD& of, const OperationSpec& spec,
                           const OperationTraceD& forward, const UpstreamD& upstream,
                           StageKeys keys)
    : call(of), f(forward), made(zeros(of, spec, keys)) {
    begin_backward(call, f["context"], upstream, d);
    for (const Stage stage : {Stage::q, Stage::k, Stage::v})
        d[stage] = TensorD(stage_shape(stage, call.size(), call.spec()));
    for (const OperationParam& param : info(spec.operation).params)
        made.params.tensors.emplace_back(operation_param_shape(param, call.size(), spec));
}

OperationTraceD BackwardPass::finish() {
    inputs_backward(call.inputs(), d);
    made["implied"] =
        implied_gradient(call.size(), d_product.empty() ? d[Stage::context] : d_product, f["v"]);
    made.call_params = std::move(d.params);
    move_shared(std::move(d), made);
    return std::move(made);
}

std::vector<std::uint8_t> open_keys(const CallD& call, Index b) {
    MaskSpec mask = call.spec().mask;
    mask.causal.reset();
    std::vector<std::uint8_t> open(call.size().tk);
    fill_allowed(mask, call.size(), b, 0, 0, open);
    return open;
}

void follow_row_policy(const CallD& call, const std::vector<std::uint8_t>& open, ViewD context,
                       ViewD implied) {
    if (call.spec().empty_rows == EmptyRows::zero) return;
    const Index empty = std::ranges::find(open, std::uint8_t{1}) - open.begin();
    for (Index i = 0; i < empty; ++i)
        for (const ViewD& stage : {context, implied})
            std::ranges::fill(stage.row(i), std::numeric_limits<double>::quiet_NaN());
}

Index keys_before(const CallD& call, Index i) {
    MaskSpec causal;
    causal.causal = call.spec().mask.causal;
    return key_runs(causal, call.size(), 0, i).first.end;
}

std::string refuse_pair_options(std::string_view operation, const CallForm& form, Factor factor) {
    const AttentionSpec& spec = form.spec;
    const MaskSpec& mask = spec.mask;
    const std::string score = fmt::format("score {}", info(spec.score).key);
    const struct {
        bool given;
        std::string_view what;
        std::string_view why;
    } refusals[] = {
        {spec.score != Score::dot, score, "expected dot"},
        {spec.scale == ScaleKind::q_and_k, "scale q_and_k",
         "it scales queries and keys of a dot product of pairs"},
        {spec.qk_norm.has_value(), "qk_norm",
         "it normalises queries and keys of a dot product of pairs"},
        {spec.rope.has_value(), "rope", "it rotates queries and keys of a dot product of pairs"},
        {spec.softcap.has_value(), "softcap", "it bounds a logit of each pair"},
        {spec.alibi, "alibi", "it lowers a logit of each pair"},
        {mask.bias != nullptr, "bias", "it is added to a logit of each pair"},
        {form.sinks, "sinks", "they are logits of a softmax over keys"},
        {spec.drops(), "dropout", "it drops weights of pairs; expected 0 or training off"},
        {mask.windowed() || mask.global_tokens > 0, "window", "each query would need its own sum"},
        {mask.block.has_value(), "block", "each block would need its own sum"},
        {mask.custom && !is_of_keys(*mask.custom), "mask of pairs",
         "expected a mask of keys, [1, 1, 1, Tk] or [B, 1, 1, Tk]"},
        {factor == Factor::not_used && spec.temperature != 1.0, "temperature",
         "there is no softmax; expected 1"},
        {factor == Factor::not_used && spec.scale == ScaleKind::value, "scale",
         "there are no scores to scale; expected sqrt_dk or none, which are ignored"},
    };
    for (const auto& refusal : refusals)
        if (refusal.given)
            return fmt::format("operation {} does not support {}: {}", operation, refusal.what,
                               refusal.why);
    return {};
}

std::string refuse_two_sequences(std::string_view operation, const CallForm& form) {
    const Dimensions& size = form.size;
    if (form.cross || size.tq != size.tk)
        return fmt::format(
            "operation {} reads one sequence: expected no X_kv and Tq = Tk, not Tq = {}, Tk = {}",
            operation, size.tq, size.tk);
    if (size.query_offset == 0) return {};
    return fmt::format(
        "operation {} does not support query_offset: token i reads the state after token i, so 0 "
        "is expected, not {}",
        operation, size.query_offset);
}

double open_pairs(const Dimensions& size, const AttentionSpec& spec) {
    MaskSpec mask = spec.mask;
    mask.custom.reset();
    if (!mask.any())
        return static_cast<double>(size.batch * size.tq) * static_cast<double>(size.tk);
    double pairs = 0.0;
    for (Index b = 0; b < size.batch; ++b)
        for (Index i = 0; i < size.tq; ++i)
            pairs += static_cast<double>(key_runs(mask, size, b, i).count());
    return pairs;
}

}  // namespace attn
