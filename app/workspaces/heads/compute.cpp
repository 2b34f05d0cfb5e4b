#include "app/workspaces/heads/compute.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/workspaces/heads/requests.h"
#include "app/workspaces/heads/shown.h"
#include "app/workspaces/heads/sources.h"
#include "app/workspaces/heads/state.h"
#include "app/workspaces/heads/words.h"
#include "app/workspaces/heads/workspace.h"
#include "core/engine.h"
#include "core/given.h"
#include "core/masks.h"
#include "core/rng.h"
#include "core/softmax.h"

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

/// Mean KL(untouched‖now) of its rows in the model's own run; nullopt where it is finite in none.
std::optional<double> change_of(const Document& document, HeadPlace place) {
    if (!document.effects || !has_own_heads(document)) return std::nullopt;
    const auto& heads = document.effects->run.heads;
    const auto found =
        std::ranges::find(heads, ModelHead{place.layer, place.head}, &HeadEffect::at);
    if (found == heads.end() || found->finite == 0) return std::nullopt;
    return found->mean_kl();
}

/// Why a row that the model's run replaced cannot stand here; "": it can.
std::string unfit(const Document& document, const HeadsLayer& layer, const RowIntervention& row) {
    if (!has_own_heads(document)) return "W is split into other heads here";
    if (row.query >= layer.tq || std::ssize(row.weights) != layer.tk)
        return "the weights here have another size";
    const auto& allowed = layer.allowed_of(row.at.head);
    for (std::size_t j = 0; j < row.weights.size() && !allowed.empty(); ++j)
        if (row.weights[j] != 0.0 &&
            allowed[static_cast<std::size_t>(row.query) * row.weights.size() + j] == 0)
            return "the mask here forbids a key of it";
    return {};
}

/// As the model's run has them: given weights in place of softmax's, and context_i = Σ_j w_j v_j.
void replace_rows(HeadsResult& result, Index n, const Inputs& inputs, Trace& trace) {
    const Document& document = *result.document;
    HeadsLayer& layer = result.layers[static_cast<std::size_t>(n)];
    const ModelOrigin* const model = model_of(document);
    if (model == nullptr) return;
    const Tensor& v = trace[Stage::v].empty() ? inputs.v : trace[Stage::v];
    Tensor& context = trace[Stage::context];
    for (const RowIntervention& row : model->changes.rows) {
        if (row.at.layer != n) continue;
        if (const std::string why = unfit(document, layer, row); !why.empty()) {
            layer.note = fmt::format("the replaced row {} of head {} is not shown: {}", row.query,
                                     row.at.head, why);
            continue;
        }
        const auto weights = layer.weights.matrix(result.batch, row.at.head).row(row.query);
        for (std::size_t j = 0; j < row.weights.size(); ++j)
            weights[j] = static_cast<float>(row.weights[j]);
        if (v.empty() || context.empty()) continue;
        const auto values =
            v.matrix(result.batch, row.at.head * v.shape().h / std::max<Index>(layer.heads, 1));
        for (Index c = 0; c < values.columns; ++c) {
            double sum = 0.0;
            for (Index j = 0; j < values.rows; ++j)
                if (const double weight = row.weights[static_cast<std::size_t>(j)]; weight != 0.0)
                    sum += weight * values(j, c);
            context(result.batch, row.at.head, row.query, c) = static_cast<float>(sum);
        }
    }
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
        facts.measures[HeadMeasure::change] = change_of(document, facts.place);
        facts.label = propose_label(rows);
        result.heads.push_back(std::move(facts));
    }
}

/// Without values: weights ask for none, and whatever stands in for them leaves no trace in the weights.
const Inputs& with_values(const Inputs& inputs, Inputs& room) {
    if (inputs.projects() || inputs.q.empty() || !inputs.v.empty()) return inputs;
    room = inputs;
    const Shape k = inputs.k.shape();
    room.v = Tensor(Shape{k.b, k.h, k.t, 1});
    return room;
}

constexpr double kUnitRow = 1e-3;  // how far from 1 the sum of a row of weights may be

/// "3 of 12 rows of the weights do not sum to 1 (0.92 … 1.30): they are shown as the file gives them".
std::string odd_rows_words(const HeadsLayer& layer, Index batch) {
    Index rows = 0, odd = 0, nans = 0;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (Index head = 0; head < layer.heads; ++head)
        for (Index i = 0; i < layer.tq; ++i, ++rows) {
            double sum = 0.0;
            for (const float weight : layer.weights.matrix(batch, head).row(i)) sum += weight;
            if (std::isfinite(sum) && std::abs(sum - 1.0) <= kUnitRow) continue;
            ++odd;
            if (!std::isfinite(sum)) {
                ++nans;
                continue;
            }
            low = std::min(low, sum);
            high = std::max(high, sum);
        }
    if (odd == 0) return {};
    std::string sums;
    if (odd > nans)
        sums = low == high ? fmt::format(" (Σ = {})", number(low))
                           : fmt::format(" (Σ from {} to {})", number(low), number(high));
    if (nans > 0) sums += fmt::format(" ({} {} not finite)", nans, nans == 1 ? "is" : "are");
    return fmt::format("{} of {} row{} of weights {} not sum to 1{}: shown as the file gives them",
                       odd, rows, rows == 1 ? "" : "s", odd == 1 ? "does" : "do", sums);
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

/// Of weights or scores that the file gives, with V beside them or without.
Result<void> take_given(const RunControl& control, HeadsResult& result, Index n) {
    const Document& document = *result.document;
    HeadsLayer& layer = result.layers[static_cast<std::size_t>(n)];
    const GivenPairs& given = *document.given[static_cast<std::size_t>(n)];
    const Inputs& inputs = *document.layers[static_cast<std::size_t>(n)];
    const Shape shape = given.values.shape();
    const Index batch = result.batch;
    if (batch >= shape.b) return bad_input(fmt::format("it has {} sequences", shape.b));
    Dimensions size = document.size;
    layer.heads = size.heads = shape.h;
    layer.tq = size.tq = shape.t;
    layer.tk = size.tk = shape.d;
    layer.gradient_fault = "the file gives no Q, K and V";
    find_allowed(layer, document.spec.mask, size, batch);
    Trace trace;
    const bool weights = given.stage == Stage::weights;
    if (!weights || !inputs.v.empty()) {
        StageSet keep;
        for (const Stage stage : {Stage::v, Stage::weights, Stage::context})
            keep.set(index_of(stage));
        auto made =
            attend_from(given.stage, given.values, inputs, document.spec, keep, {control.stop, {}});
        if (!made) return tl::unexpected(made.error());
        trace = std::move(made->trace);
        if (!weights) layer.allowed.clear();
        if (!weights) find_allowed(layer, made->spec.mask, made->size, batch);
    }
    layer.weights = weights ? given.values : std::move(trace[Stage::weights]);
    if (weights) {
        layer.note = odd_rows_words(layer, batch);
        show_given_weights(layer, batch);
    }
    find_norms(trace, inputs, batch, layer);
    measure_layer(result, n, trace);
    return {};
}

Result<void> compute_layer(const HeadsRequest& request, const RunControl& control,
                           HeadsResult& result, Index n) {
    const Document& document = *result.document;
    if (!document.given.empty()) return take_given(control, result, n);
    HeadsLayer& layer = result.layers[static_cast<std::size_t>(n)];
    Inputs room;
    const bool valueless = is_without_values(document);
    const Inputs& inputs = with_values(*document.layers[static_cast<std::size_t>(n)], room);
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
    if (valueless) {
        (*trace)[Stage::v] = (*trace)[Stage::context] = {};
        layer.gradient_fault = "there are no values";
    } else if (request.gradients) {
        find_gradient(*call, **backend, *trace, layer);
    }
    find_norms(*trace, inputs, request.batch, layer);
    layer.q = (*trace)[document.spec.rope ? Stage::q_rot : Stage::q];
    layer.k = (*trace)[document.spec.rope ? Stage::k_rot : Stage::k];
    layer.weights = std::move((*trace)[Stage::weights]);
    find_allowed(layer, document.spec.mask, size, request.batch);
    replace_rows(result, n, inputs, *trace);
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

std::span<const HeadMeasureInfo> heads_measures(const Document& document) {
    static_assert(static_cast<std::size_t>(HeadMeasure::change) + 1 == kHeadMeasureCount);
    const std::span<const HeadMeasureInfo> all = head_measure_table();
    return document.effects ? all : all.first(all.size() - 1);
}

const HeadFacts* HeadsResult::find(HeadPlace place) const {
    const auto found = std::ranges::lower_bound(
        heads, std::pair(place.layer, place.head), {},
        [](const HeadFacts& facts) { return std::pair(facts.place.layer, facts.place.head); });
    return found == heads.end() || !(found->place == place) ? nullptr : &*found;
}

Index heads_in_layer(const Document& document, Index layer) {
    if (layer == document.layer) return document.size.heads;
    if (layer < 0 || layer >= std::ssize(document.layers)) return 0;
    if (!document.given.empty())
        return document.given[static_cast<std::size_t>(layer)]->values.shape().h;
    Inputs room;
    const auto call = validate(with_values(*document.layers[static_cast<std::size_t>(layer)], room),
                               document.spec);
    return call ? call->size().heads : 0;
}

Index head_cells(const Document& document) {
    Index cells = 0;
    for (const auto& given : document.given) cells += given->values.count();
    for (const auto& inputs : document.layers) {
        if (!document.given.empty()) break;
        Inputs room;
        const auto call = validate(with_values(*inputs, room), document.spec);
        if (!call) continue;
        const Dimensions& size = call->size();
        cells += size.batch * size.heads * size.tq * size.tk;
    }
    return cells;
}

HeadsRequest heads_request(const AppState& state) {
    return {state.shared_document(), state.backend, state.backends.data(),
            state.backends.size(),   state.batch,   heads_look(state).show == HeadShow::gradient};
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
    const HeadsLook& look = heads_look(state);
    if (!look.result || look.result_of != state.shared_document()) return false;
    if (look.result->batch != state.batch || look.result->backend != state.backend) return false;
    return look.result->gradients || look.show != HeadShow::gradient;
}

void follow_heads(AppState& state) {
    if (state.workspace != "heads" || !heads_lacks(state).empty()) return;
    HeadsLook& look = heads_look(state);
    if (!has_current_heads(state) && head_cells(state.document()) <= kAtOnceCells) {
        look.result = std::make_shared<const HeadsResult>(compute_heads(heads_request(state)));
        look.result_of = state.shared_document();
    }
    follow_shown(state);
}

std::optional<HeadsRequest> requested_heads(const AppState& state) {
    if (state.workspace != "heads" || has_current_heads(state)) return std::nullopt;
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
    const auto measures = heads_measures(*result.document);
    for (const HeadMeasureInfo& each : measures) csv += fmt::format(",{}", each.key);
    csv += "\n";
    for (const HeadPlace place : heads_in_order(result, sort)) {
        const HeadFacts& facts = *result.find(place);
        csv += fmt::format("{},{},{}", facts.place.layer, facts.place.head,
                           facts.label ? info(facts.label->name).title : "");
        for (const HeadMeasureInfo& each : measures) {
            const auto& value = facts.measures[each.measure];
            csv += fmt::format(",{}", value ? exact(*value) : "");
        }
        csv += "\n";
    }
    return csv;
}

}  // namespace attn::view
