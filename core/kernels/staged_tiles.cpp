// i query row, j key column, c column of a panel, t what a product sums over.
//
// Why it is fast. The trace of T² pairs is compute-bound as long as writing it costs nothing beside: each number of a
// stage is written once, past the caches (no line is read before it is written), and all work on a row between its
// products happens in a block of 24 rows that stays in the second-level cache. Keys lie in the lanes, because the
// stages are stored by rows; so K is packed once a head into panels of two vectors of keys. A tile sums 6 x 2 vectors
// with 16 registers, 8 x 2 with 32: 8 loads for 12 multiply-adds, or 10 for 16.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/staged_tiles.cpp"
#include "core/kernels/highway_targets.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "core/kernels/staged_tiles.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace attn::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr D kTag;

constexpr Index kTileRows = HWY_MAX_BYTES == 64 || HWY_ARCH_ARM_A64 ? 8 : 6;
static_assert(kTileRows <= kMostTileRows);
using TileRows = std::make_integer_sequence<Index, kTileRows>;

HWY_INLINE Index lanes() { return static_cast<Index>(hn::Lanes(kTag)); }

Index panel_width_now() { return 2 * lanes(); }

// --- products

struct Tile {
    struct Row {
        V a, b;
    };
    Row rows[kTileRows];
};

struct RowStarts {
    const float* from[kTileRows];
};

/// Rows first, first + 1, … of `a`: a remainder repeats the last row. What comes of the repeats is never read.
template <Index... r>
HWY_INLINE RowStarts row_starts(const MatrixView<const float>& a, Index first,
                                std::integer_sequence<Index, r...>) {
    return {{(a.data + HWY_MIN(first + r, a.rows - 1) * a.stride)...}};
}

HWY_INLINE void accumulate(Tile::Row& sum, V a, V b, float x) {
    const V factor = hn::Set(kTag, x);
    sum.a = hn::MulAdd(a, factor, sum.a);
    sum.b = hn::MulAdd(b, factor, sum.b);
}

template <Index... r>
HWY_INLINE void accumulate(Tile& sum, V a, V b, const RowStarts& rows, Index t,
                           std::integer_sequence<Index, r...>) {
    (accumulate(sum.rows[r], a, b, rows.from[r][t]), ...);
}

HWY_INLINE Tile multiply(const RowStarts& rows, Index depth, const float* HWY_RESTRICT panel) {
    const Index n = lanes();
    Tile sum;
    for (Tile::Row& row : sum.rows) row.a = row.b = hn::Zero(kTag);
    for (Index t = 0; t < depth; ++t)
        accumulate(sum, hn::Load(kTag, panel + 2 * n * t), hn::Load(kTag, panel + 2 * n * t + n),
                   rows, t, TileRows());
    return sum;
}

template <Index... r>
HWY_INLINE void add_stored(Tile& tile, const float* from, Index stride,
                           std::integer_sequence<Index, r...>) {
    ((tile.rows[r].a = hn::Add(hn::Load(kTag, from + r * stride), tile.rows[r].a)), ...);
    ((tile.rows[r].b = hn::Add(hn::Load(kTag, from + r * stride + lanes()), tile.rows[r].b)), ...);
}

template <Index... r>
HWY_INLINE void store(const Tile& tile, float* to, Index stride,
                      std::integer_sequence<Index, r...>) {
    (hn::Store(tile.rows[r].a, kTag, to + r * stride), ...);
    (hn::Store(tile.rows[r].b, kTag, to + r * stride + lanes()), ...);
}

void multiply_panels_now(const MatrixView<const float>& a, const float* panels, Index count,
                         const MatrixView<float>& out, Into into) {
    const Index width = panel_width_now();
    for (Index p = 0; p < count; ++p)
        for (Index i = 0; i < a.rows; i += kTileRows) {
            float* const to = out.data + i * out.stride + p * width;
            Tile tile =
                multiply(row_starts(a, i, TileRows()), a.columns, panels + p * a.columns * width);
            if (into == Into::add) add_stored(tile, to, out.stride, TileRows());
            store(tile, to, out.stride, TileRows());
        }
}

void pack_columns_now(const MatrixView<const float>& from, float* to) {
    const Index width = panel_width_now();
    const Index whole = from.columns / width;
    for (Index t = 0; t < from.rows; ++t) {  // a row at a time: memory is read as it lies
        const float* row = from.data + t * from.stride;
        float* panel = to + t * width;
        for (Index p = 0; p < whole; ++p, row += width, panel += from.rows * width) {
            hn::StoreU(hn::LoadU(kTag, row), kTag, panel);
            hn::StoreU(hn::LoadU(kTag, row + lanes()), kTag, panel + lanes());
        }
    }
    const Index first = whole * width;
    to += whole * from.rows * width;
    const Index rest = from.columns - first;
    for (Index t = 0; rest > 0 && t < from.rows; ++t, to += width) {
        std::copy_n(from.row(t).data() + first, rest, to);
        std::fill(to + rest, to + width, 0.0F);
    }
}

// --- sweeps over a row

/// Numbers of a stage, which ends where its row ends.
class StageRow {
  public:
    HWY_INLINE StageRow(float* to, Index n, bool past_cache)
        : to_(to),
          n_(n),
          stream_(past_cache && reinterpret_cast<std::uintptr_t>(to) % sizeof(V) == 0) {}

    HWY_INLINE void put(V v, Index j) const {
        if (to_ == nullptr) return;
        if (j + lanes() > n_)
            put_some(v, j);
        else if (stream_)
            hn::Stream(v, kTag, to_ + j);
        else
            hn::StoreU(v, kTag, to_ + j);
    }

  private:
    void put_some(V v, Index j) const {
        HWY_ALIGN float all[HWY_MAX_BYTES / sizeof(float)];
        hn::Store(v, kTag, all);
        std::memcpy(to_ + j, all, static_cast<std::size_t>(n_ - j) * sizeof(float));
    }

    float* to_;
    Index n_;
    bool stream_;
};

/// What a soft cap, a bias and ALiBi make of the scaled scores of keys j, j + 1, …
class Bias {
  public:
    explicit Bias(const ScoreRow& row)
        : capped_(row.cap != 0.0F),
          sloped_(row.slope != 0.0F),
          first_(row.bias_first),
          bias_(row.bias),
          cap_(hn::Set(kTag, row.cap)),
          inverse_cap_(hn::Set(kTag, capped_ ? 1.0F / row.cap : 0.0F)),
          slope_(hn::Set(kTag, row.slope)),
          position_(row.position) {}

    HWY_INLINE V operator()(V s, Index j) const {
        if (bias_ != nullptr && first_) s = hn::Add(s, hn::Load(kTag, bias_ + j));
        if (capped_) s = hn::Mul(cap_, hn::Tanh(kTag, hn::Mul(s, inverse_cap_)));
        if (bias_ != nullptr && !first_) s = hn::Add(s, hn::Load(kTag, bias_ + j));
        if (!sloped_) return s;
        const V first = hn::Set(kTag, static_cast<float>(position_ - j));
        return hn::NegMulAdd(slope_, hn::Abs(hn::Sub(first, hn::Iota(kTag, 0.0F))), s);
    }

  private:
    bool capped_;
    bool sloped_;
    bool first_;
    const float* bias_;
    V cap_;
    V inverse_cap_;
    V slope_;
    Index position_;
};

ScoreRange scale_and_mask_now(const ScoreRow& row) {
    using Ints = hn::RebindToSigned<D>;
    const Ints ints;
    const Bias bias(row);
    const bool biases = row.cap != 0.0F || row.slope != 0.0F || row.bias != nullptr;
    const StageRow biased(row.biased, row.n, row.past_cache);
    const StageRow scores(row.scores, row.n, row.past_cache);
    const StageRow scaled(row.scaled, row.n, row.past_cache);
    const StageRow masked(row.masked, row.n, row.past_cache);
    const V factor = hn::Set(kTag, row.factor);
    const V far = hn::Set(kTag, row.far);
    const V forbidden = hn::Set(kTag, -std::numeric_limits<float>::infinity());
    V top = forbidden;
    V low = hn::Set(kTag, std::numeric_limits<float>::infinity());
    for (Index j = 0; j < row.n; j += lanes()) {
        const V score = hn::Load(kTag, row.values + j);
        const V s = hn::Mul(score, factor);
        const V b = biases ? bias(s, j) : s;
        V m = b;
        if (j < row.begin || j + lanes() > row.end) {
            const auto key = hn::Iota(ints, static_cast<std::int32_t>(j));
            const auto before = hn::Lt(key, hn::Set(ints, static_cast<std::int32_t>(row.begin)));
            const auto inside = hn::Lt(key, hn::Set(ints, static_cast<std::int32_t>(row.end)));
            m = hn::IfThenElse(hn::RebindMask(kTag, hn::AndNot(before, inside)), m, forbidden);
        }
        if (row.allow != nullptr)
            m = hn::IfThenElse(hn::Ne(hn::Load(kTag, row.allow + j), hn::Zero(kTag)), m, forbidden);
        V reached = b;
        if (row.bias != nullptr) {
            const auto forbids = hn::Eq(hn::Load(kTag, row.bias + j), forbidden);
            m = hn::IfThenElse(forbids, forbidden, m);
            reached = hn::IfThenElse(forbids, low, b);  // no weight is near the smallest float
        }
        top = hn::Max(top, m);
        low = hn::Min(low, reached);
        scores.put(score, j);
        scaled.put(s, j);
        biased.put(hn::Sub(b, far), j);
        masked.put(hn::Sub(m, far), j);
        hn::Store(m, kTag, row.values + j);
    }
    return {hn::GetLane(hn::MaxOfLanes(kTag, top)), hn::GetLane(hn::MinOfLanes(kTag, low))};
}

/// e^x for x <= 0: exactly 1 at 0 and exactly 0 from -88.03 down, -inf included; NaN gives NaN.
/// x · log2 e = n + r, |r| <= 1/2: adding 1.5·2^23 rounds to n in the low bits; the polynomial is 2^r. log2 e has two
/// parts, so that r has no error of x. Relative error <= 1.2e-7 above -87.3, the fit's own 2e-9.
HWY_INLINE V exp_below(V x) {
    constexpr float kRounder = 12582912.0F + 127.0F;  // and the bias of exponents
    constexpr float kLog2E = 1.44269502F;
    constexpr float kLog2ERest = 1.92596303e-8F;
    x = hn::IfThenElse(hn::Lt(x, hn::Set(kTag, -88.03F)), hn::Set(kTag, -88.03F), x);
    const V shifted = hn::MulAdd(x, hn::Set(kTag, kLog2E), hn::Set(kTag, kRounder));
    const V n = hn::Sub(shifted, hn::Set(kTag, kRounder));
    V r = hn::MulSub(x, hn::Set(kTag, kLog2E), n);
    r = hn::MulAdd(x, hn::Set(kTag, kLog2ERest), r);
    V p = hn::Set(kTag, 0.0001535336196F);
    p = hn::MulAdd(p, r, hn::Set(kTag, 0.001339887385F));
    p = hn::MulAdd(p, r, hn::Set(kTag, 0.009618436918F));
    p = hn::MulAdd(p, r, hn::Set(kTag, 0.05550332367F));
    p = hn::MulAdd(p, r, hn::Set(kTag, 0.2402264774F));
    p = hn::MulAdd(p, r, hn::Set(kTag, 0.6931471825F));
    p = hn::MulAdd(p, r, hn::Set(kTag, 1.0F));
    const hn::RebindToSigned<D> bits;
    return hn::Mul(p, hn::BitCast(kTag, hn::ShiftLeft<23>(hn::BitCast(bits, shifted))));
}

float exponentials_now(float* values, Index n, float max) {
    const V top = hn::Set(kTag, max);
    V sum = hn::Zero(kTag);
    for (Index j = 0; j < n; j += lanes()) {
        const V e = exp_below(hn::Sub(hn::Load(kTag, values + j), top));
        sum = hn::Add(sum, e);
        hn::Store(e, kTag, values + j);
    }
    return hn::GetLane(hn::SumOfLanes(kTag, sum));
}

void normalise_now(float* values, Index n, float factor, float* weights, bool past_cache) {
    const StageRow stage(weights, n, past_cache);
    const V by = hn::Set(kTag, factor);
    for (Index j = 0; j < n; j += lanes()) {
        const V a = hn::Mul(hn::Load(kTag, values + j), by);
        hn::Store(a, kTag, values + j);
        stage.put(a, j);
    }
}

}  // namespace
}  // namespace attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <vector>

#include "core/kernels/fused_forward.h"
#include "core/spec_arrays.h"

namespace attn {

HWY_EXPORT(panel_width_now);
HWY_EXPORT(multiply_panels_now);
HWY_EXPORT(pack_columns_now);
HWY_EXPORT(scale_and_mask_now);
HWY_EXPORT(exponentials_now);
HWY_EXPORT(normalise_now);

Index panel_width() { return HWY_DYNAMIC_DISPATCH(panel_width_now)(); }

void multiply_panels(MatrixView<const float> a, const float* panels, Index count,
                     MatrixView<float> out, Into into) {
    HWY_DYNAMIC_DISPATCH(multiply_panels_now)(a, panels, count, out, into);
}

ScoreRange scale_and_mask(const ScoreRow& row) {
    return HWY_DYNAMIC_DISPATCH(scale_and_mask_now)(row);
}

float exponentials(float* values, Index n, float max) {
    return HWY_DYNAMIC_DISPATCH(exponentials_now)(values, n, max);
}

void normalise(float* values, Index n, float factor, float* weights, bool past_cache) {
    HWY_DYNAMIC_DISPATCH(normalise_now)(values, n, factor, weights, past_cache);
}

void finish_writes() { hwy::FlushStream(); }

void pack_columns(MatrixView<const float> from, float* to) {
    HWY_DYNAMIC_DISPATCH(pack_columns_now)(from, to);
}

void pack_rows(MatrixView<const float> from, float* to) {
    const Index width = panel_width();
    const std::vector<float> ones(from.columns, 1.0F);
    for (Index first = 0; first < from.rows; first += width, to += width * from.columns) {
        const Index rows = std::min(width, from.rows - first);
        if (rows < width) std::fill_n(to, width * from.columns, 0.0F);
        transpose(from.row_block(first, rows), ones.data(), {to, from.columns, rows, width});
    }
}

}  // namespace attn
#endif  // HWY_ONCE
