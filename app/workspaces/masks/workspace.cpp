#include <cmath>

#include <fmt/format.h>

#include "app/common/assets.h"
#include "app/common/document/actions.h"
#include "app/common/document/commands.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/mask_rules.h"
#include "app/common/document/paint.h"
#include "app/common/document/place.h"
#include "app/common/fields.h"
#include "app/common/format.h"
#include "app/common/map/actions.h"
#include "app/common/workspace.h"
#include "app/workspaces/masks/actions.h"
#include "app/workspaces/masks/conventions.h"
#include "app/workspaces/masks/long.h"
#include "app/workspaces/masks/view.h"
#include "core/backend.h"
#include "core/bias.h"
#include "core/text.h"

namespace attn::view {
namespace {

constexpr double kFirstBias = 1.0;  // of the brush, until another is chosen

/// The pair at this offset of rows and columns, clamped to the matrix.
Action moved(const AppState& state, Index rows, Index columns, bool extend) {
    const Pair& pair = masks_look(state).pair;
    const Pair to = nearest_pair(state, {pair.query + rows, pair.key + columns});
    return SelectPair{to.query, to.key, extend};
}

void add_moves(const CommandAdder& add, const AppState& state) {
    for (const Arrow& arrow : kArrows) {
        add(fmt::format("Select the pair {}", arrow.text), plain(arrow.key),
            moved(state, arrow.rows, arrow.columns, false));
        add(fmt::format("Extend the rectangle {}", arrow.text), shift(arrow.key),
            moved(state, arrow.rows, arrow.columns, true));
    }
}

/// The choice between mask and bias for Space and clicks.
void add_brushes(const CommandAdder& add, const AppState& state) {
    const bool takes = add.there && takes_bias(state.document());
    const bool bias = bias_brush(state).has_value();
    add(bias ? "Paint the mask, not the bias" : "Paint the bias, not the mask", shift(Key::b),
        SetBiasBrush{bias ? std::nullopt : std::optional(kFirstBias)}, takes);
}

/// Paints the selected pair or rectangle; all pairs become what the first selected pair becomes.
void add_paint(const CommandAdder& add, const AppState& state) {
    const MasksLook& look = masks_look(state);
    const bool here = add.there && has_pair(state, look.pair);
    const Pair first = look.corner.value_or(look.pair);
    add_brushes(add, state);
    if (const auto brush = bias_brush(state)) {
        const bool there = here && has_pair(state, first);
        const double now = there ? bias_at(state.document().spec.mask, state.batch, state.head,
                                           first.query, first.key)
                                 : 0.0;
        const double value = toggled_bias(now, *brush);
        return add(fmt::format("Set the bias of the selected {} to {}",
                               look.corner ? "rectangle" : "pair", number(value)),
                   Key::space,
                   PaintBias{first.query, first.key, look.pair.query, look.pair.key,
                             PaintShape::rectangle, value});
    }
    const bool allowed = here && has_pair(state, first) && toggled_value(state, first);
    const Index last = std::max<Index>(state.document().size.tk, 1) - 1;
    add(fmt::format("{} the selected {}", allowed ? "Allow" : "Forbid",
                    look.corner ? "rectangle" : "pair"),
        Key::space,
        PaintMask{first.query, first.key, look.pair.query, look.pair.key, PaintShape::rectangle,
                  allowed});
    add("Forbid every key of the selected query", {},
        PaintMask{look.pair.query, 0, look.pair.query, last, PaintShape::rectangle, false});
    add("Allow every key of the selected query", {},
        PaintMask{look.pair.query, 0, look.pair.query, last, PaintShape::rectangle, true});
    const MaskSpec& mask = state.document().spec.mask;
    add("Clear the paint", Key::del, ClearPaint{}, mask.custom != nullptr);
    const bool ruled = mask.causal || mask.windowed() || mask.block || !mask.padding.empty();
    add("Turn the rules into paint", Key::b, PaintRules{}, ruled);
}

void add_rules(const CommandAdder& add, const AppState& state) {
    const MaskSpec& mask = state.document().spec.mask;
    const Index keys = state.document().size.tk;
    using enum CausalChoice;
    for (const auto& [choice, text] : {std::pair{top_left, "Causal mask, top-left"},
                                       std::pair{bottom_right, "Causal mask, bottom-right"}})
        add(text, {}, SetCausalMask{choice});
    add(mask.block ? "No block mask" : "Block mask: every token sees its own block", {},
        SetBlock{mask.block ? std::nullopt : std::optional<Index>(2)});
    add(mask.padding.empty() ? "Padding mask: the last key is padding" : "No padding mask", {},
        SetPadding{mask.padding.empty() ? std::optional<Index>(std::max<Index>(keys, 1) - 1)
                                        : std::nullopt});
    add(mask.global_tokens > 0 ? "No global tokens" : "Global tokens: the first sees every key", {},
        SetGlobalTokens{mask.global_tokens > 0 ? 0 : 1}, mask.windowed());
    const bool nan = state.document().spec.empty_rows == EmptyRows::nan;
    add(nan ? "Empty rows give 0" : "Empty rows give NaN", {}, SetEmptyRows{!nan});
}

/// The convention at this offset in the table from the one of a side.
Action next_convention(const AppState& state, Index step) {
    const auto table = convention_table();
    const Index count = std::ssize(table);
    const Index here = &chosen_convention(state, 1) - table.data();
    const Index to = (here + step + count) % count;
    return SetConvention{1, std::string(table[to].key)};
}

void add_conventions(const CommandAdder& add, const AppState& state) {
    const bool compose = masks_look(state).tab == MasksTab::compose;
    add(compose ? "Conventions: what other programs do with this mask"
                : "Compose: the mask of this document",
        Key::v, ShowMasksTab{compose ? MasksTab::conventions : MasksTab::compose});
    if (compose) return;
    add("Next convention", Key::page_down, next_convention(state, 1));
    add("Previous convention", Key::page_up, next_convention(state, -1));
    add("Compare with the second convention", Key::c,
        SetConvention{0, masks_look(state).conventions[1]});
    for (const Index decades : kConventionGains)
        add(fmt::format("Conventions of the scores × {}", power_of_ten(static_cast<int>(decades))),
            {}, SetConventionGain{decades}, decades != masks_look(state).gain);
}

void add_masks_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Masks", masks_missing_data(state).empty()};
    add_moves(add, state);
    add_paint(add, state);
    add_rules(add, state);
    add_conventions(add, state);
    if (long_masks(state) != nullptr) add_zoom_commands(add, map_look(state));
    add("Copy the mask as numpy", Key::n, CopyMask{MaskCode::numpy});
    add("Copy the mask as PyTorch", shift(Key::n), CopyMask{MaskCode::pytorch});
    add("Copy the mask as mask_mod of FlexAttention", {}, CopyMask{MaskCode::flex_attention});
    add_document_commands(list, state);
    add_presets(list, state, "Masks");
}

void enter_masks(AppState& state) {
    if (!masks_missing_data(state).empty()) return show_message(state, masks_missing_data(state));
    auto pair = shared_pair(state);
    if (!pair) {
        const large::Cell first = first_pair(state);
        pair = Pair{first.row, first.column};
    }
    if (has_pair(state, *pair) && !(*pair == masks_look(state).pair)) {
        masks_look(state).pair = *pair;
        masks_look(state).corner.reset();
    }
    show_message(state, masks_entering_text(state));
}

/// A causal mask, where the document has none.
Actions masks_example(const AppState& state) {
    const Document& document = state.document();
    const Dimensions& size = document.size;
    if (!comes_with_program(document) || !masks_missing_data(state).empty() ||
        document.spec.mask.any() || size.tq != size.tk || size.tq < 2)
        return {};
    return {SetCausalMask{CausalChoice::top_left}, SelectPair{(size.tq - 1) / 2, 0, false}};
}

std::optional<Action> escape_masks(const AppState& state) {
    if (masks_look(state).corner)
        return SelectPair{masks_look(state).pair.query, masks_look(state).pair.key, false};
    return std::nullopt;
}

void clear_masks(AppState& state) {
    masks_look(state).pair = {};
    masks_look(state).corner.reset();
}

void clamp_masks(AppState& state) {
    MasksLook& look = masks_look(state);
    look.pair = nearest_pair(state, look.pair);
    if (look.corner && !has_pair(state, *look.corner)) look.corner.reset();
    if (look.hovered && !has_pair(state, *look.hovered)) look.hovered.reset();
}

void reset_masks(AppState& state) {
    clear_masks(state);
    masks_look(state).hovered.reset();
    masks_look(state).brush.reset();
    masks_look(state).shown.reset();
    masks_look(state).scores.reset();
}

std::string masks_figure_name(const AppState& state) {
    return masks_look(state).tab == MasksTab::compose ? "mask" : "mask-conventions";
}

std::vector<Shot> masks_shots() {
    const PaintMask stroke{2, 0, 2, 3, PaintShape::rectangle, false};
    return {
        {"", {SetCausalMask{CausalChoice::top_left}, SelectPair{3, 1, false}}},
        {"conventions", {stroke, ShowMasksTab{MasksTab::conventions}, SelectPair{2, 1, false}}}};
}

constexpr std::string_view kMasksMouse[] = {
    "Click a pair of the mask to forbid it, or to allow it again.",
    "Drag over the mask to give several pairs the state of the first. Hold Shift for a rectangle.",
    "Click a pair of the other matrices, or right-click one of the mask, to see it in the "
    "inspector.",
    "Point at a pair to see which rules allow or forbid it.",
    "Paint the bias (Shift+B): a click or drag sets it to the chosen number, a second click to 0.",
    "Conventions: click one to compare it, Shift+click one to compare with it.",
    "More than 64 tokens: maps; the wheel zooms, dragging pans, a click selects, Shift+click "
    "widens the selection, Space paints it.",
};

constexpr PersistedValue kValues[] = {persisted(masks_look)};
constexpr RequestKind kRequests[] = {request_kind<requested_mask_scores>("mask scores")};

/// Selects the painted pair; within a drag the brush repeats the first change.
void follow_brush(AppState& state, const Brush& brush, PaintShape shape) {
    const auto& [from, to, allowed, bias] = brush;
    if (!has_pair(state, from) || !has_pair(state, to)) return;
    MasksLook& look = masks_look(state);
    const bool drags = state.gesture && state.gesture->action != &kActionType<TypeText>;
    if (drags && !look.brush) look.brush = brush;
    if (look.brush) look.brush->last = to;
    look.pair = to;
    const bool wide = shape == PaintShape::rectangle && !(from == to);
    look.corner = wide ? std::optional(from) : std::nullopt;
    share_pair(state, to);
}

void follow_stroke(AppState& state, const Action& action) {
    if (const auto* const paint = action.as<PaintMask>())
        follow_brush(
            state, {{paint->row, paint->column}, {paint->to_row, paint->to_column}, paint->allowed},
            paint->shape);
    if (const auto* const paint = action.as<PaintBias>())
        follow_brush(
            state,
            {{paint->row, paint->column}, {paint->to_row, paint->to_column}, false, paint->value},
            paint->shape);
}

std::string pair_text(const AppState& state, Pair pair) {
    const Document& document = state.document();
    for (const RuleVerdict& verdict : rule_verdicts(state, pair))
        if (!verdict.allows)
            return verdict.rule == MaskRule::paint
                       ? fmt::format("{}: {}.", pair_name(state, pair), verdict.text)
                       : fmt::format("{}: forbidden by the {} rule, {}.", pair_name(state, pair),
                                     verdict.name, verdict.text);
    const auto weights = masks_values(state, Stage::weights);
    const bool any = document.spec.mask.any();
    return fmt::format("{}: {}{}.", pair_name(state, pair),
                       any ? "allowed by every rule" : "allowed, because no rule is set",
                       weights.rows > 0 ? ", weight " + number(weights(pair.query, pair.key)) : "");
}

}  // namespace

std::string masks_entering_text(const AppState& state) {
    if (masks_look(state).tab == MasksTab::conventions)
        return "Choose one convention in each list. Press V to go back.";
    if (const auto brush = bias_brush(state); brush && !is_long(state.document()))
        return fmt::format("Click or drag over the bias to set it to {}; a second click sets 0.",
                           number(*brush));
    if (is_long(state.document()))
        return "Click a pair to see which rules allow it. Space paints it.";
    return "Click or drag over the mask to paint it.";
}

std::string masks_missing_data(const AppState& state) {
    const Document& document = state.document();
    if (is_empty(document)) return empty_text(document);
    if (is_without_values(document)) return stages_lack(document);
    const Dimensions& size = document.size;
    if (size.tq <= kMostStagedPairs / std::max<Index>(size.tk, 1)) return {};
    return fmt::format("{} × {} pairs are too many for a mask in memory{}.", grouped(size.tq),
                       grouped(size.tk),
                       has_map(document) ? ": Long context shows their weights (3 M)" : "");
}

void describe(Visitor& visit, MasksLook& look) {
    constexpr About kPlace{.low = 0.0, .high = static_cast<double>(kMostIndex)};
    visit("tab", look.tab, kNamesOf<MasksTab>);
    visit("row", look.pair.query, kPlace);
    visit("column", look.pair.key, kPlace);
    visit("first", look.conventions[0]);
    visit("second", look.conventions[1]);
    visit("gain", look.gain, {.low = 0.0, .high = kMostMaskDecades});
    visit("bias_value", look.bias_value, About{.low = -kMostBias, .high = kMostBias});
    std::optional<Index> row, column;
    if (look.corner) row = look.corner->query;
    if (look.corner) column = look.corner->key;
    visit("corner_row", row, kPlace);
    visit("corner_column", column, kPlace);
    look.corner = row && column ? std::optional(Pair{*row, *column}) : std::nullopt;
    if (!visit.reads()) return;
    for (const std::string& key : look.conventions)
        if (find_convention(key) == nullptr)
            visit.complain(fmt::format("has the unknown convention '{}'", key));
}

void carry_out(AppState& state, const ShowMasksTab& action) {
    masks_look(state).tab = action.tab;
    show_message(state, masks_entering_text(state));
}

void carry_out(AppState& state, const SelectPair& action) {
    const Pair pair{action.row, action.column};
    if (!has_pair(state, pair)) return warn(state, "This pair does not exist.");
    MasksLook& look = masks_look(state);
    if (!action.extend)
        look.corner.reset();
    else if (!look.corner)
        look.corner = look.pair;
    look.pair = pair;
    if (look.corner == pair) look.corner.reset();
    share_pair(state, pair);
    show_message(state, pair_text(state, pair));
}

void carry_out(AppState& state, const HoverPair& action) {
    const bool there = action.pair && has_pair(state, *action.pair);
    masks_look(state).hovered = there ? action.pair : std::nullopt;
}

void carry_out(AppState& state, const SetConvention& action) {
    const ConventionInfo* const found = find_convention(action.convention);
    if (found == nullptr || action.side < 0 || action.side > 1)
        return warn(state, "There is no convention '{}'.", shortened(action.convention));
    masks_look(state).conventions[static_cast<std::size_t>(action.side)] = action.convention;
    show_message(state, std::string(found->text));
}

void carry_out(AppState& state, const SetConventionGain& action) {
    if (action.decades < 0 || action.decades > kMostMaskDecades)
        return warn(state, "The gain is 10^{}: it must be 10^0 to 10^{}.", action.decades,
                    kMostMaskDecades);
    masks_look(state).gain = action.decades;
    show_message(state, action.decades == 0
                            ? std::string("The scores are unchanged.")
                            : fmt::format("Every score is multiplied by {} before the mask.",
                                          power_of_ten(static_cast<int>(action.decades))));
}

void carry_out(AppState& state, const SetBiasBrush& action) {
    if (action.value && !(std::abs(*action.value) <= kMostBias))
        return warn(state, "The bias is {}: it must be −10⁶ to 10⁶.", *action.value);
    if (action.value && !takes_bias(state.document()))
        return warn(state, "This document has no bias to paint: open a file with the array bias.");
    masks_look(state).bias_value = action.value;
    show_message(state, masks_entering_text(state));
}

void carry_out(AppState& state, const CopyMask& action) {
    state.effects.clipboard = mask_code(state.document(), action.code);
    constexpr std::string_view kLibraries[] = {"numpy", "PyTorch", "mask_mod of FlexAttention"};
    show_message(state, "Copied code that makes this mask, as {}.",
                 kLibraries[static_cast<std::size_t>(action.code)]);
}

extern const WorkspaceInfo kMasksWorkspace{
    .key = "masks",
    .title = "Masks",
    .tip = "Which pairs may attend: rules, paint, and the results of other conventions.",
    .group = Group::attention,
    .letter = Key::m,
    .shows_document = true,
    .actions = MasksActions::kTypes,
    .values = kValues,
    .requests = kRequests,
    .missing_data = masks_missing_data,
    .enter = enter_masks,
    .leave =
        [](AppState& state) {
            masks_look(state).hovered.reset();
            map_look(state).hovered.reset();
        },
    .add_commands = add_masks_commands,
    .escape = escape_masks,
    .clear = clear_masks,
    .clamp_to_document = clamp_masks,
    .clear_cache = reset_masks,
    .before = follow_stroke,
    .follow = follow_masks,
    .gesture = [](AppState& state) { masks_look(state).brush.reset(); },
    .example = masks_example,
    .reasons = masks_reasons,
    .has_side = [](const AppState& state) { return masks_missing_data(state).empty(); },
    .inspector = masks_inspector,
    .figure_name = masks_figure_name,
    .shots = masks_shots,
    .mouse = kMasksMouse,
};

}  // namespace attn::view
