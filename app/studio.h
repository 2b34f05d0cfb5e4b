#pragma once

#include <memory>

#include "app/cli/studio.h"

namespace attn::cli {
struct StudioJob;
}  // namespace attn::cli

namespace attn {

/// The panels over an offscreen context, or a figure. The former fails when this machine has no OpenGL 3.3
/// through EGL.
Result<std::unique_ptr<cli::Studio>> open_studio(const cli::StudioJob& job);

}  // namespace attn
