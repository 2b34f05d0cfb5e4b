#include "core/models/several_texts.h"

#include <algorithm>

#include "core/backend.h"
#include "core/dimensions.h"
#include "core/engine.h"
#include "core/kernels/matmul.h"
#include "core/kernels/projections.h"
#include "core/models/block.h"
#include "core/models/delta_net.h"
#include "core/models/distances.h"
#include "core/models/ends.h"
#include "core/models/family.h"
#include "core/models/model.h"
#include "core/models/weights.h"

namespace attn {
namespace {

/// x W + b, [1, 1, rows, columns].
Tensor projected(const Tensor& x, const Params& params, Param weight, Param bias) {
    const Tensor& w = params[weight];
    const Index rows = x.shape().t, columns = w.shape().d;
    auto made = Tensor::uninitialised({1, 1, rows, columns});
    const Tensor& b = params[bias];
    for (Index row = 0; row < rows && !b.empty(); ++row)
        std::copy_n(b.data(), columns, made.data() + row * columns);
    multiply({x.matrix(0, 0)}, WeightPart{w}, made.matrix(0, 0),
             b.empty() ? Into::replace : Into::add);
    return made;
}

/// Rows first … end − 1 of joined heads, apart.
Tensor heads_of(const Tensor& joined, Index first, Index end, Index heads) {
    const Index width = joined.shape().d / heads;
    auto apart = Tensor::uninitialised({1, heads, end - first, width});
    for (Index h = 0; h < heads; ++h)
        for (Index row = first; row < end; ++row)
            std::copy_n(joined.data() + row * joined.shape().d + h * width, width,
                        apart.matrix(0, h).row(row - first).begin());
    return apart;
}

class TextsRun {
  public:
    TextsRun(const Model& model, std::span<const std::vector<ModelToken>> texts,
             const Backend& backend)
        : model_(model), config_(model.config()), backend_(backend) {
        for (const auto& tokens : texts) first_.push_back(first_.back() + std::ssize(tokens));
        x_ = Tensor::uninitialised({1, 1, first_.back(), config_.width});
        for (std::size_t n = 0; n < texts.size(); ++n)
            std::ranges::copy(embedded(model, texts[n]).values(),
                              x_.matrix(0, 0).row(first_[n]).begin());
    }

    Result<void> run(Index layer, const std::function<void(const LayerOfTexts&)>& look,
                     const RunControl& control) {
        const auto read = model_.block(layer, x_.shape().d);
        if (!read) return tl::unexpected(read.error());
        const BlockWeights& block = **read;
        const AttentionSpec spec = layer_spec(config_, layer);
        auto attended = attend_each(block, spec, layer, control);
        if (!attended) return tl::unexpected(attended.error());
        look({layer, spec, traces_, first_, *attended, block.attention});
        x_ = after_block(x_, joined(block, *attended), block, config_).x;
        return {};
    }

  private:
    /// [1, H, rows, d_v].
    Result<Tensor> attend_each(const BlockWeights& block, const AttentionSpec& spec, Index layer,
                               const RunControl& control) {
        const Tensor rows = projected_rows(x_, block, config_);
        const Params& params = block.attention;
        const Tensor q = projected(rows, params, Param::w_q, Param::b_q);
        const Tensor k = projected(rows, params, Param::w_k, Param::b_k);
        const Tensor v = projected(rows, params, Param::w_v, Param::b_v);
        StageSet keep;
        for (const Stage stage : {Stage::weights, Stage::context}) keep.set(index_of(stage));
        auto context =
            Tensor::uninitialised({1, config_.heads, x_.shape().t, v.shape().d / config_.kv_heads});
        traces_.clear();
        for (std::size_t n = 0; n + 1 < first_.size(); ++n) {
            Inputs heads;
            heads.q = heads_of(q, first_[n], first_[n + 1], config_.heads);
            heads.k = heads_of(k, first_[n], first_[n + 1], config_.kv_heads);
            heads.v = heads_of(v, first_[n], first_[n + 1], config_.kv_heads);
            heads.params[Param::sinks] = params[Param::sinks];
            finish_heads(heads, block, config_, layer);
            if (const Tensor& table = model_.weights().distances; !table.empty())
                heads.params[Param::b_score] =
                    distance_scores(table, !config_.family->causal, config_.farthest, 0,
                                    first_[n + 1] - first_[n], first_[n + 1] - first_[n]);
            auto trace = attend(heads, spec, backend_, keep, {control.stop, {}});
            if (!trace) return tl::unexpected(trace.error());
            const Tensor own = std::move((*trace)[Stage::context]);
            for (Index h = 0; h < config_.heads; ++h)
                std::copy_n(own.matrix(0, h).data, own.shape().t * own.shape().d,
                            context.matrix(0, h).row(first_[n]).data());
            traces_.push_back(*std::move(trace));
        }
        return context;
    }

    Tensor joined(const BlockWeights& block, const Tensor& context) const {
        Inputs inputs;
        for (const Param param : {Param::w_o, Param::b_o})
            inputs.params[param] = block.attention[param];
        Dimensions size;
        size.batch = 1;
        size.heads = config_.heads;
        size.tq = context.shape().t;
        size.d_v = context.shape().d;
        const Tensor& w_o = inputs.params[Param::w_o];
        size.d_out = w_o.empty() ? size.heads * size.d_v : w_o.shape().d;
        return join_heads(inputs, size, context);
    }

    const Model& model_;
    const ModelConfig& config_;
    const Backend& backend_;
    std::vector<Index> first_{0};
    Tensor x_;
    std::vector<Trace> traces_;
};

}  // namespace

Result<void> run_texts(const Model& model, std::span<const std::vector<ModelToken>> texts,
                       const Backend& backend, const std::function<void(const LayerOfTexts&)>& look,
                       const RunControl& control) {
    if (auto valid = check_heads_add_up(model.config(), "means over texts"); !valid) return valid;
    for (const auto& tokens : texts)
        if (auto valid = model.check_tokens(tokens); !valid) return valid;
    if (texts.empty()) return {};
    TextsRun run(model, texts, backend);
    const Index layers = model.config().layers;
    for (Index layer = 0; layer < layers; ++layer) {
        if (control.stop.stop_requested()) return failed("it was stopped");
        if (auto done = run.run(layer, look, control); !done) return done;
        if (control.progress)
            control.progress(static_cast<double>(layer + 1) / static_cast<double>(layers));
    }
    return {};
}

}  // namespace attn
