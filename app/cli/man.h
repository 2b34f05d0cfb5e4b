#pragma once

#include <string>

#include "app/cli/cli.h"

namespace attn::cli {

/// The man page attnscope(1) as roff: the options of the window and of every subcommand, as their CLI11 definitions say
/// them, with exit statuses, files, environment and examples.
std::string man_page(Streams io);

}  // namespace attn::cli
