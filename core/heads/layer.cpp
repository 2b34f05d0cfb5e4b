#include "core/heads/layer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/call.h"
#include "core/engine.h"
#include "core/given.h"
#include "core/heads/sources.h"
#include "core/masks.h"
#include "core/spec_arrays.h"
#include "core/stop.h"

namespace attn {
namespace {

bool has_no_values(const Inputs& inputs) {
    return !inputs.projects() && !inputs.q.empty() && inputs.v.empty();
}

/// Who computes: no device, and whoever keeps no weights leaves them to "auto".
Result<const Backend*> backend_for(const HeadsOptions& options, const Call& call, StageSet keep) {
    const Backend* const chosen = find_backend(options.backend, options.backends);
    const bool can = chosen != nullptr && !chosen->has_device() &&
                     (chosen->stages() & keep) == keep && !chosen->supports(call);
    if (can) return chosen;
    return choose_backend("auto", call, keep, options.backends);
}

StageSet stages_of(std::initializer_list<Stage> stages) {
    StageSet set;
    for (const Stage stage : stages) set.set(index_of(stage));
    return set;
}

/// One for all heads, unless the painted mask or the −∞ of the bias differ between them.
void find_allowed(HeadsLayer& layer, const MaskSpec& mask, const Dimensions& size, Index batch) {
    layer.allowed.clear();
    const bool by_head = (mask.custom && mask.custom->shape().h > 1) ||
                         (mask.bias_forbids() && mask.bias->values.shape().h > 1);
    for (Index head = 0; head < (by_head ? size.heads : 1); ++head) {
        auto& pairs = layer.allowed.emplace_back();
        if (!mask.any()) continue;
        pairs.resize(size.tq * size.tk);
        for (Index i = 0; i < size.tq; ++i) {
            end_if_stopped();
            fill_allowed(mask, size, batch, head, i,
                         {pairs.data() + i * size.tk, static_cast<std::size_t>(size.tk)});
        }
    }
}

/// Why a row that the model's run replaced cannot stand here; "": it can.
std::string unfit(const HeadsInput& input, const HeadsLayer& layer, const RowIntervention& row) {
    if (!input.own_heads) return "W is split into other heads here";
    if (row.query >= layer.tq || std::ssize(row.weights) != layer.tk)
        return "the weights here have another size";
    const auto& allowed = layer.allowed_of(row.at.head);
    for (std::size_t j = 0; j < row.weights.size() && !allowed.empty(); ++j)
        if (row.weights[j] != 0.0 &&
            allowed[static_cast<std::size_t>(row.query) * row.weights.size() + j] == 0)
            return "the mask here forbids a key of it";
    return {};
}

/// context_i = Σ_j w_j v_j of given weights w.
void replace_context(const RowIntervention& row, MatrixView<const float> v,
                     std::span<float> context) {
    for (Index c = 0; c < v.columns; ++c) {
        double sum = 0.0;
        for (Index j = 0; j < v.rows; ++j)
            if (const double weight = row.weights[j]; weight != 0.0) sum += weight * v(j, c);
        context[c] = static_cast<float>(sum);
    }
}

/// As the model's run has them: given weights in place of softmax's, and what follows from them.
void replace_rows(const HeadsInput& input, Index n, Index batch, ComputedLayer& computed) {
    auto& [layer, trace] = computed;
    const Tensor& given = input.layers[n]->v;
    const Tensor& v = trace[Stage::v].empty() ? given : trace[Stage::v];
    Tensor& context = trace[Stage::context];
    for (const RowIntervention& row : input.rows) {
        if (row.at.layer != n) continue;
        if (const std::string why = unfit(input, layer, row); !why.empty()) {
            layer.notes.push_back(fmt::format("the replaced row {} of head {} is not shown: {}",
                                              row.query, row.at.head, why));
            continue;
        }
        const auto weights = layer.weights.matrix(batch, row.at.head).row(row.query);
        std::ranges::transform(row.weights, weights.begin(),
                               [](double weight) { return static_cast<float>(weight); });
        if (v.empty() || context.empty()) continue;
        const Index key_head = row.at.head * v.shape().h / std::max<Index>(layer.heads, 1);
        replace_context(row, v.matrix(batch, key_head),
                        context.matrix(batch, row.at.head).row(row.query));
    }
}

OddRows odd_rows(const HeadsLayer& layer, Index batch) {
    OddRows found;
    found.low = std::numeric_limits<double>::infinity();
    found.high = -found.low;
    for (Index head = 0; head < layer.heads; ++head)
        for (Index i = 0; i < layer.tq; ++i, ++found.rows) {
            end_if_stopped();
            double sum = 0.0;
            for (const float weight : layer.weights.matrix(batch, head).row(i)) sum += weight;
            if (std::isfinite(sum) && std::abs(sum - 1.0) <= kUnitRow) continue;
            ++found.odd;
            if (!std::isfinite(sum)) {
                ++found.nans;
                continue;
            }
            found.low = std::min(found.low, sum);
            found.high = std::max(found.high, sum);
        }
    return found;
}

/// What a sink takes: rows of NaN are none of its doing.
OddRows sunk_rows(const HeadsLayer& layer, Index batch) {
    OddRows found = odd_rows(layer, batch);
    found.odd -= std::exchange(found.nans, 0);
    return found;
}

/// A mask never hides a weight that the file gives: where it is not 0, the pair counts as allowed.
void show_given_weights(HeadsLayer& layer, Index batch) {
    std::vector<std::vector<std::uint8_t>> allowed;
    for (Index head = 0; head < layer.heads; ++head) {
        auto pairs = layer.allowed_of(head);
        const auto weights = layer.weights.matrix(batch, head);
        for (std::size_t n = 0; n < pairs.size(); ++n)
            if (weights.data[n] != 0.0F) pairs[n] = 1;
        allowed.push_back(std::move(pairs));
    }
    layer.allowed = std::move(allowed);
}

/// `context` is of the weights that are left, which are shown nowhere here.
void note_dropout(const AttentionSpec& spec, HeadsLayer& layer) {
    if (spec.drops() && layer.value_fault.empty())
        layer.notes.push_back(fmt::format(
            "dropout of {} follows these weights; the output share is computed from the weights "
            "after dropout",
            spec.dropout));
}

/// The queries and keys that stand beside given weights, as they are multiplied, and V with what comes after it.
Result<Inputs> take_beside(const Inputs& inputs, const AttentionSpec& spec, HeadsLayer& layer,
                           const RunControl& control) {
    if (!inputs.projects() && inputs.q.empty()) return inputs;
    Inputs buffer;
    return attend(with_values(inputs, buffer), spec, *find_backend("staged"),
                  stages_of({Stage::q, Stage::k, Stage::v, Stage::q_norm, Stage::k_norm,
                             Stage::q_rot, Stage::k_rot}),
                  control)
        .map([&](Trace trace) {
            layer.q = std::move(trace[stage_or_source(Stage::q_rot, spec)]);
            layer.k = std::move(trace[stage_or_source(Stage::k_rot, spec)]);
            Inputs beside;
            if (!has_no_values(inputs)) beside.v = std::move(trace[Stage::v]);
            for (const Param param : {Param::w_o, Param::b_o, Param::sinks})
                beside.params[param] = inputs.params[param];
            return beside;
        });
}

/// Of weights or scores that the file gives, with V beside them or without.
Result<ComputedLayer> from_given(const HeadsInput& input, Index n, Index batch,
                                 const RunControl& control) {
    const GivenPairs& given = *input.given[n];
    const Inputs& own = *input.layers[n];
    const AttentionSpec& spec = input.spec_of(n);
    const Shape shape = given.values.shape();
    if (batch >= shape.b) return bad_input(fmt::format("it has {} sequences", shape.b));
    ComputedLayer computed;
    auto& [layer, trace] = computed;
    Dimensions size = input.size;
    layer.heads = size.heads = shape.h;
    layer.tq = size.tq = shape.t;
    layer.tk = size.tk = shape.d;
    const auto beside = take_beside(own, spec, layer, {control.stop, {}});
    if (!beside) return tl::unexpected(beside.error());
    const Inputs& inputs = *beside;
    layer.gradient_fault =
        layer.q.empty() ? "the file gives no Q, K and V" : "the file stores the weights";
    layer.sinks = !inputs.params[Param::sinks].empty();
    find_allowed(layer, spec.mask, size, batch);
    const bool weights = given.stage == Stage::weights;
    if (!weights || !inputs.v.empty()) {
        auto made =
            attend_from(given.stage, given.values, inputs, spec,
                        stages_of({Stage::v, Stage::weights, Stage::context}), {control.stop, {}});
        if (!made) return tl::unexpected(made.error());
        trace = std::move(made->trace);
        if (!weights) find_allowed(layer, made->spec.mask, made->size, batch);
        size.query_offset = made->size.query_offset;
    }
    layer.offset = size.query_offset;
    layer.weights = weights ? given.values : std::move(trace[Stage::weights]);
    if (weights) {
        layer.odd = odd_rows(layer, batch);
        show_given_weights(layer, batch);
    } else if (layer.sinks) {
        layer.odd = sunk_rows(layer, batch);
    }
    find_norms(trace, inputs, batch, layer);
    note_dropout(spec, layer);
    return computed;
}

/// Moves what is shown out of a layer's trace.
void take_shown(const AttentionSpec& spec, const Dimensions& size, Trace& trace,
                HeadsLayer& layer) {
    layer.heads = size.heads;
    layer.tq = size.tq;
    layer.tk = size.tk;
    layer.offset = size.query_offset;
    layer.q = trace[stage_or_source(Stage::q_rot, spec)];
    layer.k = trace[stage_or_source(Stage::k_rot, spec)];
    layer.weights = std::move(trace[Stage::weights]);
}

}  // namespace

const Inputs& with_values(const Inputs& inputs, Inputs& buffer) {
    if (!has_no_values(inputs)) return inputs;
    buffer = inputs;
    const Shape k = inputs.k.shape();
    buffer.v = Tensor(Shape{k.b, k.h, k.t, 1});
    return buffer;
}

Result<ComputedLayer> compute_layer(const HeadsInput& input, const HeadsOptions& options, Index n,
                                    const RunControl& control) {
    if (!input.given.empty()) return from_given(input, n, options.batch, control);
    Inputs buffer;
    const Inputs& inputs = with_values(*input.layers[n], buffer);
    const bool valueless = &inputs == &buffer;
    const AttentionSpec& spec = input.spec_of(n);
    const auto call = validate(inputs, spec);
    if (!call) return tl::unexpected(call.error());
    const Dimensions& size = call->size();
    if (options.batch >= size.batch)
        return bad_input(fmt::format("it has {} sequences", size.batch));
    const StageSet keep =
        options.gradients ? all_stages()
                          : stages_of({Stage::q, Stage::k, Stage::v, Stage::q_norm, Stage::k_norm,
                                       Stage::q_rot, Stage::k_rot, Stage::weights, Stage::context});
    const auto backend = backend_for(options, *call, keep);
    if (!backend) return tl::unexpected(backend.error());
    auto made = attend(*call, **backend, keep, {control.stop, {}});
    if (!made) return tl::unexpected(made.error());
    ComputedLayer computed{{}, *std::move(made)};
    auto& [layer, trace] = computed;
    layer.backend = (*backend)->name();
    layer.heads = size.heads;
    if (valueless) {
        trace[Stage::v] = trace[Stage::context] = {};
        layer.gradient_fault = "there are no values";
    } else if (options.gradients) {
        find_gradient(*call, **backend, trace, layer);
    }
    if (options.only_measures)
        find_norm_faults(trace, inputs, layer);
    else
        find_norms(trace, inputs, options.batch, layer);
    take_shown(spec, size, trace, layer);
    find_allowed(layer, spec.mask, size, options.batch);
    replace_rows(input, n, options.batch, computed);
    layer.sinks = !inputs.params[Param::sinks].empty();
    if (layer.sinks) layer.odd = sunk_rows(layer, options.batch);
    note_dropout(spec, layer);
    return computed;
}

}  // namespace attn
