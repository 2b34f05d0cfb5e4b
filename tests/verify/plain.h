#pragma once

#include <functional>
#include <limits>

#include "core/trace.h"

namespace attn::test {

/// Attention in plain loops of its own, each step of which a test can do wrongly: what a kernel with that fault would
/// give. b batch entry, h query head, i query row, j key column.
struct ViewActions {
    Tensor q, k, v;  // [B,H,Tq,d_k], [B,Hkv,Tk,d_k], [B,Hkv,Tk,d_v]; q and k already turned
    double factor = 1.0;
    std::function<Index(Index h)> key_head = [](Index h) { return h; };
    std::function<Index(Index h)> value_head = [](Index h) { return h; };
    std::function<double(double scaled, Index h, Index i, Index j)> bias =
        [](double scaled, Index, Index, Index) { return scaled; };
    bool biases = false;  // there is a stage `biased`
    std::function<bool(Index b, Index i, Index j)> allowed = [](Index, Index, Index) {
        return true;
    };
    double fill = -std::numeric_limits<double>::infinity();
    double empty = 0.0;  // weight in a row that nothing is allowed in
    bool over_queries = false;
    std::function<double(Index b, Index h, Index i, Index j)> keep = {};  // factor of each weight
    std::function<double(double)> round = [](double x) { return x; };     // of every weight
    bool transposes = true;  // heads before they are merged
};

/// scores … weights, context, output and logsumexp, as float32.
Trace run_plain(const ViewActions& plain);

/// Row t of each head turned by its position first + t. pairs of columns c and c + d/2, or 2c and 2c + 1; angle(p, c) of
/// position p.
Tensor turned(const Tensor& tensor, Index first, bool half,
              const std::function<double(Index p, Index c)>& angle);

/// The leading 8 bits of a float32, ties to even: bfloat16.
double to_bf16(double value);

}  // namespace attn::test
