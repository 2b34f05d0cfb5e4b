// Faults of a backward pass alone; the forward pass is right. W = ∂L/∂(weights), P weights, D = rowsum(W ∘ P) = rowsum(dO ∘ O);
// dS = P ∘ (W − D), dQ = scale · dS K, dK = scale · dSᵀ Q, dV = Pᵀ dO.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/call.h"
#include "core/dropout.h"
#include "core/engine.h"
#include "core/entries.h"
#include "core/kernels/reference_parts.h"
#include "core/rotary.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/verify/faults.h"
#include "core/verify/gradients.h"
#include "core/verify/replay.h"
#include "core/verify/row_trials.h"

namespace attn::verify {
namespace {

/// Which arrays are wrong.
struct Arrays {
    bool q, k, v;
};
constexpr Arrays kAll{true, true, true}, kQ{true, false, false}, kK{false, true, false},
    kV{false, false, true}, kQK{true, true, false}, kKV{false, true, true};
using Variants = std::initializer_list<Arrays>;

std::string array_text(const Arrays& of) {
    if (of.q && of.k && of.v) return "in dQ, dK and dV";
    if (of.q && of.k) return "in dQ and dK";
    if (of.k && of.v) return "in dK and dV";
    return of.q ? "in dQ" : of.k ? "in dK" : "in dV";
}

/// One wrong backward pass, put together from the reference's.
class Pass {
  public:
    explicit Pass(const Trial& trial)
        : subject_(trial.subject),
          forward_(subject_.reference),
          d_(trial.backward->reference),
          row_sums_(Shape{size().batch, size().heads, size().tq, 1}) {
        for_each_pair(size(), [&](Index b, Index h, Index i, Index j) {
            if (const double weight = weights()(b, h, i, j); weight != 0.0)
                row_sums_(b, h, i, 0) += weight * d_weights()(b, h, i, j);
        });
    }

    const Subject& subject() const { return subject_; }
    const Dimensions& size() const { return subject_.size; }
    const TraceD& right() const { return d_; }
    const TensorD& weights() const { return forward_[Stage::weights]; }
    /// ∂L/∂weights of every pair, forbidden ones too.
    const TensorD& d_weights() const { return d_[Stage::weights]; }
    const TensorD& logits() const {
        return forward_[stage_or_source(Stage::biased, subject_.spec)];
    }
    double logsumexp(Index b, Index h, Index i) const { return forward_.logsumexp(b, h, i, 0); }
    Index group() const { return size().heads / size().kv_heads; }

    /// [B,H,Tq,Tk] of value(b, h, i, j).
    template <class Value>
    TensorD pairs(Value value) const {
        TensorD made(Shape{size().batch, size().heads, size().tq, size().tk});
        for_each_pair(size(), [&](Index b, Index h, Index i, Index j) {
            made(b, h, i, j) = value(b, h, i, j);
        });
        return made;
    }

    /// P ∘ (W − D) with other weights P, and D of the right ones.
    TensorD d_logits(const TensorD& p, const TensorD& d_weights, bool subtracts = true) const {
        return pairs([&](Index b, Index h, Index i, Index j) {
            const double weight = p(b, h, i, j);
            if (weight == 0.0) return 0.0;
            return weight * (d_weights(b, h, i, j) - (subtracts ? row_sums_(b, h, i, 0) : 0.0));
        });
    }

    TensorD d_values(const TensorD& weights) const {
        const TensorD& d_o = d_[Stage::context];
        TensorD made(d_[Stage::v].shape());
        for_each_pair(size(), [&](Index b, Index h, Index i, Index j) {
            if (const double weight = weights(b, h, i, j); weight != 0.0)
                for (Index c = 0; c < size().d_v; ++c)
                    made(b, h / group(), j, c) += weight * d_o(b, h, i, c);
        });
        return made;
    }

    /// From ∂L/∂masked back to q and k. `caps`: through the soft cap, where there is one.
    TraceD logits_back(TensorD d_logits, bool caps = true) const {
        AttentionSpec spec = subject_.spec;
        spec.mask = {};
        if (const auto& bias = subject_.spec.mask.bias)  // it forbids nothing here
            spec.mask.bias = std::make_shared<const PairBias>(PairBias{bias->values, false});
        spec.query_offset = size().query_offset;
        if (!caps) spec.softcap.reset();
        TraceD made = d_;
        made[Stage::masked] = std::move(d_logits);
        if (const auto call = validate(subject_.inputs, spec))
            logits_backward(*call, forward_, made);
        return made;
    }

    /// The reference's but for those arrays, and what follows from them.
    TraceD with(const TraceD& wrong, const Arrays& of) const {
        TraceD made = d_;
        const auto copy = [&](std::initializer_list<Stage> stages) {
            for (const Stage stage : stages) made[stage] = wrong[stage];
        };
        if (of.q) copy({Stage::q, Stage::q_norm, Stage::q_rot});
        if (of.k) copy({Stage::k, Stage::k_norm, Stage::k_rot});
        if (of.v) copy({Stage::v});
        if (of.q && of.k) copy({Stage::scores, Stage::scaled, Stage::biased, Stage::masked});
        inputs_backward(subject_.inputs, made);
        return made;
    }

    /// Each way in which the wrong pass can be saved. False: no other needs to be tried.
    bool take(const Take& take, const std::string& what, const TraceD& wrong,
              Variants variants) const {
        for (const Arrays& of : variants) {
            const std::string where = array_text(of);
            if (!take(what.empty() ? where : fmt::format("{} {}", what, where), with(wrong, of)))
                return false;
        }
        return true;
    }

  private:
    const Subject& subject_;
    const TraceD& forward_;
    const TraceD& d_;
    TensorD row_sums_;  // D [B,H,Tq,1]
};

/// The weights of another mask, by the right logsumexp.
TensorD weights_under(const Pass& pass, const Mask& mask) {
    return pass.pairs([&](Index b, Index h, Index i, Index j) {
        if (mask(b, h, i, j) == 0) return 0.0;
        if (pass.subject().allowed(b, h, i, j) != 0) return pass.weights()(b, h, i, j);
        const double normaliser = pass.logsumexp(b, h, i);
        return std::isfinite(normaliser) ? std::exp(pass.logits()(b, h, i, j) - normaliser) : 0.0;
    });
}

TensorD dropped(const Pass& pass, TensorD weights) {
    const Subject& subject = pass.subject();
    if (!subject.spec.drops()) return weights;
    return pass.pairs([&](Index b, Index h, Index i, Index j) {
        return weights(b, h, i, j) * dropout_factor(subject.spec, subject.size, b, h, i, j);
    });
}

/// The backward pass with these weights in the place of the forward's.
TraceD with_weights(const Pass& pass, const TensorD& weights) {
    TraceD wrong = pass.logits_back(pass.d_logits(weights, pass.d_weights()));
    wrong[Stage::v] = pass.d_values(dropped(pass, weights));
    return wrong;
}

TensorD multiplied(double factor, TensorD tensor) {
    for (double& value : tensor.values()) value *= factor;
    return tensor;
}

/// A tensor of heads with those of from(b, h) in the place of its own.
template <class From>
TensorD at_other_heads(const TensorD& tensor, From from) {
    const Shape shape = tensor.shape();
    TensorD made(shape);
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h) {
            const auto [other_b, other_h] = from(b, h, shape);
            for (Index t = 0; t < shape.t; ++t) {
                end_if_stopped();
                std::ranges::copy(tensor.matrix(other_b, other_h).row(t),
                                  made.matrix(b, h).row(t).begin());
            }
        }
    return made;
}

constexpr Stage kHeads[] = {Stage::q,      Stage::q_norm, Stage::q_rot, Stage::k,
                            Stage::k_norm, Stage::k_rot,  Stage::v};

/// The arrays with only those pairs in their sums.
template <class Counts>
TraceD with_pairs(const Pass& pass, Counts counts) {
    const TensorD& d = pass.right()[Stage::masked];
    const TensorD weights = dropped(pass, pass.weights());
    const auto those = [&](const TensorD& tensor) {
        return pass.pairs([&](Index b, Index h, Index i, Index j) {
            return counts(h, i, j) ? tensor(b, h, i, j) : 0.0;
        });
    };
    TraceD wrong = pass.logits_back(those(d));
    wrong[Stage::v] = pass.d_values(those(weights));
    return wrong;
}

/// A sum over `length` queries or keys without its first or last tile, or of the last alone.
template <class TakeTile>
bool take_tiles(Index length, TakeTile take) {
    for (const Index tile : kTiles) {
        if (tile >= length) break;
        const Index last = (length - 1) / tile * tile;
        if (!take(fmt::format("the last tile of {} is left out", tile), Index{0}, last) ||
            !take(fmt::format("the first tile of {} is left out", tile), tile, length) ||
            !take(fmt::format("of tiles of {}, only the last is stored", tile), last, length))
            return false;
    }
    return true;
}

}  // namespace

Reason wrong_backward_mask(const Trial& trial, const Take& take) {
    const Pass pass(trial);
    const MaskCase call{pass.subject().spec.mask, pass.size(), pass.subject().allowed};
    bool goes_on = true;
    const auto without = [&](std::string variant, const Mask& mask) {
        if (mask == call.allowed) return true;
        goes_on = pass.take(take, variant + ":", with_weights(pass, weights_under(pass, mask)),
                            {kAll, kKV, kK, kV, kQ, kQK});
        return goes_on;
    };
    for (const auto hypothesis :
         {dropped_mask, wrong_alignment, window_off_by_one, unasked_causal}) {
        hypothesis(call, without);
        if (!goes_on) return {};
    }
    return {};
}

Reason wrong_backward_scale(const Trial& trial, const Take& take) {
    const Pass pass(trial);
    const double scale = score_factor(pass.subject().spec, pass.size().d_k);
    if (scale == 1.0) return "the scale is 1";
    for (const auto& [text, factor] : {std::pair("the scale is missing", 1.0 / scale),
                                       std::pair("the scale is there twice", scale)}) {
        TraceD wrong = pass.right();
        for (const Stage stage : {Stage::q, Stage::q_norm, Stage::q_rot, Stage::k, Stage::k_norm,
                                  Stage::k_rot, Stage::scores})
            wrong[stage] = multiplied(factor, std::move(wrong[stage]));
        if (!pass.take(take, text, wrong, {kQ, kK, kQK})) return {};
    }
    return {};
}

Reason dropped_row_sum(const Trial& trial, const Take& take) {
    const Pass pass(trial);
    pass.take(take, "", pass.logits_back(pass.d_logits(pass.weights(), pass.d_weights(), false)),
              {kQK, kQ, kK});
    return {};
}

Reason wrong_backward_weights(const Trial& trial, const Take& take) {
    const Pass pass(trial);
    const Subject& subject = pass.subject();
    TensorD most(Shape{pass.size().batch, pass.size().heads, pass.size().tq, 1}, kMinusInfinity);
    for_each_pair(pass.size(), [&](Index b, Index h, Index i, Index j) {
        double& top = most(b, h, i, 0);
        if (subject.allowed(b, h, i, j) != 0) top = std::max(top, pass.logits()(b, h, i, j));
    });
    const TensorD unnormalised = pass.pairs([&](Index b, Index h, Index i, Index j) {
        if (subject.allowed(b, h, i, j) == 0) return 0.0;
        return std::exp(pass.logits()(b, h, i, j) - most(b, h, i, 0));
    });
    if (!pass.take(take, "exp(s − max), not exp(s − logsumexp),", with_weights(pass, unnormalised),
                   {kAll, kKV, kK, kV, kQ, kQK}))
        return {};
    const TensorD in_twos = pass.pairs([&](Index b, Index h, Index i, Index j) {
        if (subject.allowed(b, h, i, j) == 0) return 0.0;
        return std::exp2(pass.logits()(b, h, i, j) - pass.logsumexp(b, h, i));
    });
    pass.take(take, "2^(s − logsumexp)", with_weights(pass, in_twos), {kAll, kKV, kQ});
    return {};
}

Reason dropped_backward_softcap(const Trial& trial, const Take& take) {
    const Pass pass(trial);
    if (!pass.subject().spec.softcap) return "the call has no soft cap";
    pass.take(take, "", pass.logits_back(pass.right()[Stage::masked], false), {kQK, kQ, kK});
    return {};
}

Reason dropped_backward_dropout(const Trial& trial, const Take& take) {
    const Pass pass(trial);
    if (!pass.subject().spec.drops()) return "the call has no dropout";
    TraceD wrong = pass.logits_back(pass.d_logits(pass.weights(), pass.right()[Stage::dropped]));
    wrong[Stage::v] = pass.d_values(pass.weights());
    pass.take(take, "", wrong, {kAll, kQK, kV, kQ, kK});
    return {};
}

Reason permuted_gradients(const Trial& trial, const Take& take) {
    const Pass pass(trial);
    using HeadAt = std::pair<Index, Index>;
    const std::pair<const char*, HeadAt (*)(Index, Index, const Shape&)> variants[] = {
        {"of the next head",
         [](Index b, Index h, const Shape& s) {
             return HeadAt{b, (h + 1) % s.h};
         }},
        {"of the head before",
         [](Index b, Index h, const Shape& s) {
             return HeadAt{b, (h + s.h - 1) % s.h};
         }},
        {"heads in reverse",
         [](Index b, Index h, const Shape& s) {
             return HeadAt{b, s.h - 1 - h};
         }},
        {"of the next batch entry",
         [](Index b, Index h, const Shape& s) {
             return HeadAt{(b + 1) % s.b, h};
         }},
    };
    for (const auto& [text, from] : variants) {
        TraceD wrong = pass.right();
        for (const Stage stage : kHeads) wrong[stage] = at_other_heads(wrong[stage], from);
        if (!pass.take(take, text, wrong, {kV, kK, kQ, kKV, kAll})) return {};
    }
    return {};
}

Reason unsummed_groups(const Trial& trial, const Take& take) {
    const Pass pass(trial);
    const Index group = pass.group();
    if (group == 1) return "each head has a key/value head of its own";
    for (const auto& [text, retained] : {std::pair("only the last query head", group - 1),
                                         std::pair("only the first query head", Index{0})}) {
        const TraceD wrong =
            with_pairs(pass, [&, of = retained](Index h, Index, Index) { return h % group == of; });
        if (!pass.take(take, text, wrong, {kKV, kK, kV})) return {};
    }
    TraceD mean = pass.right();
    for (const Stage stage : {Stage::k, Stage::k_norm, Stage::k_rot, Stage::v})
        mean[stage] = multiplied(1.0 / static_cast<double>(group), std::move(mean[stage]));
    pass.take(take, "the mean over the query heads", mean, {kKV, kK, kV});
    return {};
}

Reason unturned_gradients(const Trial& trial, const Take& take) {
    const Pass pass(trial);
    if (!pass.subject().spec.rope) return "the call has no RoPE";
    const Rope& rope = *pass.subject().spec.rope;
    if (pass.subject().spec.qk_norm) return "the gradients go through QK-norm besides";
    TraceD wrong = pass.right();
    wrong[Stage::q] = wrong[Stage::q_rot], wrong[Stage::k] = wrong[Stage::k_rot];
    if (!pass.take(take, "not rotated", wrong, {kQK, kQ, kK})) return {};
    const Index offset = pass.size().query_offset;
    wrong[Stage::q] = rotate(rope, wrong[Stage::q_rot], Rotated::queries, offset);
    wrong[Stage::k] = rotate(rope, wrong[Stage::k_rot], Rotated::keys, offset);
    pass.take(take, "rotated forwards", wrong, {kQK, kQ, kK});
    return {};
}

Reason unsummed_tiles(const Trial& trial, const Take& take) {
    const Pass pass(trial);
    const auto over = [&](std::string_view whose, Index length, bool queries, Variants variants) {
        return take_tiles(length, [&](const std::string& what, Index first, Index end) {
            const TraceD wrong = with_pairs(pass, [&](Index, Index i, Index j) {
                const Index n = queries ? i : j;
                return n >= first && n < end;
            });
            return pass.take(take, fmt::format("{}: {}", whose, what), wrong, variants);
        });
    };
    if (!over("queries", pass.size().tq, true, {kKV, kK, kV})) return {};
    over("keys", pass.size().tk, false, {kQ});
    return {};
}

Reason untransposed_gradients(const Trial& trial, const Take& take) {
    const Pass pass(trial);
    if (pass.size().tq != pass.size().tk) return "there are not as many queries as keys";
    if (pass.subject().spec.softcap) return "a call with a soft cap is not tried";
    const auto transposed = [&](const TensorD& tensor) {
        return pass.pairs([&](Index b, Index h, Index i, Index j) { return tensor(b, h, j, i); });
    };
    TraceD wrong = pass.logits_back(transposed(pass.right()[Stage::masked]));
    wrong[Stage::v] = pass.d_values(transposed(dropped(pass, pass.weights())));
    pass.take(take, "", wrong, {kKV, kK, kV, kQ});
    return {};
}

}  // namespace attn::verify
