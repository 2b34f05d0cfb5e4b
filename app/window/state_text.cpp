#include "app/window/state_text.h"

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/window/session.h"
#include "core/io/json.h"
#include "core/io/packed_text.h"
#include "core/stages.h"
#include "core/text.h"

namespace attn::view {
namespace {

using nlohmann::json;

/// What stands in many patches. Texts that were copied before need it as it is.
constexpr std::string_view kUsual =
    R"({"cost":{"tk":2048,"tq":2048},"learn":{"settings":{"a":{"batch":16,"steps":400,"task":"induction","tokens":32,)"
    R"("warmup":50},"b":{"initial_spread":0.35355339059327379,"scaling":true}}},"kinds":{"b":{"operation":"linear"}},)"
    R"("heads":{"show":"weights"},"saturation":{"d_k":128,"gradient":"z"},"document":{"W_K":null,"W_O":null,"W_Q":null,)"
    R"("W_V":null,"X":[[0.0,0.1,-0.2,0.3,],"X":null,"causal":true,"hand_set":"","heads":2,"name":"custom","note":"toy )"
    R"(weights, not trained: X from the words and their positions, W from seed 1","scale":"none","sentence":"the ",)"
    R"("temperature":0.5,"title":"the "},"place":{"head":1},"step":{"places":[{"column":0,"row":0,"tensor":"x"},)"
    R"({"column":0,"row":0,"tensor":"weights"}],"selected":{"column":0,"row":0,"tensor":"x"},"sentence_draft":"the ",)"
    R"("stage":"weights"},"window":{"theme":"light","workspace":"kinds"}})";
/// A patch states the version of the defaults that it differs from; without one it is 1.
constexpr int kDefaults = 3;
constexpr const char* kDefaultsKey = "defaults";
struct FormerDefault {
    int until;  // the last version that had it
    const char* place;
    const char* value;  // JSON
};
constexpr FormerDefault kFormerDefaults[] = {{1, "/saturation/d_k", "64"},
                                             {2, "/verify/fault", R"("")"}};
constexpr std::size_t kMostBytes = std::size_t{1} << 22;  // of a patch

/// Without what just happened.
json session_of(const AppState& state) {
    json session = json::parse(session_to_json(state));
    session["window"].erase("message");
    session["window"].erase("severity");
    return session;
}

/// Of the program's workspaces, by "auto": no machine has another one.
json first_session(WorkspaceList workspaces) {
    AppState first = initial_state();
    first.workspaces = workspaces;
    return session_of(first);
}

/// What merge_patch() makes `to` of `from` with.
json patch_between(const json& from, const json& to) {
    if (!from.is_object() || !to.is_object()) return to;
    json patch = json::object();
    for (const auto& [key, value] : from.items())
        if (!to.contains(key)) patch[key] = nullptr;
    for (const auto& [key, value] : to.items()) {
        const auto before = from.find(key);
        if (before == from.end() || before->dump() != value.dump())  // 0 is not −0
            patch[key] = before == from.end() ? value : patch_between(*before, value);
    }
    return patch;
}

/// A matrix is left out where the same document is read without it.
json without_made(json document) {
    const auto written = [](const json& value) -> std::string {
        const auto read = document_from_json(value.dump(), "the document");
        return read ? document_to_json(*read) : std::string();
    };
    const std::string whole = written(document);
    if (whole.empty()) return document;
    for (const ParamInfo& row : param_table()) {
        json less = document;
        less.erase(std::string(row.npz));
        if (less != document && written(less) == whole) document = std::move(less);
    }
    for (const char* const x : {"X", "X_kv"}) {
        json less = document;
        less.erase(x);
        if (less != document && written(less) == whole) document = std::move(less);
    }
    return document;
}

// A training is told by what differs from the settings: mostly nothing does.

void fold_training(json& session) {
    const json::json_pointer plan("/learn/plan");
    if (!session.contains(plan / "of")) return;
    session[plan / "as_settings"] = json::array(  // in which a merge patch keeps null
        {patch_between(session.at("learn").at("settings"), session.at(plan / "of"))});
    session.at(plan).erase("of");
}

void unfold_training(json& session) {
    const json::json_pointer plan("/learn/plan"), settings("/learn/settings"),
        patch("/learn/plan/as_settings/0");
    if (!session.contains(patch) || !session.contains(settings)) return;
    json of = session.at(settings);
    of.merge_patch(session.at(patch));
    session.at(plan).erase("as_settings");
    session.at(plan)["of"] = std::move(of);
}

}  // namespace

std::string state_to_text(const AppState& state) {
    json session = session_of(state);
    if (is_toy(state.document())) session["document"] = without_made(session["document"]);
    fold_training(session);
    json patch = patch_between(first_session(state.workspaces), session);
    patch[kDefaultsKey] = kDefaults;
    return std::string(kStateText) +
           packed_text(patch.dump(-1, ' ', false, json::error_handler_t::replace), kUsual);
}

Result<AppState> state_from_patch(const json& patch, std::string_view file_name,
                                  const SessionContext& context) {
    if (!patch.is_object())
        return bad_input(fmt::format("{}: expected an object, a JSON merge patch", file_name));
    json session = first_session(context.workspaces);
    const json version = patch.value(kDefaultsKey, json(1));
    if (!version.is_number_integer() || version < 1 || version > kDefaults)
        return bad_input(fmt::format(
            "{}: has '{}' = {}: expected 1 to {}; a newer version of the program wrote it",
            file_name, kDefaultsKey, shortened(version.dump()), kDefaults));
    for (const FormerDefault& each : kFormerDefaults)
        if (version <= each.until)
            session[json::json_pointer(each.place)] = json::parse(each.value);
    session.merge_patch(patch);
    session.erase(kDefaultsKey);
    unfold_training(session);
    return session_from_json(session.dump(), file_name, context);
}

Result<AppState> state_from_text(std::string_view text, const SessionContext& context) {
    const std::string_view packed =
        text.substr(is_state_text(text) ? kStateText.size() : std::size_t{0});
    return unpacked_text(packed, kMostBytes, kUsual)
        .and_then([](const std::string& patch) { return parse_json(patch, kStateTextName); })
        .and_then(
            [&](const json& patch) { return state_from_patch(patch, kStateTextName, context); })
        .map_error([](Error error) {
            return error.text().starts_with(kStateTextName) ? error : within(kStateTextName, error);
        });
}

}  // namespace attn::view
