#pragma once

#include <string>

#include "app/cli/interventions.h"
#include "app/cli/subcommands.h"

namespace attn::cli {

/// `attnscope trace --model FOLDER --text TEXT -o OUT.npz`, or --image FILE.png of a model that reads images.
struct ModelTrace {
    std::string folder;
    std::string text;  // or, of a model that reads images, the file
    std::string output;
    std::string backend;
    StageSet keep;
    bool image = false;  // `text` is a file, given as --image
    TypedInterventions with = {};
};
/// Every layer's stages as l<N>.<stage>, l<N>.logsumexp and l<N>.residual (after the block), tokens, token_ids (not of an image), and logits
/// or embedding where the model has them. With interventions the model runs without them too; the file then has them as
/// they were typed (interventions) and what they did to every head's weights (effect_kl and effect_change [layers, heads]:
/// mean KL(before‖after) of the rows in nats, NaN where it is finite in none, and largest |Δα|), and a table is printed.
void trace_model(const ModelTrace& request, Streams io);

}  // namespace attn::cli
