// s split, b sequence, h head, i query.

#include "core/verify/splits.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/bias.h"
#include "core/entries.h"
#include "core/spec_arrays.h"
#include "core/stages.h"

namespace attn::verify {
namespace {

/// m of each sequence; Tk where all are whole.
std::vector<Index> key_counts(const Subject& subject) {
    if (subject.serving && !subject.serving->keys.empty()) return subject.serving->keys;
    return std::vector<Index>(static_cast<std::size_t>(subject.size.batch), subject.size.tk);
}

/// ln Σ exp over the allowed keys from `first` to `last`.
double logsumexp_between(const Subject& subject, Index b, Index h, Index i, Index first,
                         Index last) {
    const auto logits = subject.reference[Stage::masked].matrix(b, h).row(i);
    const auto part =
        logits.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
    double most = -std::numeric_limits<double>::infinity();
    for (const double logit : part) most = std::max(most, logit);
    if (!std::isfinite(most)) return most;
    double sum = 0.0;
    for (const double logit : part) sum += std::exp(logit - most);
    return most + std::log(sum);
}

using Starts = std::vector<std::vector<Index>>;

/// How many logsumexps of splits are what these starts give.
Index fitting(const Subject& subject, const SplitResults& parts, const Starts& starts) {
    const std::vector<Index> keys = key_counts(subject);
    const Dimensions& size = subject.size;
    Index fit = 0;
    for_each_query(size, [&](Index b, Index h, Index i) {
        const auto& of = starts[static_cast<std::size_t>(b)];
        const Index first = size.tk - keys[static_cast<std::size_t>(b)];
        for (std::size_t s = 0; s + 1 < of.size(); ++s) {
            const double expected =
                logsumexp_between(subject, b, h, i, first + of[s], first + of[s + 1]);
            const auto actual = static_cast<double>(
                parts.logsumexp(static_cast<Index>(s) * size.batch + b, h, i, 0));
            if (actual == expected ||
                std::abs(actual - expected) < 1e-2 * (1.0 + std::abs(expected)))
                ++fit;
        }
    });
    return fit;
}

Starts best_starts(const Subject& subject, const SplitResults& parts, Index count,
                   std::string& text) {
    const std::vector<Index> keys = key_counts(subject);
    std::vector<Index> units{1, 16, 32, 64, 128, 256};
    if (subject.serving && subject.serving->paged())
        units.insert(units.begin(), subject.serving->page);
    Starts best;
    Index most = -1;
    for (const Index unit : units)
        for (const bool longest : {false, true}) {
            Starts starts;
            for (const Index m : keys) {
                starts.push_back(split_starts(longest ? subject.size.tk : m, count, unit));
                for (Index& start : starts.back()) start = std::min(start, m);
            }
            const Index fit = fitting(subject, parts, starts);
            if (fit <= most) continue;
            most = fit;
            best = std::move(starts);
            text = fmt::format("{} splits of the keys{}{}", count,
                               unit == 1 ? "" : fmt::format(", in multiples of {}", unit),
                               longest ? ", of the longest sequence" : "");
        }
    return best;
}

/// x of every split.
TensorD repeated(const TensorD& x, Index batch, Index count) {
    const Shape shape = x.shape();
    TensorD made({batch * count, shape.h, shape.t, shape.d});
    const Index each = shape.h * shape.t * shape.d;
    for (Index n = 0; n < batch * count; ++n)
        std::copy_n(x.data() + (shape.b == 1 ? 0 : n % batch) * each, each, made.data() + n * each);
    return made;
}

}  // namespace

Result<SplitCall> make_split_call(const Subject& subject, const SplitResults& parts,
                                  const Serving* serving) {
    const Dimensions& size = subject.size;
    const Shape shape = parts.context.shape();
    const Index count = shape.b / size.batch;
    const bool fits = shape == Shape{count * size.batch, size.heads, size.tq, size.d_v} &&
                      parts.logsumexp.shape() == Shape{shape.b, size.heads, size.tq, 1} &&
                      count > 0;
    if (!fits)
        return bad_input(fmt::format("o_partial is {}; expected [S·{}, {}, {}, {}]",
                                     to_string(shape), size.batch, size.heads, size.tq, size.d_v));
    std::string text;
    Starts starts;
    if (serving != nullptr && !serving->splits.empty()) {
        starts = serving->splits;
        const bool inside = std::ranges::all_of(starts, [&](const std::vector<Index>& of) {
            return std::ssize(of) == count + 1 && of.back() <= size.tk;
        });
        if (!inside || std::ssize(starts) != size.batch)
            return bad_input(
                fmt::format("split_starts does not fit the {} keys; expected {} numbers for each "
                            "sequence, none beyond the keys",
                            size.tk, count + 1));
        text = fmt::format("{} splits of the keys, by split_starts", count);
    } else {
        starts = best_starts(subject, parts, count, text);
    }
    InputsD in;
    in.q = repeated(operand(subject, Stage::q_rot), size.batch, count);
    in.k = repeated(operand(subject, Stage::k_rot), size.batch, count);
    in.v = repeated(subject.reference[Stage::v], size.batch, count);
    for (const ParamInfo& param : param_table())
        if (param.use == ParamUse::score)
            in.params[param.param] = subject.inputs.params[param.param];
    AttentionSpec spec = subject.spec;
    spec.rope.reset();
    spec.qk_norm.reset();
    spec.heads = size.heads, spec.kv_heads = size.kv_heads;
    spec.mask = {};
    spec.query_offset = size.query_offset;
    Mask allowed({shape.b, size.heads, size.tq, size.tk});
    const std::vector<Index> keys = key_counts(subject);
    for_each_row(allowed.shape(), [&](Index n, Index h, Index i) {
        const Index b = n % size.batch, first = size.tk - keys[static_cast<std::size_t>(b)];
        const auto& of = starts[static_cast<std::size_t>(b)];
        const auto s = static_cast<std::size_t>(n / size.batch);
        for (Index j = first + of[s]; j < first + of[s + 1]; ++j)
            allowed(n, h, i, j) = subject.allowed(b, h, i, j);
    });
    spec.mask.custom = std::make_shared<const Mask>(std::move(allowed));
    if (const auto& bias = subject.spec.mask.bias) {
        const Shape of = bias->values.shape();
        Tensor values({of.b == 1 ? 1 : shape.b, of.h, of.t, of.d});
        const Index each = of.h * of.t * of.d;
        for (Index n = 0; n < values.shape().b; ++n)
            std::copy_n(bias->values.data() + (n % of.b) * each, each, values.data() + n * each);
        spec.mask.bias = make_bias(std::move(values));
    }
    auto made = make_subject(std::move(in), spec);
    if (!made) return tl::unexpected(made.error());
    SplitCall call{*std::move(made), {}, std::move(starts), std::move(text)};
    call.results[Stage::context] = parts.context;
    call.results.logsumexp = parts.logsumexp;
    // A merge does not read the output of a split without a key.
    Tensor& context = call.results[Stage::context];
    for_each_row(context.shape(), [&](Index n, Index h, Index i) {
        if (call.results.logsumexp(n, h, i, 0) == -std::numeric_limits<float>::infinity())
            std::ranges::fill(context.matrix(n, h).row(i), 0.0F);
    });
    return call;
}

}  // namespace attn::verify
