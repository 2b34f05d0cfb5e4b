#include "core/models/rerun.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "core/backend.h"
#include "core/engine.h"
#include "core/models/block.h"
#include "core/models/delta_net.h"
#include "core/models/distances.h"
#include "core/models/ends.h"
#include "core/models/family.h"
#include "core/models/read_out.h"
#include "core/models/sweep_parts.h"
#include "core/models/weights.h"

namespace attn {
namespace {

/// The largest change of these logits by sums in another order, in float32; logits below 1 count as 1.
double rounding_of(std::span<const float> logits) {
    double most = 1.0;
    for (const float logit : logits)
        if (std::isfinite(logit)) most = std::max(most, std::abs(double{logit}));
    return 8.0 * double{std::numeric_limits<float>::epsilon()} * most;
}

/// The inputs of a layer's attention for texts one behind the other, as a batch.
Inputs inputs_of(const Rerun& rerun, const Tensor& x, Index texts, Index layer) {
    Inputs all;
    auto some = Tensor::uninitialised({1, 1, rerun.tokens, x.shape().d});
    for (Index n = 0; n < texts; ++n) {
        std::ranges::copy(x.values().subspan(n * some.count(), some.values().size()),
                          some.values().begin());
        Inputs one = attention_inputs(some, rerun.block(layer), rerun.model.config(), layer);
        for (const auto part : {&Inputs::x, &Inputs::q, &Inputs::k, &Inputs::v})
            put_into(all.*part, one.*part, n, texts);
        if (n == 0) all.params = std::move(one.params);
    }
    return all;
}

Result<void> check(const Rerun& rerun, const std::optional<std::pair<Index, Index>>& chosen) {
    if (auto valid = check_heads_add_up(rerun.model.config(), "effects of changes"); !valid)
        return valid;
    if (rerun.model.reads_across())
        return bad_input(
            "a decoder that reads an encoder is not swept: its blocks also attend to the encoder");
    if (!rerun.model.gives_logits())
        return bad_input("the effect of a change is measured on logits, and this model gives none");
    const ModelRun& run = rerun.run;
    if (std::ssize(run.layers) != rerun.layers || run.embedded.empty() || run.read_out.empty())
        return bad_input("the run does not belong to this model");
    const Index text = run.read_out.shape().d;
    if (chosen)
        for (const Index token : {chosen->first, chosen->second})
            if (token < 0 || token >= text)
                return bad_input(fmt::format("token {} is not one of {}", token, text));
    return {};
}

}  // namespace

Result<Rerun> rerun_of(const Model& model, const ModelRun& run, const Backend& backend,
                       const std::optional<std::pair<Index, Index>>& chosen) {
    const bool classes = model.config().family->read_out == ReadOut::classes;
    Rerun made{model, run, backend, std::ssize(model.weights().blocks), std::ssize(run.tokens)};
    if (auto valid = check(made, chosen); !valid) return tl::unexpected(valid.error());
    const Index answer = *model.answer_row(run);
    // a run may have the last row alone
    made.row = classes ? 0 : made.tokens - run.read_out.shape().t + answer;
    const auto logits = run.read_out.matrix(0, 0).row(answer);
    made.before = probabilities(logits);
    made.rounding = rounding_of(logits);
    const auto likely = likeliest(logits, 2);
    if (chosen)
        std::tie(made.a, made.b) = *chosen;
    else if (likely.size() == 2)
        made.a = likely[0].id, made.b = likely[1].id;
    else
        return bad_input("the next token's logits are not finite; expected two tokens to compare");
    made.difference = made.difference_of(logits);
    return made;
}

Result<Tensor> Rerun::through_block(Tensor x, Index texts, Index layer, const RunControl& control) {
    const Index rows = rows_of(layer), width = x.shape().d;
    Inputs inputs = inputs_of(*this, x, texts, layer);
    AttentionSpec spec = layer_spec(model.config(), layer);
    if (rows < tokens) {
        Tensor& all = inputs.projects() ? inputs.x : inputs.q;
        Tensor one = one_row(all, row);
        if (inputs.projects()) inputs.x_kv = std::move(inputs.x);
        all = std::move(one);
        spec.query_offset = row;
        x = reshaped(one_row(reshaped(std::move(x), {texts, 1, tokens, width}), row),
                     {1, 1, texts, width});
    }
    if (const Tensor& table = model.weights().distances; !table.empty())
        inputs.params[Param::b_score] =
            distance_scores(table, !model.config().family->causal, model.config().farthest,
                            rows < tokens ? row : 0, rows, tokens);
    auto trace = attend(inputs, spec, backend, only_stage(Stage::output), {control.stop, {}});
    if (!trace) return tl::unexpected(trace.error());
    Tensor& output = (*trace)[Stage::output];
    const Shape shape{1, 1, texts * rows, output.shape().d};
    const BlockProducts of = products_of(block(layer), model.config());
    products += static_cast<double>(texts * tokens) * of.keys +
                static_cast<double>(texts * rows) * (of.queries + of.rest);
    return after_block(x, reshaped(std::move(output), shape), block(layer), model.config()).x;
}

std::vector<Rerun::Outcome> Rerun::outcomes(const Tensor& x, Index texts) {
    products +=
        static_cast<double>(texts) * static_cast<double>(read_out_table(model).shape().count());
    const bool classes = model.config().family->read_out == ReadOut::classes;  // of the first row
    Tensor logits = classes ? Tensor() : read_out_of(model, x);
    std::vector<Outcome> made;
    for (Index n = 0; n < texts; ++n) {
        if (classes) logits = read_out_of(model, row_of(x, n));
        const auto changed = logits.matrix(0, 0).row(classes ? 0 : n);
        made.push_back({difference_of(changed), divergence(before, probabilities(changed))});
        Outcome& one = made.back();
        if (keep_logits) one.logits.assign(changed.begin(), changed.end());
        if (std::abs(one.difference - difference) <= rounding) one.difference = difference;
        if (std::abs(one.kl) <= rounding * rounding) one.kl = 0.0;
    }
    return made;
}

}  // namespace attn
