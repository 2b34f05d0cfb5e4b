#include "app/view/heads/compute.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "app/view/common/format.h"
#include "app/view/heads/requests.h"
#include "app/view/heads/shown.h"
#include "app/view/heads/sources.h"
#include "app/view/heads/workspace.h"
#include "app/view/state.h"
#include "core/engine.h"
#include "core/masks.h"
#include "core/rng.h"

namespace attn::view {
namespace {

/// Who computes: no device, and whoever keeps no weights leaves them to "auto".
Result<const Backend*> backend_for(const HeadsRequest& request, const Call& call, StageSet keep) {
    const BackendList among{request.backends, request.backend_count};
    const Backend* const chosen = find_backend(request.backend, among);
    const bool can = chosen != nullptr && !chosen->has_device() &&
                     (chosen->stages() & keep) == keep && !chosen->supports(call);
    if (can) return chosen;
    return choose_backend(kAuto, call, keep, among);
}

/// One for all heads, unless the painted mask differs between them.
void find_allowed(HeadsLayer& layer, const MaskSpec& mask, const Dimensions& size, Index batch) {
    const bool by_head = mask.custom && mask.custom->shape().h > 1;
    for (Index head = 0; head < (by_head ? size.heads : 1); ++head) {
        auto& pairs = layer.allowed.emplace_back();
        if (!mask.any()) continue;
        pairs.resize(static_cast<std::size_t>(size.tq * size.tk));
        for (Index i = 0; i < size.tq; ++i)
            fill_allowed(mask, size, batch, head, i,
                         {pairs.data() + i * size.tk, static_cast<std::size_t>(size.tk)});
    }
}

/// Of queries and keys that are the same tokens; else none.
std::vector<Index> tokens_of(const Document& document, const HeadsLayer& layer,
                             const Inputs& inputs) {
    const bool same = inputs.x_kv.empty() && document.tokens_kv.empty() && layer.tq == layer.tk;
    if (!same || std::ssize(document.tokens) != layer.tq) return {};
    return token_numbers(document.tokens);
}

std::vector<double> norms_of(const Trace& trace, const Inputs& inputs, Index batch) {
    const Tensor& context = trace[Stage::context];
    const Tensor& w_o = inputs.params[Param::w_o];
    std::vector<double> norms;
    for (Index head = 0; head < context.shape().h; ++head) {
        const Index width = context.shape().d;
        const bool mixed = !w_o.empty() && w_o.shape().t == context.shape().h * width;
        norms.push_back(head_output_norm(
            context.matrix(batch, head),
            mixed ? w_o.matrix(0, 0).row_block(head * width, width) : MatrixView<const float>{}));
    }
    return norms;
}

void measure_layer(HeadsResult& result, Index n, const Trace& trace) {
    const Document& document = *result.document;
    const HeadsLayer& layer = result.layers[static_cast<std::size_t>(n)];
    const Inputs& inputs = *document.layers[static_cast<std::size_t>(n)];
    const std::vector<Index> tokens = tokens_of(document, layer, inputs);
    const auto shares = norm_shares(norms_of(trace, inputs, result.batch));
    for (Index head = 0; head < layer.heads; ++head) {
        HeadFacts facts{{n, head}, {}, {}};
        const HeadRows rows{layer.weights.matrix(result.batch, head), layer.allowed_of(head),
                            tokens};
        facts.measures = measure_head(rows);
        if (head < std::ssize(shares))
            facts.measures[HeadMeasure::norm_share] = shares[static_cast<std::size_t>(head)];
        facts.label = propose_label(rows);
        result.heads.push_back(std::move(facts));
    }
}

Result<void> compute_layer(const HeadsRequest& request, const RunControl& control,
                           HeadsResult& result, Index n) {
    const Document& document = *result.document;
    HeadsLayer& layer = result.layers[static_cast<std::size_t>(n)];
    const Inputs& inputs = *document.layers[static_cast<std::size_t>(n)];
    const auto call = validate(inputs, document.spec);
    if (!call) return tl::unexpected(call.error());
    const Dimensions& size = call->size();
    if (request.batch >= size.batch)
        return bad_input(fmt::format("it has {} sequences", size.batch));
    StageSet keep;
    for (const Stage stage :
         {Stage::q, Stage::k, Stage::v, Stage::q_rot, Stage::k_rot, Stage::weights, Stage::context})
        keep.set(index_of(stage));
    if (request.gradients) keep = all_stages();
    const auto backend = backend_for(request, *call, keep);
    if (!backend) return tl::unexpected(backend.error());
    auto trace = attend(*call, **backend, keep, {control.stop, {}});
    if (!trace) return tl::unexpected(trace.error());
    layer.backend = (*backend)->name();
    layer.heads = size.heads;
    layer.tq = size.tq;
    layer.tk = size.tk;
    if (request.gradients) find_gradient(*call, **backend, *trace, layer);
    find_norms(*trace, inputs, request.batch, layer);
    layer.q = (*trace)[document.spec.rope ? Stage::q_rot : Stage::q];
    layer.k = (*trace)[document.spec.rope ? Stage::k_rot : Stage::k];
    layer.weights = std::move((*trace)[Stage::weights]);
    find_allowed(layer, document.spec.mask, size, request.batch);
    measure_layer(result, n, *trace);
    return {};
}

std::uint64_t content_of(const HeadsResult& result) {
    std::uint64_t key = hash_text("heads");
    const auto add = [&](auto part) { key = mix(key, static_cast<std::uint64_t>(part)); };
    add(result.batch);
    add(result.gradients ? 1 : 0);
    for (const HeadsLayer& layer : result.layers) {
        add(layer.heads), add(layer.tq), add(layer.tk);
        for (const float value : layer.weights.values()) add(std::bit_cast<std::uint32_t>(value));
        for (const auto& pairs : layer.allowed)
            for (const std::uint8_t may : pairs) add(may);
        for (const float value : layer.gradient.values()) add(std::bit_cast<std::uint32_t>(value));
        for (const auto& norms : layer.output_norms)
            for (const double norm : norms) add(std::bit_cast<std::uint64_t>(norm));
        for (const auto& norms : layer.value_norms)
            for (const double norm : norms) add(std::bit_cast<std::uint64_t>(norm));
    }
    return key;
}

}  // namespace

const HeadFacts* HeadsResult::find(HeadPlace place) const {
    const auto found = std::ranges::lower_bound(
        heads, std::pair(place.layer, place.head), {},
        [](const HeadFacts& facts) { return std::pair(facts.place.layer, facts.place.head); });
    return found == heads.end() || !(found->place == place) ? nullptr : &*found;
}

Index heads_in_layer(const Document& document, Index layer) {
    if (layer == document.layer) return document.size.heads;
    if (layer < 0 || layer >= std::ssize(document.layers)) return 0;
    const auto call = validate(*document.layers[static_cast<std::size_t>(layer)], document.spec);
    return call ? call->size().heads : 0;
}

Index head_cells(const Document& document) {
    Index cells = 0;
    for (const auto& inputs : document.layers) {
        const auto call = validate(*inputs, document.spec);
        if (!call) continue;
        const Dimensions& size = call->size();
        cells += size.batch * size.heads * size.tq * size.tk;
    }
    return cells;
}

HeadsRequest heads_request(const AppState& state) {
    return {state.shared_document(), state.backend, state.backends.data(),
            state.backends.size(),   state.batch,   state.heads.show == HeadShow::gradient};
}

HeadsResult compute_heads(const HeadsRequest& request, const RunControl& control) {
    HeadsResult result{
        request.document, request.backend, request.batch, request.gradients, {}, {}, 0};
    const auto layers = std::ssize(result.document->layers);
    result.layers.resize(static_cast<std::size_t>(layers));
    for (Index n = 0; n < layers && !control.stop.stop_requested(); ++n) {
        if (auto done = compute_layer(request, control, result, n); !done)
            result.layers[static_cast<std::size_t>(n)].fault = done.error().sentence;
        if (control.progress)
            control.progress(static_cast<double>(n + 1) / static_cast<double>(layers));
    }
    find_rollout(result);
    result.content = content_of(result);
    return result;
}

bool has_current_heads(const AppState& state) {
    const HeadsLook& look = state.heads;
    if (!look.result || look.result_of != state.shared_document()) return false;
    if (look.result->batch != state.batch || look.result->backend != state.backend) return false;
    return look.result->gradients || look.show != HeadShow::gradient;
}

void follow_heads(AppState& state) {
    if (state.workspace != Workspace::heads || !heads_lacks(state).empty()) return;
    HeadsLook& look = state.heads;
    if (!has_current_heads(state) && head_cells(state.document()) <= kAtOnceCells) {
        look.result = std::make_shared<const HeadsResult>(compute_heads(heads_request(state)));
        look.result_of = state.shared_document();
    }
    follow_shown(state);
}

std::optional<HeadsRequest> requested_heads(const AppState& state) {
    if (state.workspace != Workspace::heads || has_current_heads(state)) return std::nullopt;
    if (!heads_lacks(state).empty()) return std::nullopt;
    return heads_request(state);
}

Action run(const HeadsRequest& request, const RunControl& control) try {
    return HeadsReady{std::make_shared<const HeadsResult>(compute_heads(request, control))};
} catch (const std::bad_alloc&) {
    HeadsResult none{
        request.document, request.backend, request.batch, request.gradients, {}, {}, 0};
    none.layers.resize(request.document->layers.size());
    for (HeadsLayer& layer : none.layers)
        layer.fault = "there is not enough memory for its weights";
    return HeadsReady{std::make_shared<const HeadsResult>(std::move(none))};
}

std::vector<HeadPlace> heads_in_order(const HeadsResult& result, const std::string& sort) {
    std::vector<HeadPlace> places;
    for (const HeadFacts& facts : result.heads) places.push_back(facts.place);
    const auto measure = find_head_measure(sort);
    if (!measure) return places;
    std::vector<std::pair<double, HeadPlace>> keyed;
    keyed.reserve(places.size());
    for (const HeadFacts& facts : result.heads)
        keyed.emplace_back(facts.measures[*measure].value_or(-1.0), facts.place);
    std::ranges::stable_sort(keyed, [](const auto& a, const auto& b) { return a.first > b.first; });
    for (std::size_t n = 0; n < keyed.size(); ++n) places[n] = keyed[n].second;
    return places;
}

std::string heads_csv(const HeadsResult& result, const std::string& sort) {
    std::string csv = "layer,head,label";
    for (const HeadMeasureInfo& each : head_measure_table()) csv += fmt::format(",{}", each.key);
    csv += "\n";
    for (const HeadPlace place : heads_in_order(result, sort)) {
        const HeadFacts& facts = *result.find(place);
        csv += fmt::format("{},{},{}", facts.place.layer, facts.place.head,
                           facts.label ? info(facts.label->name).title : "");
        for (const auto& value : facts.measures.values)
            csv += fmt::format(",{}", value ? exact(*value) : "");
        csv += "\n";
    }
    return csv;
}

}  // namespace attn::view
