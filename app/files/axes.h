#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/files/options.h"
#include "core/tensor.h"

namespace attn::files {

/// What the axes of an array are.
enum class Layout {
    heads,              // [T, d], [H, T, d] or [B, H, T, d], or as HeadAxes says
    rows,               // [T, d], [H, T, d] or [B, H, T, d]
    tokens,             // [T, d], [B, T, d] or [B, 1, T, d]
    weight,             // [in, out]
    weight_transposed,  // [out, in], as torch.nn.Linear stores it
    bias,               // [n] or [1, n]
};

/// How an array is to be read.
struct Axes {
    Layout layout = Layout::rows;
    HeadAxes order = HeadAxes::heads_first;  // of Layout::heads
    Index heads = 1;                         // into which HeadAxes::joined splits
};
/// "[T, d], [H, T, d] or [B, H, T, d]"
std::string expected_axes(const Axes& axes);

/// Where a [B,H,T,d] tensor stands among an array's numbers.
struct Placement {
    Shape shape;
    std::array<Index, 4> strides{};  // from one b, h, t, d to the next
    Index offset = 0;
};
/// `extents` are at least 1, and their product is an Index. nullopt: such an array is nothing of the kind.
std::optional<Placement> place(const std::vector<Index>& extents, const Axes& axes);

/// Every part that the letters of `names` give to an array of `extents`: B, H, T, d; E: H·d of `heads` heads; 3: query, key
/// or value, `which` of them; J: three times H·d, one after the other; N: 3·d of each head in turn. nullopt where it
/// cannot be so.
std::optional<Placement> place_letters(const std::vector<Index>& extents, std::string_view names,
                                       Index heads, Index which = 0);

/// The values that stand there.
Tensor gather(const Placement& placement, std::vector<float> values);

/// Queries, keys and values of one array.
struct Packed {
    std::array<Placement, 3> parts;  // Q, K, V
    std::string text;                // "[T, 3, H, d]"
};

/// How an array `qkv` of these extents is to be read, where there is but one way: [T,3,H,d] or [T,H,3,d], both also after a
/// batch axis, [T,3,H·d]; or [T,3·H·d], [B,T,3·H·d] with one head. Where several fit, the option layout chooses: see
/// `packed` of view::head_axes_table(). `what` names the array in the error, which lists the possible axes.
Packed unpack(const std::vector<Index>& extents, const CallOptions& options,
              const std::string& what);

}  // namespace attn::files
