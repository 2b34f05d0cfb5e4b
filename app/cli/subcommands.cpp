#include "app/cli/subcommands.h"

namespace attn::cli {
namespace {

constexpr auto kSubcommands = std::to_array<Subcommand>({
    {"trace", "IN -o OUT.npz [options]", "one attention call: every stage saved", run_trace},
    {"diff", "A [B] [--json] [options]", "checks results, and says what went wrong", run_diff},
    {"heads", "FILE [--texts LINES] [-o FILE.csv]", "every head of every layer, measured",
     run_heads},
    {"merge", "A B ... -o OUT.npz", "parts of a corpus put together, exactly", run_merge},
    {"generate", "MODEL --text T [-o OUT.npz]", "next tokens one by one, with a cache of K and V",
     run_generate},
    {"lens", "MODEL --text T [--token A [--against B]]",
     "the next token after every layer, and which heads it is from", run_lens},
    {"circuits", "MODEL --text TEXT [--sweep zero|mean|patch] [--layer L --head H]",
     "what depends on each head of a model; QK and OV of one", run_circuits},
    {"train", "SPEC.json [-o RUN] [--seeds N]",
     "a small transformer on a task, with exact gradients", run_train},
    {"saturate", "[options] [-o FILE.csv]", "softmax saturation over d_k: table or CSV",
     run_saturate},
    {"sheet", "NAME [--seed N] [--solutions] -o FILE.pdf", "exercises, numbers from a seed",
     run_sheet},
    {"lecture", "NAME [--notes [-o FILE.md]]", "the window as a list of screens; its notes",
     run_lecture},
    {"render", "[FILE] [options] -o OUT.png", "a picture of the window, without one", run_render},
    {"page", "[FILE] [options] -o PAGE.html", "the program and what is open as one HTML file",
     run_page},
    {"stages", "[--operation NAME] [--json]", "the table of stages: key, formula, shape, backends",
     run_stages},
    {"info", "[--json]", "version, backends, presets", run_info},
    {"bench", "[--quick] [--json FILE]", "how fast and how right the backends are here", run_bench},
});

}  // namespace

std::span<const Subcommand> subcommands() { return kSubcommands; }

}  // namespace attn::cli
