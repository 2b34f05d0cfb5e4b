#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "app/common/document/saved.h"
#include "app/common/state_text.h"

namespace attn::view {

// A state as "attnscope:…", a text short enough for a chat: what its session has another way than the session of the
// first launch, as a JSON merge patch (RFC 7386), packed (core/io/packed_text.h). What just happened is not in it, nor a
// matrix that words and seed make again.

std::string state_to_text(const AppState& state);

/// An error says what is wrong with the text; spaces and line breaks in it count for nothing.
Result<AppState> state_from_text(std::string_view text, const SessionContext& context = {});

/// The session of the first launch with that patch.
Result<AppState> state_from_patch(const nlohmann::json& patch, std::string_view file_name,
                                  const SessionContext& context = {});

}  // namespace attn::view
