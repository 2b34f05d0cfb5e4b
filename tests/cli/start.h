#pragma once

#include "app/cli/start.h"
#include "tests/cli/command.h"

/// What the window starts with, without the notes about it.
inline attn::Result<attn::cli::Start> read_start(const attn::cli::StartOptions& options) {
    std::ostringstream output;
    return attn::cli::read_start(options, {output, output});
}
