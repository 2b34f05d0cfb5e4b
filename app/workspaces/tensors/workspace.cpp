#include "app/common/workspace.h"
#include "app/common/document/actions.h"

#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/common/describe_json.h"
#include "app/common/document/commands.h"
#include "app/common/document/edits.h"
#include "app/workspaces/tensors/actions.h"
#include "app/workspaces/tensors/requests.h"
#include "app/workspaces/tensors/roles.h"
#include "app/workspaces/tensors/view.h"

namespace attn::view {
namespace {

Action neighbour(const AppState& state, Index step) {
    const auto rows = tensor_rows(state);
    if (rows.empty()) return SelectTensor{tensors_look(state).selected};
    const auto found = std::ranges::find(rows, tensors_look(state).selected, &TensorRow::name);
    const Index at = found == rows.end() ? -1 : found - rows.begin();
    const Index to = std::clamp<Index>(at + step, 0, std::ssize(rows) - 1);
    return SelectTensor{rows[static_cast<std::size_t>(to)]->name};
}

/// The roles as the file was opened with, for "read so" to add to.
void take_roles(AppState& state) {
    TensorsLook& look = tensors_look(state);
    look.roles.clear();
    look.axes.clear();
    const auto* file = std::get_if<FileOrigin>(&state.document().origin);
    if (file == nullptr || file->options.empty()) return;
    const auto options = nlohmann::json::parse(file->options, nullptr, false);
    if (!options.is_object()) return;
    look.axes = options.value("layout", "");
    std::string text = options.value("role", "");
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        const std::string one = text.substr(0, end);
        if (const auto sign = one.find('='); sign != std::string::npos)
            look.roles[one.substr(0, sign)] = one.substr(sign + 1);
        text.erase(0, end + 1);
    }
}

void enter_tensors(AppState& state) {
    say(state, "Every array of what is open: ↑ and ↓ select one, N sorts by the next column.");
}

void add_tensors_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Tensors"};
    const bool any = !tensor_rows(state).empty();
    add("Select the next array", Key::down, neighbour(state, 1), any);
    add("Select the array before", Key::up, neighbour(state, -1), any);
    add("Select the first array", Key::home, neighbour(state, -(Index{1} << 30)), any);
    add("Select the last array", Key::end, neighbour(state, Index{1} << 30), any);
    const auto columns = static_cast<int>(std::size(kTensorColumnNames));
    const int next = (static_cast<int>(tensors_look(state).sort) + 1) % columns;
    add("Sort by the next column", Key::n, SortTensors{static_cast<TensorColumn>(next), false},
        any);
    add("Turn the order round", plain(Key::r),
        SortTensors{tensors_look(state).sort, !tensors_look(state).descending}, any);
    if (const auto& question = state.document().question)
        for (std::size_t n = 0; n < std::min(question->answers.size(), std::size(kAnswerKeys)); ++n)
            add(fmt::format("Answer: {}", question->answers[n].title), plain(kAnswerKeys[n]),
                AnswerTensors{question->answers[n].option, question->answers[n].value});
    const bool file = std::holds_alternative<FileOrigin>(state.document().origin);
    const std::string& name = tensors_look(state).selected;
    for (const TensorRole& role : tensor_roles())
        add(role.key == "-"
                ? std::string("Do not use the selected array")
                : fmt::format("Read the selected array as {}: {}", role.key, role.words),
            {}, SetTensorRole{name, std::string(role.key)}, file && !name.empty());
    add("Read the selected array as its name says", {}, SetTensorRole{name, ""},
        file && tensors_look(state).roles.contains(name));
    add("Open the file with the chosen roles and axes", plain(Key::enter), ReadTensors{}, file);
    add_document_commands(list, state);
    add_presets(list, state, "Tensors");
}

std::optional<Action> escape_tensors(const AppState& state) {
    if (!tensors_look(state).filter.empty()) return FilterTensors{""};
    return std::nullopt;
}

void settle_tensors(AppState& state) {
    TensorsLook& look = tensors_look(state);
    if (!look.listing || look.listing->document == state.shared_document()) return;
    look.listing = nullptr;
    look.stats.clear();
}

void forget_tensors(AppState& state) {
    TensorsLook& look = tensors_look(state);
    look.filter.clear();
    look.listing = nullptr;
    look.stats.clear();
    take_roles(state);
}

void read_tensors_look(Fields& fields, AppState& state) {
    JsonReader reader(fields);
    describe(reader, tensors_look(state));
    take_roles(state);
}

std::vector<Shot> tensors_shots() {
    return {{"", {LoadPreset{"three-heads"}, SelectTensor{"W_Q"}}}};
}

constexpr std::string_view kTensorsMouse[] = {
    "Click a row: that array is measured and drawn at the right.",
    "Click a column's title: the rows in its order; again: the other way round.",
};
constexpr RequestKind kRequests[] = {
    request_kind<requested_tensors>("tensors"),
};
constexpr KeptValue kKept[] = {kept(tensors_look)};

}  // namespace

extern const WorkspaceInfo kTensorsWorkspace;
const WorkspaceInfo kTensorsWorkspace{
    .key = "tensors",
    .title = "Tensors",
    .tip = "Every array of what is open: shape, numbers, and what it is read as.",
    .digit = Key::digit9,
    .shows_document = true,
    .actions = TensorsActions::kTypes,
    .values = kKept,
    .requests = kRequests,
    .enter = enter_tensors,
    .add_commands = add_tensors_commands,
    .escape = escape_tensors,
    .clear = [](AppState& state) { tensors_look(state).selected.clear(); },
    .settle = settle_tensors,
    .forget = forget_tensors,
    .read = read_tensors_look,
    .shots = tensors_shots,
    .mouse = kTensorsMouse,
};

}  // namespace attn::view
