#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/files/options.h"
#include "core/engine.h"
#include "core/io/npz.h"

namespace attn::files {

/// One attention call as a file and the command line describe it.
struct FileCall {
    Inputs inputs;
    AttentionSpec spec;
    Dimensions size;
    Upstream upstream;               // dO, dY, or empty: ones
    Npz file;                        // extents of the arrays as they were given
    std::vector<std::string> notes;  // what a person should know, one line each
};

/// Reads the arrays that a call is made of and checks them against the options. `given` are the
/// options of the command line; those in the file's array `options` fill the gaps.
/// Shapes: Q, K, V, dO [T,d], [H,T,d] or [B,H,T,d]; X, X_kv, dY [T,d], [B,T,d] or [B,1,T,d];
/// weights [in,out]; biases [n] or [1,n]; mask bool or uint8, [Tq,Tk] or 4-D.
Result<FileCall> read_call(const std::filesystem::path& path, const OptionValues& given);

}  // namespace attn::files
