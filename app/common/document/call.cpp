#include "app/common/document/call.h"

#include "app/common/document/call_actions.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/toy.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {

std::span<const std::string_view> score_keys() {
    static const std::vector<std::string_view> kKeys = [] {
        std::vector<std::string_view> keys;
        for (const ScoreInfo& row : score_table()) keys.push_back(row.key);
        return keys;
    }();
    return kKeys;
}

CallSettings call_of(const Document& document) {
    const AttentionSpec& spec = document.spec;
    CallSettings call;
    call.score = spec.score;
    call.softcap = spec.softcap.value_or(0.0);
    call.sinks = has_sinks(document);
    call.qk_norm = spec.qk_norm.has_value();
    if (spec.rope) {
        call.rope = spec.rope->pairs == RopePairs::half ? RopeTurn::half : RopeTurn::interleaved;
        call.rope_base = spec.rope->base;
        call.rope_dims = spec.rope->dims.value_or(0);
        call.rope_scaled = spec.rope->scaling.kind != RopeScale::none;
    }
    call.scale_q_k = spec.scale == ScaleKind::q_and_k;
    call.sinusoid = document.sinusoid;
    call.alibi = spec.alibi;
    call.query_offset = spec.query_offset.value_or(0);
    call.kv_heads = document.size.kv_heads;
    call.d_v = document.size.d_v;
    call.dropout = spec.dropout;
    call.dropout_seed = spec.seed;
    call.training = spec.training;
    return call;
}

CallSettings call_turned(const Document& document) {
    Document turned = document;
    if (!turned.spec.rope) turned.spec.rope = document.rope_before;
    return call_of(turned);
}

void set_rope(std::optional<Rope>& rope, const CallSettings& call) {
    if (call.rope == RopeTurn::off) return rope.reset();
    if (!rope) rope.emplace();
    rope->pairs = call.rope == RopeTurn::half ? RopePairs::half : RopePairs::interleaved;
    rope->base = call.rope_base;
    rope->dims = call.rope_dims == 0 ? std::nullopt : std::optional(call.rope_dims);
    if (!call.rope_scaled) rope->scaling = {};
}

void set_options(AttentionSpec& spec, const CallSettings& call) {
    spec.score = call.score;
    spec.softcap = call.softcap == 0.0 ? std::nullopt : std::optional(call.softcap);
    if (!call.qk_norm) spec.qk_norm.reset();
    if (call.qk_norm && !spec.qk_norm) spec.qk_norm = kQkNormEpsilon;
    set_rope(spec.rope, call);
    spec.alibi = call.alibi;
    if (call.query_offset != spec.query_offset.value_or(0))
        spec.query_offset =
            call.query_offset == 0 ? std::nullopt : std::optional(call.query_offset);
    spec.dropout = call.dropout;
    spec.seed = call.dropout_seed;
    spec.training = call.training;
}

// ---- actions

std::string call_field_unavailable(const Document& document, std::string_view field) {
    if (is_empty(document)) return empty_text(document);
    if (is_without_values(document))
        return fmt::format("{} has queries and keys but no values, so it has no call to set.",
                           document.title);
    if (field == "rope_base" && document.spec.rope && document.spec.rope->tables)
        return "RoPE rotates by given cosines and sines, so its base has no effect.";
    const bool tensors =
        field == "sinks" || field == "kv_heads" || field == "d_v" || field == "sinusoid";
    if (!tensors || is_toy(document)) return {};
    return fmt::format("{} of “{}”. You can set them only for a toy sentence.",
                       field == "sinusoid"
                           ? "Token vectors come from the tensors"
                           : "Sinks, the number of key/value heads and d_v come from the tensors",
                       document.title);
}

Result<void> prepare(const AppState&, CallSettings& next, std::string_view changed) {
    if (changed == "rope_base" && next.rope == RopeTurn::off)
        return bad_input("RoPE is off and has no base: choose half or interleaved first");
    return {};
}

namespace {

/// Of a toy: sizes, score, sinks and positions decide its tensors.
void set_tensors(Document& document, const CallSettings& was, const CallSettings& call) {
    const bool learned = !info(was.score).params.empty() || !info(call.score).params.empty();
    if (learned || call.sinks != was.sinks || call.kv_heads != was.kv_heads ||
        call.d_v != was.d_v) {
        ToyShape to = toy_shape(document);
        to.score = call.score;
        to.sinks = call.sinks;
        to.kv_heads = call.kv_heads;
        to.d_v = call.d_v;
        reshape(document, to);
    }
    if (call.sinusoid != was.sinusoid) set_sinusoid(document, call.sinusoid);
}

/// RoPE as it was before it was switched off, its pairs as `call` says.
void turn_again(const Document& before, CallSettings& call) {
    const CallSettings again = call_turned(before);
    call.rope_base = again.rope_base;
    call.rope_dims = again.rope_dims;
    call.rope_scaled = again.rope_scaled;
}

bool always(const CallSettings&) { return true; }
bool products(const CallSettings& call) { return call.score == Score::dot; }
bool turns(const CallSettings& call) { return call.rope != RopeTurn::off; }
bool drops(const CallSettings& call) { return call.dropout > 0.0; }

template <class Set>
constexpr CallField row(CallGroup group, bool (*counts)(const CallSettings&),
                        CallReach reach = {}) {
    return {&Set::kField, group,
            [](const FieldValue& value) -> Action {
                return Set{value_in<decltype(Set::value)>(value)};
            },
            counts, reach};
}

constexpr CallField kFields[] = {
    row<SetValueWidth>(CallGroup::sizes, always, {1, kMaxKeyWidth}),
    row<SetKeyHeads>(CallGroup::sizes, always, {1, kMaxHeads}),
    row<SetScore>(CallGroup::score, always),
    row<SetSoftCap>(CallGroup::score, always, {0.1, 100.0, 1.0}),
    row<SetSinks>(CallGroup::score, always),
    row<SetScaleOperands>(CallGroup::score, products),
    row<SetQkNorm>(CallGroup::score, always),
    row<SetSinusoid>(CallGroup::positions, always),
    row<SetRope>(CallGroup::positions, always),
    row<SetRopeBase>(CallGroup::positions, turns, {1.0, 1e6}),
    row<SetAlibi>(CallGroup::positions, always),
    row<SetQueryOffset>(CallGroup::positions, always, {0, 4096}),
    row<SetDropout>(CallGroup::dropout, always, {0.01, 0.9, 0.5}),
    row<SetDropoutSeed>(CallGroup::dropout, drops),
    row<SetTraining>(CallGroup::dropout, drops),
};

}  // namespace

void set_call_field(AppState& state, const PersistedField& field, const FieldValue& value) {
    const Document& before = state.document();
    if (std::string lack = call_field_unavailable(before, field.name); !lack.empty())
        return warn(state, std::move(lack));
    const CallSettings was = call_of(before);
    CallSettings call = was;
    const auto text = put_field(state, field, &call, value);
    if (!text) return show_message(state, text.error());
    if (call == was) return;
    Document document = before;
    if (call.rope == RopeTurn::off && before.spec.rope) document.rope_before = before.spec.rope;
    if (call.rope != RopeTurn::off && !before.spec.rope && before.rope_before) {
        turn_again(before, call);
        document.spec.rope = before.rope_before;
    }
    set_options(document.spec, call);
    if (call.scale_q_k != was.scale_q_k)
        document.spec.scale = call.scale_q_k ? ScaleKind::q_and_k : ScaleKind::sqrt_dk;
    if (is_toy(before)) set_tensors(document, was, call);
    edit_spec(state, std::move(document), *text);
}

void carry_out(AppState& state, const CopyQueryWeights&) {
    Document document = state.document();
    if (!is_toy(document))
        return warn(state,
                    "W_Q and W_K are tensors of {}. You can set them only for a toy sentence.",
                    document.title);
    Inputs inputs = *document.inputs;
    const Tensor& w_q = inputs.params[Param::w_q];
    Tensor& w_k = inputs.params[Param::w_k];
    if (w_k == w_q) return show_message(state, "W_K already equals W_Q.");
    if (document.spec.kv_heads != document.spec.heads)
        return show_error(
            state,
            "W_Q has {} heads and W_K {}: to make them equal, set as many key/value heads as heads",
            document.spec.heads, document.spec.kv_heads);
    w_k = w_q;
    set_inputs(document, std::move(inputs));
    document.name = "custom";
    document.note = toy_note(document);
    if (!document.note.ends_with(", edited")) document.note += ", edited";
    document.head_names.clear();
    edit_document(state, std::move(document), "W_K := W_Q: keys are projected like queries");
}

std::span<const CallField> call_fields() { return kFields; }

}  // namespace attn::view
