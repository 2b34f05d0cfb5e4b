#include "app/common/document/commands.h"
#include "app/common/actions.h"
#include "app/common/document/actions.h"

#include <fmt/format.h>

namespace attn::view {
namespace {

void add_heads(std::vector<Command>& list, const AppState& state) {
    const Dimensions& size = state.document().size;
    const Index heads = std::max<Index>(size.heads, 1);
    const Index batches = std::max<Index>(size.batch, 1);
    const Index layers = static_cast<Index>(state.document().layers.size());
    list.push_back({"Next head", "Document", plain(Key::h),
                    ShowHead{(state.head + 1) % heads, state.batch}, heads > 1});
    list.push_back({"Previous head", "Document", shift(Key::h),
                    ShowHead{(state.head + heads - 1) % heads, state.batch}, heads > 1});
    list.push_back({"Next sequence of the batch",
                    "Document",
                    {},
                    ShowHead{state.head, (state.batch + 1) % batches},
                    batches > 1});
    list.push_back({"Next layer", "Document", plain(Key::y),
                    ShowLayer{(state.document().layer + 1) % layers}, layers > 1});
}

void add_backends(std::vector<Command>& list, const AppState& state) {
    for (const Backend* backend : state.backends) {
        const std::string name(backend->name());
        const auto asked = state.device_reasons.find(name);
        const bool runs = asked == state.device_reasons.end() || asked->second.empty();
        list.push_back({"Compute with the backend " + name,
                        "Document",
                        {},
                        SetBackend{name},
                        name != state.backend && runs,
                        runs ? "" : "cannot run here: " + asked->second});
    }
}

}  // namespace

void add_document_commands(std::vector<Command>& list, const AppState& state) {
    const AttentionSpec& spec = state.document().spec;
    const bool scaling = spec.scale != ScaleKind::none;
    const bool causal = spec.mask.causal.has_value();
    const bool there = !is_empty(state.document());
    list.push_back({scaling ? "Scaling off" : "Scaling on", "Document", plain(Key::s),
                    SetScaling{!scaling}, there});
    list.push_back({causal ? "Causal mask off" : "Causal mask on", "Document", plain(Key::m),
                    SetCausal{!causal}, there});
    const Command window =
        spec.mask.window ? Command{"No window mask", "Document", {}, SetWindow{std::nullopt}, there}
                         : Command{"Window mask: no query sees farther than its neighbours",
                                   "Document",
                                   {},
                                   SetWindow{1},
                                   there};
    list.push_back(window);
    add_heads(list, state);
    add_backends(list, state);
}

void add_presets(std::vector<Command>& list, const AppState& state, const char* group) {
    for (const Preset& preset : state.presets)
        list.push_back({"Preset: " + preset.title, group, {}, LoadPreset{preset.key}});
}

void add_model_commands(std::vector<Command>& list, const AppState& state) {
    const bool gradients = state.show_gradients;
    list.push_back({gradients ? "Show values" : "Show gradients", "Step", plain(Key::g),
                    ShowGradients{!gradients}});
    list.push_back({"New random weights", "Step", plain(Key::r), SetSeed{state.document().seed + 1},
                    is_toy(state.document())});
    for (const Preset& preset : state.presets)
        list.push_back({"Preset: " + preset.title, "Step", {}, LoadPreset{preset.key}});
}

}  // namespace attn::view
