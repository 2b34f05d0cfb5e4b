#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "app/cli/cli.h"
#include "app/files/call.h"
#include "core/io/npz.h"
#include "core/trace.h"

namespace attn::cli {

/// The arrays of OUT.npz: the kept stages, logsumexp, and with a gradient d_<stage> of the kept
/// stages and d_<param> of every parameter. Stages with heads are [B,H,T,d], x, x_kv and output
/// [B,T,d], logsumexp [B,H,Tq], parameters in the shape in which they were given.
/// The values stay in the traces, which must outlive the result.
std::vector<NpzEntry> trace_entries(const files::FileCall& call, const Trace& forward,
                                    const Trace* gradient, StageSet keep);

/// The kept stages, and logsumexp where it is there, alone.
std::vector<NpzEntry> stage_entries(const Trace& trace, StageSet keep);

/// d_<param> of every parameter of the call that `gradients` has.
void add_param_gradients(const files::FileCall& call, const Params& gradients,
                         std::vector<NpzEntry>& entries);

/// A sentence for each stage of `keep` that this call does not have.
std::vector<std::string> missing_stages(const Trace& forward, StageSet keep);

/// Writes the file `path`, "-" for standard output. Throws.
void write_entries(const std::string& path, std::span<const NpzEntry> entries, Streams io);

double elapsed_ms(std::chrono::steady_clock::time_point since);

/// The stages that a call of given scores or weights cannot have, with the reason.
std::vector<std::string> absent_notes(Stage from, bool has_values);

}  // namespace attn::cli
