#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/common/command.h"

namespace attn::view {

struct GlossaryTerm;

/// Shows or hides the inspector; what the window's width does by itself is not held on to.
Action inspector_action(const AppState& state, bool shown);
/// Every command that makes sense in this state.
std::vector<Command> commands(const AppState& state);
/// Those whose words hold every word of the query, best first.
std::vector<Command> find_commands(const AppState& state, std::string_view query);
/// What the glossary lists: of what is looked at first.
std::vector<const GlossaryTerm*> found_terms(const AppState& state);
/// "Step, stage weights": where it is seen.
std::string place_description(const AppState& state, const GlossaryTerm& term);
/// Closes the glossary and goes there.
Actions chosen(const GlossaryTerm& term);
/// What choosing a command in the palette does: closes it, then the command, or why it cannot be done.
Actions chosen(const Command& command);

}  // namespace attn::view
