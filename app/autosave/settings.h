#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "app/common/color_look.h"
#include "app/common/theme_name.h"
#include "core/result.h"

namespace attn::view {
struct AppState;
}  // namespace attn::view

namespace attn::autosave {

/// How the window looks to a person, whatever is open.
struct Settings {
    view::ThemeName theme = view::ThemeName::dark;
    double ui_scale = 1.0;
    bool reduced_motion = false;
    std::optional<bool> inspector;
    view::ColorLook colors = {};
    bool all_tools = false;   // on the rail
    std::string others = {};  // JSON of fields that this version does not know: written again
    bool operator==(const Settings&) const = default;
};
Settings settings_of(const view::AppState& state, const Settings& before);

/// nullopt where there is no file. An error names the file, the field and what was expected.
Result<std::optional<Settings>> read_settings(const std::filesystem::path& file);
/// Replaces the file; its folder is made.
Result<void> write_settings(const std::filesystem::path& file, const Settings& settings);

}  // namespace attn::autosave
