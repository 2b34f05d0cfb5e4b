#include "app/autosave/settings.h"

#include <fmt/format.h>

#include "app/autosave/places.h"
#include "app/common/fields.h"
#include "app/common/state.h"
#include "app/window/rail.h"
#include "core/dimensions.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace attn::autosave {

Settings settings_of(const view::AppState& state, const Settings& before) {
    return {state.theme,     state.ui_scale,          state.reduced_motion,
            state.inspector, view::color_look(state), view::rail_look(state).all_tools,
            before.others};
}

Result<std::optional<Settings>> read_settings(const std::filesystem::path& file) {
    std::error_code fault;
    if (!std::filesystem::exists(file, fault)) return std::nullopt;
    const auto text = read_saved(file);
    if (!text) return tl::unexpected(text.error());
    const auto json = parse_json(*text, file.string());
    if (!json) return tl::unexpected(json.error());
    view::Fields fields(*json, file.string());
    std::map<std::string, std::string> unknown;
    fields.keep_unknown(unknown);
    Settings settings;
    fields.read_name("theme", settings.theme, view::kNamesOf<view::ThemeName>);
    fields.read("ui_scale", settings.ui_scale);
    fields.read("reduced_motion", settings.reduced_motion);
    if (fields.find("inspector") != nullptr) fields.read("inspector", settings.inspector.emplace());
    fields.read_name("color_map", settings.colors.map, view::kNamesOf<view::ColorMap>);
    fields.read("weights_to_one", settings.colors.to_one);
    fields.read("all_tools", settings.all_tools);
    if (!(settings.ui_scale >= 1.0 && settings.ui_scale <= 2.0))
        fields.complain(fmt::format("has 'ui_scale' = {}: expected 1 to 2", settings.ui_scale));
    if (auto valid = fields.finish(); !valid) return tl::unexpected(valid.error());
    nlohmann::ordered_json others = nlohmann::ordered_json::object();
    for (const auto& [pointer, value] : unknown)
        others[nlohmann::ordered_json::json_pointer(pointer)] =
            nlohmann::ordered_json::parse(value, nullptr, false);
    if (!others.empty()) settings.others = others.dump();
    return settings;
}

Result<void> write_settings(const std::filesystem::path& file, const Settings& settings) {
    nlohmann::ordered_json json{
        {"theme", view::kNamesOf<view::ThemeName>[static_cast<std::size_t>(settings.theme)]},
        {"ui_scale", settings.ui_scale},
        {"reduced_motion", settings.reduced_motion}};
    if (settings.inspector) json["inspector"] = *settings.inspector;
    if (!(settings.colors == view::ColorLook{})) {
        json["color_map"] =
            view::kNamesOf<view::ColorMap>[static_cast<std::size_t>(settings.colors.map)];
        json["weights_to_one"] = settings.colors.to_one;
    }
    if (settings.all_tools) json["all_tools"] = true;
    if (!settings.others.empty())
        json.update(nlohmann::ordered_json::parse(settings.others, nullptr, false));
    std::error_code ignored;
    std::filesystem::create_directories(file.parent_path(), ignored);
    return write_file_atomically(file, json.dump(2) + "\n");
}

}  // namespace attn::autosave
