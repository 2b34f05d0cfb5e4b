#pragma once

#include <chrono>

#include "app/cli/cli.h"

namespace attn::cli {
struct DesktopOptions;
}  // namespace attn::cli

namespace attn {

/// The desktop app, from the first frame to the last; the exit code. In a browser it returns before the first frame. `started` is when the process
/// was, for the frame log.
int run_desktop(const cli::DesktopOptions& options, cli::Streams io,
                std::chrono::steady_clock::time_point started);

}  // namespace attn
