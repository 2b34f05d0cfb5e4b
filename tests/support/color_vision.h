#pragma once

#include "app/common/theme.h"

namespace attn::test {

// How different two colours look, also to eyes that lack a kind of cone.

enum class Sight : std::uint8_t { normal, deuteranopia, protanopia };
inline constexpr Sight kSights[] = {Sight::normal, Sight::deuteranopia, Sight::protanopia};
const char* name_of(Sight sight);

/// CIE L*a*b*, white point D65.
struct CieLab {
    double L, a, b;
};
CieLab lab_of(view::Color color);

/// ΔE00. Source: Sharma, Wu, Dalal 2005, "The CIEDE2000 color-difference formula", equations 2…22;
/// their published pairs come out to four decimals (theme_test.cpp).
double ciede2000(const CieLab& one, const CieLab& other);

/// The colour that a person of that sight sees, for an eye of normal sight. Severity 1, in linear RGB.
/// Source: Machado, Oliveira, Fernandes 2009, doi:10.1109/TVCG.2009.113.
view::Color seen(view::Color color, Sight sight);

/// ΔE00 of two colours as that sight has them.
double difference(view::Color one, view::Color other, Sight sight);

}  // namespace attn::test
