// Floats of 16 bits as float32, by vectors: from_half() and from_bfloat16() of halves.h, lane by lane. Why it is fast: the
// processor's own conversion where there is one; else both sides of each choice are computed and one is taken, so that a lane
// costs a dozen integer instructions, no branch.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/widen.cpp"
#include "core/kernels/highway_targets.h"

#include "core/kernels/widen.h"

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

HWY_INLINE hn::Vec<Floats> floats_of_halves(const std::uint16_t* from) {
    const Floats floats;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
    // One instruction, which keeps the fraction of a NaN: of those the quiet one of the same sign is taken.
    const hn::Rebind<hwy::float16_t, Floats> halves;
    const auto wide =
        hn::PromoteTo(floats, hn::LoadU(halves, reinterpret_cast<const hwy::float16_t*>(from)));
    const auto quiet = hn::BitCast(floats, hn::Set(UnsignedLanes(), 0x7FC0'0000U));
    return hn::IfThenElse(hn::IsNaN(wide), hn::CopySign(quiet, wide), wide);
#else
    return hn::BitCast(floats, bits_of_half(halves_at(from)));
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

}  // namespace
}  // namespace attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace attn {
namespace {
HWY_EXPORT(widen_most);
}

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

}  // namespace attn

#endif  // HWY_ONCE
