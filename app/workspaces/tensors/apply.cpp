#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/edits.h"
#include "app/workspaces/tensors/actions.h"
#include "app/workspaces/tensors/measure.h"
#include "app/workspaces/tensors/roles.h"
#include "app/workspaces/tensors/view.h"
#include "core/io/json.h"
#include "core/text.h"

namespace attn::view {
namespace {

constexpr std::string_view kTensorAxes[] = {"", "heads-first", "tokens-first", "joined"};

const FileOrigin* file_of(const AppState& state) {
    return std::get_if<FileOrigin>(&state.document().origin);
}

/// Roles belong to files: a toy's and a model's arrays are what they are.
bool refuse_roles(AppState& state) {
    if (file_of(state) != nullptr) return false;
    warn(state, fmt::format("{} is no file of tensors: its arrays have their roles.",
                            state.document().title));
    return true;
}

/// The options that the file was opened with.
nlohmann::ordered_json options_of(const FileOrigin& file) {
    auto options = nlohmann::ordered_json::object();
    if (!file.options.empty())
        if (const auto before = parse_json(file.options, file.path); before && before->is_object())
            for (const auto& [key, value] : before->items()) options[key] = value;
    return options;
}

}  // namespace

void describe(Visitor& visit, TensorsLook& look) {
    visit("filter", look.filter);
    visit("sort", look.sort, kTensorColumnNames);
    visit("descending", look.descending);
    visit("selected", look.selected);
}

void carry_out(AppState& state, const SortTensors& action) {
    tensors_look(state).sort = action.column;
    tensors_look(state).descending = action.descending;
}

void carry_out(AppState& state, const SelectTensor& action) {
    tensors_look(state).selected = action.name;
    const auto& listing = tensors_look(state).listing;
    if (listing && listing->document == state.shared_document() && !action.name.empty() &&
        listing->find(action.name) == nullptr)
        warn(state, fmt::format("There is no array '{}' here.", shortened(action.name)));
}

void carry_out(AppState& state, const SetTensorRole& action) {
    if (refuse_roles(state)) return;
    const auto known = [&](const TensorRole& each) { return each.key == action.role; };
    if (!action.role.empty() && std::ranges::none_of(tensor_roles(), known))
        return refuse(state, fmt::format("There is no role '{}'.", shortened(action.role)));
    if (action.name.find_first_of(",=") != std::string::npos)
        return refuse(state, fmt::format("'{}' has , or = in its name: save it under another name.",
                                         shortened(action.name)));
    if (action.role.empty())
        tensors_look(state).roles.erase(action.name);
    else
        tensors_look(state).roles[action.name] = action.role;
    say(state, "Press “read so” (Enter) to open the file with these roles.");
}

void carry_out(AppState& state, const SetTensorAxes& action) {
    if (refuse_roles(state)) return;
    if (std::ranges::count(kTensorAxes, action.axes) == 0)
        return refuse(state, fmt::format("There are no axes '{}'.", shortened(action.axes)));
    tensors_look(state).axes = action.axes;
    say(state, "Press “read so” (Enter) to open the file with these axes.");
}

void carry_out(AppState& state, const ReadTensors&) {
    if (refuse_roles(state)) return;
    const FileOrigin& file = *file_of(state);
    auto options = options_of(file);
    options.erase("role");
    options.erase("layout");
    if (const std::string roles = roles_text(tensors_look(state).roles); !roles.empty())
        options["role"] = roles;
    if (!tensors_look(state).axes.empty()) options["layout"] = tensors_look(state).axes;
    carry_out(state, OpenFile{file.path, {}, options.empty() ? "" : options.dump()});
}

void carry_out(AppState& state, const AnswerTensors& action) {
    const std::optional<FileQuestion> question = state.document().question;
    if (!question || file_of(state) == nullptr)
        return warn(state, "Nothing is asked of this file.");
    const auto is_it = [&](const FileQuestion::Answer& each) {
        return each.option == action.option && each.value == action.value;
    };
    if (std::ranges::none_of(question->answers, is_it))
        return refuse(state, fmt::format("{} = {} is none of the answers.",
                                         shortened(action.option), shortened(action.value)));
    const FileOrigin file = *file_of(state);
    auto options = options_of(file);
    options[action.option] = action.value;
    carry_out(state, OpenFile{file.path, {}, options.dump()});
}

void carry_out(AppState& state, const SeeTensors& action) {
    tensors_look(state).seen = {std::max<Index>(action.first, 0), std::max<Index>(action.past, 0)};
}

void carry_out(AppState& state, const TensorsListed& action) {
    if (!action.listing) return;
    TensorsLook& look = tensors_look(state);
    look.listing = action.listing;
    look.stats.clear();
    if (look.listing->find(look.selected) != nullptr) return;
    look.selected = look.listing->rows.empty() ? "" : look.listing->rows.front().name;
}

void carry_out(AppState& state, const TensorMeasured& action) {
    if (!action.stats || action.of != tensors_look(state).listing) return;
    tensors_look(state).stats[action.name] = action.stats;
}

}  // namespace attn::view
