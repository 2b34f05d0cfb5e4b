#pragma once

#include <functional>
#include <vector>

#include "app/cli/cli.h"
#include "app/files/call.h"
#include "core/masks.h"
#include "core/rounding.h"

namespace attn::cluster {

/// What every rank does with its words; errors are thrown. The same on every rank until rank 0 reads a file.
int run_map(cli::Args args, cli::Streams io);
int run_attend(cli::Args args, cli::Streams io);

/// Does `work` on rank 0 alone; where it throws, every rank throws, and rank 0 says why.
void on_first(const std::function<void()>& work);

/// Does `work` on every rank; one that throws ends the run, for the others wait for it.
void on_each(const std::function<void()>& work);

/// The spec of rank 0 for every rank.
void share(AttentionSpec& spec);

/// Runs of `length` entries of an axis, the last one shorter.
struct Pieces {
    Index entries = 0;
    Index length = 1;
    Index count() const { return divide_up(entries, length); }
    KeyRange at(Index n) const { return {n * length, std::min((n + 1) * length, entries)}; }
};

}  // namespace attn::cluster
