#include "core/models/interventions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "core/dimensions.h"
#include "core/head_measures.h"
#include "core/masks.h"
#include "core/models/delta_net.h"
#include "core/models/model.h"
#include "core/models/read_out.h"
#include "core/models/weights.h"
#include "core/stages.h"
#include "core/text.h"

namespace attn {

const Interventions& no_interventions() {
    static const Interventions none;
    return none;
}
namespace {

constexpr double kUnitSum = 1e-6;  // how far from 1 a row's sum may be

Result<void> check_place(HeadPlace at, Index layers, Index heads, const char* what) {
    if (at.layer < 0 || at.layer >= layers)
        return bad_input(fmt::format("there is no layer {}: the model has {}, counted from 0",
                                     at.layer, layers));
    if (at.head < 0 || at.head >= heads)
        return bad_input(fmt::format("layer {} has no {} {}: it has {}, counted from 0", at.layer,
                                     what, at.head, heads));
    return {};
}

Result<void> check_row(const RowIntervention& row, const AttentionSpec& spec, Index tokens) {
    const std::string name =
        fmt::format("the row of L{} H{} query {}", row.at.layer, row.at.head, row.query);
    if (row.query < 0 || row.query >= tokens)
        return bad_input(
            fmt::format("there is no query {}; expected 0 to {}", row.query, tokens - 1));
    if (std::ssize(row.weights) != tokens)
        return bad_input(
            fmt::format("{} is {} long; expected {}, a weight for each token of the text", name,
                        row.weights.size(), tokens));
    Dimensions size;
    size.batch = 1;
    size.heads = spec.heads;
    size.kv_heads = spec.kv_heads;
    size.tq = size.tk = tokens;
    std::vector<std::uint8_t> allowed(tokens);
    fill_allowed(spec.mask, size, 0, row.at.head, row.query, allowed);
    double sum = 0.0;
    for (std::size_t j = 0; j < row.weights.size(); ++j) {
        const double weight = row.weights[j];
        if (!(weight >= 0.0) || std::isinf(weight))
            return bad_input(
                fmt::format("{} has the weight {} at key {}; expected a finite number, at least 0",
                            name, weight, j));
        if (weight > 0.0 && allowed[j] == 0)
            return bad_input(
                fmt::format("{} has the weight {} at key {}, which the mask forbids; expected 0",
                            name, weight, j));
        sum += weight;
    }
    if (std::abs(sum - 1.0) > kUnitSum)
        return bad_input(fmt::format("{} sums to {}; expected 1", name, sum));
    return {};
}

/// Columns of one head of q, k or v.
Index head_width(const Model& model, Stage part, Index layer) {
    const Params& params = model.blocks()[layer].attention;
    const ModelConfig& config = model.config();
    if (part == Stage::q) return params[Param::w_q].shape().d / config.heads;
    return params[part == Stage::k ? Param::w_k : Param::w_v].shape().d / config.kv_heads;
}

Result<void> check_patch(const PatchIntervention& patch, const Model& model, Index tokens) {
    if (patch.part != Stage::q && patch.part != Stage::k && patch.part != Stage::v)
        return bad_input(
            fmt::format("{} cannot be patched; expected q, k or v", info(patch.part).key));
    const Shape shape = patch.vectors.shape();
    const Index width = head_width(model, patch.part, patch.at.layer);
    const auto count = std::ssize(patch.positions);
    if (count > 0 && (shape.t != count || shape.d != width))
        return bad_input(fmt::format("the patch of {} has {} × {} numbers; expected {} × {}",
                                     info(patch.part).key, shape.t, shape.d, count, width));
    for (const Index position : patch.positions)
        if (position < 0 || position >= tokens)
            return bad_input(fmt::format("there is no position {}: the text has {}, counted from 0",
                                         position, counted(tokens, "token")));
    return {};
}

HeadEffect effect_on(HeadPlace at, MatrixView<const float> before, MatrixView<const float> after) {
    HeadEffect effect{at};
    for (Index i = 0; i < before.rows; ++i) {
        const double kl = row_divergence(before.row(i), after.row(i));
        if (std::isnan(kl))
            ++effect.undefined;
        else if (std::isinf(kl))
            ++effect.infinite;
        else
            effect.kl_sum += std::max(kl, 0.0), ++effect.finite;
        for (Index j = 0; j < before.columns; ++j)
            if (const double by = std::abs(double{after(i, j)} - before(i, j)); std::isfinite(by))
                effect.largest = std::max(effect.largest, by);
    }
    return effect;
}

std::optional<NextTokenEffect> next_effect(std::span<const float> before,
                                           std::span<const float> after) {
    const std::vector<double> p = probabilities(before);
    const std::vector<double> q = probabilities(after);
    if (p.empty() || q.empty()) return std::nullopt;
    NextTokenEffect effect;
    effect.before = likeliest(before, 1).front().id;
    effect.after = likeliest(after, 1).front().id;
    const auto of = [](const std::vector<double>& shares, Index id) { return shares[id]; };
    effect.p_before = of(p, effect.before), effect.q_before = of(q, effect.before);
    effect.p_after = of(p, effect.after), effect.q_after = of(q, effect.after);
    effect.kl = divergence(p, q);
    return effect;
}

}  // namespace

bool Interventions::touches(Index layer) const {
    const auto here = [&](const auto& each) { return each.at.layer == layer; };
    return std::ranges::any_of(off, [&](HeadPlace at) { return at.layer == layer; }) ||
           std::ranges::any_of(rows, here) || std::ranges::any_of(patches, here);
}

Result<void> check_interventions(const Interventions& interventions, const Model& model,
                                 Index tokens) {
    if (interventions.empty()) return {};
    const ModelConfig& config = model.config();
    if (auto valid = check_heads_add_up(config, "interventions"); !valid) return valid;
    const auto layers = std::ssize(model.blocks());
    for (const HeadPlace& at : interventions.off)
        if (auto valid = check_place(at, layers, config.heads, "head"); !valid) return valid;
    std::set<std::tuple<Index, Index, Index>> seen;
    for (const RowIntervention& row : interventions.rows) {
        if (auto valid = check_place(row.at, layers, config.heads, "head"); !valid) return valid;
        if (auto valid = check_row(row, layer_spec(config, row.at.layer), tokens); !valid)
            return valid;
        if (!seen.insert({row.at.layer, row.at.head, row.query}).second)
            return bad_input(fmt::format("the row of L{} H{} query {} is given twice", row.at.layer,
                                         row.at.head, row.query));
    }
    for (const PatchIntervention& patch : interventions.patches) {
        const bool query = patch.part == Stage::q;
        auto valid = check_place(patch.at, layers, query ? config.heads : config.kv_heads,
                                 query || config.heads == config.kv_heads ? "head" : "key head");
        if (valid) valid = check_patch(patch, model, tokens);
        if (!valid) return valid;
    }
    return {};
}

Result<PatchIntervention> patch_from(const ModelRun& source, HeadPlace at, Stage part,
                                     std::vector<Index> positions) {
    const auto layers = std::ssize(source.layers);
    if (auto valid = check_place({at.layer, 0}, layers, 1, "head"); !valid)
        return tl::unexpected(valid.error());
    const ModelLayer& layer = source.layers[at.layer];
    const Tensor& given = part == Stage::q   ? layer.inputs->q
                          : part == Stage::k ? layer.inputs->k
                                             : layer.inputs->v;
    const Tensor& heads = layer.trace[part].empty() ? given : layer.trace[part];
    if (heads.empty())
        return bad_input(fmt::format("the run to patch from did not keep {}", info(part).key));
    const Shape shape = heads.shape();
    if (auto valid = check_place(at, layers, shape.h, part == Stage::q ? "head" : "key head");
        !valid)
        return tl::unexpected(valid.error());
    PatchIntervention patch{at, part, std::move(positions), {}};
    patch.vectors = Tensor({1, 1, std::ssize(patch.positions), shape.d});
    for (std::size_t n = 0; n < patch.positions.size(); ++n) {
        const Index position = patch.positions[n];
        if (position < 0 || position >= shape.t)
            return bad_input(fmt::format("there is no position {}: the text to patch from has {}",
                                         position, counted(shape.t, "token")));
        std::ranges::copy(heads.matrix(0, at.head).row(position),
                          patch.vectors.matrix(0, 0).row(static_cast<Index>(n)).begin());
    }
    return patch;
}

RunEffects effects_of(const ModelRun& before, const ModelRun& after, std::optional<Index> row) {
    RunEffects effects;
    for (std::size_t n = 0; n < before.layers.size(); ++n) {
        const Tensor& was = before.layers[n].trace[Stage::weights];
        const Tensor& is = after.layers[n].trace[Stage::weights];
        for (Index head = 0; head < was.shape().h && !is.empty(); ++head)
            effects.heads.push_back(
                effect_on({static_cast<Index>(n), head}, was.matrix(0, head), is.matrix(0, head)));
    }
    if (before.read_out.empty()) return effects;
    if (row)
        effects.next = next_effect(before.read_out.matrix(0, 0).row(*row),
                                   after.read_out.matrix(0, 0).row(*row));
    else
        effects.cosine = cosine(before.read_out.values(), after.read_out.values());
    return effects;
}

}  // namespace attn
