#include "app/cli/subcommands.h"

namespace attn::cli {
namespace {

constexpr auto kSubcommands = std::to_array<Subcommand>({
    {"trace", "IN -o OUT.npz [options]", "compute one attention call and save every stage",
     run_trace},
    {"diff", "A [B] [--json] [options]", "compare results and name the fault", run_diff},
    {"heads", "FILE [--texts LINES] [-o FILE.csv]", "measure every head of every layer", run_heads},
    {"sparse", "FILE [--rule R,..] [--k N,..] [--json]",
     "sets of keys against exact attention: the weight that each rule misses", run_sparse},
    {"merge", "A B ... -o OUT.npz", "combine parts of a corpus exactly", run_merge},
    {"generate", "MODEL --text T [-o OUT.npz]", "generate tokens with a KV cache", run_generate},
    {"lens", "MODEL --text T [--token A [--against B]]",
     "the next token after every layer, with the contribution of each head", run_lens},
    {"circuits", "MODEL --text TEXT [--sweep zero|mean|patch] [--layer L --head H]",
     "effect of each head of a model; QK and OV circuits of a head", run_circuits},
    {"train", "SPEC.json [-o RUN] [--seeds N]", "train a small transformer with exact gradients",
     run_train},
    {"saturate", "[options] [-o FILE.csv]", "softmax saturation over d_k: table or CSV",
     run_saturate},
    {"sheet", "NAME [--seed N] [--solutions] -o FILE.pdf",
     "write an exercise sheet with numbers from a seed", run_sheet},
    {"lecture", "NAME [--notes [-o FILE.md]]", "present a lecture, or write its notes",
     run_lecture},
    {"render", "[FILE] [options] -o OUT.png", "draw a picture without opening the window",
     run_render},
    {"page", "[FILE] [options] -o PAGE.html", "write the program and a document as one HTML file",
     run_page},
    {"stages", "[--operation NAME] [--json]", "list the stages: key, formula, shape, backends",
     run_stages},
    {"options", "[--json]", "list the options of an attention call: values, ranges, meaning",
     run_options},
    {"info", "[MODEL] [--json]", "show version, backends, presets; or the sizes of a model",
     run_info},
    {"bench", "[--quick] [--json FILE]", "measure speed and accuracy of the backends", run_bench},
});

}  // namespace

std::span<const Subcommand> subcommands() { return kSubcommands; }

}  // namespace attn::cli
