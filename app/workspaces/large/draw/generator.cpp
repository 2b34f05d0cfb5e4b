#include <string>

#include "app/common/draw/draw.h"
#include "app/common/draw/widgets.h"
#include "app/workspaces/large/draw/panel.h"

namespace attn::ui {
namespace {

using large::PlantedSpec;

constexpr Index kWidest = 256;
constexpr float kSizes = 112.0F;  // design units

void draw_sizes(const LargeScene& scene, PlantedSpec& draft) {
    ImGui::AlignTextToFramePadding();
    words(scene.frame, scene.frame.fonts.body, scene.frame.theme.text, "tokens");
    ImGui::SameLine();
    const Tip tip{"n: queries and keys", "The matrix has n² weights; none of it is stored."};
    const auto row = combo(scene.frame, "##tokens", {scene.view.size_names, scene.view.size},
                           scene.frame.px(kSizes), tip, scene.out);
    if (row && static_cast<std::size_t>(*row) < scene.view.sizes.size())
        draft.tokens = scene.view.sizes[static_cast<std::size_t>(*row)];
}

void draw_numbers(const LargeScene& scene, PlantedSpec& draft) {
    const Frame& frame = scene.frame;
    const float width = number_width(frame, "d_k", kWidest);
    flow(frame, width);
    const Tip width_tip{"d_k: columns of Q and K", "Drag, or double-click to type."};
    if (const auto d_k =
            number_field(frame, "##map d_k", "d_k", draft.d_k, large::kLeastPlantedWidth, kWidest,
                         width, width_tip, scene.out))
        draft.d_k = *d_k;
    const float seed = seed_width(frame, draft.seed);
    flow(frame, seed);
    const Tip seed_tip{"seed of every draw", "The same seed gives the same matrix."};
    if (const auto next = seed_field(frame, "##map seed", draft.seed, seed, seed_tip, scene.out))
        draft.seed = *next;
}

struct Part {
    const char* words;
    bool PlantedSpec::*on;
    const char* tip;
};
constexpr Part kParts[] = {
    {"band", &PlantedSpec::band, "a token attends to its neighbours"},
    {"sink", &PlantedSpec::sink, "everything attends to token 0"},
    {"induction", &PlantedSpec::induction,
     "a repeated stretch attends to what followed its first occurrence"},
    {"documents", &PlantedSpec::documents,
     "tokens attend within their own document: blocks on the diagonal"},
    {"needle", &PlantedSpec::needle, "one query finds one key far from it, with more than half"},
    {"causal", &PlantedSpec::causal, "a query attends to no later key"},
};

void draw_parts(const LargeScene& scene, PlantedSpec& draft) {
    bool first = true;
    for (const Part& part : kParts) {
        if (!first) flow(scene.frame, toggle_width(scene.frame, part.words));
        first = false;
        const Tip tip{part.words, part.tip};
        if (const auto on = toggle(scene.frame, part.words, part.words, draft.*part.on, tip))
            draft.*part.on = *on;
    }
}

std::string generate_words(const LargeScene& scene) {
    const auto n = static_cast<std::size_t>(scene.view.size);
    const auto& names = scene.view.size_names;
    return n < names.size() ? "Generate " + names[n] + " tokens" : "Generate";
}

}  // namespace

void draw_generator(const LargeScene& scene) {
    PlantedSpec draft = scene.view.draft;
    ImGui::PushID("generator");
    draw_sizes(scene, draft);
    draw_numbers(scene, draft);
    draw_parts(scene, draft);
    ImGui::PopID();
    if (!(draft == scene.view.draft)) scene.out.push_back(view::DraftPlanted{draft});
    draw_generate_button(scene);
}

void draw_open_button(const LargeScene& scene) {
    if (button(scene.frame, "open", "Open a file",
               {"Q and K of a model, as .npz or .safetensors", "V may be missing.  Key: Ctrl+O"}))
        scene.out.push_back(view::ShowPrompt{view::PromptKind::open});
}

float generate_width(const LargeScene& scene) {
    return button_width(scene.frame, generate_words(scene));
}

void draw_generate_button(const LargeScene& scene) {
    if (button(
            scene.frame, "generate", generate_words(scene),
            {"Makes Q and K with what is chosen", "The map of their weights follows by itself."}))
        scene.out.push_back(view::OpenPlanted{scene.view.draft});
}

}  // namespace attn::ui
