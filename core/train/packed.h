#pragma once

#include "core/kernels/fused_buffers.h"
#include "core/kernels/matmul.h"

namespace attn::train {

struct Plan;

/// Rows of numbers on vector boundaries: room for whole tiles of rows, the stride a multiple of panel_width().
class Rows {
  public:
    Rows() = default;
    /// Of any content but what stands behind the last column, which is 0. Reuses what is there.
    MatrixView<float> make(Index rows, Index columns);
    /// The same with any content everywhere: for what a product or transpose_into() writes.
    MatrixView<float> scratch(Index rows, Index columns);
    const MatrixView<float>& view() const { return view_; }
    MatrixView<float> first(Index rows) const { return view_.row_block(0, rows); }

  private:
    AlignedFloats floats_;
    MatrixView<float> view_;
    Index allocated_ = 0;
};

/// What a product of `columns` columns and `depth` rows takes in panels, in floats.
Index panel_floats(Index depth, Index columns);

/// A model's weights as products read them, made once a step and read by every thread.
class Packed {
  public:
    explicit Packed(const Plan& plan);
    /// Matrix m anew. Different ones at the same time.
    void pack(const Plan& plan, std::size_t m, const float* weights);

    /// W as the right factor, or Wᵀ.
    const float* panels(std::size_t m) const { return matrices_[m].columns; }
    const float* transposed(std::size_t m) const { return matrices_[m].rows; }
    /// A matrix of one row, aligned.
    const float* row(std::size_t m) const { return matrices_[m].columns; }

  private:
    struct Entry {
        AlignedFloats floats;
        float* columns = nullptr;
        float* rows = nullptr;
    };
    std::vector<Entry> matrices_;
};

/// out = a · panels or += of it, `columns` wide.
void product(MatrixView<const float> a, const float* panels, Index columns, MatrixView<float> out,
             Into into = Into::replace);
/// to [from.columns, from.rows] = fromᵀ.
void transpose_into(MatrixView<const float> from, MatrixView<float> to);

}  // namespace attn::train
