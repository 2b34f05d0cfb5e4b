#include "core/models/sweep.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "core/kernels/matmul.h"
#include "core/models/block.h"
#include "core/models/ends.h"
#include "core/models/read_out.h"
#include "core/models/sweep_parts.h"
#include "core/text.h"

namespace attn {
namespace {

/// What sums in another order make of such logits in float32; of those below 1 as of 1.
double rounding_of(std::span<const float> logits) {
    double most = 1.0;
    for (const float logit : logits)
        if (std::isfinite(logit)) most = std::max(most, std::abs(double{logit}));
    return 8.0 * double{std::numeric_limits<float>::epsilon()} * most;
}

/// What is changed.
struct Change {
    Index head = 0, position = 0;
};

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
    const BlockWeights& block(Index layer) const { return model_.weights().blocks[layer]; }
    const ModelLayer& layer_of(const ModelRun& run, Index layer) const { return run.layers[layer]; }
    /// Of each text, that are computed of a layer.
    Index rows_of(Index layer) const { return layer + 1 == made_.layers ? 1 : tokens_; }
    bool by_position() const { return options_.each_position || options_.part != SweepPart::heads; }
    double read_out_products() const {
        return static_cast<double>(read_out_table(model_).shape().count());
    }

    double difference_of(std::span<const float> logits) const {
        return double{logits[made_.a]} - logits[made_.b];
    }

    Result<void> begin();
    Result<void> check() const;
    Result<void> align();
    void count_run();
    std::vector<Change> changes() const;
    /// What stands for a position of the text, of a patch; else the position itself.
    Index representative_of(Index position) const {
        return options_.ablation == Ablation::patch ? made_.alignment[position] : position;
    }
    const Tensor& entering(const ModelRun& run, Index layer) const {
        return layer == 0 ? run.embedded : layer_of(run, layer - 1).residual;
    }
    Result<Tensor> changes_of(Index layer, const Tensor& context);
    Result<void> sweep_layer(Index layer);
    Result<void> sweep_residual(Index layer);
    Result<void> sweep_mlp(Index layer);
    Result<void> sweep_head_layer(Index layer);
    /// Some of the changes of a layer together: `start` gives what enters block `next`, of each text.
    using Start = std::function<Tensor(std::span<const Change>)>;
    Result<void> sweep_from(Index layer, Index next, const Start& start);
    /// What goes into the rest of the block, one text behind the other.
    struct Rows {
        Tensor x, attended;
    };
    Rows changed_rows(Index layer, const Tensor& attended, const Tensor& change_by,
                      std::span<const Change> some) const;
    /// x once for each change, of all rows or the one that is measured; `by` in place of the row that is changed.
    Tensor with_rows(const Tensor& x, const Tensor& by, Index rows,
                     std::span<const Change> some) const;
    /// Of the mean of a text, or of another one: [1, H, T, d]; what stands for no position stays.
    Result<Tensor> replacement(const Tensor& own, const Tensor& other) const;
    struct Mlp;
    Result<Mlp> mlp_in(const ModelRun& run, Index layer);
    Inputs inputs_of(const Tensor& x, Index texts, Index layer) const;
    Result<Tensor> through_block(Tensor x, Index texts, Index layer);
    void measure(Index layer, const Tensor& x, std::span<const Change> some,
                 std::vector<SweptHead>& swept);
    void keep(Index layer, std::span<const SweptHead> swept);
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
    double rounding_ = 0.0;           // no change of a logit is less
    double work_ = 0.0, done_ = 0.0;  // in blocks
};

Result<void> Sweep::check() const {
    if (model_.reads_across())
        return bad_input(
            "a decoder that reads an encoder is not swept: its blocks have attention "
            "over that besides");
    if (!model_.gives_logits())
        return bad_input("the effect of a change is measured on logits, and this model gives none");
    if (std::ssize(run_.layers) != made_.layers || run_.embedded.empty() || run_.read_out.empty())
        return bad_input("the run is none of this model");
    const Index text = run_.read_out.shape().d;
    if (options_.tokens)
        for (const Index token : {options_.tokens->first, options_.tokens->second})
            if (token < 0 || token >= text)
                return bad_input(fmt::format("token {} is not one of {}", token, text));
    return {};
}

Result<void> Sweep::align() {
    if (options_.ablation != Ablation::patch) return {};
    if (options_.other == nullptr) return bad_input("a patch needs another text");
    const auto& others = options_.other->tokens;
    const Alignment given = options_.alignment.value_or(common_ends(run_.tokens, others));
    if (std::ssize(given) != tokens_)
        return bad_input(fmt::format("{} tokens are paired; expected one entry for each of {}",
                                     given.size(), tokens_));
    const PairedTokens pairs = pairs_of(given);
    if (pairs.empty() && !options_.alignment)
        return bad_input(
            fmt::format("the text to patch from has {} and the text {}, and neither their first "
                        "nor their last tokens are equal; expected an alignment of tokens",
                        counted(others.size(), "token"), tokens_));
    auto made = aligned(pairs, tokens_, std::ssize(others));
    if (!made) return tl::unexpected(made.error());
    made_.alignment = *std::move(made);
    return {};
}

void Sweep::count_run() {
    const auto rows = static_cast<double>(tokens_);
    const auto count = static_cast<double>(changes().size());
    for (Index layer = 0; layer < made_.layers; ++layer) {
        const BlockProducts of = products_of(block(layer), model_.config());
        made_.products_of_run += rows * (of.keys + of.queries + of.rest);
        work_ += static_cast<double>(made_.layers - layer) * count;
    }
    const bool tokens = model_.config().family->read_out == ReadOut::next_token;
    made_.products_of_run += (tokens ? rows : 1.0) * read_out_products();
}

Result<void> Sweep::begin() {
    const bool classes = model_.config().family->read_out == ReadOut::classes;
    tokens_ = std::ssize(run_.tokens);
    made_.ablation = options_.ablation;
    made_.part = options_.part;
    made_.layers = std::ssize(model_.weights().blocks);
    made_.heads = options_.part == SweepPart::heads ? model_.config().heads : 1;
    if (by_position()) made_.positions = tokens_;
    if (auto valid = check(); !valid) return valid;
    if (auto valid = align(); !valid) return valid;
    const Index answer = *model_.answer_row(run_);
    row_ = classes
               ? 0
               : tokens_ - run_.read_out.shape().t + answer;  // a run may have the last row alone
    made_.position = row_;
    const auto logits = run_.read_out.matrix(0, 0).row(answer);
    before_ = probabilities(logits);
    rounding_ = rounding_of(logits);
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

Result<Tensor> Sweep::replacement(const Tensor& own, const Tensor& other) const {
    const Shape shape = own.shape();
    if (options_.ablation == Ablation::zero) return Tensor(shape);
    if (options_.ablation == Ablation::patch &&
        (other.shape().h != shape.h || other.shape().d != shape.d))
        return bad_input("the run to patch from is none of this model");
    Tensor made = own;
    for (Index h = 0; h < shape.h; ++h)
        if (options_.ablation == Ablation::patch) {
            for (Index t = 0; t < shape.t; ++t)
                if (const Index from = representative_of(t); from >= 0)
                    std::ranges::copy(other.matrix(0, h).row(from),
                                      made.matrix(0, h).row(t).begin());
        } else {
            for (Index c = 0; c < shape.d; ++c) {
                double sum = 0.0;
                for (Index t = 0; t < tokens_; ++t) sum += own(0, h, t, c);
                for (Index t = 0; t < tokens_; ++t)
                    made(0, h, t, c) = static_cast<float>(sum / static_cast<double>(tokens_));
            }
        }
    return made;
}

/// By what the layer's output changes where a head's context is replaced: [1, H, T, d_out].
Result<Tensor> Sweep::changes_of(Index layer, const Tensor& context) {
    Tensor other;
    if (options_.ablation == Ablation::patch) {
        auto patch = context_of(layer_of(*options_.other, layer));
        if (!patch) return patch;
        other = *std::move(patch);
    }
    auto by = replacement(context, other);
    if (!by) return by;
    std::ranges::transform(by->values(), context.values(), by->values().begin(), std::minus<>());
    const Tensor& w_o = layer_of(run_, layer).inputs->params[Param::w_o];
    const Index width = context.shape().d;
    auto changes = Tensor::uninitialised({1, made_.heads, tokens_, w_o.shape().d});
    for (Index h = 0; h < made_.heads; ++h)
        multiply({std::as_const(*by).matrix(0, h)}, rows_of_weight(w_o, h * width, width),
                 changes.matrix(0, h));
    made_.products += static_cast<double>(tokens_ * w_o.count());
    return changes;
}

/// In their order; not of positions for which nothing stands.
std::vector<Change> Sweep::changes() const {
    std::vector<Change> all;
    for (Index h = 0; h < made_.heads; ++h)
        for (Index t = 0; t < made_.positions; ++t)
            if (!by_position() || representative_of(t) >= 0) all.push_back({h, t});
    return all;
}

Result<void> Sweep::sweep_layer(Index layer) {
    switch (made_.part) {
        case SweepPart::residual:
            return sweep_residual(layer);
        case SweepPart::mlp:
            return sweep_mlp(layer);
        default:
            return sweep_head_layer(layer);
    }
}

Result<void> Sweep::sweep_residual(Index layer) {
    const Tensor& x = entering(run_, layer);
    auto by = replacement(x, options_.other ? entering(*options_.other, layer) : Tensor());
    if (!by) return tl::unexpected(by.error());
    return sweep_from(layer, layer, [&](std::span<const Change> some) {
        return with_rows(x, *by, tokens_, some);
    });
}

/// What a layer's MLP adds, and to what.
struct Sweep::Mlp {
    Tensor sum, mlp;
};
Result<Sweep::Mlp> Sweep::mlp_in(const ModelRun& run, Index layer) {
    const auto attended = attended_of(layer_of(run, layer));
    if (!attended) return tl::unexpected(attended.error());
    const Tensor& x = entering(run, layer);
    const auto rows = static_cast<double>(x.shape().t);
    made_.products += rows * (products_of(block(layer), model_.config()).rest +
                              static_cast<double>(block(layer).attention[Param::w_o].count()));
    return Mlp{after_attention(x, *attended, block(layer), model_.config()),
               after_block(x, *attended, block(layer), model_.config()).mlp};
}

Result<void> Sweep::sweep_mlp(Index layer) {
    const auto own = mlp_in(run_, layer);
    if (!own) return tl::unexpected(own.error());
    Tensor other;
    if (options_.ablation == Ablation::patch) {
        auto of_other = mlp_in(*options_.other, layer);
        if (!of_other) return tl::unexpected(of_other.error());
        other = std::move(of_other->mlp);
    }
    const auto mlp = replacement(own->mlp, other);
    if (!mlp) return tl::unexpected(mlp.error());
    const Tensor changed = after_mlp(own->sum, *mlp, block(layer), model_.config());
    return sweep_from(layer, layer + 1, [&](std::span<const Change> some) {
        tell(std::ssize(some));
        return with_rows(layer_of(run_, layer).residual, changed, rows_of(layer), some);
    });
}

Result<void> Sweep::sweep_head_layer(Index layer) {
    const auto context = context_of(layer_of(run_, layer));
    if (!context) return tl::unexpected(context.error());
    const auto change_by = changes_of(layer, *context);
    if (!change_by) return tl::unexpected(change_by.error());
    const auto attended = attended_of(layer_of(run_, layer));
    if (!attended) return tl::unexpected(attended.error());
    made_.products += static_cast<double>(tokens_ * block(layer).attention[Param::w_o].count());
    return sweep_from(layer, layer + 1, [&](std::span<const Change> some) {
        const Index texts = std::ssize(some);
        const Rows rows = changed_rows(layer, *attended, *change_by, some);
        made_.products += static_cast<double>(texts * rows_of(layer)) *
                          products_of(block(layer), model_.config()).rest;
        tell(texts);
        return after_block(rows.x, rows.attended, block(layer), model_.config()).x;
    });
}

Result<void> Sweep::sweep_from(Index layer, Index next, const Start& start) {
    constexpr Index kMostRows = 4096;
    const auto together = static_cast<std::size_t>(std::max<Index>(kMostRows / tokens_, 1));
    const std::vector<Change> all = changes();
    std::vector<SweptHead> swept;
    for (std::size_t first = 0; first < all.size(); first += together) {
        const auto rest = std::span(all).subspan(first);
        const auto some = rest.first(std::min(together, rest.size()));
        Tensor x = start(some);
        for (Index at = next; at < made_.layers; ++at) {
            if (control_.stop.stop_requested()) return failed("the sweep was stopped");
            auto out = through_block(std::move(x), std::ssize(some), at);
            if (!out) return tl::unexpected(out.error());
            x = *std::move(out);
            tell(std::ssize(some));
        }
        measure(layer, x, some, swept);
    }
    keep(layer, swept);
    return {};
}

/// Each with its place; NaN where nothing stands for the position.
void Sweep::keep(Index layer, std::span<const SweptHead> swept) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    std::size_t next = 0;
    for (Index h = 0; h < made_.heads; ++h)
        for (Index t = 0; t < made_.positions; ++t) {
            const bool there =
                next < swept.size() && swept[next].at.head == h && swept[next].position == t;
            made_.swept.push_back(there ? swept[next++] : SweptHead{{layer, h}, t, kNone, kNone});
        }
}

Tensor Sweep::with_rows(const Tensor& x, const Tensor& by, Index rows,
                        std::span<const Change> some) const {
    const Index first = rows == 1 ? row_ : 0;
    auto made = Tensor::uninitialised({1, 1, std::ssize(some) * rows, x.shape().d});
    for (Index n = 0; n < std::ssize(some); ++n)
        for (Index t = first; t < first + rows; ++t) {
            const bool changed = some[n].position == t;
            std::ranges::copy((changed ? by : x).matrix(0, 0).row(t),
                              made.matrix(0, 0).row(n * rows + t - first).begin());
        }
    return made;
}

/// Of all rows or the one that is measured.
Sweep::Rows Sweep::changed_rows(Index layer, const Tensor& attended, const Tensor& change_by,
                                std::span<const Change> some) const {
    const Tensor& before = entering(run_, layer);
    const Index rows = rows_of(layer), first = rows == 1 ? row_ : 0;
    const Index texts = std::ssize(some);
    Rows made{Tensor::uninitialised({1, 1, texts * rows, before.shape().d}),
              Tensor::uninitialised({1, 1, texts * rows, attended.shape().d})};
    for (Index n = 0; n < texts; ++n)
        for (Index t = first; t < first + rows; ++t) {
            const Change& change = some[n];
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

/// What attention of a layer is given of texts one behind the other, as a batch.
Inputs Sweep::inputs_of(const Tensor& x, Index texts, Index layer) const {
    Inputs all;
    auto some = Tensor::uninitialised({1, 1, tokens_, x.shape().d});
    for (Index n = 0; n < texts; ++n) {
        std::ranges::copy(x.values().subspan(n * some.count(), some.values().size()),
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
void Sweep::measure(Index layer, const Tensor& x, std::span<const Change> some,
                    std::vector<SweptHead>& swept) {
    made_.products += static_cast<double>(some.size()) * read_out_products();
    const bool classes = model_.config().family->read_out == ReadOut::classes;  // of the first row
    Tensor logits = classes ? Tensor() : read_out_of(model_, x);
    for (Index n = 0; n < std::ssize(some); ++n) {
        if (classes) logits = read_out_of(model_, row_of(x, n));
        const auto row = logits.matrix(0, 0).row(classes ? 0 : n);
        const Change& change = some[n];
        SweptHead made{{layer, change.head}, change.position, difference_of(row), 0.0};
        made.kl = divergence(before_, probabilities(row));
        if (std::abs(made_.change(made)) <= rounding_) made.difference = made_.difference;
        if (std::abs(made.kl) <= rounding_ * rounding_) made.kl = 0.0;
        swept.push_back(made);
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
