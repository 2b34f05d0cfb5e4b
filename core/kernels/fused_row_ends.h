#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "core/bias.h"
#include "core/call.h"
#include "core/kernels/fused_drive_forward.h"
#include "core/kernels/fused_forward.h"
#include "core/kernels/pair_mask.h"
#include "core/masks.h"
#include "core/scores/pair_rule.h"
#include "core/trace.h"

namespace attn {

/// What the fused forward pass goes through a call with, and how each row begins and ends, whichever kernel runs in
/// between. In units of log2.
class FusedRun {
  protected:
    FusedRun(const Call& call, const HeadTensors& in, ForwardResult& out, const RunControl& control)
        : spec_(call.spec()),
          size_(call.size()),
          in_(in),
          out_(out),
          control_(control),
          sinks_(call.inputs().params[Param::sinks]) {}

    /// What is known of a row before its first key.
    struct Start {
        float max = std::numeric_limits<float>::lowest();
        float sum = 0.0F;
    };
    /// A sink is what a first key without a value would have left. `lift` as in GroupState.
    Start start_row(Index h, Index i, float lift = 0.0F) const {
        const double sink = sink_of(h) + static_cast<double>(lift);
        if (sink == -std::numeric_limits<double>::infinity()) return {};
        return {static_cast<float>(sink + far(h, i)), std::exp2(-lift)};
    }

    /// Writes the logsumexp (m − far + log2 l) ln 2 of row i and its two parts; returns what O is multiplied by, 1 / l.
    float finish_row(const PairMask& mask, Index b, Index h, Index i, float max, double sum,
                     float lift = 0.0F) {
        const double log_sum = std::log2(sum);
        const double sink = sink_of(h) + static_cast<double>(lift);  // sink + far is rounded in max
        const bool of_sink = max == static_cast<float>(sink + far(h, i));
        const double level = of_sink ? sink : static_cast<double>(max) - far(h, i);
        out_.logsumexp(b, h, i, 0) =
            spec_.mask.bias && max <= kLowestBias && sum > 0.0
                ? largest_bias(b, h, i)
                : static_cast<float>((level + log_sum) * std::numbers::ln2);
        out_.row_max(b, h, i, 0) = max;
        out_.row_log2_sum(b, h, i, 0) = static_cast<float>(log_sum);
        return sum == 0.0 ? no_weight(mask, i) : static_cast<float>(1.0 / sum);
    }

    const AttentionSpec& spec_;
    const Dimensions& size_;
    const HeadTensors& in_;
    ForwardResult& out_;
    const RunControl& control_;

  private:
    /// What logsumexp of a row is, to all its digits, where no bias of its keys is above kLowestBias.
    float largest_bias(Index b, Index h, Index i) const {
        std::vector<std::uint8_t> allowed(static_cast<std::size_t>(size_.tk));
        fill_allowed(spec_.mask, size_, b, h, i, allowed);
        double largest = std::numeric_limits<float>::lowest();
        for (Index j = 0; j < size_.tk; ++j)
            if (allowed[static_cast<std::size_t>(j)] != 0)
                largest = std::max(largest, bias_at(spec_.mask, b, h, i, j));
        return static_cast<float>(largest);
    }

    /// −inf: none.
    double sink_of(Index h) const {
        if (sinks_.empty()) return -std::numeric_limits<double>::infinity();
        return static_cast<double>(sinks_(0, 0, 0, h)) * std::numbers::log2e;
    }

    /// What B of query i is larger by where it is far from the keys: near_position().
    double far(Index h, Index i) const {
        return pair_rule(spec_, size_, h).slope * std::numbers::log2e *
               static_cast<double>(near_position(i + size_.query_offset, size_).distance);
    }

    /// What multiplies the zeros of a row whose weights sum to 0: a row that the mask left empty follows
    /// the policy; allowed scores that are all −inf are 0/0.
    float no_weight(const PairMask& mask, Index i) const {
        const bool zero = spec_.empty_rows == EmptyRows::zero && mask.allowed_keys(i) == 0;
        return zero ? 0.0F : std::numeric_limits<float>::quiet_NaN();
    }

    const Tensor& sinks_;
};

}  // namespace attn
