#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "app/cli/arguments.h"

namespace attn::cli {

/// A subcommand whose options are one value: `declare` adds them to the parser, `work` is given them, after the parser
/// where it asks for it, and returns the exit code or nothing.
template <class Options, class Work>
int run_command(std::string description, std::string_view name, Args args, Streams io,
                void (*declare)(CLI::App& app, Options& options), const Work& work) {
    CLI::App app(std::move(description), std::string(name));
    Options options;
    declare(app, options);
    const auto done = [&] {
        if constexpr (std::is_invocable_v<Work, CLI::App&, Options&, Streams>)
            return work(app, options, io);
        else
            return work(options, io);
    };
    return run_command(app, args, io, [&] {
        if constexpr (std::is_void_v<decltype(done())>)
            return done(), kSuccess;
        else
            return done();
    });
}

}  // namespace attn::cli
