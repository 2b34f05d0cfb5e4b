#include "core/shape.h"

#include <fmt/format.h>

namespace attn {

std::string to_string(const Shape& shape) {
    return fmt::format("[{}, {}, {}, {}]", shape.b, shape.h, shape.t, shape.d);
}

}  // namespace attn
