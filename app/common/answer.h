#pragma once

#include <optional>
#include <string>

#include "app/common/slots.h"
#include "app/common/state.h"

namespace attn::view {

/// The latest question with its answer, in a band below the headline. In no session and no journal.
struct AnswerLook {
    std::string question;
    std::string answer;
    bool operator==(const AnswerLook&) const = default;
};
inline constexpr Look<AnswerLook> answer_look;

/// Shown until another action has a message; nullptr: no question is answered.
inline const AnswerLook* shown_answer(const AppState& state) {
    const AnswerLook& look = answer_look(state);
    return !look.answer.empty() && look.answer == state.message.text ? &look : nullptr;
}

}  // namespace attn::view
