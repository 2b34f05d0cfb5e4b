#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/cli.h"
#include "app/cli/interventions.h"
#include "core/forward.h"
#include "core/io/npz.h"
#include "core/models/groups.h"
#include "core/models/model.h"
#include "core/operations/operation.h"

namespace attn {
struct AttentionSpec;
struct RgbImage;
}  // namespace attn

namespace attn::files {
struct FileCall;
}  // namespace attn::files

namespace attn::cli {

/// The arrays of OUT.npz: the kept stages, logsumexp, what makes them again (add_call()), and with a gradient d_<stage>
/// of the kept stages and d_<param> of every parameter. Stages with heads are [B,H,T,d], x, x_kv and output
/// [B,T,d], logsumexp [B,H,Tq], parameters in the shape in which they were given.
/// The values stay in the traces, which must outlive the result.
std::vector<NpzEntry> trace_entries(const files::FileCall& call, const Trace& forward,
                                    const Trace* gradient, StageSet keep);

/// The kept stages, and logsumexp where it is there, alone.
std::vector<NpzEntry> stage_entries(const Trace& trace, StageSet keep);

/// What a trace that holds these stages needs beside them to be read as the same call: its score's parameters where q and k
/// are there, sinks, and with v and output W_O and b_O. `prefix`: "l3.". The values stay in `inputs`.
void add_params(const Inputs& inputs, StageSet held, std::string_view prefix,
                std::vector<NpzEntry>& entries);
/// The same of all layers, where a call can be made of these stages: `options`, only those that still count after the first stage that is read, and `mask`. `d_k` is
/// the width of a query. The mask's values stay in `spec`.
void add_options(const AttentionSpec& spec, Index d_k, StageSet held,
                 std::vector<NpzEntry>& entries);
/// Both of one call, its tokens and its image.
void add_call(const files::FileCall& call, StageSet held, std::vector<NpzEntry>& entries);

/// The pixels of the image whose patches are tokens, as uint8 [height, width, 3]; null: nothing. They stay in `image`.
void add_image(const RgbImage* image, std::vector<NpzEntry>& entries);

/// d_<param> of every parameter of the call that `gradients` has.
void add_param_gradients(const files::FileCall& call, const Params& gradients,
                         std::vector<NpzEntry>& entries);

/// A sentence for each stage of `keep` that this call does not have.
std::vector<std::string> missing_stages(const Trace& forward, StageSet keep);

/// Writes the file `path`, "-" for standard output. Throws.
void write_entries(const std::string& path, std::span<const NpzEntry> entries, Streams io);

/// The stages that a call of given scores or weights cannot have, with the reason.
std::vector<std::string> absent_notes(Stage from, bool has_values);

/// What is asked of a call that has an operation.
struct OperationRequest {
    std::string_view backend;  // as typed; an operation has none to choose
    std::string_view keep;     // as typed; "": all
    bool grad = false;
};

/// What an operation computed, beside softmax attention of the same call.
struct OperationRun {
    OperationTrace forward;
    std::optional<OperationTrace> gradient;
    std::vector<bool> keep;  // by row of the table
    OperationError error;    // of the context, against softmax attention
    double forward_ms = 0.0;
    double backward_ms = 0.0;
};
OperationRun run_operation_of(const files::FileCall& call, const OperationRequest& request);

/// The arrays of OUT.npz, named by the operation's table: the kept stages, and with a gradient d_<stage> of them and
/// d_<parameter> of every parameter of operation and call. Values stay in the run, which must outlive the result.
std::vector<NpzEntry> operation_entries(const files::FileCall& call, const OperationRun& run);

/// Lines on time, cost and the distance to softmax attention.
std::string operation_summary(const files::FileCall& call, const OperationRun& run);

/// `attnscope trace --model FOLDER --text TEXT -o OUT.npz`, or --image FILE.png of a model that reads images.
struct ModelTrace {
    std::string folder;
    Reading reading;  // its text: or, of a model that reads images, the file
    std::string output;
    std::string backend;
    StageSet keep;
    bool image = false;  // it is a file, given as --image
    TypedInterventions with = {};
    LoadedBlocks retained =
        LoadedBlocks::all;  // one: without the stage output, which needs W_O of every layer
};
/// Every layer's stages as l<N>.<stage>, l<N>.logsumexp and l<N>.residual (after the block), tokens, token_ids (not of an image), and logits
/// or embedding where the model has them. With interventions the model runs without them too; the file then has them as
/// they were typed (interventions) and what they did to every head's weights (effect_kl and effect_change [layers, heads]:
/// mean KL(before‖after) of the rows in nats, NaN where it is finite in none, and largest |Δα|), and a table is printed.
void trace_model(const ModelTrace& request, Streams io);

}  // namespace attn::cli
