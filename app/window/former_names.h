#pragma once

#include <span>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace attn::view {

/// A name that files of an earlier version hold, and the name that replaces it: of an action ("choose_head", "show_head"),
/// of its member ("show_head.chosen", "head"; the action by its present name), of a field of a session, or of an object
/// of fields, by its JSON pointer ("/learn/picture", "page").
struct FormerName {
    std::string_view former, now;
};
/// All former names. Append-only: files that people have must open for good.
std::span<const FormerName> former_names();

/// The present name of an action; `name` itself where it has no other.
std::string_view present_name(std::string_view name,
                              std::span<const FormerName> names = former_names());
/// A journal's line under present names. A value that is no object is returned as it is.
nlohmann::json with_present_names(nlohmann::json line,
                                  std::span<const FormerName> names = former_names());
/// A session under present names: each field is renamed beside its neighbours; a field that is there already wins.
nlohmann::json session_with_present_names(nlohmann::json session,
                                          std::span<const FormerName> names = former_names());

}  // namespace attn::view
