#include "app/window/journal.h"

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/check_file.h"
#include "app/common/clip.h"
#include "app/common/color_look.h"
#include "app/common/describe_json.h"
#include "app/common/document/actions.h"
#include "app/common/document/call_actions.h"
#include "app/common/document/intervention_actions.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/model_place.h"
#include "app/common/document/opened.h"
#include "app/common/document/requests.h"
#include "app/common/fields.h"
#include "app/common/figure_size.h"
#include "app/common/map/actions.h"
#include "app/common/map/requests.h"
#include "app/common/parts.h"
#include "app/common/workspace.h"
#include "app/window/former_names.h"
#include "app/window/lecture_actions.h"
#include "app/window/questions.h"
#include "app/window/rail.h"
#include "app/window/requests.h"
#include "core/io/json.h"
#include "core/run_control.h"
#include "core/text.h"

namespace attn::view {
namespace {

using nlohmann::json, nlohmann::ordered_json;

/// nullptr when there is none of that name.
const ActionType* find_action(std::string_view name) {
    const auto all = all_actions();
    const auto found = std::ranges::find(all, name, &ActionType::name);
    return name.empty() || found == all.end() ? nullptr : *found;
}

// ---- what is waited for

Result<Opened> no_files(const OpenRequest& request, const RunControl&) {
    return failed(description_of(request) + " cannot be opened here");
}

}  // namespace

std::vector<const ActionType*> all_actions() {
    std::vector<const ActionType*> all;
    const auto add = [&all](ActionTypes types) {
        all.insert(all.end(), types.begin(), types.end());
    };
    add(WindowActions::kTypes);
    add(LectureActions::kTypes);
    add(RailActions::kTypes);
    add(ClipActions::kTypes);
    add(QuestionActions::kTypes);
    add(DocumentActions::kTypes);
    add(CallActions::kTypes);
    add(CheckActions::kTypes);
    add(MapActions::kTypes);
    add(PartsActions::kTypes);
    add(ColorActions::kTypes);
    add(FigureActions::kTypes);
    add(InterventionActions::kTypes);
    add(ModelPlaceActions::kTypes);
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
        const json present = with_present_names(value);
        Fields fields(present, "the journal line");
        std::string name;
        fields.need("action", name);
        if (!fields.ok()) return tl::unexpected(fields.finish().error());
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

std::vector<RequestKind> all_requests() {
    std::vector<RequestKind> all{
        request_kind<requested_document>("opening"),
        request_kind<requested_trace>("trace"),
        request_kind<requested_probe>("probe"),
        request_kind<requested_map_input>("map input"),
        request_kind<requested_map_cell>("cell"),
        {.name = "map", .requested = nullptr, .make = make_map_job, .lasts = true}};
    for (const WorkspaceInfo* workspace : workspaces())
        all.insert(all.end(), workspace->requests.begin(), workspace->requests.end());
    return all;
}

bool is_awaited(const Action& action) {
    if (const auto* ready = action.as<DocumentReady>())
        return !ready->opened && ready->fault.empty();
    if (const auto* ready = action.as<TraceReady>())
        return !ready->trace && ready->failure.empty() && ready->unavailable.empty();
    return false;
}

void answer_all(AppState& state, const Opener& open) {
    constexpr int kMostAnswers = 1000;  // of one kind: one that is never satisfied is a bug of ours
    for (const RequestKind& kind : all_requests()) {
        if (kind.lasts) continue;
        std::optional<Request> last;
        for (int n = 0; n < kMostAnswers; ++n) {
            auto request = open_request(kind, state);
            if (!request || request == last) break;
            view::apply(state, answered(kind.name, *request, open ? open : no_files, {}));
            last = std::move(request);
        }
    }
}

Result<void> play(AppState& state, const Actions& actions, const std::function<void()>& answer,
                  const std::function<Result<void>(const AppState&)>& after) {
    for (const Action& action : actions) {
        is_awaited(action) ? answer() : view::apply(state, action);
        state.effects = {};  // done when it was asked for
        state.prompt.reset();
        if (!after) continue;
        if (auto done = after(state); !done) return done;
    }
    return {};
}

void play(AppState& state, const Actions& actions, const Opener& open) {
    const auto answer = [&] { answer_all(state, open); };
    (void)play(state, actions, answer);
    answer();
}

}  // namespace attn::view
