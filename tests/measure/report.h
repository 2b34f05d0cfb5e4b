#pragma once

#include <iosfwd>
#include <string_view>

#include "core/result.h"
#include "tests/measure/cases.h"

namespace attn::test {

// Each prints what it measures, with its limit, and returns whether all limits are kept.

/// Words that are small, cut, over each other or missing, over many cases: how many, and the worst of each.
bool print_text(bool all, view::ThemeName theme, std::ostream& out);
/// Whether the measures of a screen find what was planted in one.
bool finds_planted(std::ostream& out);
/// All workspaces, over the sizes, scales and documents of `all` or of a part: the shares of their largest pictures, their
/// words and numbers, and how many faults; of each the worst.
bool print_screens(bool all, bool texts, std::string_view only, std::ostream& out);
/// Every fault of one window.
bool print_faults(const Case& at, std::ostream& out);
/// A PNG of the window.
Result<void> save_picture(const Case& at, const std::string& path);
/// ΔE00 of each two role colours in each kind of sight.
bool print_role_distances(std::ostream& out);
/// The share of the window that the result takes, and contrasts: what needs pixels. An error: no OpenGL.
Result<bool> print_pixels(std::ostream& out);

}  // namespace attn::test
