#include "app/window/journal.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/describe_json.h"
#include "app/common/document/actions.h"
#include "app/common/document/intervention_actions.h"
#include "app/common/fields.h"
#include "app/common/map/actions.h"
#include "app/common/workspace.h"
#include "core/io/json.h"
#include "core/text.h"

namespace attn::view {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// What journals of earlier versions call an action that has another name now.
constexpr std::pair<std::string_view, std::string_view> kFormerNames[] = {
    {"choose_head", "show_head"},
};

/// nullptr when there is none of that name.
const ActionType* find_action(std::string_view name) {
    for (const auto& [former, now] : kFormerNames)
        if (name == former) name = now;
    const auto all = all_actions();
    const auto found = std::ranges::find(all, name, &ActionType::name);
    return name.empty() || found == all.end() ? nullptr : *found;
}

}  // namespace

std::vector<const ActionType*> all_actions() {
    std::vector<const ActionType*> all;
    const auto add = [&all](ActionTypes types) {
        all.insert(all.end(), types.begin(), types.end());
    };
    add(WindowActions::kTypes);
    add(DocumentActions::kTypes);
    add(MapActions::kTypes);
    add(InterventionActions::kTypes);
    for (const WorkspaceInfo* workspace : workspaces()) add(workspace->actions);
    return all;
}

std::optional<std::string> to_journal(const Action& action) {
    if (name_of(action).empty()) return std::nullopt;
    ordered_json line{{"action", name_of(action)}};
    JsonWriter writer(line, None::null);
    action.type().describe(writer, action.type().copy(action.get()).get());
    return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Action> from_journal(std::string_view line) {
    return parse_json(line, "the journal line").and_then([](const json& value) -> Result<Action> {
        Fields fields(value, "the journal line");
        std::string name;
        fields.need("action", name);
        if (!fields.fine()) return tl::unexpected(fields.finish().error());
        const ActionType* const type = find_action(name);
        if (type == nullptr)
            return bad_input(
                fmt::format("the journal line has the unknown action '{}'", shortened(name)));
        const std::shared_ptr<void> action = type->make();
        JsonReader reader(fields, Missing::complains);
        type->describe(reader, action.get());
        return fields.finish().map([&] { return Action(*type, action); });
    });
}

}  // namespace attn::view
