#include <span>
#include <tuple>
#include <type_traits>

#include <fmt/format.h>

#include "app/view/actions.h"
#include "app/view/common/json.h"
#include "app/view/large/json.h"
#include "core/io/json.h"

namespace attn::view {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// ---- one line for each action: its name and its fields

template <class Action, class Value>
struct Field {
    std::string_view name;
    Value Action::*member;
};
template <class Action, class Value>
constexpr Field<Action, Value> field(std::string_view name, Value Action::*member) {
    return {name, member};
}
template <class... Fields>
struct Entry {
    std::string_view name;  // empty: not journaled
    std::tuple<Fields...> fields;
};
template <class... Fields>
constexpr Entry<Fields...> entry(std::string_view name, Fields... fields) {
    return {name, {fields...}};
}
template <class T>
struct Type {};

// clang-format off
constexpr auto describe(Type<SetWorkspace>) { return entry("set_workspace", field("workspace", &SetWorkspace::workspace)); }
constexpr auto describe(Type<GoToStage>) { return entry("go_to_stage", field("stage", &GoToStage::stage)); }
constexpr auto describe(Type<StepBy>) { return entry("step_by", field("steps", &StepBy::steps)); }
constexpr auto describe(Type<GoToEnd>) { return entry("go_to_end", field("last", &GoToEnd::last)); }
constexpr auto describe(Type<TogglePlay>) { return entry("toggle_play"); }
constexpr auto describe(Type<ShowHead>) { return entry("show_head", field("head", &ShowHead::head)); }
constexpr auto describe(Type<SelectCell>) { return entry("select_cell", field("cell", &SelectCell::cell)); }
constexpr auto describe(Type<MoveSelection>) { return entry("move_selection", field("rows", &MoveSelection::rows), field("columns", &MoveSelection::columns)); }
constexpr auto describe(Type<ClearSelection>) { return entry("clear_selection"); }
constexpr auto describe(Type<HoverCell>) { return entry(""); }
constexpr auto describe(Type<ShowGradients>) { return entry("show_gradients", field("on", &ShowGradients::on)); }
constexpr auto describe(Type<CopyArithmetic>) { return entry("copy_arithmetic", field("format", &CopyArithmetic::format)); }
constexpr auto describe(Type<LoadPreset>) { return entry("load_preset", field("key", &LoadPreset::key)); }
constexpr auto describe(Type<DraftSentence>) { return entry("draft_sentence", field("text", &DraftSentence::text)); }
constexpr auto describe(Type<SetSentence>) { return entry("set_sentence", field("text", &SetSentence::text)); }
constexpr auto describe(Type<SetModelWidth>) { return entry("set_model_width", field("d_model", &SetModelWidth::d_model)); }
constexpr auto describe(Type<SetKeyWidth>) { return entry("set_key_width", field("d_k", &SetKeyWidth::d_k)); }
constexpr auto describe(Type<SetHeads>) { return entry("set_heads", field("heads", &SetHeads::heads)); }
constexpr auto describe(Type<SetScaling>) { return entry("set_scaling", field("on", &SetScaling::on)); }
constexpr auto describe(Type<SetTemperature>) { return entry("set_temperature", field("temperature", &SetTemperature::temperature)); }
constexpr auto describe(Type<SetCausal>) { return entry("set_causal", field("on", &SetCausal::on)); }
constexpr auto describe(Type<SetSeed>) { return entry("set_seed", field("seed", &SetSeed::seed)); }
constexpr auto describe(Type<BeginCellEdit>) { return entry("begin_cell_edit", field("cell", &BeginCellEdit::cell)); }
constexpr auto describe(Type<DraftCell>) { return entry("draft_cell", field("text", &DraftCell::text)); }
constexpr auto describe(Type<CommitCellEdit>) { return entry("commit_cell_edit"); }
constexpr auto describe(Type<CancelCellEdit>) { return entry("cancel_cell_edit"); }
constexpr auto describe(Type<SetCell>) { return entry("set_cell", field("cell", &SetCell::cell), field("value", &SetCell::value)); }
constexpr auto describe(Type<EndGesture>) { return entry("end_gesture"); }
constexpr auto describe(Type<SetSaturationModel>) { return entry("set_saturation_model", field("model", &SetSaturationModel::model)); }
constexpr auto describe(Type<SetSaturationWidth>) { return entry("set_saturation_width", field("d_k", &SetSaturationWidth::d_k)); }
constexpr auto describe(Type<SetSaturationScaling>) { return entry("set_saturation_scaling", field("on", &SetSaturationScaling::on)); }
constexpr auto describe(Type<SetSaturationKeys>) { return entry("set_saturation_keys", field("keys", &SetSaturationKeys::keys)); }
constexpr auto describe(Type<SetSaturationSeed>) { return entry("set_saturation_seed", field("seed", &SetSaturationSeed::seed)); }
constexpr auto describe(Type<Redraw>) { return entry("redraw"); }
constexpr auto describe(Type<SweepReady>) { return entry(""); }
constexpr auto describe(Type<DraftPlanted>) { return entry("draft_planted", field("spec", &DraftPlanted::spec)); }
constexpr auto describe(Type<OpenPlanted>) { return entry("open_planted", field("spec", &OpenPlanted::spec)); }
constexpr auto describe(Type<OpenMapFile>) { return entry("open_map_file", field("path", &OpenMapFile::path)); }
constexpr auto describe(Type<MapInputReady>) { return entry(""); }
constexpr auto describe(Type<MapReady>) { return entry(""); }
constexpr auto describe(Type<MapCellReady>) { return entry(""); }
constexpr auto describe(Type<MachineProbed>) { return entry(""); }
constexpr auto describe(Type<SetMapCanvas>) { return entry(""); }
constexpr auto describe(Type<SetMapCamera>) { return entry("set_map_camera", field("camera", &SetMapCamera::camera)); }
constexpr auto describe(Type<ZoomMap>) { return entry("zoom_map", field("factor", &ZoomMap::factor)); }
constexpr auto describe(Type<PanMap>) { return entry("pan_map", field("rows", &PanMap::rows), field("columns", &PanMap::columns)); }
constexpr auto describe(Type<FitMap>) { return entry("fit_map"); }
constexpr auto describe(Type<ShowGoTo>) { return entry("show_go_to", field("on", &ShowGoTo::on)); }
constexpr auto describe(Type<DraftGoTo>) { return entry("draft_go_to", field("text", &DraftGoTo::text)); }
constexpr auto describe(Type<GoToCell>) { return entry("go_to_cell", field("cell", &GoToCell::cell)); }
constexpr auto describe(Type<GoToNeedle>) { return entry("go_to_needle"); }
constexpr auto describe(Type<SelectMapCell>) { return entry("select_map_cell", field("cell", &SelectMapCell::cell)); }
constexpr auto describe(Type<HoverMapCell>) { return entry(""); }
constexpr auto describe(Type<SetMapColors>) { return entry("set_map_colors", field("colors", &SetMapColors::colors)); }
constexpr auto describe(Type<ShowMapHead>) { return entry("show_map_head", field("head", &ShowMapHead::head)); }
constexpr auto describe(Type<SetFullPass>) { return entry("set_full_pass", field("on", &SetFullPass::on)); }
constexpr auto describe(Type<SearchMap>) { return entry("search_map", field("search", &SearchMap::search)); }
constexpr auto describe(Type<Undo>) { return entry("undo"); }
constexpr auto describe(Type<Redo>) { return entry("redo"); }
constexpr auto describe(Type<SetTheme>) { return entry("set_theme", field("theme", &SetTheme::theme)); }
constexpr auto describe(Type<SetUiScale>) { return entry("set_ui_scale", field("scale", &SetUiScale::scale)); }
constexpr auto describe(Type<SetReducedMotion>) { return entry("set_reduced_motion", field("on", &SetReducedMotion::on)); }
constexpr auto describe(Type<SetBackend>) { return entry("set_backend", field("name", &SetBackend::name)); }
constexpr auto describe(Type<TraceReady>) { return entry(""); }
constexpr auto describe(Type<ShowHelp>) { return entry("show_help", field("on", &ShowHelp::on)); }
constexpr auto describe(Type<ShowPalette>) { return entry("show_palette", field("on", &ShowPalette::on)); }
constexpr auto describe(Type<SetPaletteQuery>) { return entry("set_palette_query", field("query", &SetPaletteQuery::query)); }
constexpr auto describe(Type<MovePalette>) { return entry("move_palette", field("rows", &MovePalette::rows)); }
constexpr auto describe(Type<RunPaletteRow>) { return entry("run_palette_row"); }
constexpr auto describe(Type<Notify>) { return entry("notify", field("message", &Notify::message)); }
constexpr auto describe(Type<TakeScreenshot>) { return entry("take_screenshot"); }
constexpr auto describe(Type<SaveSession>) { return entry("save_session"); }
constexpr auto describe(Type<Quit>) { return entry("quit"); }
constexpr auto describe(Type<Tick>) { return entry(""); }
// clang-format on

// ---- values

constexpr std::span<const std::string_view> names_of(Type<Workspace>) { return kWorkspaceNames; }
constexpr std::span<const std::string_view> names_of(Type<ThemeName>) { return kThemeNames; }
constexpr std::span<const std::string_view> names_of(Type<SaturationModel>) { return kModelNames; }
constexpr std::span<const std::string_view> names_of(Type<CopyAs>) { return kCopyAsNames; }
constexpr std::span<const std::string_view> names_of(Type<Severity>) { return kSeverityNames; }

template <class Value>
ordered_json written(const Value& value) {
    if constexpr (std::is_same_v<Value, CellRef>)
        return cell_to(value);
    else if constexpr (requires { map_to(value); })
        return map_to(value);
    else if constexpr (std::is_same_v<Value, Stage>)
        return info(value).key;
    else if constexpr (std::is_same_v<Value, double>)
        return number_to(value);
    else if constexpr (std::is_same_v<Value, Message>)
        return {{"words", value.words}, {"severity", written(value.severity)}};
    else if constexpr (std::is_enum_v<Value>)
        return names_of(Type<Value>{})[static_cast<std::size_t>(value)];
    else
        return value;
}

void read_message(Fields& fields, std::string_view key, Message& message) {
    const json* found = fields.find(key);
    if (found == nullptr) return;
    Fields inner(*found, fields.where() + " '" + std::string(key) + "'");
    inner.need("words", message.words);
    inner.read_name("severity", message.severity, kSeverityNames);
    if (auto fine = inner.finish(); !fine) fields.complain(fine.error());
}

template <class Value>
void read_value(Fields& fields, std::string_view key, Value& value) {
    const json* found = fields.find(key);
    if constexpr (std::is_same_v<Value, std::optional<large::Search>>)
        return map_from(fields, key, value);  // none is a value too
    if (found == nullptr) return fields.complain(fmt::format("has no '{}'", key));
    if constexpr (requires { map_from(fields, key, value); })
        map_from(fields, key, value);
    else if constexpr (std::is_same_v<Value, CellRef>)
        value = cell_from(fields, key, *found);
    else if constexpr (std::is_same_v<Value, Stage>)
        read_stage(fields, key, value);
    else if constexpr (std::is_same_v<Value, Message>)
        read_message(fields, key, value);
    else if constexpr (std::is_enum_v<Value>)
        fields.read_name(key, value, names_of(Type<Value>{}));
    else
        fields.read(key, value);
}

// ---- actions

template <class Kind>
Result<Action> read_action(Fields& fields) {
    Kind action{};
    std::apply(
        [&](const auto&... each) { (read_value(fields, each.name, action.*(each.member)), ...); },
        describe(Type<Kind>{}).fields);
    return fields.finish().map([&] { return Action(action); });
}

using Reader = Result<Action> (*)(Fields&);

template <class Kind>
Reader reader_if(std::string_view name) {
    const std::string_view own = describe(Type<Kind>{}).name;
    return !own.empty() && own == name ? &read_action<Kind> : nullptr;
}

/// The reader of the action of that name; nullptr when there is none.
template <class... Kinds>
Reader find_reader(std::string_view name, Type<std::variant<Kinds...>>) {
    Reader found = nullptr;
    ((found = found == nullptr ? reader_if<Kinds>(name) : found), ...);
    return found;
}

}  // namespace

std::optional<std::string> to_journal(const Action& action) {
    return std::visit(
        [](const auto& kind) -> std::optional<std::string> {
            const auto entry = describe(Type<std::decay_t<decltype(kind)>>{});
            if (entry.name.empty()) return std::nullopt;
            ordered_json line{{"action", entry.name}};
            std::apply(
                [&](const auto&... each) {
                    ((line[std::string(each.name)] = written(kind.*(each.member))), ...);
                },
                entry.fields);
            return line.dump(-1, ' ', false, json::error_handler_t::replace);
        },
        action);
}

Result<Action> from_journal(std::string_view line) {
    return parse_json(line, "the journal line").and_then([](const json& value) -> Result<Action> {
        Fields fields(value, "the journal line");
        std::string name;
        fields.need("action", name);
        if (!fields.fine()) return tl::unexpected(fields.finish().error());
        const Reader reader = find_reader(name, Type<Action>{});
        if (reader == nullptr)
            return bad_input(fmt::format("the journal line has the unknown action '{}'", name));
        return reader(fields);
    });
}

}  // namespace attn::view
