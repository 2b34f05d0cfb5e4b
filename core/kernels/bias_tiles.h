#pragma once

#include <vector>

#include "core/kernels/fused_buffers.h"
#include "core/kernels/fused_forward.h"
#include "core/matrix_view.h"
#include "core/run_control.h"

namespace attn {

/// The bias as the fused kernels read it: for each key one number a query of the group. Rows of the bias lie along the keys, so a
/// block of it is transposed; where heads or batch entries share a matrix of it, once a call for all of them.
class BiasTiles {
  public:
    BiasTiles(const AttentionSpec& spec, const Dimensions& size);

    explicit operator bool() const { return bias_ != nullptr; }

    /// Transposes the matrices that several heads share, on every thread. False when it was stopped.
    bool pack(const RunControl& control);

    /// Floats of a block's scratch, for at most `keys` keys.
    static Index tile_floats(Index keys) { return (keys + kTileKeys) * query_group_lanes(); }

    /// Sets the bias of `block`, which begins at key `part`.begin, for head h and the group. `tile` is scratch.
    void set(Index b, Index h, const QueryGroup& group, KeyRange part, float* tile,
             KeyBlock& block) const;

    /// d_bias += the pairs of the group and `part`: `pairs` [keys, G] of head h. `tile` is scratch. Groups and heads that
    /// share entries of d_bias come one after the other.
    void add_gradient(Index b, Index h, const QueryGroup& group, KeyRange part, const float* pairs,
                      float* tile, Tensor& d_bias) const;

  private:
    enum class Form { pairs, keys, queries };
    Index matrix_of(Index b, Index h) const;
    MatrixView<const float> rows(Index b, Index h) const;
    void transpose_rows(Index b, Index h, Index first, Index count, KeyRange keys, float* to) const;

    const Tensor* bias_ = nullptr;
    const Dimensions& size_;
    bool first_ = false;  // before the soft cap
    Form form_ = Form::pairs;
    Index lanes_ = 0;
    AlignedFloats packed_;  // [matrices, groups, Tk, G]
    const float* shared_ = nullptr;
    std::vector<float> ones_;
};

}  // namespace attn
