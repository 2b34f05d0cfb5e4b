#include "core/given.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/call.h"
#include "core/cast.h"
#include "core/kernels/reference.h"
#include "core/masks.h"
#include "core/memory.h"
#include "core/spec_arrays.h"
#include "core/stages.h"

namespace attn {
namespace {

/// Queries and keys of width 1 stand in for those that are not there, and V for one that is not: only their sizes count.
Inputs substitutes(const Shape& pairs, const Inputs& beside) {
    Inputs in;
    const Index kv_heads = beside.v.empty() ? pairs.h : beside.v.shape().h;
    in.q = Tensor(Shape{pairs.b, pairs.h, pairs.t, 1});
    in.k = Tensor(Shape{pairs.b, kv_heads, pairs.d, 1});
    in.v = beside.v.empty() ? Tensor(Shape{pairs.b, pairs.h, pairs.d, 1}) : beside.v;
    in.params[Param::sinks] = beside.params[Param::sinks];
    if (beside.v.empty()) return in;
    in.params[Param::w_o] = beside.params[Param::w_o];
    in.params[Param::b_o] = beside.params[Param::b_o];
    return in;
}

/// The mask with what the numbers themselves say; positions stay as the alignment had them.
AttentionSpec with_given_mask(Stage from, const Tensor& pairs, AttentionSpec spec,
                              const Dimensions& size) {
    Mask allowed = materialise(spec.mask, size);
    const auto may = allowed.values();
    const auto given = pairs.values();
    for (std::size_t n = 0; n < given.size(); ++n) {
        if (from == Stage::weights && given[n] != 0.0F) may[n] = 1;
        if (from != Stage::weights && given[n] == -std::numeric_limits<float>::infinity())
            may[n] = 0;
    }
    spec.query_offset = size.query_offset;
    spec.mask = spec.mask.bias_alone();
    if (std::ranges::count(may, 0) > 0)
        spec.mask.custom = std::make_shared<const Mask>(std::move(allowed));
    return spec;
}

Result<void> check_given_stage(Stage from, const Shape& of, const Inputs& beside,
                               const AttentionSpec& spec) {
    ATTN_CHECK(from >= Stage::scores && from <= Stage::weights, "scores or weights are given");
    if (from == Stage::scores && spec.scale == ScaleKind::sqrt_dk)
        return bad_input("scores are given without d_k; expected a scale");
    const Shape& v = beside.v.shape();
    if (beside.v.empty()) return {};
    if (v.b == of.b && v.t == of.d && v.h > 0 && of.h % v.h == 0) return {};
    return bad_input(
        fmt::format("V is {} beside {} {}; expected [{}, Hkv, {}, d_v] with Hkv a divisor of {}",
                    to_string(v), info(from).key, to_string(of), of.b, of.d, of.h));
}

}  // namespace

AttentionSpec following(Stage from, AttentionSpec spec) {
    spec.score = Score::dot;
    spec.qk_norm.reset();
    spec.rope.reset();
    if (spec.scale == ScaleKind::q_and_k) spec.scale = ScaleKind::none;  // the scores have it
    if (from > Stage::scores) spec.scale = ScaleKind::none, spec.temperature = 1.0;
    if (from > Stage::scaled) {
        spec.softcap.reset(), spec.alibi = false;
        spec.mask.bias.reset(), spec.bias_before_softcap = false;
    }
    if (from == Stage::weights) spec.empty_rows = EmptyRows::zero;
    return spec;
}

Result<Dimensions> sizes_from(Stage from, const Shape& pairs, const Inputs& beside,
                              const AttentionSpec& spec) {
    if (auto valid = check_given_stage(from, pairs, beside, spec); !valid)
        return tl::unexpected(valid.error());
    return validate(substitutes(pairs, beside), following(from, spec)).map([&](const Call& call) {
        Dimensions size = call.size();
        size.d_k = 0;
        if (beside.v.empty()) size.d_v = size.d_out = 0;
        return size;
    });
}

Result<GivenTrace> attend_from(Stage from, const Tensor& pairs, const Inputs& beside,
                               const AttentionSpec& spec, StageSet keep,
                               const RunControl& control) {
    if (auto valid = check_given_stage(from, pairs.shape(), beside, spec); !valid)
        return tl::unexpected(valid.error());
    const Inputs in = substitutes(pairs.shape(), beside);
    const AttentionSpec after = following(from, spec);
    const auto sized = validate(in, after);
    if (!sized) return tl::unexpected(sized.error());
    if (beside.v.empty())
        for (const Stage stage : {Stage::v, Stage::context, Stage::output})
            keep.reset(index_of(stage));
    constexpr Index kBytes = sizeof(double) + sizeof(float);
    if (auto fits = check_fits_in_memory(sized->size(), after, all_stages(), kBytes); !fits)
        return tl::unexpected(fits.error());
    GivenTrace given{{}, with_given_mask(from, pairs, after, sized->size()), sized->size()};
    const InputsD exact = cast<double>(in);
    return validate(exact, given.spec)
        .and_then([&](const CallD& call) {
            return reference_from(call, from, cast<double>(pairs), keep, control);
        })
        .map([&](const TraceD& trace) {
            given.trace = cast<float>(trace);
            given.size.d_k = 0;
            if (beside.v.empty()) given.size.d_v = given.size.d_out = 0;
            return std::move(given);
        });
}

}  // namespace attn
