#pragma once

#include <string>
#include <vector>

#include "app/files/options.h"
#include "core/call.h"
#include "core/trace.h"

namespace attn::files {

/// Which names a file's inputs have.
enum class InputNames : std::uint8_t {
    none,
    call,   // Q, K, V or X, W_Q, W_K, W_V
    stages  // q, k, v, as `trace` and model dumps write them
};

/// What one file brings to a comparison: results under the names of stages, and perhaps the inputs that they were made
/// from. `output` with a head axis is read as `context`.
struct ResultFile {
    std::string path;  // as sentences name it
    Trace results;     // q, k and v are not among them where they are the inputs
    Inputs inputs;     // as input_names says
    InputNames input_names = InputNames::none;
    bool has_values = false;        // V, or what it is made from
    AttentionSpec spec;             // of the file and the command line; the file's mask in it
    std::string options;            // as they were given, "causal=top-left, window=3"; "" for none
    std::vector<std::string> keys;  // of the results, in the order of the table
    std::vector<std::string> unused;  // names that mean nothing here
    std::vector<std::string> notes;   // one line each
};

/// `layer`: of names like l3.weights; kOnlyLayer: plain names, or the only layer. "-" is standard input.
Result<ResultFile> read_results(const std::string& path, const OptionValues& given, Index layer);

}  // namespace attn::files
