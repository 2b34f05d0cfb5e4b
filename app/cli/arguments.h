#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/cli/cli.h"

namespace attn::cli {

/// Parses the words of a subcommand. nullopt: go on. Otherwise the exit code: 0 after --help,
/// 2 after one line on `err` that names the word that was wrong and, for a typing mistake, the
/// option that was probably meant; 0 where `io.describe` was given `app`. It must not use required(): check by hand, for a better line.
std::optional<int> parse(CLI::App& app, Args args, Streams io);

}  // namespace attn::cli
