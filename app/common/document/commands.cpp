#include "app/common/document/commands.h"

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/call_actions.h"
#include "app/common/document/document.h"
#include "app/common/document/mask_rules.h"
#include "app/common/document/model_text.h"
#include "app/common/state.h"
#include "core/backend.h"

namespace attn::view {
namespace {

void add_heads(const CommandAdder& add, const AppState& state) {
    const Dimensions& size = state.document().size;
    const Index heads = std::max<Index>(size.heads, 1);
    const Index batches = std::max<Index>(size.batch, 1);
    const Index layers = static_cast<Index>(state.document().layers.size());
    add("Next head", Key::h, ShowHead{(state.head + 1) % heads, state.batch}, heads > 1);
    add("Previous head", shift(Key::h), ShowHead{(state.head + heads - 1) % heads, state.batch},
        heads > 1);
    add("Next sequence of the batch", {}, ShowHead{state.head, (state.batch + 1) % batches},
        batches > 1);
    for (const std::string& group : state.document().groups)
        add(fmt::format("Attention of the model: {}", group), {}, ShowGroup{group},
            group != group_of(state.document()));
    if (const GroupsView groups = groups_view(state); !groups.names.empty())
        add(groups.label == "images" ? "Images for the model…" : "Decoder text…", {},
            ShowPrompt{PromptKind::beside, groups.second_input});
    add("Next layer", Key::y, ShowLayer{(state.document().layer + 1) % layers}, layers > 1);
}

/// What switches a field of the call, each choice by itself; other numbers are set in the panel.
void add_call_field(const CommandAdder& add, const AppState& state, const CallField& field) {
    const CallSettings call = call_of(state.document());
    const FieldNow now = field_now(*field.field, &call);
    const std::string lack = call_field_unavailable(state.document(), field.field->name);
    const auto offer = [&](const std::string& text, const FieldValue& value) {
        add(fmt::format("Call: {} {}", now.text, text), {}, field.set(value), lack.empty(), lack);
    };
    if (const bool* on = std::get_if<bool>(&now.value)) offer(*on ? "off" : "on", !*on);
    if (const double* value = std::get_if<double>(&now.value); value && field.reach.on != 0.0)
        offer(*value != 0.0 ? "off" : "on", *value != 0.0 ? 0.0 : field.reach.on);
    if (const Chosen* chosen = std::get_if<Chosen>(&now.value))
        for (std::size_t n = 0; n < now.names.size(); ++n)
            if (n != chosen->n) offer(now.names[n], Chosen{n});
}

void add_call(const CommandAdder& add, const AppState& state) {
    const CallSettings call = call_of(state.document());
    for (const CallField& field : call_fields())
        if (field.counts(call)) add_call_field(add, state, field);
    for (const auto& [text, code] :
         {std::pair{"NumPy", MaskCode::numpy}, {"PyTorch", MaskCode::pytorch}})
        add(fmt::format("Copy the whole call as {}", text), {}, CopyCall{code});
    add("W_K := W_Q: keys are projected like queries", {}, CopyQueryWeights{},
        is_toy(state.document()));
}

void add_backends(const CommandAdder& add, const AppState& state) {
    for (const Backend* backend : state.backends) {
        const std::string name(backend->name());
        const auto asked = state.device_reasons.find(name);
        const bool runs = asked == state.device_reasons.end() || asked->second.empty();
        add("Compute with the backend " + name, {}, SetBackend{name}, name != state.backend && runs,
            runs ? "" : "cannot run here: " + asked->second);
    }
}

}  // namespace

void add_document_commands(std::vector<Command>& list, const AppState& state) {
    const AttentionSpec& spec = state.document().spec;
    const bool scaling = spec.scale != ScaleKind::none;
    const bool causal = spec.mask.causal.has_value();
    const bool there = !is_empty(state.document());
    const bool masks = takes_masks(state.document());
    const CommandAdder add{list, "Document"};
    add(scaling ? "Scaling off" : "Scaling on", Key::s, SetScaling{!scaling}, there);
    add(causal ? "Causal mask off" : "Causal mask on", Key::m, SetCausal{!causal}, masks);
    if (spec.mask.window)
        add("No window mask", {}, SetWindow{std::nullopt}, masks);
    else
        add("Window mask: no query sees farther than its neighbours", {}, SetWindow{1}, masks);
    add_call(add, state);
    add_heads(add, state);
    add_backends(add, state);
}

void add_presets(std::vector<Command>& list, const AppState& state, const char* group) {
    for (const Preset& preset : state.presets)
        list.push_back({"Preset: " + preset.title, group, {}, LoadPreset{preset.key}});
}

void add_model_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Step"};
    const bool gradients = state.show_gradients;
    add(gradients ? "Show values" : "Show gradients", Key::g, ShowGradients{!gradients});
    add("New random weights", Key::r, SetSeed{state.document().seed + 1}, is_toy(state.document()));
    const OfferedText offered = offered_text(state.document());
    add("Read the other sentence: " + offered.change, {}, TypeText{offered.text},
        !offered.text.empty());
    for (const Preset& preset : state.presets)
        add("Preset: " + preset.title, {}, LoadPreset{preset.key});
}

}  // namespace attn::view
