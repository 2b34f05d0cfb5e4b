#include "core/corpus/measure.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/matmul.h"
#include "core/masks.h"
#include "core/models/several_texts.h"
#include "core/models/tokenizer.h"
#include "core/threads.h"
#include "core/trace.h"

namespace attn {
namespace {

std::vector<std::uint8_t> allowed_pairs(const MaskSpec& mask, Index tokens) {
    if (!mask.any()) return {};
    Dimensions size;
    size.batch = size.heads = size.kv_heads = 1;
    size.tq = size.tk = tokens;
    std::vector<std::uint8_t> pairs(tokens * tokens);
    for (Index i = 0; i < tokens; ++i)
        fill_allowed(mask, size, 0, 0, i,
                     {pairs.data() + i * tokens, static_cast<std::size_t>(tokens)});
    return pairs;
}

/// ‖α V W_O‖ of each text and head; the product of all texts at once.
std::vector<std::vector<double>> output_norms(const LayerOfTexts& layer) {
    const Tensor& w_o = layer.params[Param::w_o];
    const Shape shape = layer.context.shape();
    std::vector<std::vector<double>> norms(layer.traces.size());
    auto out = Tensor::uninitialised({1, 1, shape.t, w_o.empty() ? shape.d : w_o.shape().d});
    for (Index head = 0; head < shape.h; ++head) {
        MatrixView<const float> rows = layer.context.matrix(0, head);
        if (!w_o.empty()) {
            multiply({rows}, rows_of_weight(w_o, head * shape.d, shape.d), out.matrix(0, 0));
            rows = std::as_const(out).matrix(0, 0);
        }
        for (std::size_t n = 0; n < norms.size(); ++n) {
            double squares = 0.0;
            for (Index row = layer.first[n]; row < layer.first[n + 1]; ++row)
                for (const float value : rows.row(row)) squares += double{value} * value;
            norms[n].push_back(std::sqrt(squares));
        }
    }
    return norms;
}

}  // namespace

Result<std::vector<std::vector<HeadFacts>>> measure_texts(
    const Model& model, std::span<const std::vector<ModelToken>> texts, bool labels,
    const RunControl& control) {
    std::vector<std::vector<HeadFacts>> facts(texts.size());
    std::vector<std::vector<Index>> numbers;
    for (const auto& tokens : texts) {
        std::vector<std::string> items;
        for (const ModelToken& token : tokens) items.push_back(token.text);
        numbers.push_back(token_numbers(items));
    }
    const auto look = [&](const LayerOfTexts& layer) {
        const auto norms = output_norms(layer);
        const bool sinks = !layer.params[Param::sinks].empty();
        const auto measured = [&](std::size_t n, Index head,
                                  std::span<const std::uint8_t> allowed) {
            const HeadRows rows{layer.traces[n][Stage::weights].matrix(0, head), allowed,
                                numbers[n], 0, sinks};
            HeadFacts made{{layer.layer, head}, measure_head(rows), {}};
            if (labels) made.label = propose_label(rows);
            return made;
        };
        const Index heads = layer.context.shape().h;
        // Of few texts the heads are measured side by side, of many the texts.
        const bool few = std::ssize(texts) < thread_count();
        std::vector<std::vector<HeadFacts>> of_layer(texts.size(), std::vector<HeadFacts>(heads));
        const auto text_measured = [&](Index at, int) {
            const auto n = static_cast<std::size_t>(at);
            const auto allowed =
                allowed_pairs(layer.spec.mask, layer.traces[n][Stage::weights].shape().t);
            const auto one = [&](Index head, int) {
                of_layer[n][head] = measured(n, head, allowed);
            };
            if (few)
                parallel_for(heads, {}, one);
            else
                for (Index head = 0; head < heads; ++head) one(head, 0);
            const auto shares = norm_shares(norms[n]);
            for (Index head = 0; head < heads; ++head)
                of_layer[n][head].measures[HeadMeasure::norm_share] = shares[head];
            std::ranges::move(of_layer[n], std::back_inserter(facts[n]));
        };
        if (few)
            for (Index n = 0; n < std::ssize(texts); ++n) text_measured(n, 0);
        else
            parallel_for(std::ssize(texts), {}, text_measured);
    };
    if (auto done = run_texts(model, texts, *find_backend("staged"), look, control); !done)
        return tl::unexpected(done.error());
    return facts;
}

bool is_not_finite(std::span<const HeadFacts> heads) {
    return std::ranges::any_of(heads, [](const HeadFacts& each) {
        return each.measures.rows == 0 || each.measures.excluded > 0;
    });
}

}  // namespace attn
