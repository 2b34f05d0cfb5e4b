#pragma once

#include <string>
#include <vector>

#include "tests/measure/screens.h"

namespace attn::test {

/// A contrast as WCAG counts it, and of what.
struct Contrast {
    double ratio = 21.0;
    std::string of;
};

/// Each line of words against the commonest colour of the pixels behind it, the least first.
std::vector<Contrast> of_text(const Camera::Shot& shot);

/// Edges, arrows, tracks and discs against the pixels beside them, the least first. Hairlines, which nothing
/// depends on, are left out; a fill in the colour of controls that has no edge is not, by its strip where it is
/// the current row.
std::vector<Contrast> of_controls(const Camera::Shot& shot, const view::Theme& theme);

/// Along every ring: the strongest step of the pixels across it, the least first.
std::vector<Contrast> of_rings(const Camera::Shot& shot);

}  // namespace attn::test
