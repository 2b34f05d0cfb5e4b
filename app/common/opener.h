#pragma once

#include <functional>

#include "core/result.h"

namespace attn {
struct RunControl;
}

namespace attn::view {

struct Opened;
struct OpenRequest;

/// Opens a file or makes a matrix. app/files implements it: the view reads no files.
using Opener = std::function<Result<Opened>(const OpenRequest& request, const RunControl& control)>;

}  // namespace attn::view
