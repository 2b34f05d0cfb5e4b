#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/map/actions.h"
#include "app/workspaces/large/draw/panel.h"

namespace attn::ui {
namespace {

using large::PlantedSpec;

constexpr Index kWidest = 256;
constexpr float kSizes = 112.0F, kHeads = 132.0F;  // design units

void draw_colors(const LargeView& view, const MapLook& look, ControlBar& bar) {
    const Tip picture{"Weights, or the scores before softmax", view.picture_tip};
    if (const auto n = bar.choice("picture", view.picture_names, view.picture, picture))
        bar.out.push_back(SetMapPicture{static_cast<MapPictureOf>(*n)});
    MapColors colors = look.colors;
    const bool scores = look.picture == MapPictureOf::scores;
    if (view.sentence) return;
    const Tip pooling{"How the cells of a pixel are combined",
                      "mean: the total attention. max: keeps single large weights. log-mean: exp "
                      "of the mean logarithm. Any NaN gives NaN."};
    if (const auto n = scores ? std::nullopt
                              : bar.choice("pooling", view.pooling_names, view.pooling, pooling))
        colors.pooling = static_cast<large::Pooling>(*n);
    const Tip range{
        "Range of the colour scale",
        "Percentiles of the pooled weights in view; values beyond them get the end colour."};
    if (const auto n = bar.choice("range", view.percentile_names, view.percentile, range))
        colors = view.percentile_colors.at(*n);
    const Tip log{"Log colour scale", "Off: linear colour scale."};
    if (const auto on = scores ? std::nullopt : bar.toggle("log", "log scale", view.log_scale, log))
        colors.log_scale = *on;
    if (!(colors == look.colors)) bar.out.push_back(SetMapColors{colors});
}

void draw_heads(const LargeView& view, ControlBar& bar) {
    if (view.heads.size() < 2) return;
    const Tip tip{"Head of the map", "Key: H for the next one."};
    const auto row = bar.combo("##head", {view.heads, view.head}, kHeads, tip);
    if (!row || static_cast<std::size_t>(*row) >= view.head_refs.size()) return;
    const large::Head head = view.head_refs[*row];
    bar.out.push_back(ShowHead{head.h, head.b});
}

struct Part {
    const char* text;
    bool PlantedSpec::*on;
    const char* tip;
};
constexpr Part kParts[] = {
    {"band", &PlantedSpec::band, "a token attends to its neighbours"},
    {"sink", &PlantedSpec::sink, "every query attends to token 0"},
    {"induction", &PlantedSpec::induction,
     "a repeated stretch attends to the tokens after its first occurrence"},
    {"documents", &PlantedSpec::documents,
     "tokens attend within their own document: blocks on the diagonal"},
    {"needle", &PlantedSpec::needle, "one query finds one key far from it, with more than half"},
    {"causal", &PlantedSpec::causal, "a query attends to no later key"},
};

/// What the generator would make.
void draw_planted(const LargeView& view, ControlBar& bar) {
    PlantedSpec draft = view.draft;
    const Tip tokens{"n: queries and keys", "The matrix has n² weights; none of it is stored."};
    const auto row =
        bar.label("tokens").combo("##tokens", {view.size_names, view.size}, kSizes, tokens);
    if (row && static_cast<std::size_t>(*row) < view.sizes.size()) draft.tokens = view.sizes[*row];
    if (const auto d_k =
            bar.number("##map d_k", "d_k", draft.d_k, large::kLeastPlantedWidth, kWidest,
                       {"d_k: columns of Q and K", "Drag, or double-click to type."}))
        draft.d_k = *d_k;
    if (const auto seed = bar.seed("##map seed", draft.seed,
                                   {"seed of every draw", "The same seed gives the same matrix."}))
        draft.seed = *seed;
    for (const Part& part : kParts)
        if (const auto on = bar.toggle(part.text, part.text, draft.*part.on, {part.text, part.tip}))
            draft.*part.on = *on;
    if (!(draft == view.draft)) bar.out.push_back(DraftPlanted{draft});
}

std::string generate_text(const LargeView& view) {
    const auto n = static_cast<std::size_t>(view.size);
    return n < view.size_names.size() ? "Generate " + view.size_names[n] + " tokens" : "Generate";
}

}  // namespace

void draw_large_bar(const LargeView& view, const MapLook& look, ControlBar& bar) {
    const LargeScene scene{view, look, bar.frame, bar.out};
    if (has_map(view)) {
        draw_heads(view, bar);
        draw_colors(view, look, bar);
        bar.rest();
    }
    if (bar.take(button_width(bar.frame, "Open a file"))) draw_open_button(scene);
    if (bar.take(button_width(bar.frame, generate_text(view)))) draw_generate_button(scene);
    draw_planted(view, bar);
}

void draw_open_button(const LargeScene& scene) {
    if (button(scene.frame, "open", "Open a file",
               {"Q and K of a model, as .npz or .safetensors", "V may be missing.  Key: Ctrl+O"}))
        scene.out.push_back(ShowPrompt{PromptKind::open});
}

void draw_generate_button(const LargeScene& scene) {
    if (button(scene.frame, "generate", generate_text(scene.view),
               {"Generates Q and K with the selected structure", "The map updates by itself."}))
        scene.out.push_back(OpenPlanted{scene.view.draft});
}

}  // namespace attn::ui
