#include "app/view/session.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/view/common/json.h"
#include "app/view/common/sheet.h"
#include "app/view/edits.h"
#include "app/view/large/json.h"
#include "core/io/json.h"

namespace attn::view {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kVersion = 1;

// ---- writing

ordered_json step_to(const StepLook& look) {
    ordered_json step{{"stage", info(look.stage).key},
                      {"previous", info(look.previous).key},
                      {"fade", look.fade},
                      {"head", look.head},
                      {"playing", look.playing},
                      {"gradients", look.show_gradients},
                      {"stepped_once", look.stepped_once},
                      {"sentence_draft", look.sentence_draft}};
    if (look.selected) step["selected"] = cell_to(*look.selected);
    if (look.hovered) step["hovered"] = cell_to(*look.hovered);
    if (look.editing)
        step["editing"] = {{"cell", cell_to(look.editing->cell)}, {"draft", look.editing->draft}};
    return step;
}

ordered_json saturation_to(const SaturationControls& controls) {
    const SaturationSettings& settings = controls.settings;
    return {{"model", kModelNames[static_cast<std::size_t>(settings.model)]},
            {"logits", settings.logits},
            {"keys", settings.keys},
            {"trials", settings.trials},
            {"seed", settings.seed},
            {"d_k", controls.d_k},
            {"scaling", controls.scaling},
            {"draw", controls.draw}};
}

ordered_json window_to(const AppState& state) {
    ordered_json window{{"workspace", kWorkspaceNames[static_cast<std::size_t>(state.workspace)]},
                        {"theme", kThemeNames[static_cast<std::size_t>(state.theme)]},
                        {"ui_scale", state.ui_scale},
                        {"reduced_motion", state.reduced_motion},
                        {"backend", state.backend}};
    if (state.show_help) window["help"] = true;
    if (state.show_palette) window["palette"] = state.palette_query;
    if (state.show_palette) window["palette_row"] = state.palette_row;
    return window;
}

std::string line(const ordered_json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// ---- reading

void read_cell(Fields& fields, std::string_view key, std::optional<CellRef>& cell) {
    if (const json* found = fields.find(key)) cell = cell_from(fields, key, *found);
}

void read_step(Fields& fields, StepLook& look) {
    read_stage(fields, "stage", look.stage);
    look.previous = look.stage;
    read_stage(fields, "previous", look.previous);
    fields.read("fade", look.fade);
    fields.read("head", look.head);
    fields.read("playing", look.playing);
    fields.read("gradients", look.show_gradients);
    fields.read("stepped_once", look.stepped_once);
    fields.read("sentence_draft", look.sentence_draft);
    read_cell(fields, "selected", look.selected);
    read_cell(fields, "hovered", look.hovered);
    read_object(fields, "editing", [&](Fields& inner) {
        look.editing.emplace();
        std::optional<CellRef> cell;
        read_cell(inner, "cell", cell);
        look.editing->cell = cell.value_or(CellRef{});
        inner.read("draft", look.editing->draft);
    });
}

void read_saturation(Fields& fields, SaturationControls& controls) {
    SaturationSettings& settings = controls.settings;
    fields.read_name("model", settings.model, kModelNames);
    fields.read("logits", settings.logits);
    fields.read("keys", settings.keys);
    fields.read("trials", settings.trials);
    fields.read("seed", settings.seed);
    fields.read("d_k", controls.d_k);
    fields.read("scaling", controls.scaling);
    fields.read("draw", controls.draw);
    if (auto fine = check_controls(controls); !fine) fields.complain(": " + fine.error().sentence);
}

void read_window(Fields& fields, AppState& state) {
    fields.read_name("workspace", state.workspace, kWorkspaceNames);
    fields.read_name("theme", state.theme, kThemeNames);
    fields.read("ui_scale", state.ui_scale);
    fields.read("reduced_motion", state.reduced_motion);
    fields.read("backend", state.backend);
    fields.read("help", state.show_help);
    state.show_palette = fields.find("palette") != nullptr;
    fields.read("palette", state.palette_query);
    std::uint64_t row = 0;
    fields.read("palette_row", row);
    state.palette_row = row;
    if (!(state.ui_scale >= 1.0 && state.ui_scale <= 2.0))
        fields.complain(fmt::format("has 'ui_scale' = {}: wanted 1 to 2", state.ui_scale));
}

Result<Document> read_document(Fields& fields) {
    const json* found = fields.find("document");
    if (found == nullptr) return bad_input(fields.where() + " has no 'document'");
    return document_from_json(found->dump(), fields.where() + " 'document'");
}

/// A cell, stage or head that the document does not have.
void check_look(Fields& fields, const AppState& state) {
    const StepLook& look = state.step;
    if (look.head < 0 || look.head >= state.document().heads)
        fields.complain(fmt::format("'step' has 'head' = {}: wanted 0 to {}", look.head,
                                    state.document().heads - 1));
    const auto stages = ribbon_stages(state.document());
    for (const Stage stage : {look.stage, look.previous})
        if (std::find(stages.begin(), stages.end(), stage) == stages.end())
            fields.complain(fmt::format(
                "'step' is at stage '{}', which this document does not have", info(stage).key));
    if (!(look.fade >= 0.0 && look.fade <= 1.0))
        fields.complain(fmt::format("'step' has 'fade' = {}: wanted 0 to 1", look.fade));
    if (!fields.fine()) return;
    for (const auto& cell : {look.selected, look.hovered})
        if (cell && !has_cell(state, *cell))
            fields.complain(
                fmt::format("'step' points at a cell that {} does not have: row {}, "
                            "column {}",
                            name_of(cell->tensor), cell->row, cell->column));
    if (look.editing &&
        (!is_editable(look.editing->cell.tensor) || !has_cell(state, look.editing->cell)))
        fields.complain("'step' edits a cell that cannot be edited");
}

Result<AppState> read_session(const json& value, std::string_view file_name, BackendList backends) {
    Fields fields(value, std::string(file_name));
    int version = kVersion;
    fields.read("attnscope_session", version);
    if (version != kVersion)
        fields.complain(fmt::format("is a session of version {}: this program reads version {}",
                                    version, kVersion));
    SaturationControls controls;
    read_object(fields, "saturation", [&](Fields& inner) { read_saturation(inner, controls); });
    AppState read;
    read.backends = backends;
    read_object(fields, "window", [&](Fields& inner) { read_window(inner, read); });
    read_object(fields, "step", [&](Fields& inner) { read_step(inner, read.step); });
    read_object(fields, "large", [&](Fields& inner) { read_large(inner, read.large); });
    fields.find("document");
    if (auto fine = fields.finish(); !fine) return tl::unexpected(fine.error());
    auto document = read_document(fields);
    if (!document) return tl::unexpected(document.error());
    read.presets = list_presets();
    read.history.push_back({std::make_shared<const Document>(*std::move(document)), controls, ""});
    if (auto done = compute(read); !done)
        return bad_input(fmt::format("{}: {}", file_name, done.error().sentence));
    check_look(fields, read);
    if (auto fine = fields.finish(); !fine) return tl::unexpected(fine.error());
    say(read, fmt::format("{} opened: {}.", file_name, read.document().title));
    warn_of_backend(read);
    return read;
}

}  // namespace

std::string session_to_json(const AppState& state) {
    std::string document = document_to_json(state.document());
    document.pop_back();  // its last line break
    return fmt::format(
        "{{\n\"attnscope_session\": {},\n\"window\": {},\n\"step\": {},\n\"saturation\": {},\n"
        "\"large\": {},\n\"document\": {}\n}}\n",
        kVersion, line(window_to(state)), line(step_to(state.step)),
        line(saturation_to(state.saturation())), line(large_to(state.large)), document);
}

Result<AppState> session_from_json(std::string_view text, std::string_view file_name,
                                   BackendList backends) {
    return parse_json(text, file_name).and_then([&](const json& value) {
        return read_session(value, file_name, backends);
    });
}

}  // namespace attn::view
