#pragma once

#include "app/cli/cli.h"

#include <string>

namespace attn::cli {

// Each in the file of its name.
int run_trace(Args args, Streams io);
int run_diff(Args args, Streams io);
int run_heads(Args args, Streams io);
int run_sparse(Args args, Streams io);
int run_merge(Args args, Streams io);
int run_generate(Args args, Streams io);
int run_lens(Args args, Streams io);
int run_circuits(Args args, Streams io);
int run_page(Args args, Streams io);
int run_render(Args args, Streams io);
int run_saturate(Args args, Streams io);
int run_sheet(Args args, Streams io);
int run_stages(Args args, Streams io);
int run_options(Args args, Streams io);
int run_lecture(Args args, Streams io);
int run_info(Args args, Streams io);
int run_train(Args args, Streams io);
int run_bench(Args args, Streams io);

/// The man page attnscope(1) as roff: the options of the window and of every subcommand, as their CLI11 definitions say
/// them, with exit statuses, files, environment and examples.
std::string man_page(Streams io);

}  // namespace attn::cli
