#include "app/window/session.h"
#include "app/common/document/document.h"
#include "app/window/former_names.h"
#include "app/window/lecture.h"
#include "app/window/rail.h"
#include "app/window/tour.h"

#include <fmt/format.h>

#include "app/common/color_look.h"
#include "app/common/describe_json.h"
#include "app/common/document/edits.h"
#include "app/common/fields.h"
#include "app/common/figure_size.h"
#include "app/common/workspace.h"
#include "core/io/json.h"

namespace attn::view {
namespace {

using nlohmann::json, nlohmann::ordered_json;

constexpr int kVersion = 2;

// ---- writing

ordered_json tour_to(const TourLook& look) {
    ordered_json tour{{"name", look.tour->key}, {"page", look.page}, {"on", look.on}};
    if (look.chosen) tour["predicted"] = *look.chosen;
    if (look.done) tour["done"] = true;
    return tour;
}

ordered_json window_to(const AppState& state) {
    ordered_json window{{"workspace", shown_workspace(state).key},
                        {"theme", kNamesOf<ThemeName>[static_cast<std::size_t>(state.theme)]},
                        {"ui_scale", state.ui_scale},
                        {"reduced_motion", state.reduced_motion},
                        {"backend", state.backend},
                        {"message", state.message.text}};
    window["severity"] = kSeverityNames[static_cast<std::size_t>(state.message.severity)];
    if (const ColorLook& colors = color_look(state); !(colors == ColorLook{})) {
        window["color_map"] = kNamesOf<ColorMap>[static_cast<std::size_t>(colors.map)];
        window["weights_to_one"] = colors.to_one;
    }
    if (rail_look(state).all_tools) window["all_tools"] = true;
    if (state.inspector) window["inspector"] = *state.inspector;
    if (state.presenter) window["presenter"] = true;
    if (state.show_help) window["help"] = true;
    if (state.glossary.shown) window["glossary"] = state.glossary.query;
    if (state.show_about) window["about"] = true;
    if (state.show_palette) window["palette"] = state.palette_query;
    if (state.tour.tour) window["tour"] = tour_to(state.tour);
    const LectureLook& lecture = lecture_look(state);
    if (!lecture.name.empty())
        window["lecture"] = {
            {"name", lecture.name}, {"screen", lecture.screen}, {"on", lecture.on}};
    return window;
}

/// With the fields of the file that this version does not know, where the object that holds them is still there.
ordered_json with_unknown(ordered_json part, std::string_view key, const UnknownFields& unknown) {
    const std::string start = fmt::format("/{}/", key);
    for (const auto& [pointer, text] : unknown) {
        if (!pointer.starts_with(start)) continue;
        const ordered_json::json_pointer at(pointer.substr(start.size() - 1));
        const auto parent = at.parent_pointer();
        if (part.contains(parent) && part[parent].is_object())
            part[at] = ordered_json::parse(text, nullptr, false);
    }
    return part;
}

/// Lines of those that stand beside the parts.
std::string unknown_lines(const UnknownFields& unknown) {
    std::string lines;
    for (const auto& [pointer, text] : unknown)
        if (pointer.find('/', 1) == pointer.npos)
            lines +=
                fmt::format("{}: {},\n", json(json::json_pointer(pointer).back()).dump(), text);
    return lines;
}

std::string line(const ordered_json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// ---- reading

void read_shown(Fields& fields, AppState& state) {
    std::string key(shown_workspace(state).key);
    fields.read("workspace", key);
    if (const WorkspaceInfo* found = find_workspace(state.workspaces, key))
        state.workspace = found->key;
    else
        fields.complain(fmt::format("has 'workspace' = \"{}\": expected {}", key,
                                    workspace_keys(state.workspaces)));
}

ordered_json write_workspace(const WorkspaceInfo& workspace, const AppState& state) {
    auto part = ordered_json::object();
    JsonWriter writer(part);
    if (workspace.write != nullptr) {
        workspace.write(writer, state);
        return part;
    }
    for (const PersistedValue& unknown : workspace.values) {
        Slots values = unknown.undone ? state.history[state.now].controls : state.looks;
        unknown.type->describe(writer, values.edit(*unknown.type));
    }
    return part;
}

void read_workspace(const WorkspaceInfo& workspace, Fields& fields, AppState& state) {
    if (workspace.read != nullptr) return workspace.read(fields, state);
    JsonReader reader(fields);
    for (const PersistedValue& unknown : workspace.values) {
        Slots& values = unknown.undone ? state.history[state.now].controls : state.looks;
        unknown.type->describe(reader, values.edit(*unknown.type));
    }
}

/// A tour that is no longer there, or has fewer pages, is not resumed.
void read_tour(Fields& fields, AppState& state) {
    TourLook look;
    std::string name;
    Index chosen = -1;
    fields.need("name", name);
    fields.read_index("page", look.page);
    fields.read("on", look.on);
    fields.read_index("predicted", chosen);
    fields.read("done", look.done);
    const auto found =
        std::ranges::find_if(state.tours, [&](const auto& tour) { return tour->key == name; });
    if (found == state.tours.end()) return;
    look.tour = *found;
    if (look.page >= static_cast<Index>(look.tour->pages.size())) return;
    const TourPage& page = look.tour->pages[static_cast<std::size_t>(look.page)];
    if (chosen >= 0 && chosen < static_cast<Index>(page.choices.size())) look.chosen = chosen;
    state.tour = std::move(look);
}

/// Likewise.
void read_lecture(Fields& fields, AppState& state) {
    LectureLook look;
    fields.need("name", look.name);
    fields.read_index("screen", look.screen);
    fields.read("on", look.on);
    const Lecture* const found = look.name.empty() ? nullptr : find_lecture(look.name);
    if (found != nullptr && look.screen < std::ssize(found->screens)) lecture_look(state) = look;
}

void read_window(Fields& fields, AppState& state) {
    read_shown(fields, state);
    fields.read_name("theme", state.theme, kNamesOf<ThemeName>);
    fields.read_name("color_map", color_look(state).map, kNamesOf<ColorMap>);
    fields.read("weights_to_one", color_look(state).to_one);
    fields.read("all_tools", rail_look(state).all_tools);
    fields.read("ui_scale", state.ui_scale);
    fields.read("reduced_motion", state.reduced_motion);
    fields.read("backend", state.backend);
    if (fields.find("inspector") != nullptr) fields.read("inspector", state.inspector.emplace());
    fields.read("message", state.message.text);
    fields.read_name("severity", state.message.severity, kSeverityNames);
    fields.read("presenter", state.presenter);
    fields.read("help", state.show_help);
    state.glossary.shown = fields.find("glossary") != nullptr;
    fields.read("glossary", state.glossary.query);
    fields.read("about", state.show_about);
    state.show_palette = fields.find("palette") != nullptr;
    fields.read("palette", state.palette_query);
    read_object(fields, "tour", [&](Fields& inner) { read_tour(inner, state); });
    read_object(fields, "lecture", [&](Fields& inner) { read_lecture(inner, state); });
    if (!(state.ui_scale >= 1.0 && state.ui_scale <= 2.0))
        fields.complain(fmt::format("has 'ui_scale' = {}: expected 1 to 2", state.ui_scale));
}

Result<AppState> read_session(const json& value, std::string_view file_name,
                              const SessionContext& context) {
    Fields fields(value, std::string(file_name));
    UnknownFields unknown;
    fields.keep_unknown(unknown);
    int version = kVersion;
    fields.read("attnscope_session", version);
    if (version != kVersion)
        return bad_input(fmt::format("{} is a session of version {}: this program reads version {}",
                                     file_name, version, kVersion));
    auto document = read_saved_document(fields, context);
    if (!document) return tl::unexpected(document.error());
    AppState read = saved_state(*std::move(document), context);
    read.presets = list_presets();
    read.tours = list_tours();
    read.sentence_draft = text_of(read.document());
    read_object(fields, "window", [&](Fields& inner) { read_window(inner, read); });
    read_object(fields, "place", [&](Fields& inner) { read_place(inner, read); });
    if (!fields.ok()) return tl::unexpected(fields.finish().error());
    if (auto done = compute_saved(read); !done)
        return tl::unexpected(within(file_name, done.error()));
    clamp_to_document(read);
    for (const WorkspaceInfo* workspace : context.workspaces)
        workspace->read_beside({fields, read, context});
    for (const WorkspaceInfo* workspace : context.workspaces)
        read_object(fields, workspace->key,
                    [&](Fields& inner) { read_workspace(*workspace, inner, read); });
    if (auto valid = fields.finish(); !valid) return tl::unexpected(valid.error());
    clamp_to_document(read);
    follow_all(read);
    read.unknown_fields = std::move(unknown);
    return read;
}

}  // namespace

std::string session_to_json(const AppState& state, const std::filesystem::path& folder) {
    std::string document = document_to_json(state.document(), folder);
    document.pop_back();  // its last line break
    const auto part = [&](std::string_view key, ordered_json value) {
        return fmt::format("\"{}\": {},\n", key,
                           line(with_unknown(std::move(value), key, state.unknown_fields)));
    };
    std::string text = fmt::format("{{\n\"attnscope_session\": {},\n", kVersion);
    text += part("window", window_to(state));
    text += part("place", {{"batch", state.batch}, {"head", state.head}});
    for (const WorkspaceInfo* workspace : state.workspaces)
        text += part(workspace->key, write_workspace(*workspace, state));
    for (const WorkspaceInfo* workspace : state.workspaces)
        text += workspace->write_beside(state, folder);
    text += unknown_lines(state.unknown_fields);
    return text + fmt::format("\"document\": {}\n}}\n", document);
}

Result<AppState> session_from_json(std::string_view text, std::string_view file_name,
                                   const SessionContext& context) {
    return parse_json(text, file_name).and_then([&](const json& value) {
        return read_session(session_with_present_names(value), file_name, context);
    });
}

void restore(AppState& state, const AppState& session) {
    const AppState was = state;
    static_cast<ViewState&>(state) = session;
    static_cast<TransientState&>(state) = session;
    desktop_look(state) = desktop_look(was);
    figure_look(state) = figure_look(was);
    state.effect.reset();
    for (const WorkspaceInfo* workspace : state.workspaces) workspace->restored(state, was);
    if (state.backend != was.backend) {
        if (auto done = compute(state); !done) show_message(state, done.error());
    } else if (!(state.loss == was.loss)) {
        if (auto done = compute_gradients(state); !done) show_message(state, done.error());
    }
    clamp_to_document(state);
    state.message = session.message;
    state.message.restored = true;
    if (state.notice && state.notice->text.empty()) state.notice.reset();
}

}  // namespace attn::view
