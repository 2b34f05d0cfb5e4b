#include "core/models/sweep.h"

#include <algorithm>
#include <functional>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "core/kernels/matmul.h"
#include "core/kernels/projections.h"
#include "core/models/block.h"
#include "core/models/ends.h"
#include "core/models/read_out.h"

namespace attn {
namespace {

/// Which context is changed.
struct Change {
    Index head = 0, position = 0;
};

Tensor reshaped(Tensor x, Shape shape) {
    if (x.shape() == shape) return x;
    auto made = Tensor::uninitialised(shape);
    std::ranges::copy(std::as_const(x).values(), made.values().begin());
    return made;
}

/// Row `row` of every text of x [B, 1, T, d]: [B, 1, 1, d]; of heads [B, H, T, d]: [B, H, 1, d].
Tensor one_row(const Tensor& x, Index row) {
    const Shape shape = x.shape();
    auto made = Tensor::uninitialised({shape.b, shape.h, 1, shape.d});
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h)
            std::ranges::copy(x.matrix(b, h).row(row), made.matrix(b, h).row(0).begin());
    return made;
}

/// What each head gives before W_O, [1, H, T, d_v]: kept, or Σ_j α_j v_j.
Result<Tensor> context_of(const ModelLayer& layer) {
    if (!layer.trace[Stage::context].empty()) return layer.trace[Stage::context];
    const Tensor& weights = layer.trace[Stage::weights];
    const Tensor& v = layer.trace[Stage::v].empty() ? layer.inputs->v : layer.trace[Stage::v];
    if (weights.empty() || v.empty())
        return bad_input("the run did not keep 'context', nor 'weights' and 'v'");
    const Shape shape = weights.shape();
    auto context = Tensor::uninitialised({1, shape.h, shape.t, v.shape().d});
    for (Index h = 0; h < shape.h; ++h)
        multiply({weights.matrix(0, h)}, {v.matrix(0, h * v.shape().h / shape.h)},
                 context.matrix(0, h));
    return context;
}

/// Part n of `parts` that are equally large, behind each other in a batch; nothing of what is empty.
void put_into(Tensor& all, const Tensor& one, Index n, Index parts) {
    const Shape shape = one.shape();
    if (one.empty()) return;
    if (n == 0) all = Tensor::uninitialised({parts, shape.h, shape.t, shape.d});
    std::ranges::copy(one.values(), all.data() + n * one.count());
}

double count_of(const LinearWeights& linear) {
    return linear.there() ? static_cast<double>(linear.weight.shape().count()) : 0.0;
}
double count_of(const MlpWeights& mlp) {
    return count_of(mlp.gate) + count_of(mlp.up) + count_of(mlp.down);
}

/// Multiplications with a block's weight matrices, for each row of what they read.
struct BlockProducts {
    double keys = 0.0;     // W_K, W_V
    double queries = 0.0;  // W_Q, W_O
    double rest = 0.0;     // after attention
};
BlockProducts products_of(const BlockWeights& block, const ModelConfig& config) {
    const auto of = [&](Param param) {
        return static_cast<double>(block.attention[param].count());
    };
    BlockProducts products{of(Param::w_k) + of(Param::w_v), of(Param::w_q) + of(Param::w_o), 0.0};
    products.rest = count_of(block.residual) + count_of(block.mlp) + count_of(block.router);
    if (!block.experts.empty())
        products.rest +=
            static_cast<double>(config.experts_per_token) * count_of(block.experts.front());
    return products;
}

/// A sweep as it goes.
class Sweep {
  public:
    Sweep(const Model& model, const ModelRun& run, const Backend& backend,
          const SweepOptions& options, const RunControl& control)
        : model_(model), run_(run), backend_(backend), options_(options), control_(control) {}

    Result<HeadSweep> carried_out() {
        if (auto ready = begin(); !ready) return tl::unexpected(ready.error());
        for (Index layer = 0; layer < made_.layers; ++layer)
            if (auto done = sweep_layer(layer); !done) return tl::unexpected(done.error());
        return std::move(made_);
    }

  private:
    const BlockWeights& block(Index layer) const {
        return model_.weights().blocks[static_cast<std::size_t>(layer)];
    }
    const ModelLayer& layer_of(const ModelRun& run, Index layer) const {
        return run.layers[static_cast<std::size_t>(layer)];
    }
    /// Of each text, that are computed of a layer.
    Index rows_of(Index layer) const { return layer + 1 == made_.layers ? 1 : tokens_; }
    double read_out_products() const {
        return static_cast<double>(read_out_table(model_).shape().count());
    }

    double difference_of(std::span<const float> logits) const {
        return double{logits[static_cast<std::size_t>(made_.a)]} -
               logits[static_cast<std::size_t>(made_.b)];
    }

    Result<void> begin();
    Result<void> check() const;
    void count_run();
    Result<Tensor> changes_of(Index layer, const Tensor& context);
    Result<void> sweep_layer(Index layer);
    struct Rows;
    Rows changed_rows(Index layer, const Tensor& attended, const Tensor& change_by,
                      std::span<const Change> some) const;
    Result<void> sweep_some(Index layer, const Tensor& attended, const Tensor& change_by,
                            std::span<const Change> some);
    Tensor replacement(const Tensor& context, const Tensor& other) const;
    Inputs inputs_of(const Tensor& x, Index texts, Index layer) const;
    Result<Tensor> through_block(Tensor x, Index texts, Index layer);
    void measure(Index layer, const Tensor& x, std::span<const Change> some);
    void tell(Index texts);

    const Model& model_;
    const ModelRun& run_;
    const Backend& backend_;
    const SweepOptions& options_;
    const RunControl& control_;
    HeadSweep made_;
    Index tokens_ = 0;
    Index row_ = 0;  // whose logits are measured
    std::vector<double> before_;
    double work_ = 0.0, done_ = 0.0;  // in blocks
};

Result<void> Sweep::check() const {
    if (model_.reads_across())
        return bad_input(
            "a decoder that reads an encoder is not swept: its blocks have attention "
            "over that besides");
    if (!model_.gives_logits())
        return bad_input("the effect of a head is measured on logits, and this model gives none");
    if (std::ssize(run_.layers) != made_.layers || run_.embedded.empty())
        return bad_input("the run is none of this model");
    const Index words = run_.read_out.shape().d;
    if (options_.tokens)
        for (const Index token : {options_.tokens->first, options_.tokens->second})
            if (token < 0 || token >= words)
                return bad_input(fmt::format("token {} is not one of {}", token, words));
    if (options_.by != Ablation::patch) return {};
    if (options_.other == nullptr) return bad_input("a patch needs another text");
    if (std::ssize(options_.other->tokens) != tokens_)
        return bad_input(fmt::format("the text to patch from has {} tokens; expected {}",
                                     options_.other->tokens.size(), tokens_));
    return {};
}

void Sweep::count_run() {
    const auto rows = static_cast<double>(tokens_);
    for (Index layer = 0; layer < made_.layers; ++layer) {
        const BlockProducts of = products_of(block(layer), model_.config());
        made_.products_of_run += rows * (of.keys + of.queries + of.rest);
        work_ += static_cast<double>((made_.layers - layer) * made_.heads * made_.positions);
    }
    made_.products_of_run += static_cast<double>(run_.read_out.shape().t) * read_out_products();
}

Result<void> Sweep::begin() {
    const bool classes = model_.config().family->read_out == ReadOut::classes;
    tokens_ = std::ssize(run_.tokens);
    row_ = classes ? 0 : tokens_ - 1;
    made_.by = options_.by;
    made_.layers = std::ssize(model_.weights().blocks);
    made_.heads = model_.config().heads;
    if (options_.each_position) made_.positions = tokens_;
    if (auto fine = check(); !fine) return fine;
    const auto logits = run_.read_out.matrix(0, 0).row(run_.read_out.shape().t - 1);
    before_ = probabilities(logits);
    const auto likely = likeliest(logits, 2);
    if (options_.tokens)
        std::tie(made_.a, made_.b) = *options_.tokens;
    else if (likely.size() == 2)
        made_.a = likely[0].id, made_.b = likely[1].id;
    else
        return bad_input("the next token's logits are not finite; expected two tokens to compare");
    made_.difference = difference_of(logits);
    count_run();
    return {};
}

/// What stands in place of the context.
Tensor Sweep::replacement(const Tensor& context, const Tensor& other) const {
    if (options_.by == Ablation::patch) return other;
    Tensor made(context.shape());
    if (options_.by == Ablation::zero) return made;
    for (Index h = 0; h < context.shape().h; ++h)
        for (Index c = 0; c < context.shape().d; ++c) {
            double sum = 0.0;
            for (Index t = 0; t < tokens_; ++t) sum += context(0, h, t, c);
            for (Index t = 0; t < tokens_; ++t)
                made(0, h, t, c) = static_cast<float>(sum / static_cast<double>(tokens_));
        }
    return made;
}

/// By what the layer's output changes where a head's context is replaced: [1, H, T, d_out].
Result<Tensor> Sweep::changes_of(Index layer, const Tensor& context) {
    Tensor other;
    if (options_.by == Ablation::patch) {
        auto patch = context_of(layer_of(*options_.other, layer));
        if (!patch) return patch;
        other = *std::move(patch);
    }
    Tensor by = replacement(context, other);
    std::ranges::transform(by.values(), context.values(), by.values().begin(), std::minus<>());
    const Tensor& w_o = layer_of(run_, layer).inputs->params[Param::w_o];
    const Index width = context.shape().d;
    auto changes = Tensor::uninitialised({1, made_.heads, tokens_, w_o.shape().d});
    for (Index h = 0; h < made_.heads; ++h)
        multiply({by.matrix(0, h)}, {w_o.matrix(0, 0).row_block(h * width, width)},
                 changes.matrix(0, h));
    made_.products += static_cast<double>(tokens_ * w_o.count());
    return changes;
}

Result<void> Sweep::sweep_layer(Index layer) {
    const auto context = context_of(layer_of(run_, layer));
    if (!context) return tl::unexpected(context.error());
    const auto change_by = changes_of(layer, *context);
    if (!change_by) return tl::unexpected(change_by.error());
    Dimensions size{1, made_.heads, made_.heads, tokens_};
    size.d_v = context->shape().d;
    size.d_out = change_by->shape().d;
    const Tensor attended = join_heads(*layer_of(run_, layer).inputs, size, *context);
    made_.products += static_cast<double>(tokens_ * made_.heads * size.d_v * size.d_out);
    std::vector<Change> changes;
    for (Index h = 0; h < made_.heads; ++h)
        for (Index t = 0; t < made_.positions; ++t) changes.push_back({h, t});
    constexpr Index kMostRows = 4096;
    const auto together = static_cast<std::size_t>(std::max<Index>(kMostRows / tokens_, 1));
    for (std::size_t first = 0; first < changes.size(); first += together) {
        const auto some = std::span(changes).subspan(first);
        if (auto done = sweep_some(layer, attended, *change_by,
                                   some.first(std::min(together, some.size())));
            !done)
            return done;
    }
    return {};
}

/// What goes into the rest of the block, one text behind the other, of all rows or the one that is measured.
struct Sweep::Rows {
    Tensor x, attended;
};
Sweep::Rows Sweep::changed_rows(Index layer, const Tensor& attended, const Tensor& change_by,
                                std::span<const Change> some) const {
    const Tensor& before = layer == 0 ? run_.embedded : layer_of(run_, layer - 1).residual;
    const Index rows = rows_of(layer), first = rows == 1 ? row_ : 0;
    const Index texts = std::ssize(some);
    Rows made{Tensor::uninitialised({1, 1, texts * rows, before.shape().d}),
              Tensor::uninitialised({1, 1, texts * rows, attended.shape().d})};
    for (Index n = 0; n < texts; ++n)
        for (Index t = first; t < first + rows; ++t) {
            const Change& change = some[static_cast<std::size_t>(n)];
            const Index row = n * rows + t - first;
            std::ranges::copy(before.matrix(0, 0).row(t), made.x.matrix(0, 0).row(row).begin());
            const auto to = made.attended.matrix(0, 0).row(row);
            std::ranges::copy(attended.matrix(0, 0).row(t), to.begin());
            if (!options_.each_position || change.position == t)
                std::ranges::transform(to, change_by.matrix(0, change.head).row(t), to.begin(),
                                       std::plus<>());
        }
    return made;
}

Result<void> Sweep::sweep_some(Index layer, const Tensor& attended, const Tensor& change_by,
                               std::span<const Change> some) {
    const Index texts = std::ssize(some);
    const Rows rows = changed_rows(layer, attended, change_by, some);
    Tensor x = after_block(rows.x, rows.attended, block(layer), model_.config()).x;
    made_.products += static_cast<double>(texts * rows_of(layer)) *
                      products_of(block(layer), model_.config()).rest;
    tell(texts);
    for (Index next = layer + 1; next < made_.layers; ++next) {
        if (control_.stop.stop_requested()) return failed("the sweep was stopped");
        auto out = through_block(std::move(x), texts, next);
        if (!out) return tl::unexpected(out.error());
        x = *std::move(out);
        tell(texts);
    }
    measure(layer, x, some);
    return {};
}

/// What attention of a layer is given of texts one behind the other, as a batch.
Inputs Sweep::inputs_of(const Tensor& x, Index texts, Index layer) const {
    Inputs all;
    auto some = Tensor::uninitialised({1, 1, tokens_, x.shape().d});
    for (Index n = 0; n < texts; ++n) {
        std::ranges::copy(
            x.values().subspan(static_cast<std::size_t>(n * some.count()), some.values().size()),
            some.values().begin());
        Inputs one = attention_inputs(some, block(layer), model_.config(), layer);
        for (const auto part : {&Inputs::x, &Inputs::q, &Inputs::k, &Inputs::v})
            put_into(all.*part, one.*part, n, texts);
        if (n == 0) all.params = std::move(one.params);
    }
    return all;
}

/// Of the last block the measured row alone.
Result<Tensor> Sweep::through_block(Tensor x, Index texts, Index layer) {
    const Index rows = rows_of(layer), width = x.shape().d;
    Inputs inputs = inputs_of(x, texts, layer);
    AttentionSpec spec = layer_spec(model_.config(), layer);
    if (rows < tokens_) {
        Tensor& all = inputs.projects() ? inputs.x : inputs.q;
        Tensor one = one_row(all, row_);
        if (inputs.projects()) inputs.x_kv = std::move(inputs.x);
        all = std::move(one);
        spec.query_offset = row_;
        x = reshaped(one_row(reshaped(std::move(x), {texts, 1, tokens_, width}), row_),
                     {1, 1, texts, width});
    }
    auto trace = attend(inputs, spec, backend_, only_stage(Stage::output), {control_.stop, {}});
    if (!trace) return tl::unexpected(trace.error());
    Tensor& output = (*trace)[Stage::output];
    const Shape shape{1, 1, texts * rows, output.shape().d};
    const BlockProducts of = products_of(block(layer), model_.config());
    made_.products += static_cast<double>(texts * tokens_) * of.keys +
                      static_cast<double>(texts * rows) * (of.queries + of.rest);
    return after_block(x, reshaped(std::move(output), shape), block(layer), model_.config()).x;
}

/// x: what leaves the last block of the measured row, of each text.
void Sweep::measure(Index layer, const Tensor& x, std::span<const Change> some) {
    made_.products += static_cast<double>(some.size()) * read_out_products();
    const bool classes = model_.config().family->read_out == ReadOut::classes;  // of the first row
    Tensor logits = classes ? Tensor() : read_out_of(model_, x);
    for (Index n = 0; n < std::ssize(some); ++n) {
        if (classes) logits = read_out_of(model_, row_of(x, n));
        const auto row = logits.matrix(0, 0).row(classes ? 0 : n);
        const Change& change = some[static_cast<std::size_t>(n)];
        made_.swept.push_back({{layer, change.head},
                               change.position,
                               difference_of(row),
                               divergence(before_, probabilities(row))});
    }
}

void Sweep::tell(Index texts) {
    done_ += static_cast<double>(texts);
    if (control_.progress) control_.progress(std::min(done_ / work_, 1.0));
}

}  // namespace

Result<HeadSweep> sweep_heads(const Model& model, const ModelRun& run, const Backend& backend,
                              const SweepOptions& options, const RunControl& control) {
    return Sweep(model, run, backend, options, control).carried_out();
}

}  // namespace attn
