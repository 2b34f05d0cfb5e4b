#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/edits.h"
#include "app/common/document/note.h"
#include "app/common/document/paint.h"
#include "app/common/format.h"
#include "app/common/map/state.h"
#include "app/common/sheet.h"
#include "app/workspaces/masks/actions.h"
#include "app/workspaces/masks/code.h"
#include "app/workspaces/masks/conventions.h"
#include "app/workspaces/masks/rules.h"
#include "app/workspaces/masks/workspace.h"
#include "core/masks.h"
#include "core/text.h"

namespace attn::view {
namespace {

void edit_mask(AppState& state, Document document, const std::string& words) {
    if (is_toy(document)) settle_note(state, document);
    edit_document(state, std::move(document), words);
}

/// There is nothing that a mask could be of.
bool refuse_empty(AppState& state) {
    if (!is_empty(state.document())) return false;
    say(state, "There is no mask without a sentence: type one in Step.", Severity::warning);
    return true;
}

bool has_pair(const AppState& state, Pair pair) {
    const Dimensions& size = state.document().size;
    return pair.query >= 0 && pair.query < size.tq && pair.key >= 0 && pair.key < size.tk;
}

std::string pair_name(const AppState& state, Pair pair) {
    return fmt::format("{} → {}", axis_label(state.document(), Axis::query, pair.query),
                       axis_label(state.document(), Axis::key, pair.key));
}

std::string window_words(std::optional<Index> left, std::optional<Index> right) {
    if (!left && !right) return "Window mask off";
    const auto reach = [](std::optional<Index> side) {
        return side ? fmt::format("{}", *side) : std::string("any number of");
    };
    return fmt::format("Window: no query sees more than {} places to its left and {} to its right",
                       reach(left), reach(right));
}

// ---- paint

struct Stroke {
    Pair from, to;
    PaintShape shape = PaintShape::line;
    bool allowed = false;
};

/// Calls `paint(query, key)` along the straight line from one pair to another.
template <class Paint>
void along_line(Pair from, Pair to, Paint paint) {
    const Index rows = to.query - from.query;
    const Index columns = to.key - from.key;
    const Index steps = std::max({std::abs(rows), std::abs(columns), Index{1}});
    for (Index n = 0; n <= steps; ++n) {
        const double share = static_cast<double>(n) / static_cast<double>(steps);
        paint(from.query + std::llround(share * static_cast<double>(rows)),
              from.key + std::llround(share * static_cast<double>(columns)));
    }
}

void paint_stroke(const AppState& state, const Stroke& stroke, Mask& mask) {
    const Index b = mask.shape().b == 1 ? 0 : state.batch;
    const Index h = mask.shape().h == 1 ? 0 : state.head;
    const auto paint = [&](Index i, Index j) { mask(b, h, i, j) = stroke.allowed ? 1 : 0; };
    if (stroke.shape == PaintShape::line) return along_line(stroke.from, stroke.to, paint);
    const auto [top, bottom] = std::minmax(stroke.from.query, stroke.to.query);
    const auto [left, right] = std::minmax(stroke.from.key, stroke.to.key);
    for (Index i = top; i <= bottom; ++i)
        for (Index j = left; j <= right; ++j) paint(i, j);
}

/// "Painted: sat → cat forbidden", "Painted: 6 pairs forbidden": against what was there before the gesture.
std::string painted_words(const AppState& state, const Document& before, const Mask& mask,
                          const Stroke& stroke) {
    const Mask old = paintable_mask(before);
    const auto values = mask.values();
    Index changed = 0;
    for (std::size_t n = 0; n < values.size(); ++n) changed += values[n] != old.values()[n];
    const char* what = stroke.allowed ? "allowed" : "forbidden";
    if (changed == 1 && stroke.from == stroke.to)
        return fmt::format("Painted: {} {}", pair_name(state, stroke.to), what);
    return fmt::format("Painted: {} pair{} {}", changed, changed == 1 ? "" : "s", what);
}

/// What paint cannot allow, and who forbids it.
void say_forbidden(AppState& state, Pair pair) {
    for (const RuleVerdict& verdict : rule_verdicts(state, pair))
        if (!verdict.allows)
            return say(state,
                       fmt::format("{} stays forbidden by the {} rule, {}: paint cannot allow it, "
                                   "B turns the rules into paint.",
                                   pair_name(state, pair), verdict.name, verdict.words));
}

void note_brush(AppState& state, const Stroke& stroke) {
    MasksLook& look = masks_look(state);
    if (state.gesture && !look.brush) look.brush = Brush{stroke.from, stroke.to, stroke.allowed};
    if (look.brush) look.brush->last = stroke.to;
    look.pair = stroke.to;
    const bool wide = stroke.shape == PaintShape::rectangle && !(stroke.from == stroke.to);
    look.corner = wide ? std::optional(stroke.from) : std::nullopt;
}

/// Step and Large look at the same pair from now on.
void share_pair(AppState& state) {
    const Pair& pair = masks_look(state).pair;
    const auto& cell = state.selected;
    const Stage* const stage = cell ? std::get_if<Stage>(&cell->tensor) : nullptr;
    if (stage != nullptr && pair_stages()[index_of(*stage)] &&
        has_cell(state, {*stage, pair.query, pair.key}))
        carry_out(state, SelectCell{{*stage, pair.query, pair.key}});
    // The place of scores, scaled, masked and weights: rows are queries, columns are keys.
    state.places[static_cast<std::size_t>(Axis::key)] = large::Cell{pair.query, pair.key};
    if (map_look(state).selected) map_look(state).selected = large::Cell{pair.query, pair.key};
}

std::string pair_words(const AppState& state, Pair pair) {
    const Document& document = state.document();
    for (const RuleVerdict& verdict : rule_verdicts(state, pair))
        if (!verdict.allows)
            return fmt::format("{}: forbidden by the {} rule, {}.", pair_name(state, pair),
                               verdict.name, verdict.words);
    const auto weight = value_at(state, {Stage::weights, pair.query, pair.key});
    const bool any = document.spec.mask.any();
    return fmt::format("{}: {}{}.", pair_name(state, pair),
                       any ? "allowed by every rule" : "allowed, no rule is set",
                       weight ? ", weight " + number(*weight) : "");
}

}  // namespace

void carry_out(AppState& state, const SetCausalMask& action) {
    if (refuse_empty(state)) return;
    Document document = state.document();
    auto& causal = document.spec.mask.causal;
    const auto before = causal;
    causal.reset();
    if (action.causal == CausalChoice::top_left) causal = CausalAlign::top_left;
    if (action.causal == CausalChoice::bottom_right) causal = CausalAlign::bottom_right;
    if (causal == before) return;
    const char* align = action.causal == CausalChoice::top_left ? "top-left" : "bottom-right";
    edit_mask(state, std::move(document),
              causal ? fmt::format("Causal mask on, {}", align) : std::string("Causal mask off"));
}

void carry_out(AppState& state, const SetPadding& action) {
    if (refuse_empty(state)) return;
    Document document = state.document();
    auto& padding = document.spec.mask.padding;
    const auto before = padding;
    if (!action.keys) padding.clear();
    if (action.keys && padding.empty())
        padding.assign(static_cast<std::size_t>(document.size.batch), document.size.tk);
    if (action.keys) padding[static_cast<std::size_t>(state.batch)] = *action.keys;
    if (padding == before) return;
    edit_mask(state, std::move(document),
              action.keys ? fmt::format("Padding: {} of {} keys are valid", *action.keys,
                                        state.document().size.tk)
                          : std::string("Padding mask off"));
}

void carry_out(AppState& state, const SetBlock& action) {
    if (refuse_empty(state)) return;
    Document document = state.document();
    if (document.spec.mask.block == action.length) return;
    document.spec.mask.block = action.length;
    edit_mask(state, std::move(document),
              action.length ? fmt::format("Blocks of {}: every token sees its own block alone",
                                          *action.length)
                            : std::string("Block mask off"));
}

/// The same reach on both sides is the window that Step knows.
void carry_out(AppState& state, const SetWindowSides& action) {
    if (refuse_empty(state)) return;
    Document document = state.document();
    MaskSpec& mask = document.spec.mask;
    const WindowSides before = window_sides(mask);
    if (before.left == action.left && before.right == action.right) return;
    mask.window.reset();
    mask.window_left = action.left;
    mask.window_right = action.right;
    if (action.left == action.right) {
        mask.window = action.left;
        mask.window_left.reset();
        mask.window_right.reset();
    }
    if (!mask.windowed()) mask.global_tokens = 0;
    edit_mask(state, std::move(document), window_words(action.left, action.right));
}

void carry_out(AppState& state, const SetGlobalTokens& action) {
    if (refuse_empty(state)) return;
    Document document = state.document();
    if (document.spec.mask.global_tokens == action.tokens) return;
    document.spec.mask.global_tokens = action.tokens;
    edit_mask(
        state, std::move(document),
        action.tokens == 0
            ? std::string("Global tokens off")
            : fmt::format("{} global token{}: the window holds neither for {} nor towards {}",
                          action.tokens, action.tokens == 1 ? "" : "s",
                          action.tokens == 1 ? "it" : "them", action.tokens == 1 ? "it" : "them"));
}

void carry_out(AppState& state, const SetEmptyRows& action) {
    if (refuse_empty(state)) return;
    Document document = state.document();
    const EmptyRows policy = action.nan ? EmptyRows::nan : EmptyRows::zero;
    if (document.spec.empty_rows == policy) return;
    document.spec.empty_rows = policy;
    edit_mask(state, std::move(document), action.nan ? "Empty rows give NaN" : "Empty rows give 0");
}

void carry_out(AppState& state, const PaintMask& action) {
    const Stroke stroke{{action.row, action.column},
                        {action.to_row, action.to_column},
                        action.shape,
                        action.allowed};
    if (!has_pair(state, stroke.from) || !has_pair(state, stroke.to))
        return say(state, "There is no such pair to paint.", Severity::warning);
    const bool joins = state.gesture && state.gesture->joins;
    const auto before = joins ? state.history[state.now - 1].document : state.shared_document();
    const bool anew = stroke.shape == PaintShape::rectangle;
    Mask mask = paintable_mask(anew ? *before : state.document());
    paint_stroke(state, stroke, mask);
    note_brush(state, stroke);
    if (mask == paintable_mask(state.document())) {
        if (stroke.allowed) say_forbidden(state, stroke.to);
        return share_pair(state);
    }
    const std::string words = painted_words(state, *before, mask, stroke);
    Document document = state.document();
    set_paint(document, std::move(mask));
    edit_mask(state, std::move(document), words);
    const Message said = state.message;
    share_pair(state);
    state.message = said;
}

void carry_out(AppState& state, const ClearPaint&) {
    if (!state.document().spec.mask.custom) return say(state, "Nothing is painted.");
    Document document = state.document();
    document.spec.mask.custom.reset();
    document.painted = true;
    edit_mask(state, std::move(document), "Painted mask off: the rules alone hold");
}

void carry_out(AppState& state, const PaintRules&) {
    if (refuse_empty(state)) return;
    Document document = state.document();
    const Mask all = materialise(document.spec.mask, document.size);
    const bool by_batch = document.size.batch > 1 && document.spec.mask.padding.size() > 1;
    const auto& custom = document.spec.mask.custom;
    const Index batch = by_batch || (custom && custom->shape().b > 1) ? document.size.batch : 1;
    const Index heads = custom && custom->shape().h > 1 ? document.size.heads : 1;
    Mask paint(Shape{batch, heads, document.size.tq, document.size.tk});
    for (Index b = 0; b < batch; ++b)
        for (Index h = 0; h < heads; ++h)
            for (Index i = 0; i < document.size.tq; ++i)
                std::ranges::copy(all.matrix(b, h).row(i), paint.matrix(b, h).row(i).begin());
    document.spec.mask = {};
    set_paint(document, std::move(paint));
    edit_mask(state, std::move(document), "The rules are paint now: every pair can be painted");
}

void carry_out(AppState& state, const ShowMasksTab& action) {
    masks_look(state).tab = action.tab;
    say(state, masks_entering_words(state));
}

void carry_out(AppState& state, const SelectPair& action) {
    const Pair pair{action.row, action.column};
    if (!has_pair(state, pair)) return say(state, "There is no such pair.", Severity::warning);
    MasksLook& look = masks_look(state);
    if (!action.extend)
        look.corner.reset();
    else if (!look.corner)
        look.corner = look.pair;
    look.pair = pair;
    if (look.corner == pair) look.corner.reset();
    share_pair(state);
    say(state, pair_words(state, pair));
}

void carry_out(AppState& state, const HoverPair& action) {
    const bool there = action.pair && has_pair(state, *action.pair);
    masks_look(state).hovered = there ? action.pair : std::nullopt;
}

void carry_out(AppState& state, const SetConvention& action) {
    const ConventionInfo* const found = find_convention(action.convention);
    if (found == nullptr || action.side < 0 || action.side > 1)
        return say(state, fmt::format("There is no convention '{}'.", shortened(action.convention)),
                   Severity::warning);
    masks_look(state).conventions[static_cast<std::size_t>(action.side)] = action.convention;
    say(state, std::string(found->words));
}

void carry_out(AppState& state, const SetConventionGain& action) {
    if (action.decades < 0 || action.decades > kMostMaskDecades)
        return say(state,
                   fmt::format("The gain is 10^{}: it must be 10^0 to 10^{}.", action.decades,
                               kMostMaskDecades),
                   Severity::warning);
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
