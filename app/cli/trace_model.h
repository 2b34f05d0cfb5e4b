#pragma once

#include <string>

#include "app/cli/subcommands.h"

namespace attn::cli {

/// `attnscope trace --model FOLDER --text TEXT -o OUT.npz`.
struct ModelTrace {
    std::string folder;
    std::string text;
    std::string output;
    std::string backend;
    StageSet keep;
};
/// Every layer's stages as l<N>.<stage>, l<N>.logsumexp and l<N>.residual (after the block), tokens, token_ids, and logits
/// or embedding where the model has them.
Result<void> trace_model(const ModelTrace& request, Streams io);

}  // namespace attn::cli
