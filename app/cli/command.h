#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "app/cli/arguments.h"

namespace attn::cli {

/// A subcommand whose options are one value: `declare` adds them to the parser, `work` is given them.
template <class Options>
int run_command(std::string description, std::string_view name, Args args, Streams io,
                void (*declare)(CLI::App& app, Options& options),
                int (*work)(Options& options, Streams io)) {
    CLI::App app(std::move(description), std::string(name));
    Options options;
    declare(app, options);
    return run_command(app, args, io, [&] { return work(options, io); });
}

}  // namespace attn::cli
