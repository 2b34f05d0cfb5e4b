#pragma once

#include <string>

#include "core/sizes.h"

namespace attn {

/// [B, H, T, d]: batch, heads, tokens, width. Row-major, d fastest. An axis that a tensor does not
/// have is 1: X is [B,1,T,d_model], a weight matrix [1,1,in,out], logsumexp [B,H,Tq,1].
struct Shape {
    Index b = 0;
    Index h = 0;
    Index t = 0;
    Index d = 0;

    /// Throws SizeError (sizes.h) above 2^63 − 1.
    constexpr Index count() const { return product(b, h, t, d); }
    constexpr bool operator==(const Shape&) const = default;
};

/// "[2, 3, 7, 5]".
std::string to_string(const Shape& shape);

}  // namespace attn
