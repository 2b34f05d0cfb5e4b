// What C++ and GLSL agree on: bindings, tile sizes, and the uniform block of every kernel. C++ includes this file;
// the build pastes it into each shader. B batch, H query heads, Tq queries, Tk keys.
#ifdef __cplusplus
#pragma once

#include <cstddef>
#include <cstdint>

namespace attn::gl::layout {
using uint = std::uint32_t;  // as GLSL calls it
#endif

// Storage buffers: what 0 to 4 hold stands on top of each shader. GLSL 4.30 wants bindings and group sizes as plain
// numbers, so mask.glsl and the kernels repeat these.
const int kPaddingBinding = 5;  // int[B]: valid keys of each batch entry
const int kCustomBinding = 6;   // bytes, four in a uint: the mask given as a tensor, 1 = may attend

// A product: each group makes a tile of kTile x kTile entries, from kSlice terms at a time.
const int kTile = 32;
const int kSlice = 16;
const int kMostTerms = 2048;  // of a dispatch
// The kernels that go entry by entry or row by row: invocations of a group.
const int kRowGroup = 128;
// The fused kernel: a group attends with kQueries queries to kKeys keys at a time; its products take kDepth terms
// at a time, and 64 columns of V for each quad of columns that an invocation holds.
const int kQueries = 128;
const int kKeys = 64;
const int kDepth = 32;
const int kValueColumns = 64;

/// One dispatch of any kernel: sizes and options of the call, and the piece of the work that is asked for.
/// 4-byte members only, so that std140 places them as C++ does.
struct Call {
    // Rows of Q, K, V and context take a multiple of 4 floats: q_stride of Q and K, v_stride of V and context. What a
    // row has more than d_k or d_v entries is 0.
    int heads, group, tq, tk;  // `group` query heads share a key/value head
    int d_k, d_v, q_stride, v_stride;
    // Query i may attend to keys begin <= j < end: see key_range() in mask.glsl. The custom mask is at
    // custom_b · b + custom_h · h + custom_i · i + custom_j · j, where a stride of 0 broadcasts.
    int causal_end, window, block, custom;
    int custom_b, custom_h, custom_i, custom_j;
    // The piece. Pairs of queries and keys are kept for the slab of rows row_first … + row_count of the heads from
    // head_first on, [heads of the slab, row_count, tk].
    int head_first, row_first, row_count, task_first;
    int rows, columns, depth, depth_first;  // of a product; terms depth_first … depth_end are added
    int depth_end, key_first, key_end, column_first;
    int source_heads, flags, query_offset, unused1;  // flags: kWith…
    float factor, kept, unused2, unused3;  // scale / temperature; 1 / (1 − p) of dropout
    uint seed_low, seed_high, drop_low, drop_high;
};

const int kWithBias = 1;      // a bias is bound
const int kWithNanRows = 2;   // an empty row is NaN, not 0
const int kWithPairs = 4;     // V has NaN or inf: forbidden pairs must be left out one by one
const int kWithLastKeys = 8;  // after these keys the rows of the fused kernel are complete

#ifdef __cplusplus
static_assert(sizeof(Call) == 10 * 16 && offsetof(Call, unused2) == 8 * 16 + 8,
              "std140 packs 4-byte members as C++ does");
}  // namespace attn::gl::layout
#else
layout(std140, binding = 0) uniform CallBlock { Call call; };
#endif
