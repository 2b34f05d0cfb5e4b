#pragma once

#include "app/files/layers.h"
#include "app/files/tensors.h"

namespace attn::files {

class ArrayReader;
struct CallOptions;
struct TensorFile;

/// What scores and weights of a file say of its call, which is read, with its mask.
/// Where they are forbidden above the diagonal in every row of every layer, weights by 0 and masked scores by −inf, the call is
/// causal, unless its other masks forbid the same. Those that stand beside the queries and keys that make them are compared with what these give; under
/// Stored::shown `file.given` has them where that is not the same, bit for bit. A note says each,
/// and which of the options that were `typed` change nothing of what is shown.
void resolve_stored(ArrayReader& reader, Stored stored, const CallOptions& options,
                    const OptionValues& typed, Listing& listing, TensorFile& file);

}  // namespace attn::files
