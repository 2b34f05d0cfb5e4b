#include "app/common/document/mask_rules.h"

#include <cmath>

#include <fmt/ranges.h>

#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/paint.h"
#include "app/common/format.h"
#include "core/given.h"
#include "core/masks.h"
#include "core/text.h"

namespace attn::view {
namespace {

/// There is nothing that a mask could be of.
bool refuse_empty(AppState& state) {
    const Document& document = state.document();
    if (!is_empty(document) || takes_masks(document)) return false;
    if (!document.given.empty()) {
        warn(state, "{} has fixed weights, which no mask changes.", document.title);
        return true;
    }
    warn(state, "There is no mask without a sentence: type one in Step.");
    return true;
}

/// ", the padding mask stays": the masks besides the causal one; "" without any.
std::string other_masks_text(const Document& document) {
    const MaskSpec& mask = document.spec.mask;
    std::vector<std::string_view> others;
    if (mask.windowed()) others.emplace_back("window");
    if (mask.block) others.emplace_back("block");
    if (!mask.padding.empty()) others.emplace_back("padding");
    if (mask.custom) others.emplace_back(document.painted ? "painted" : "given");
    if (others.empty()) return "; no other mask is set, so every query may see every key";
    return fmt::format(", the {} mask{} stay{}", fmt::join(others, " and "),
                       others.size() == 1 ? "" : "s", others.size() == 1 ? "s" : "");
}

std::string causal_description(CausalChoice causal, const Document& before) {
    switch (causal) {
        case CausalChoice::top_left:
            return "Causal mask on: no query sees a later key";
        case CausalChoice::bottom_right:
            return "Causal mask on, bottom-right: the last query aligns with the last key";
        case CausalChoice::off:
            break;
    }
    return "Causal mask off" + other_masks_text(before);
}

void set_causal(AppState& state, CausalChoice choice) {
    Document document = state.document();
    auto& causal = document.spec.mask.causal;
    const auto before = std::exchange(causal, std::nullopt);
    if (choice == CausalChoice::top_left) causal = CausalAlign::top_left;
    if (choice == CausalChoice::bottom_right) causal = CausalAlign::bottom_right;
    if (causal == before) return;
    edit_spec(state, std::move(document), causal_description(choice, state.document()));
}

/// The same reach on both sides is one number.
void set_window(AppState& state, const WindowSides& sides, const std::string& text) {
    Document document = state.document();
    MaskSpec& mask = document.spec.mask;
    const bool same = sides.left == sides.right;
    mask.window = same ? sides.left : std::nullopt;
    mask.window_left = same ? std::nullopt : sides.left;
    mask.window_right = same ? std::nullopt : sides.right;
    if (!mask.windowed()) mask.global_tokens = 0;
    edit_spec(state, std::move(document), text);
}

std::string window_text(std::optional<Index> left, std::optional<Index> right) {
    if (!left && !right) return "Window mask off";
    const auto reach = [](std::optional<Index> side, const char* name) {
        return side ? fmt::format("at most {} to its {}", counted(*side, "place"), name)
                    : fmt::format("any key to its {}", name);
    };
    return fmt::format("Window: a query sees {} and {}", reach(left, "left"),
                       reach(right, "right"));
}

// ---- paint

struct Stroke {
    Pair from, to;
    PaintShape shape = PaintShape::line;
    bool allowed = false;
};

void paint_stroke(const AppState& state, const Stroke& stroke, Mask& mask) {
    const Index b = mask.shape().b == 1 ? 0 : state.batch;
    const Index h = mask.shape().h == 1 ? 0 : state.head;
    for_stroke(stroke.from, stroke.to, stroke.shape == PaintShape::rectangle,
               [&](Index i, Index j) { mask(b, h, i, j) = stroke.allowed ? 1 : 0; });
}

/// "Painted: sat → cat forbidden", "Painted: 6 pairs forbidden": against what was there before the gesture.
std::string painted_text(const AppState& state, const Document& before, const Mask& mask,
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

/// "Painted: bias of sat → cat = 1.50", "Painted: bias of 6 pairs = 1.50": against what was there before the gesture.
std::string painted_text(const AppState& state, const Document& before, const Tensor& bias,
                         Pair from, Pair to, double value) {
    const Tensor old = paintable_bias(before);
    Index changed = 0;
    for (std::size_t n = 0; n < bias.values().size(); ++n)
        changed += old.shape() != bias.shape() || bias.values()[n] != old.values()[n];
    return fmt::format("Painted: bias of {} = {}",
                       changed == 1 && from == to ? pair_name(state, to) : counted(changed, "pair"),
                       number(value));
}

/// What paint cannot allow, and who forbids it.
void report_forbidden(AppState& state, Pair pair) {
    for (const RuleVerdict& verdict : rule_verdicts(state, pair))
        if (!verdict.allows)
            return show_message(
                state,
                "{} stays forbidden by the {} rule, {}. Paint cannot allow this pair: press B "
                "to convert the rules into paint.",
                pair_name(state, pair), verdict.name, verdict.text);
}

// ---- rule by rule

// i query, j key, p position of the query.

std::string causal_verdict(const AppState& state, Pair pair, bool allows) {
    const Dimensions& size = state.document().size;
    const Index shift = causal_shift(size, *state.document().spec.mask.causal);
    return fmt::format("j = {} {} {} = {}", pair.key, allows ? "≤" : ">", shifted_text("i", shift),
                       pair.query + shift);
}

std::string block_verdict(const AppState& state, Pair pair, bool allows) {
    const Index length = *state.document().spec.mask.block;
    const Index offset = state.document().size.query_offset;
    const Index p = pair.query + offset;
    const Index block = p >= 0 ? p / length : -((-p - 1) / length) - 1;  // ⌊p / length⌋
    const char* const query = offset == 0 ? "i" : "p";
    std::string text =
        allows ? fmt::format("{} and j are in block {} of {} tokens", query, block, length)
               : fmt::format("{} is in block {}, j in block {}, of {} tokens each", query, block,
                             pair.key / length, length);
    if (offset != 0) text += fmt::format(", p = {}", shifted_text("i", offset));
    return text;
}

std::string padding_verdict(const AppState& state, Pair pair, bool allows) {
    const auto& padding = state.document().spec.mask.padding;
    return fmt::format("j = {} {} {}, the number of valid keys", pair.key, allows ? "<" : "≥",
                       padding[state.batch]);
}

std::string paint_verdict(const Document& document, bool allows) {
    if (document.painted) return allows ? "not painted as forbidden" : "painted as forbidden";
    return fmt::format("the pair is given as {}", allows ? "allowed" : "forbidden");
}

/// One side of a window: the distance to that side against its reach.
std::string side_verdict(std::string_view difference, Index distance, std::optional<Index> reach,
                         std::string_view side) {
    if (!reach) return fmt::format("no limit on the {}", side);
    return fmt::format("{} = {} {} {}", difference, distance, distance <= *reach ? "≤" : ">",
                       *reach);
}

std::string window_verdict(const AppState& state, Pair pair) {
    const MaskSpec& mask = state.document().spec.mask;
    const Index offset = state.document().size.query_offset;
    const Index p = pair.query + offset;
    if (p >= 0 && p < mask.global_tokens) return "the query is a global token: it sees every key";
    if (pair.key < mask.global_tokens) return "the key is a global token: every query sees it";
    const std::string query = offset == 0 ? "i" : "p";
    const std::string where = offset == 0 ? "" : fmt::format(", p = {}", shifted_text("i", offset));
    const WindowSides sides = window_sides(mask);
    if (sides.left == sides.right)
        return side_verdict(fmt::format("|{} − j|", query), std::abs(p - pair.key), sides.left,
                            "left") +
               where;
    if (p >= pair.key)
        return side_verdict(query + " − j", p - pair.key, sides.left, "left") + where;
    return side_verdict("j − " + query, pair.key - p, sides.right, "right") + where;
}

std::string verdict_text(const AppState& state, MaskRule rule, Pair pair, bool allows) {
    switch (rule) {
        case MaskRule::causal:
            return causal_verdict(state, pair, allows);
        case MaskRule::window:
            return window_verdict(state, pair);
        case MaskRule::block:
            return block_verdict(state, pair, allows);
        case MaskRule::padding:
            return padding_verdict(state, pair, allows);
        case MaskRule::paint:
            return paint_verdict(state.document(), allows);
    }
    return {};
}

std::string name_of(const Document& document, MaskRule rule) {
    constexpr const char* kNames[] = {"causal", "window", "block", "padding", "paint"};
    if (rule == MaskRule::paint && !document.painted) return "given mask";
    return kNames[static_cast<std::size_t>(rule)];
}

}  // namespace

bool takes_masks(const Document& document) {
    if (document.given.empty() || !is_empty(document)) return !is_empty(document);
    return document.given.front()->stage < Stage::weights;
}

void carry_out(AppState& state, const SetCausal& action) {
    if (action.on == state.document().spec.mask.causal.has_value()) return;
    if (!state.document().given.empty() && refuse_empty(state)) return;
    set_causal(state, action.on ? CausalChoice::top_left : CausalChoice::off);
}

void carry_out(AppState& state, const SetCausalMask& action) {
    if (!refuse_empty(state)) set_causal(state, action.causal);
}

void carry_out(AppState& state, const SetWindow& action) {
    const MaskSpec& mask = state.document().spec.mask;
    const bool by_sides = mask.window_left || mask.window_right;
    if (action.reach == mask.window && !by_sides) return;
    if (action.reach && *action.reach < 0)
        return show_error(
            state,
            fmt::format("The window is {}: expected a whole number of at least 0.", *action.reach));
    set_window(state, {action.reach, action.reach},
               action.reach
                   ? fmt::format("Window {}: no query sees a key more than {} away{}",
                                 *action.reach, counted(*action.reach, "place"),
                                 mask.global_tokens > 0 ? ", apart from global tokens" : "")
                   : std::string("Window mask off"));
}

void carry_out(AppState& state, const SetWindowSides& action) {
    if (refuse_empty(state)) return;
    const WindowSides before = window_sides(state.document().spec.mask);
    if (before.left == action.left && before.right == action.right) return;
    set_window(state, {action.left, action.right}, window_text(action.left, action.right));
}

void carry_out(AppState& state, const SetGlobalTokens& action) {
    if (refuse_empty(state)) return;
    Document document = state.document();
    if (document.spec.mask.global_tokens == action.tokens) return;
    document.spec.mask.global_tokens = action.tokens;
    edit_spec(
        state, std::move(document),
        action.tokens == 0
            ? std::string("Global tokens off")
            : fmt::format(
                  "{} global token{}: {} every key and {} seen by every query, whatever the window",
                  action.tokens, action.tokens == 1 ? "" : "s",
                  action.tokens == 1 ? "it sees" : "they see", action.tokens == 1 ? "is" : "are"));
}

void carry_out(AppState& state, const SetBlock& action) {
    if (refuse_empty(state)) return;
    Document document = state.document();
    if (document.spec.mask.block == action.length) return;
    document.spec.mask.block = action.length;
    edit_spec(state, std::move(document),
              action.length
                  ? fmt::format("Blocks of {}: every token sees only its own block", *action.length)
                  : std::string("Block mask off"));
}

void carry_out(AppState& state, const SetPadding& action) {
    if (refuse_empty(state)) return;
    Document document = state.document();
    auto& padding = document.spec.mask.padding;
    const auto before = padding;
    if (!action.keys) padding.clear();
    if (action.keys && padding.empty()) padding.assign(document.size.batch, document.size.tk);
    if (action.keys) padding[state.batch] = *action.keys;
    if (padding == before) return;
    edit_spec(state, std::move(document),
              action.keys ? fmt::format("Padding: {} of {} keys are valid", *action.keys,
                                        state.document().size.tk)
                          : std::string("Padding mask off"));
}

void carry_out(AppState& state, const SetEmptyRows& action) {
    if (refuse_empty(state)) return;
    Document document = state.document();
    const EmptyRows policy = action.nan ? EmptyRows::nan : EmptyRows::zero;
    if (document.spec.empty_rows == policy) return;
    document.spec.empty_rows = policy;
    edit_spec(state, std::move(document), action.nan ? "Empty rows give NaN" : "Empty rows give 0");
}

void carry_out(AppState& state, const PaintMask& action) {
    const Stroke stroke{{action.row, action.column},
                        {action.to_row, action.to_column},
                        action.shape,
                        action.allowed};
    if (!has_pair(state, stroke.from) || !has_pair(state, stroke.to))
        return warn(state, "This pair does not exist.");
    const bool joins = state.gesture && state.gesture->joins;
    const auto before = joins ? state.history[state.now - 1].document : state.shared_document();
    const bool restarts = stroke.shape == PaintShape::rectangle;
    Mask mask = paintable_mask(restarts ? *before : state.document());
    paint_stroke(state, stroke, mask);
    if (mask == paintable_mask(state.document())) {
        if (stroke.allowed) report_forbidden(state, stroke.to);
        return;
    }
    const std::string text = painted_text(state, *before, mask, stroke);
    Document document = state.document();
    set_paint(document, std::move(mask));
    edit_spec(state, std::move(document), text);
}

void carry_out(AppState& state, const PaintBias& action) {
    const Pair from{action.row, action.column}, to{action.to_row, action.to_column};
    if (!has_pair(state, from) || !has_pair(state, to))
        return warn(state, "This pair does not exist.");
    if (!takes_bias(state.document()))
        return warn(state, "This document has no bias to paint: open a file with the array bias.");
    if (!(std::abs(action.value) <= kMostBias))
        return warn(state, "The bias is {}: it must be −10⁶ to 10⁶.", action.value);
    const bool joins = state.gesture && state.gesture->joins;
    const auto before = joins ? state.history[state.now - 1].document : state.shared_document();
    Document document = state.document();
    const bool rectangle = action.shape == PaintShape::rectangle;
    if (rectangle) {
        document.spec.mask.bias = before->spec.mask.bias;
        document.bias_strokes = before->bias_strokes;
    }
    paint_bias(document,
               {document.layer, state.batch, state.head, action.row, action.column, action.to_row,
                action.to_column, rectangle, static_cast<float>(action.value)});
    const Tensor painted = paintable_bias(document);
    if (painted == paintable_bias(state.document())) return;
    const std::string text = painted_text(state, *before, painted, from, to, action.value);
    edit_spec(state, std::move(document), text);
}

void carry_out(AppState& state, const ClearPaint&) {
    if (!state.document().spec.mask.custom) return show_message(state, "Nothing is painted.");
    Document document = state.document();
    document.spec.mask.custom.reset();
    document.painted = true;
    edit_spec(state, std::move(document), "Painted mask off: only the rules apply");
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
    for (const auto [b, h] : each_cell(batch, heads))
        for (Index i = 0; i < document.size.tq; ++i)
            std::ranges::copy(all.matrix(b, h).row(i), paint.matrix(b, h).row(i).begin());
    document.spec.mask = document.spec.mask.bias_alone();
    set_paint(document, std::move(paint));
    edit_spec(state, std::move(document), "The rules are now paint: you can paint every pair");
}

bool has_rule(const MaskSpec& mask, MaskRule rule) { return rule_alone(mask, rule).any(); }

MaskSpec rule_alone(const MaskSpec& mask, MaskRule rule) {
    MaskSpec alone;
    switch (rule) {
        case MaskRule::causal:
            alone.causal = mask.causal;
            break;
        case MaskRule::window:
            alone.window = mask.window;
            alone.window_left = mask.window_left;
            alone.window_right = mask.window_right;
            alone.global_tokens = mask.global_tokens;
            break;
        case MaskRule::block:
            alone.block = mask.block;
            break;
        case MaskRule::padding:
            alone.padding = mask.padding;
            break;
        case MaskRule::paint:
            alone.custom = mask.custom;
            break;
    }
    return alone;
}

std::vector<std::uint8_t> pairs_allowed_by(const Document& document, const MaskSpec& mask,
                                           Index batch, Index head) {
    const Dimensions& size = document.size;
    std::vector<std::uint8_t> pairs(size.tq * size.tk);
    const std::span<std::uint8_t> all(pairs);
    const auto keys = static_cast<std::size_t>(size.tk);
    for (Index i = 0; i < size.tq; ++i)
        fill_allowed(mask, size, batch, head, i,
                     all.subspan(static_cast<std::size_t>(i) * keys, keys));
    return pairs;
}

std::vector<std::uint8_t> pairs_allowed_by(const AppState& state, const MaskSpec& mask) {
    return pairs_allowed_by(state.document(), mask, state.batch, state.head);
}

std::vector<std::uint8_t> allowed_pairs(const AppState& state) {
    return pairs_allowed_by(state, state.document().spec.mask);
}

Index count_allowed(std::span<const std::uint8_t> pairs) {
    return std::ranges::count(pairs, std::uint8_t{1});
}

Index count_allowed(const AppState& state, const MaskSpec& mask) {
    return count_allowed(pairs_allowed_by(state, mask));
}

std::vector<RuleVerdict> rule_verdicts(const AppState& state, Pair pair) {
    const Document& document = state.document();
    std::vector<RuleVerdict> verdicts;
    for (const MaskRule rule : kMaskRules) {
        if (!has_rule(document.spec.mask, rule)) continue;
        const bool allows = may_attend(rule_alone(document.spec.mask, rule), document.size,
                                       state.batch, state.head, pair.query, pair.key);
        verdicts.push_back(
            {rule, allows, name_of(document, rule), verdict_text(state, rule, pair, allows)});
    }
    return verdicts;
}

WindowSides window_sides(const MaskSpec& mask) {
    const auto reach = [&](const std::optional<Index>& side) {
        if (side && mask.window) return std::optional<Index>(std::min(*side, *mask.window));
        return side ? side : mask.window;
    };
    return {reach(mask.window_left), reach(mask.window_right)};
}

std::string shifted_text(std::string_view letter, Index by) {
    if (by == 0) return std::string(letter);
    return fmt::format("{} {} {}", letter, by > 0 ? "+" : "−", std::abs(by));
}

Index causal_shift(const Dimensions& size, CausalAlign align) {
    return align == CausalAlign::top_left ? size.query_offset : size.tk - size.tq;
}

}  // namespace attn::view
