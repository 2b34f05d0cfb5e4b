#pragma once

#include "core/result.h"
#include "core/spec.h"
#include "core/tensor.h"

namespace attn {

/// Attention without values: S of every query against every key. n queries, m keys, τ temperature.
struct Similarity {
    Tensor dot, cosine;                  // [1,1,n,m], without temperature
    Tensor dot_rows, cosine_rows;        // softmax over keys of S / τ
    Tensor dot_columns, cosine_columns;  // softmax over queries
};

/// Of q [1,1,n,d] and k [1,1,m,d], by the reference backend. `scale`: none, or q_and_k, which the dot products have then.
/// Errors: what attend() refuses.
Result<Similarity> similarity_of(const Tensor& q, const Tensor& k, double temperature,
                                 ScaleKind scale = ScaleKind::none);

}  // namespace attn
