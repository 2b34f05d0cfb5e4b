#include "app/window/former_names.h"

#include <string>

#include <nlohmann/json.hpp>

namespace attn::view {
namespace {

using nlohmann::json;

constexpr FormerName kFormerNames[] = {
    {"choose_head", "show_head"},
};

/// Moves `former` to `now`, which keeps its value where it has one.
void rename_member(json& object, std::string_view former, std::string_view now) {
    const auto found = object.find(former);
    if (found == object.end()) return;
    json value = std::move(*found);
    object.erase(found);
    if (!object.contains(now)) object[std::string(now)] = std::move(value);
}

}  // namespace

std::span<const FormerName> former_names() { return kFormerNames; }

std::string_view present_name(std::string_view name, std::span<const FormerName> names) {
    for (const FormerName& row : names)
        if (name == row.former) name = row.now;
    return name;
}

json with_present_names(json line, std::span<const FormerName> names) {
    if (!line.is_object() || !line.contains("action") || !line["action"].is_string()) return line;
    const std::string action(present_name(line["action"].get_ref<const std::string&>(), names));
    line["action"] = action;
    for (const FormerName& row : names)
        if (row.former.starts_with(action + "."))
            rename_member(line, row.former.substr(action.size() + 1), row.now);
    return line;
}

json session_with_present_names(json session, std::span<const FormerName> names) {
    for (const FormerName& row : names) {
        if (!row.former.starts_with('/')) continue;
        const json::json_pointer former{std::string(row.former)};
        if (!session.contains(former)) continue;
        json& parent = session[former.parent_pointer()];
        if (parent.is_object()) rename_member(parent, former.back(), row.now);
    }
    return session;
}

}  // namespace attn::view
