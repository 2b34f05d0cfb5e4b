#include "core/heads/all.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "core/call.h"
#include "core/cast.h"
#include "core/engine.h"
#include "core/given.h"
#include "core/heads/layer.h"
#include "core/heads/sources.h"
#include "core/models/interventions.h"
#include "core/rng.h"
#include "core/threads.h"

namespace attn {
namespace {

/// Of queries and keys that are the same tokens; else none.
std::vector<Index> tokens_of(const HeadsInput& input, const HeadsLayer& layer,
                             const Inputs& inputs) {
    const bool same = inputs.x_kv.empty() && layer.tq == layer.tk && layer.offset == 0;
    if (!same || std::ssize(input.tokens) != layer.tq) return {};
    return token_numbers(input.tokens);
}

/// Whether measures count row i: its weights are probabilities.
bool is_counted(const HeadRows& head, Index i) {
    const Index keys = head.weights.columns;
    const auto row = head.allowed.empty() ? head.allowed
                                          : head.allowed.subspan(static_cast<std::size_t>(i * keys),
                                                                 static_cast<std::size_t>(keys));
    return measure_head({head.weights.row_block(i, 1), row, {}, head.position(i), head.sinks})
               .rows == 1;
}

/// The rows of a context that `counted` has.
Tensor picked_rows(MatrixView<const float> context, const std::vector<Index>& counted) {
    Tensor picked(Shape{1, 1, std::ssize(counted), context.columns});
    for (Index n = 0; n < std::ssize(counted); ++n)
        std::ranges::copy(context.row(counted[n]), picked.matrix(0, 0).row(n).begin());
    return picked;
}

/// The output share of each head over the rows that count in every head that has such rows; the other heads have none.
std::vector<std::optional<double>> output_shares(const Trace& trace, const Inputs& inputs,
                                                 Index batch, const std::vector<HeadRows>& rows,
                                                 std::span<const HeadFacts> facts) {
    const Tensor& context = trace[Stage::context];
    const InFloats w_o(inputs.params[Param::w_o]);
    const Index width = context.shape().d;
    const bool mixed = !w_o->empty() && w_o->shape().t == context.shape().h * width;
    std::vector<Index> heads, counted;
    for (Index head = 0; head < context.shape().h; ++head)
        if (facts[head].measures.rows > 0) heads.push_back(head);
    for (Index i = 0; i < context.shape().t; ++i)
        if (std::ranges::all_of(heads, [&](Index head) {
                return facts[head].measures.rows == context.shape().t || is_counted(rows[head], i);
            }))
            counted.push_back(i);
    std::vector<double> norms(heads.size());
    parallel_for(std::ssize(heads), {}, [&](Index at, int) {
        const Index head = heads[at];
        const auto all = context.matrix(batch, head);
        const Tensor picked = std::ssize(counted) < all.rows ? picked_rows(all, counted) : Tensor{};
        norms[at] = head_output_norm(
            std::ssize(counted) < all.rows ? std::as_const(picked).matrix(0, 0) : all,
            mixed ? w_o->matrix(0, 0).row_block(head * width, width) : MatrixView<const float>{});
    });
    std::vector<std::optional<double>> shares(facts.size());
    const auto found = norm_shares(norms);
    for (std::size_t n = 0; n < heads.size(); ++n) shares[heads[n]] = found[n];
    return shares;
}

/// Mean KL(untouched‖now) of its rows in the model's own run; nullopt where it is finite in none.
std::optional<double> change_of(const HeadsInput& input, HeadPlace place) {
    if (input.effects == nullptr || !input.own_heads) return std::nullopt;
    const auto& heads = input.effects->heads;
    const auto found = std::ranges::find(heads, place, &HeadEffect::at);
    if (found == heads.end() || found->finite == 0) return std::nullopt;
    return found->mean_kl();
}

void measure_layer(const HeadsInput& input, Index n, const Trace& trace, HeadsResult& result) {
    const HeadsLayer& layer = result.layers[n];
    const Inputs& inputs = *input.layers[n];
    const std::vector<Index> tokens = tokens_of(input, layer, inputs);
    const std::size_t first = result.heads.size();
    std::vector<HeadRows> rows;
    for (Index head = 0; head < layer.heads; ++head)
        rows.push_back({layer.weights.matrix(result.batch, head), layer.allowed_of(head), tokens,
                        layer.offset, layer.sinks});
    result.heads.resize(first + rows.size());
    const std::span<HeadFacts> facts = std::span(result.heads).subspan(first);
    parallel_for(layer.heads, {}, [&](Index head, int) {
        HeadFacts made{{n, head}, measure_head(rows[head]), propose_label(rows[head])};
        made.measures[HeadMeasure::change] = change_of(input, made.place);
        facts[head] = std::move(made);
    });
    if (trace[Stage::context].empty()) return;
    const auto shares = output_shares(trace, inputs, result.batch, rows, facts);
    for (std::size_t head = 0; head < facts.size(); ++head)
        facts[head].measures[HeadMeasure::norm_share] = shares[head];
}

/// What is drawn of it, a number for each pair and head.
void clear_pictures(HeadsLayer& layer) {
    layer.weights = layer.gradient = layer.q = layer.k = {};
    layer.allowed.clear();
}

std::uint64_t content_of(const HeadsResult& result) {
    std::uint64_t key = hash_text("heads");
    const auto add = [&](auto part) { key = mix(key, static_cast<std::uint64_t>(part)); };
    const auto add_norms = [&](const std::vector<std::vector<double>>& heads) {
        for (const auto& norms : heads)
            for (const double norm : norms) add(std::bit_cast<std::uint64_t>(norm));
    };
    add(result.batch);
    add(result.gradients ? 1 : 0);
    for (const HeadsLayer& layer : result.layers) {
        add(layer.heads), add(layer.tq), add(layer.tk);
        for (const float value : layer.weights.values()) add(std::bit_cast<std::uint32_t>(value));
        for (const auto& pairs : layer.allowed)
            for (const std::uint8_t may : pairs) add(may);
        for (const float value : layer.gradient.values()) add(std::bit_cast<std::uint32_t>(value));
        add_norms(layer.output_norms);
        add_norms(layer.value_norms);
    }
    return key;
}

/// nullopt: it cannot be computed.
std::optional<Dimensions> size_of(const HeadsInput& input, Index layer) {
    Inputs buffer;
    const auto call = validate(with_values(*input.layers[layer], buffer), input.spec_of(layer));
    return call ? std::optional(call->size()) : std::nullopt;
}

}  // namespace

const HeadFacts* HeadsResult::find(HeadPlace place) const {
    const auto found = std::ranges::lower_bound(heads, place, {}, &HeadFacts::place);
    return found == heads.end() || found->place != place ? nullptr : &*found;
}

HeadsResult compute_heads(const HeadsInput& input, const HeadsOptions& options,
                          const RunControl& control) {
    HeadsResult result{
        options.batch, options.gradients, measures_of_heads(input.effects != nullptr), {}, {}, 0};
    const Index layers = std::ssize(input.layers);
    result.layers.resize(layers);
    for (Index n = 0; n < layers && !control.stop.stop_requested(); ++n) {
        HeadsLayer& layer = result.layers[n];
        if (auto done = compute_layer(input, options, n, control)) {
            layer = std::move(done->layer);
            measure_layer(input, n, done->trace, result);
            if (options.only_measures) clear_pictures(layer);
        } else {
            layer.fault = done.error().text();
        }
        if (control.progress)
            control.progress(static_cast<double>(n + 1) / static_cast<double>(layers));
    }
    if (options.only_measures) return result;
    find_rollout(result);
    result.content = content_of(result);
    return result;
}

std::span<const HeadMeasureInfo> measures_of_heads(bool changed) {
    const std::span<const HeadMeasureInfo> all = head_measure_table();
    return changed ? all : all.first(all.size() - 1);
}

Index heads_in_layer(const HeadsInput& input, Index layer) {
    if (layer < 0 || layer >= std::ssize(input.layers)) return 0;
    if (!input.given.empty()) return input.given[layer]->values.shape().h;
    const auto size = size_of(input, layer);
    return size ? size->heads : 0;
}

Index head_cells(const HeadsInput& input) {
    Index cells = 0;
    for (const auto& given : input.given) cells += given->values.count();
    if (!input.given.empty()) return cells;
    for (Index n = 0; n < std::ssize(input.layers); ++n)
        if (const auto size = size_of(input, n))
            cells += size->batch * size->heads * size->tq * size->tk;
    return cells;
}

std::vector<HeadPlace> heads_in_order(const HeadsResult& result, std::string_view sort) {
    std::vector<const HeadFacts*> heads;
    for (const HeadFacts& facts : result.heads) heads.push_back(&facts);
    if (const auto measure = find_head_measure(sort))
        std::ranges::stable_sort(heads, std::ranges::greater(), [&](const HeadFacts* facts) {
            return facts->measures[*measure].value_or(-1.0);
        });
    std::vector<HeadPlace> places;
    for (const HeadFacts* const facts : heads) places.push_back(facts->place);
    return places;
}

MeasuredRows measured_rows(const HeadsResult& result, Index layer) {
    MeasuredRows all;
    for (const HeadFacts& facts : result.heads) {
        if (facts.place.layer != layer) continue;
        all.rows += facts.measures.rows;
        all.excluded += facts.measures.excluded;
    }
    return all;
}

std::string excluded_rows_text(MeasuredRows rows) {
    if (rows.excluded == 0) return {};
    const Index all = rows.rows + rows.excluded;
    const bool one = rows.excluded == 1;
    return fmt::format("{} of {} row{} of weights {} not {}; no measure counts {}", rows.excluded,
                       all, all == 1 ? "" : "s", one ? "is" : "are",
                       one ? "a probability distribution" : "probability distributions",
                       one ? "it" : "them");
}

std::string heads_csv(const HeadsResult& result, std::string_view sort) {
    std::string csv = "layer,head,label";
    for (const HeadMeasureInfo& each : result.measures) csv += fmt::format(",{}", each.key);
    csv += ",rows,rows_excluded\n";
    for (const HeadPlace place : heads_in_order(result, sort)) {
        const HeadFacts& facts = *result.find(place);
        csv += fmt::format("{},{},{}", place.layer, place.head,
                           facts.label ? title_of(*facts.label) : "");
        for (const HeadMeasureInfo& each : result.measures) {
            const auto& value = facts.measures[each.measure];
            csv += value ? fmt::format(",{}", *value) : ",";
        }
        csv += fmt::format(",{},{}\n", facts.measures.rows, facts.measures.excluded);
    }
    return csv;
}

}  // namespace attn
