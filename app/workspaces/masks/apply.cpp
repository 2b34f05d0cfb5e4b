#include <fmt/format.h>

#include "app/common/document/edits.h"
#include "app/common/document/mask_rules.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/workspaces/masks/actions.h"
#include "app/workspaces/masks/code.h"
#include "app/workspaces/masks/conventions.h"
#include "app/workspaces/masks/workspace.h"
#include "core/text.h"

namespace attn::view {
namespace {

std::string pair_words(const AppState& state, Pair pair) {
    const Document& document = state.document();
    for (const RuleVerdict& verdict : rule_verdicts(state, pair))
        if (!verdict.allows)
            return fmt::format("{}: forbidden by the {} rule, {}.", pair_name(document, pair),
                               verdict.name, verdict.words);
    const auto weight = value_at(state, {Stage::weights, pair.query, pair.key});
    const bool any = document.spec.mask.any();
    return fmt::format("{}: {}{}.", pair_name(document, pair),
                       any ? "allowed by every rule" : "allowed, no rule is set",
                       weight ? ", weight " + number(*weight) : "");
}

}  // namespace

void carry_out(AppState& state, const ShowMasksTab& action) {
    masks_look(state).tab = action.tab;
    say(state, masks_entering_words(state));
}

void carry_out(AppState& state, const SelectPair& action) {
    const Pair pair{action.row, action.column};
    if (!has_pair(state, pair)) return warn(state, "There is no such pair.");
    MasksLook& look = masks_look(state);
    if (!action.extend)
        look.corner.reset();
    else if (!look.corner)
        look.corner = look.pair;
    look.pair = pair;
    if (look.corner == pair) look.corner.reset();
    share_pair(state, pair);
    say(state, pair_words(state, pair));
}

void carry_out(AppState& state, const HoverPair& action) {
    const bool there = action.pair && has_pair(state, *action.pair);
    masks_look(state).hovered = there ? action.pair : std::nullopt;
}

void carry_out(AppState& state, const SetConvention& action) {
    const ConventionInfo* const found = find_convention(action.convention);
    if (found == nullptr || action.side < 0 || action.side > 1)
        return warn(state,
                    fmt::format("There is no convention '{}'.", shortened(action.convention)));
    masks_look(state).conventions[static_cast<std::size_t>(action.side)] = action.convention;
    say(state, std::string(found->words));
}

void carry_out(AppState& state, const SetConventionGain& action) {
    if (action.decades < 0 || action.decades > kMostMaskDecades)
        return warn(state, fmt::format("The gain is 10^{}: it must be 10^0 to 10^{}.",
                                       action.decades, kMostMaskDecades));
    masks_look(state).gain = action.decades;
    say(state, action.decades == 0
                   ? std::string("The scores as they are.")
                   : fmt::format("Here every score is multiplied by {} before it is masked.",
                                 power_of_ten(static_cast<int>(action.decades))));
}

void carry_out(AppState& state, const CopyMask& action) {
    state.effects.clipboard = mask_code(state.document(), action.code);
    const bool numpy = action.code == MaskCode::numpy;
    say(state,
        fmt::format("Copied code that makes this mask, as {}.", numpy ? "numpy" : "PyTorch"));
}

}  // namespace attn::view
