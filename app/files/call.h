#pragma once

#include "app/files/layers.h"
#include "app/files/tensors.h"
#include "core/given.h"
#include "core/note.h"

namespace attn::files {

/// One attention call as a file and the command line describe it: one layer of a TensorFile.
struct FileCall {
    Inputs inputs;
    AttentionSpec spec;
    Dimensions size;
    std::optional<OperationSpec> operation;  // in place of softmax attention
    OperationParams operation_params;
    std::optional<GivenPairs> given;  // in place of Q and K; `inputs` has V, W_O … alone then
    Upstream upstream;                // dO, dY, or empty: ones
    ParamExtents param_extents;       // the parameters' axes as they were given
    std::vector<Note> notes;          // what a person should know, one line each
    std::vector<std::string> tokens, tokens_kv;  // of queries and keys; empty: the file has none
    std::shared_ptr<const RgbImage> image;       // whose patches are tokens; null: none
};

/// Reads as read_layer() does.
Result<FileCall> read_call(const std::string& path, const OptionValues& given,
                           Index layer = kOnlyLayer, Values values = Values::needed);

}  // namespace attn::files
