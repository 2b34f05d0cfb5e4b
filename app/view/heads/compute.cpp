#include "app/view/heads/compute.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "app/view/common/format.h"
#include "app/view/heads/workspace.h"
#include "app/view/state.h"
#include "core/engine.h"
#include "core/masks.h"
#include "core/rng.h"

namespace attn::view {
namespace {

/// Who computes while the window waits; whoever keeps no weights leaves them to "auto".
Result<const Backend*> backend_for(const AppState& state, const Call& call, StageSet keep) {
    const Backend* const chosen = find_backend(state.backend, state.backends);
    const bool can = chosen != nullptr && !chosen->has_device() &&
                     (chosen->stages() & keep) == keep && !chosen->supports(call);
    if (can) return chosen;
    return choose_backend(kAuto, call, keep, state.backends);
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

float largest_of(MatrixView<const float> weights) {
    float largest = 0.0F;
    for (Index i = 0; i < weights.rows; ++i)
        for (const float weight : weights.row(i))
            if (std::isfinite(weight)) largest = std::max(largest, weight);
    return largest;
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

void measure_layer(const AppState& state, HeadsResult& result, Index n, const Trace& trace) {
    const Document& document = *result.document;
    const HeadsLayer& layer = result.layers[static_cast<std::size_t>(n)];
    const Inputs& inputs = *document.layers[static_cast<std::size_t>(n)];
    const std::vector<Index> tokens = tokens_of(document, layer, inputs);
    const auto shares = norm_shares(norms_of(trace, inputs, state.batch));
    for (Index head = 0; head < layer.heads; ++head) {
        HeadFacts facts{{n, head}, {}, {}, 0.0F};
        const HeadRows rows{layer.weights.matrix(state.batch, head), layer.allowed_of(head),
                            tokens};
        facts.measures = measure_head(rows);
        if (head < std::ssize(shares))
            facts.measures[HeadMeasure::norm_share] = shares[static_cast<std::size_t>(head)];
        facts.label = propose_label(rows);
        facts.largest = largest_of(rows.weights);
        result.heads.push_back(std::move(facts));
    }
}

Result<void> compute_layer(const AppState& state, HeadsResult& result, Index n) {
    const Document& document = *result.document;
    HeadsLayer& layer = result.layers[static_cast<std::size_t>(n)];
    const Inputs& inputs = *document.layers[static_cast<std::size_t>(n)];
    const auto call = validate(inputs, document.spec);
    if (!call) return tl::unexpected(call.error());
    const Dimensions& size = call->size();
    if (state.batch >= size.batch) return bad_input(fmt::format("it has {} sequences", size.batch));
    StageSet keep;
    keep.set(index_of(Stage::weights)).set(index_of(Stage::context));
    const auto backend = backend_for(state, *call, keep);
    if (!backend) return tl::unexpected(backend.error());
    auto trace = attend(*call, **backend, keep);
    if (!trace) return tl::unexpected(trace.error());
    layer.backend = (*backend)->name();
    layer.heads = size.heads;
    layer.tq = size.tq;
    layer.tk = size.tk;
    layer.weights = std::move((*trace)[Stage::weights]);
    find_allowed(layer, document.spec.mask, size, state.batch);
    measure_layer(state, result, n, *trace);
    return {};
}

std::uint64_t content_of(const HeadsResult& result) {
    std::uint64_t key = hash_text("heads");
    const auto add = [&](auto part) { key = mix(key, static_cast<std::uint64_t>(part)); };
    add(result.batch);
    for (const HeadsLayer& layer : result.layers) {
        add(layer.heads), add(layer.tq), add(layer.tk);
        for (const float value : layer.weights.values()) add(std::bit_cast<std::uint32_t>(value));
        for (const auto& pairs : layer.allowed)
            for (const std::uint8_t may : pairs) add(may);
    }
    return key;
}

}  // namespace

const HeadFacts* HeadsResult::find(HeadPlace place) const {
    const auto found = std::ranges::find(heads, place, &HeadFacts::place);
    return found == heads.end() ? nullptr : &*found;
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

HeadsResult compute_heads(const AppState& state) {
    HeadsResult result{state.shared_document(), state.backend, state.batch, {}, {}, 0};
    const auto layers = std::ssize(result.document->layers);
    result.layers.resize(static_cast<std::size_t>(layers));
    for (Index n = 0; n < layers; ++n)
        if (auto done = compute_layer(state, result, n); !done)
            result.layers[static_cast<std::size_t>(n)].fault = done.error().sentence;
    result.content = content_of(result);
    return result;
}

bool has_current_heads(const AppState& state) {
    const HeadsLook& look = state.heads;
    return look.result && look.result_of == state.shared_document() &&
           look.result->batch == state.batch && look.result->backend == state.backend;
}

void follow_heads(AppState& state) {
    if (state.workspace != Workspace::heads || !heads_lacks(state).empty()) return;
    if (has_current_heads(state)) return;
    state.heads.result = std::make_shared<const HeadsResult>(compute_heads(state));
    state.heads.result_of = state.shared_document();
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
