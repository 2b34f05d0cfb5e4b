#include <fmt/format.h>

#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/mask_rules.h"
#include "app/common/format.h"
#include "app/common/map/cells.h"
#include "app/common/state.h"
#include "app/workspaces/masks/view_parts.h"
#include "core/trace.h"

namespace attn::view {
namespace {

Index pairs_of(const AppState& state) {
    return state.document().size.tq * state.document().size.tk;
}

/// "alone 10 of 16".
std::string count_text(const AppState& state, MaskRule rule) {
    const MaskSpec& mask = state.document().spec.mask;
    if (!has_rule(mask, rule)) return {};
    return fmt::format("alone: {} of {}", grouped(count_allowed(state, rule_alone(mask, rule))),
                       grouped(pairs_of(state)));
}

SwitchView causal_switch(const AppState& state) {
    const Dimensions& size = state.document().size;
    const auto& causal = state.document().spec.mask.causal;
    const Index shift = causal_shift(size, causal.value_or(CausalAlign::top_left));
    SwitchView view{.name = "causal"};
    view.text = fmt::format("query i sees keys 0 … {}", shifted_text("i", shift));
    view.tip =
        causal == CausalAlign::bottom_right || size.query_offset == 0
            ? "top-left: query 0 aligns with key 0 (PyTorch's is_causal). bottom-right: the last "
              "query aligns with the last key (decoding). Both are the same if there are as many "
              "queries as keys."
            : fmt::format(
                  "top-left: query 0 aligns with key {}, its offset. bottom-right: the last query "
                  "aligns with the last key (decoding), whatever the offset.",
                  size.query_offset);
    return view;
}

SwitchView window_switch(const AppState& state) {
    const Document& document = state.document();
    const WindowSides sides = window_sides(document.spec.mask);
    const bool on = document.spec.mask.windowed();
    const std::string position = document.size.query_offset == 0 ? "i" : "p";
    const auto end = [&](std::optional<Index> reach, Index sign, const char* none) {
        return on && !reach ? std::string(none) : shifted_text(position, sign * reach.value_or(1));
    };
    SwitchView view{.name = "window"};
    view.text = fmt::format("query i sees keys {} … {}", end(sides.left, -1, "0"),
                            end(sides.right, 1, "the last"));
    if (position == "p")
        view.text += fmt::format(", p = {}", shifted_text("i", document.size.query_offset));
    view.tip = "How many keys a query sees to its left and right.";
    return view;
}

/// How many pairs global tokens give back to the window.
std::string given_back(const AppState& state) {
    const MaskSpec& mask = state.document().spec.mask;
    MaskSpec window = rule_alone(mask, MaskRule::window);
    const Index with = count_allowed(state, window);
    window.global_tokens = 0;
    return fmt::format("+ {} in the window", with - count_allowed(state, window));
}

SwitchView globals_switch(const AppState& state) {
    const MaskSpec& mask = state.document().spec.mask;
    const Index count = std::max<Index>(mask.global_tokens, 1);
    SwitchView view{.name = "global tokens"};
    view.on = mask.global_tokens > 0;
    view.text =
        count == 1
            ? "token 0 sees every key, and every query sees token 0, whatever the window"
            : fmt::format("tokens 0 … {} see every key and are seen by all, whatever the window",
                          count - 1);
    if (view.on) view.count = given_back(state);
    if (!mask.windowed()) view.possible = "Global tokens widen a window: switch one on first.";
    view.tip = "They widen only the window: causal mask, blocks, padding and paint still apply.";
    return view;
}

SwitchView block_switch(const AppState& state) {
    const Index length = state.document().spec.mask.block.value_or(2);
    SwitchView view{.name = "block"};
    const Dimensions& size = state.document().size;
    view.text = "all tokens are in one block";
    if (length < std::max(size.tq + std::max<Index>(size.query_offset, 0), size.tk))
        view.text = fmt::format("tokens see the {} of their own block: {} … {}, {} … {}, …", length,
                                0, length - 1, length, 2 * length - 1);
    if (length == 1) view.text = "every token sees only itself";
    view.tip = size.query_offset == 0
                   ? std::string(
                         "Query i and key j are in the same block if floor(i / length) = floor(j / "
                         "length).")
                   : fmt::format(
                         "Query i and key j are in the same block if floor(p / length) = floor(j / "
                         "length), with the query's position p = {}.",
                         shifted_text("i", size.query_offset));
    return view;
}

SwitchView padding_switch(const AppState& state) {
    const auto& padding = state.document().spec.mask.padding;
    const Index keys = state.document().size.tk;
    const Index valid = padding.empty() ? keys : padding[state.batch];
    SwitchView view{.name = "padding"};
    view.text = valid == 0   ? "no key is valid"
                : valid == 1 ? "only key 0 is valid"
                             : fmt::format("keys 0 … {} are valid", valid - 1);
    if (valid + 1 == keys) view.text += ", the last one is padding";
    if (valid + 1 < keys) view.text += fmt::format(", the last {} are padding", keys - valid);
    if (state.document().size.batch > 1) view.text += fmt::format(" (sequence {})", state.batch);
    view.tip = "Sequences of one batch are padded to one length: no query may see the padding.";
    return view;
}

SwitchView paint_switch(const AppState& state) {
    const Document& document = state.document();
    SwitchView view{.name =
                        document.painted || !document.spec.mask.custom ? "paint" : "given mask"};
    view.on = document.spec.mask.custom != nullptr;
    view.text = is_long(document) ? "Space paints the selection; Shift+click extends it"
                                  : "click or drag over the mask; Shift+drag paints a rectangle";
    if (view.on) {
        const Index forbidden =
            pairs_of(state) - count_allowed(state, rule_alone(document.spec.mask, MaskRule::paint));
        view.text = fmt::format("{} pair{} {} as forbidden", forbidden, forbidden == 1 ? "" : "s",
                                document.painted ? "painted" : "given");
        if (document.spec.mask.custom->shape().h > 1)
            view.text += fmt::format(", in head {}", state.head);
    }
    view.tip =
        "Paint forbids pairs one by one, and allows painted pairs again. Paint cannot allow a pair "
        "that a rule forbids. Press B to convert the rules into paint.";
    return view;
}

}  // namespace

std::array<SwitchView, kMaskSwitches> mask_switches(const AppState& state) {
    std::array<SwitchView, kMaskSwitches> switches{causal_switch(state),  window_switch(state),
                                                   globals_switch(state), block_switch(state),
                                                   padding_switch(state), paint_switch(state)};
    const auto set = [&](MaskSwitch which, MaskRule rule) {
        SwitchView& view = switches[static_cast<std::size_t>(which)];
        view.on = has_rule(state.document().spec.mask, rule);
        view.count = count_text(state, rule);
    };
    set(MaskSwitch::causal, MaskRule::causal);
    set(MaskSwitch::window, MaskRule::window);
    set(MaskSwitch::block, MaskRule::block);
    set(MaskSwitch::padding, MaskRule::padding);
    set(MaskSwitch::paint, MaskRule::paint);
    return switches;
}

MaskControls mask_controls(const AppState& state) {
    const Document& document = state.document();
    const MaskSpec& mask = document.spec.mask;
    const WindowSides sides = window_sides(mask);
    MaskControls controls;
    if (mask.causal)
        controls.causal = *mask.causal == CausalAlign::top_left ? CausalChoice::top_left
                                                                : CausalChoice::bottom_right;
    if (!mask.padding.empty()) controls.padding = mask.padding[state.batch];
    controls.block = mask.block;
    const Index whole = std::max(document.size.tq, document.size.tk);
    if (mask.windowed()) controls.left = sides.left.value_or(whole);
    if (mask.windowed()) controls.right = sides.right.value_or(whole);
    controls.globals = mask.global_tokens;
    controls.any_rule = mask.causal || mask.windowed() || mask.block || !mask.padding.empty();
    controls.nan = document.spec.empty_rows == EmptyRows::nan;
    controls.queries = document.size.tq;
    controls.keys = document.size.tk;
    controls.head = state.head;
    controls.heads = std::max<Index>(document.size.heads, 1);
    controls.batch = state.batch;
    controls.batches = std::max<Index>(document.size.batch, 1);
    return controls;
}

}  // namespace attn::view
