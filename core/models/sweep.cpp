#include "core/models/sweep.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "core/backend.h"
#include "core/kernels/matmul.h"
#include "core/models/block.h"
#include "core/models/ends.h"
#include "core/models/family.h"
#include "core/models/rerun.h"
#include "core/models/sweep_logits.h"
#include "core/models/sweep_parts.h"
#include "core/text.h"

namespace attn {
namespace {

/// What is changed.
struct Change {
    Index head = 0, position = 0;
};

/// A sweep as it goes.
class Sweep {
  public:
    Sweep(Rerun rest, const SweepOptions& options, const RunControl& control)
        : rest_(std::move(rest)),
          model_(rest_.model),
          run_(rest_.run),
          options_(options),
          control_(control) {}

    void keep_logits() { rest_.keep_logits = true; }
    Result<HeadSweep> carried_out() {
        if (auto ready = begin(); !ready) return tl::unexpected(ready.error());
        for (Index layer = 0; layer < made_.layers; ++layer)
            if (auto done = sweep_layer(layer); !done) return tl::unexpected(done.error());
        made_.products = rest_.products;
        return std::move(made_);
    }

    std::vector<float> logits_before, logits_after;  // with keep_logits(): see SweptLogits

  private:
    const BlockWeights& block(Index layer) const { return rest_.block(layer); }
    const ModelLayer& layer_of(const ModelRun& run, Index layer) const { return run.layers[layer]; }
    bool by_position() const { return options_.each_position || options_.part != SweepPart::heads; }
    Result<void> begin();
    Result<void> align();
    void count_run();
    Result<void> begin_logits();
    std::vector<Change> changes() const;
    /// What stands for a position of the text, of a patch; else the position itself.
    Index representative_of(Index position) const {
        return options_.ablation == Ablation::patch ? made_.alignment[position] : position;
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
    void measure(Index layer, const Tensor& x, std::span<const Change> some,
                 std::vector<SweptHead>& swept);
    void keep(Index layer, std::span<const SweptHead> swept);
    void add_logits(std::optional<std::size_t> change);
    void tell(Index texts);

    Rerun rest_;
    const Model& model_;
    const ModelRun& run_;
    const SweepOptions& options_;
    const RunControl& control_;
    HeadSweep made_;
    std::vector<float> measured_;     // with keep_logits(): the logits of the changes of a layer
    double work_ = 0.0, done_ = 0.0;  // in blocks
};

Result<void> Sweep::align() {
    if (options_.ablation != Ablation::patch) return {};
    if (options_.other == nullptr) return bad_input("a patch needs another text");
    const auto& others = options_.other->tokens;
    const Alignment given = options_.alignment.value_or(common_ends(run_.tokens, others));
    if (std::ssize(given) != rest_.tokens)
        return bad_input(fmt::format("{} tokens are paired; expected one entry for each of {}",
                                     given.size(), rest_.tokens));
    const PairedTokens pairs = pairs_of(given);
    if (pairs.empty() && !options_.alignment)
        return bad_input(
            fmt::format("the text to patch from has {} and the text {}, and neither their first "
                        "nor their last tokens are equal; expected an alignment of tokens",
                        counted(others.size(), "token"), rest_.tokens));
    auto made = aligned(pairs, rest_.tokens, std::ssize(others));
    if (!made) return tl::unexpected(made.error());
    made_.alignment = *std::move(made);
    return {};
}

void Sweep::count_run() {
    const auto rows = static_cast<double>(rest_.tokens);
    const auto count = static_cast<double>(changes().size());
    for (Index layer = 0; layer < made_.layers; ++layer) {
        const BlockProducts of = products_of(block(layer), model_.config());
        made_.products_of_run += rows * (of.keys + of.queries + of.rest);
        work_ += static_cast<double>(made_.layers - layer) * count;
    }
    const bool tokens = model_.config().family->read_out == ReadOut::next_token;
    made_.products_of_run +=
        (tokens ? rows : 1.0) * static_cast<double>(read_out_table(model_).shape().count());
}

Result<void> Sweep::begin() {
    made_.ablation = options_.ablation;
    made_.part = options_.part;
    made_.a = rest_.a, made_.b = rest_.b;
    made_.position = rest_.row;
    made_.difference = rest_.difference;
    made_.layers = rest_.layers;
    made_.heads = options_.part == SweepPart::heads ? model_.config().heads : 1;
    if (by_position()) made_.positions = rest_.tokens;
    if (auto valid = align(); !valid) return valid;
    count_run();
    return begin_logits();
}

Result<void> Sweep::begin_logits() {
    if (!rest_.keep_logits) return {};
    constexpr double kMost = 1 << 30;  // bytes
    const auto answer = run_.read_out.matrix(0, 0).row(*model_.answer_row(run_));
    const auto places = static_cast<double>(made_.layers * made_.heads * made_.positions);
    const double bytes = places * static_cast<double>(answer.size() * sizeof(float));
    if (bytes > kMost)
        return bad_input(fmt::format(
            "the logits of {:.0f} changes are {:.1f} GB; expected at most {:.1f} GB: change the "
            "heads at all positions together, or shorten the text",
            places, bytes / 1e9, kMost / 1e9));
    logits_before.assign(answer.begin(), answer.end());
    return {};
}

Result<Tensor> Sweep::replacement(const Tensor& own, const Tensor& other) const {
    const Shape shape = own.shape();
    if (options_.ablation == Ablation::zero) return Tensor(shape);
    if (options_.ablation == Ablation::patch &&
        (other.shape().h != shape.h || other.shape().d != shape.d))
        return bad_input("the run to patch from does not belong to this model");
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
                for (Index t = 0; t < rest_.tokens; ++t) sum += own(0, h, t, c);
                for (Index t = 0; t < rest_.tokens; ++t)
                    made(0, h, t, c) = static_cast<float>(sum / static_cast<double>(rest_.tokens));
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
    auto changes = Tensor::uninitialised({1, made_.heads, rest_.tokens, w_o.shape().d});
    for (Index h = 0; h < made_.heads; ++h)
        multiply({std::as_const(*by).matrix(0, h)}, rows_of_weight(w_o, h * width, width),
                 changes.matrix(0, h));
    rest_.products += static_cast<double>(rest_.tokens * w_o.count());
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
    const Tensor& x = Rerun::entering(run_, layer);
    auto by = replacement(x, options_.other ? Rerun::entering(*options_.other, layer) : Tensor());
    if (!by) return tl::unexpected(by.error());
    return sweep_from(layer, layer, [&](std::span<const Change> some) {
        return with_rows(x, *by, rest_.tokens, some);
    });
}

/// What a layer's MLP adds, and to what.
struct Sweep::Mlp {
    Tensor sum, mlp;
};
Result<Sweep::Mlp> Sweep::mlp_in(const ModelRun& run, Index layer) {
    const auto attended = attended_of(layer_of(run, layer));
    if (!attended) return tl::unexpected(attended.error());
    const Tensor& x = Rerun::entering(run, layer);
    const auto rows = static_cast<double>(x.shape().t);
    rest_.products += rows * (products_of(block(layer), model_.config()).rest +
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
        return with_rows(layer_of(run_, layer).residual, changed, rest_.rows_of(layer), some);
    });
}

Result<void> Sweep::sweep_head_layer(Index layer) {
    const auto context = context_of(layer_of(run_, layer));
    if (!context) return tl::unexpected(context.error());
    const auto change_by = changes_of(layer, *context);
    if (!change_by) return tl::unexpected(change_by.error());
    const auto attended = attended_of(layer_of(run_, layer));
    if (!attended) return tl::unexpected(attended.error());
    rest_.products +=
        static_cast<double>(rest_.tokens * block(layer).attention[Param::w_o].count());
    return sweep_from(layer, layer + 1, [&](std::span<const Change> some) {
        const Index texts = std::ssize(some);
        const Rows rows = changed_rows(layer, *attended, *change_by, some);
        rest_.products += static_cast<double>(texts * rest_.rows_of(layer)) *
                          products_of(block(layer), model_.config()).rest;
        tell(texts);
        return after_block(rows.x, rows.attended, block(layer), model_.config()).x;
    });
}

Result<void> Sweep::sweep_from(Index layer, Index next, const Start& start) {
    constexpr Index kMostRows = 4096;
    const auto together = static_cast<std::size_t>(std::max<Index>(kMostRows / rest_.tokens, 1));
    const std::vector<Change> all = changes();
    std::vector<SweptHead> swept;
    for (std::size_t first = 0; first < all.size(); first += together) {
        const auto rest = std::span(all).subspan(first);
        const auto some = rest.first(std::min(together, rest.size()));
        Tensor x = start(some);
        for (Index at = next; at < made_.layers; ++at) {
            if (control_.stop.stop_requested()) return failed("the sweep was stopped");
            auto out = rest_.through_block(std::move(x), std::ssize(some), at, control_);
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
            add_logits(there ? std::optional(next) : std::nullopt);
            made_.swept.push_back(there ? swept[next++] : SweptHead{{layer, h}, t, kNone, kNone});
        }
    measured_.clear();
}

/// Those of a change of the layer; nullopt: NaN.
void Sweep::add_logits(std::optional<std::size_t> change) {
    const std::size_t count = logits_before.size();
    if (!change) {
        logits_after.resize(logits_after.size() + count, std::numeric_limits<float>::quiet_NaN());
        return;
    }
    const auto first = measured_.begin() + static_cast<std::ptrdiff_t>(*change * count);
    logits_after.insert(logits_after.end(), first, first + static_cast<std::ptrdiff_t>(count));
}

Tensor Sweep::with_rows(const Tensor& x, const Tensor& by, Index rows,
                        std::span<const Change> some) const {
    const Index first = rows == 1 ? rest_.row : 0;
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
    const Tensor& before = Rerun::entering(run_, layer);
    const Index rows = rest_.rows_of(layer), first = rows == 1 ? rest_.row : 0;
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

/// x: what leaves the last block of the measured row, of each text.
void Sweep::measure(Index layer, const Tensor& x, std::span<const Change> some,
                    std::vector<SweptHead>& swept) {
    const auto outcomes = rest_.outcomes(x, std::ssize(some));
    for (std::size_t n = 0; n < some.size(); ++n) {
        swept.push_back(
            {{layer, some[n].head}, some[n].position, outcomes[n].difference, outcomes[n].kl});
        measured_.insert(measured_.end(), outcomes[n].logits.begin(), outcomes[n].logits.end());
    }
}

void Sweep::tell(Index texts) {
    done_ += static_cast<double>(texts);
    if (control_.progress) control_.progress(std::min(done_ / work_, 1.0));
}

}  // namespace

Result<HeadSweep> sweep_heads(const Model& model, const ModelRun& run, const Backend& backend,
                              const SweepOptions& options, const RunControl& control) {
    auto rest = rerun_of(model, run, backend, options.tokens);
    if (!rest) return tl::unexpected(rest.error());
    return Sweep(*std::move(rest), options, control).carried_out();
}

Result<SweptLogits> sweep_logits(const Model& model, const ModelRun& run, const Backend& backend,
                                 const SweepOptions& options, const RunControl& control) {
    auto rest = rerun_of(model, run, backend, options.tokens);
    if (!rest) return tl::unexpected(rest.error());
    Sweep sweep(*std::move(rest), options, control);
    sweep.keep_logits();
    auto made = sweep.carried_out();
    if (!made) return tl::unexpected(made.error());
    return SweptLogits{*std::move(made), std::move(sweep.logits_before),
                       std::move(sweep.logits_after)};
}

}  // namespace attn
