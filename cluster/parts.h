#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/cli/arguments.h"
#include "app/files/call.h"
#include "core/masks.h"
#include "core/rounding.h"

namespace attn::cluster {

/// What every rank does with its words; errors are thrown. The same on every rank until rank 0 reads a file.
int run_map(cli::Args args, cli::Streams io);
int run_attend(cli::Args args, cli::Streams io);
int run_corpus(cli::Args args, cli::Streams io);

/// What a command is given: those of `trace`.
struct Arguments {
    std::string name;  // "attnscope-mpi map"
    std::string input;
    std::string output;
    std::string layer;
    bool grad = false;
    cli::AttentionArguments attention;
};
/// "attnscope-mpi map" with what every command has: FILE, -o OUTPUT, --layer and the options of a call.
struct Output {
    const char* placeholder;
    const char* text;
};
void add_description(CLI::App& app, Arguments& text, const char* input, const Output& output);
/// FILE, its notes said; a call of softmax alone.
files::FileCall read_call(const Arguments& text, const files::OptionValues& given, cli::Streams io,
                          files::Values values = files::Values::needed);
void make_folder(const std::filesystem::path& folder);

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
