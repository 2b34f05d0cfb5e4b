// Floats of 16 bits as float32, by vectors: from_half() and from_bfloat16() of halves.h, lane by lane. Why it is fast: the
// processor's own conversion where there is one; else both sides of each choice are computed and one is taken, so that a lane
// costs a dozen integer instructions, no branch. A row is multiplied with numbers of 16 bits in registers: they are never stored
// as float32.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/widen.cpp"
#include "core/kernels/highway_targets.h"

#include "core/kernels/widen.h"

#include <algorithm>
#include <cstdint>

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attn::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using UnsignedLanes = hn::RebindToUnsigned<Floats>;
using Halves = hn::Rebind<std::uint16_t, Floats>;

HWY_INLINE hn::Vec<UnsignedLanes> bits_of_bfloat16(hn::Vec<UnsignedLanes> half) {
    return hn::ShiftLeft<16>(half);
}

/// Line by line as from_half().
HWY_MAYBE_UNUSED HWY_INLINE hn::Vec<UnsignedLanes> bits_of_half(hn::Vec<UnsignedLanes> bits) {
    const Floats floats;
    const UnsignedLanes lanes;
    const auto exponent = hn::And(bits, hn::Set(lanes, 0x7C00U));
    const auto fraction = hn::And(bits, hn::Set(lanes, 0x03FFU));
    const auto small =
        hn::BitCast(lanes, hn::Sub(hn::BitCast(floats, hn::Or(hn::Set(lanes, 0x3880'0000U),
                                                              hn::ShiftLeft<13>(fraction))),
                                   hn::Set(floats, 0x1p-14F)));
    const auto normal = hn::Add(hn::ShiftLeft<13>(hn::And(bits, hn::Set(lanes, 0x7FFFU))),
                                hn::Set(lanes, 0x3800'0000U));
    const auto endless = hn::IfThenElse(hn::Eq(fraction, hn::Zero(lanes)),
                                        hn::Set(lanes, 0x7F80'0000U), hn::Set(lanes, 0x7FC0'0000U));
    const auto magnitude =
        hn::IfThenElse(hn::Eq(exponent, hn::Zero(lanes)), small,
                       hn::IfThenElse(hn::Eq(exponent, hn::Set(lanes, 0x7C00U)), endless, normal));
    return hn::Or(magnitude, hn::ShiftLeft<16>(hn::And(bits, hn::Set(lanes, 0x8000U))));
}

HWY_INLINE hn::Vec<UnsignedLanes> halves_at(const std::uint16_t* from) {
    return hn::PromoteTo(UnsignedLanes(), hn::LoadU(Halves(), from));
}

/// Some NaN for a NaN.
HWY_INLINE hn::Vec<Floats> numbers_of_halves(const std::uint16_t* from) {
    const Floats floats;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
    const hn::Rebind<hwy::float16_t, Floats> halves;  // one instruction
    return hn::PromoteTo(floats, hn::LoadU(halves, reinterpret_cast<const hwy::float16_t*>(from)));
#else
    return hn::BitCast(floats, bits_of_half(halves_at(from)));
#endif
}

HWY_INLINE hn::Vec<Floats> floats_of_halves(const std::uint16_t* from) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
    // The processor keeps the fraction of a NaN: of those the quiet one of the same sign is taken.
    const Floats floats;
    const auto wide = numbers_of_halves(from);
    const auto quiet = hn::BitCast(floats, hn::Set(UnsignedLanes(), 0x7FC0'0000U));
    return hn::IfThenElse(hn::IsNaN(wide), hn::CopySign(quiet, wide), wide);
#else
    return numbers_of_halves(from);
#endif
}

/// Returns how many were widened: whole vectors.
std::size_t widen_most(const std::uint16_t* from, std::size_t count, bool bfloat16, float* to) {
    const Floats floats;
    const std::size_t lanes = hn::Lanes(floats);
    std::size_t n = 0;
    if (bfloat16)
        for (; n + lanes <= count; n += lanes)
            hn::StoreU(hn::BitCast(floats, bits_of_bfloat16(halves_at(from + n))), floats, to + n);
    else
        for (; n + lanes <= count; n += lanes)
            hn::StoreU(floats_of_halves(from + n), floats, to + n);
    return n;
}

/// How the numbers of a factor are read.
struct OfFloats {
    using Number = float;
    HWY_INLINE static hn::Vec<Floats> at(const float* from) { return hn::LoadU(Floats(), from); }
};
struct OfHalves {
    using Number = std::uint16_t;
    HWY_INLINE static hn::Vec<Floats> at(const Number* from) { return numbers_of_halves(from); }
};
struct OfBfloats {
    using Number = std::uint16_t;
    HWY_INLINE static hn::Vec<Floats> at(const Number* from) {
        return hn::BitCast(Floats(), bits_of_bfloat16(halves_at(from)));
    }
};

/// out[n] += Σ a[k] B[k, n] of some rows of B, each sum in the order of k.
template <class Numbers, Index kRows>
HWY_INLINE void add_some_rows(const float* a, const typename Numbers::Number* b, Index stride,
                              Index columns, float* out) {
    using Number = typename Numbers::Number;
    const Floats floats;
    const auto lanes = static_cast<Index>(hn::Lanes(floats));
    constexpr Index kLine = 64 / sizeof(Number);
    const auto next = reinterpret_cast<std::uintptr_t>(b) +
                      static_cast<std::uintptr_t>(kRows * stride) * sizeof(Number);
    const auto add = [&](const Number* from, Index step, float* to) HWY_ATTR {
        auto sum = hn::LoadU(floats, to);
        for (Index k = 0; k < kRows; ++k)
            sum = hn::MulAdd(hn::Set(floats, a[k]), Numbers::at(from + k * step), sum);
        hn::StoreU(sum, floats, to);
    };
    Index n = 0;
    for (; n + lanes <= columns; n += lanes) {
        for (Index k = 0; k < kRows && n % kLine == 0; ++k)
            hwy::Prefetch(reinterpret_cast<const char*>(
                next + static_cast<std::uintptr_t>(k * stride + n) * sizeof(Number)));
        add(b + n, stride, out + n);
    }
    if (n == columns) return;
    Number rest[kRows * hn::MaxLanes(floats)] = {};
    float sums[hn::MaxLanes(floats)] = {};
    for (Index k = 0; k < kRows; ++k)
        std::copy_n(b + k * stride + n, columns - n, rest + k * lanes);
    std::copy_n(out + n, columns - n, sums);
    add(rest, lanes, sums);
    std::copy_n(sums, columns - n, out + n);
}

template <class Numbers>
void add_all_rows(const float* a, const MatrixView<const typename Numbers::Number>& b, float* out) {
    constexpr Index kRows = 8;
    Index k = 0;
    for (; k + kRows <= b.rows; k += kRows)
        add_some_rows<Numbers, kRows>(a + k, b.data + k * b.stride, b.stride, b.columns, out);
    for (; k < b.rows; ++k)
        add_some_rows<Numbers, 1>(a + k, b.data + k * b.stride, b.stride, b.columns, out);
}

/// Σ a[k] b[k], one sum for each lane of four vectors.
template <class Numbers>
HWY_INLINE float dot(const float* a, const typename Numbers::Number* b, Index count) {
    const Floats floats;
    const auto lanes = static_cast<Index>(hn::Lanes(floats));
    auto sum_0 = hn::Zero(floats), sum_1 = sum_0, sum_2 = sum_0, sum_3 = sum_0;
    const auto add = [&](Index k, auto& sum) HWY_ATTR {
        sum = hn::MulAdd(hn::LoadU(floats, a + k), Numbers::at(b + k), sum);
    };
    Index k = 0;
    for (; k + 4 * lanes <= count; k += 4 * lanes) {
        add(k, sum_0);
        add(k + lanes, sum_1);
        add(k + 2 * lanes, sum_2);
        add(k + 3 * lanes, sum_3);
    }
    for (; k + lanes <= count; k += lanes) add(k, sum_0);
    if (k < count) {
        typename Numbers::Number rest[hn::MaxLanes(floats)] = {};
        float by[hn::MaxLanes(floats)] = {};
        std::copy_n(b + k, count - k, rest);
        std::copy_n(a + k, count - k, by);
        sum_1 = hn::MulAdd(hn::LoadU(floats, by), Numbers::at(rest), sum_1);
    }
    return hn::GetLane(
        hn::SumOfLanes(floats, hn::Add(hn::Add(sum_0, sum_1), hn::Add(sum_2, sum_3))));
}

template <class Numbers>
void multiply_rows(const float* a, const MatrixView<const typename Numbers::Number>& b, Order order,
                   float* out) {
    if (order == Order::stored) return add_all_rows<Numbers>(a, b, out);
    for (Index n = 0; n < b.rows; ++n) out[n] += dot<Numbers>(a, b.data + n * b.stride, b.columns);
}

void multiply_float_rows(const float* a, const MatrixView<const float>& b, Order order,
                         float* out) {
    multiply_rows<OfFloats>(a, b, order, out);
}
void multiply_half_rows(const float* a, const MatrixView<const std::uint16_t>& b, HalfFormat format,
                        Order order, float* out) {
    if (format == HalfFormat::bfloat16)
        multiply_rows<OfBfloats>(a, b, order, out);
    else
        multiply_rows<OfHalves>(a, b, order, out);
}

}  // namespace
}  // namespace attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace attn {
namespace {
HWY_EXPORT(widen_most);
HWY_EXPORT(multiply_float_rows);
HWY_EXPORT(multiply_half_rows);
}  // namespace

namespace {

/// A reader of a long matrix takes a few rows at a time: the row as many rows later comes while these are used. It may lie
/// behind the numbers, so its address is a number.
void ask_ahead(const MatrixView<const std::uint16_t>& from, Index row) {
    constexpr Index kLine = 32;  // numbers
    const auto first = reinterpret_cast<std::uintptr_t>(from.data) +
                       static_cast<std::uintptr_t>((from.rows + row) * from.stride) * 2;
    for (Index n = 0; n < from.columns; n += kLine)
        hwy::Prefetch(reinterpret_cast<const char*>(first + static_cast<std::uintptr_t>(n) * 2));
}

}  // namespace

void widen_rows(const MatrixView<const std::uint16_t>& from, HalfFormat format,
                const MatrixView<float>& to) {
    for (Index row = 0; row < from.rows; ++row) {
        ask_ahead(from, row);
        const auto halves = from.row(row);
        const auto floats = to.row(row);
        const std::size_t done = HWY_DYNAMIC_DISPATCH(widen_most)(
            halves.data(), halves.size(), format == HalfFormat::bfloat16, floats.data());
        widen(halves.subspan(done), format, floats.subspan(done));
    }
}

void row_product(std::span<const float> a, const MatrixView<const float>& b, Order order,
                 std::span<float> out, Into into) {
    if (into == Into::replace) std::ranges::fill(out, 0.0F);
    HWY_DYNAMIC_DISPATCH(multiply_float_rows)(a.data(), b, order, out.data());
}

void row_product(std::span<const float> a, const MatrixView<const std::uint16_t>& b,
                 HalfFormat format, Order order, std::span<float> out, Into into) {
    if (into == Into::replace) std::ranges::fill(out, 0.0F);
    HWY_DYNAMIC_DISPATCH(multiply_half_rows)(a.data(), b, format, order, out.data());
}

}  // namespace attn

#endif  // HWY_ONCE
