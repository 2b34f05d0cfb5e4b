#include "app/common/document/actions.h"
#include "app/common/document/requests.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/parts.h"
#include "app/common/draw/tabs.h"
#include "app/common/logits.h"
#include "app/common/map/state.h"
#include "app/common/state.h"
#include "app/workspaces/masks/actions.h"
#include "app/workspaces/masks/draw/parts.h"
#include "app/workspaces/masks/view.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kRow = 26.0F;
constexpr float kLeastWidth = 216.0F;  // of a list
constexpr float kMark = 16.0F, kSwitchesRow = 32.0F;
constexpr float kSwitch = 136.0F;    // the switch with its name
constexpr float kControls = 218.0F;  // what sets its numbers
constexpr float kCount = 124.0F;
constexpr float kLeastDescription =
    120.0F;  // narrower switches have no text; it is in the tooltip, as for a rule that is off

int columns_in(const MasksView& view, float width, const Frame& frame) {
    const int most = static_cast<int>(width / frame.px(kLeastWidth));
    return within(most, 1, std::max<int>(static_cast<int>(view.groups.size()), 1));
}

float height_of(const ConventionGroup& group, const Frame& frame) {
    return frame.px(kTitleRow) + frame.px(kRow) * static_cast<float>(group.rows.size());
}

/// Lists go one beneath the other where there are more of them than columns.
template <class Each>
float place_lists(const MasksView& view, float width, const Frame& frame, Each each) {
    const int columns = columns_in(view, width, frame);
    std::vector<float> bottoms(columns, 0.0F);
    for (std::size_t n = 0; n < view.groups.size(); ++n) {
        const std::size_t column =
            n < bottoms.size()
                ? n
                : static_cast<std::size_t>(std::ranges::min_element(bottoms) - bottoms.begin());
        each(n, static_cast<int>(column), bottoms[column]);
        bottoms[column] += height_of(view.groups[n], frame) + frame.px(8);
    }
    return bottoms.empty() ? 0.0F : *std::ranges::max_element(bottoms);
}

/// "1" for the baseline convention, "2" for the compared one.
void draw_mark(const ConventionView& row, ImVec2 low, ImVec2 high, const Frame& frame) {
    const std::string mark = std::string(row.first ? "1" : "") + (row.second ? "2" : "");
    draw_text_in(frame, frame.fonts.digits_small, low, {low.x + frame.px(kMark), high.y},
                 Align::left, frame.theme.accent, mark);
}

void draw_row(const ConventionView& row, ImVec2 low, ImVec2 high, const Frame& frame,
              Actions& out) {
    ImGui::SetCursorScreenPos(low);
    ImGui::PushID(row.key.c_str());
    const bool clicked = invisible_button("row", {high.x - low.x, high.y - low.y});
    const bool hovered = ImGui::IsItemHovered();
    const bool pressed = pressed_by_key(frame);
    tooltip(frame, row.name, row.tip + "\nClick: compare it. Shift+click: compare with it.");
    ImGui::PopID();
    if (row.second || row.first || hovered)
        frame.painter.rect(low, high, frame.theme.raised, frame.px(4));
    const float pad = frame.px(8);
    const ImVec2 inner{low.x + pad, low.y};
    draw_mark(row, inner, high, frame);
    const Font& font = frame.fonts.body;
    const float verdict = frame.text_width(frame.fonts.small, row.verdict);
    const float name = inner.x + frame.px(kMark);
    draw_text_in(frame, font, {name, low.y}, high, Align::left, frame.theme.text,
                 fit_text(frame, font, row.name, high.x - pad - verdict - frame.px(8) - name));
    draw_text_in(frame, frame.fonts.small, inner, {high.x - pad, high.y}, Align::right,
                 row.differs ? frame.theme.warning : frame.theme.muted, row.verdict);
    if (!clicked && !pressed) return;
    out.push_back(SetConvention{ImGui::GetIO().KeyShift ? 0 : 1, row.key});
}

void draw_group(const ConventionGroup& group, ImVec2 low, float width, const Frame& frame,
                Actions& out) {
    const float heading = frame.px(kTitleRow);
    draw_text_in(frame, frame.fonts.strong, {low.x + frame.px(8), low.y},
                 {low.x + width, low.y + heading}, Align::left, frame.theme.text,
                 fit_text(frame, frame.fonts.strong, group.title, width));
    float y = low.y + heading;
    for (const ConventionView& row : group.rows) {
        draw_row(row, {low.x, y}, {low.x + width, y + frame.px(kRow)}, frame, out);
        y += frame.px(kRow);
    }
}

float lists_height(const MasksView& view, float width, const Frame& frame) {
    return place_lists(view, width, frame, [](std::size_t, int, float) {});
}

void draw_lists(const MasksView& view, ImVec2 low, ImVec2 high, const Frame& frame, Actions& out) {
    const float whole = high.x - low.x;
    const auto columns = static_cast<float>(columns_in(view, whole, frame));
    const float width = (whole - frame.px(kSpace24) * (columns - 1)) / columns;
    place_lists(view, whole, frame, [&](std::size_t n, int column, float top) {
        draw_group(view.groups[n],
                   {low.x + static_cast<float>(column) * (width + frame.px(kSpace24)), low.y + top},
                   width, frame, out);
    });
}

constexpr int kSwitches = static_cast<int>(view::kMaskSwitches);

template <class... Set>
void push(Actions& out, Set... actions) {
    (out.push_back(actions), ...);
}

void turn(const MasksView& view, MaskSwitch which, bool on, Actions& out) {
    const MaskControls& now = view.controls;
    switch (which) {
        case MaskSwitch::causal:
            return push(out, SetCausalMask{on ? CausalChoice::top_left : CausalChoice::off});
        case MaskSwitch::window:
            if (on) return push(out, SetWindowSides{1, 1});
            return push(out, SetWindowSides{std::nullopt, std::nullopt});
        case MaskSwitch::globals:
            return push(out, SetGlobalTokens{on ? 1 : 0});
        case MaskSwitch::block:
            return push(out, SetBlock{on ? std::optional<Index>(2) : std::nullopt});
        case MaskSwitch::padding:
            return push(out, SetPadding{on ? std::optional<Index>(std::max<Index>(now.keys - 1, 0))
                                           : std::nullopt});
        case MaskSwitch::paint:
            return push(out, ClearPaint{});
    }
}

std::optional<Index> number(const Frame& frame, const char* id, const char* text, Index value,
                            Index low, Index high, Actions& out) {
    return number_field(frame, id, text, value, low, high, number_width(frame, text, high),
                        {text, "Drag, or double-click to type."}, out);
}

void draw_causal(const MasksView& view, const Frame& frame, Actions& out) {
    const int current = static_cast<int>(view.controls.causal) - 1;
    const auto n = choice(frame, "align", {"top-left", "bottom-right"}, current,
                          {"Where the diagonal starts", view.switches[0].tip});
    if (n) out.push_back(SetCausalMask{static_cast<CausalChoice>(*n + 1)});
}

void draw_window(const MasksView& view, const Frame& frame, Actions& out) {
    const MaskControls& now = view.controls;
    const Index most = std::max(now.queries, now.keys);
    if (const auto left = number(frame, "##left", "left", *now.left, 0, most, out))
        out.push_back(SetWindowSides{*left, now.right});
    ImGui::SameLine(0.0F, frame.px(8));
    if (const auto right = number(frame, "##right", "right", *now.right, 0, most, out))
        out.push_back(SetWindowSides{now.left, *right});
}

/// What sets the numbers of a rule that is on.
void draw_numbers(const MasksView& view, MaskSwitch which, const Frame& frame, Actions& out) {
    const MaskControls& now = view.controls;
    const Index most = std::max<Index>(std::max(now.queries, now.keys), 1);
    if (which == MaskSwitch::causal) return draw_causal(view, frame, out);
    if (which == MaskSwitch::window && now.left && now.right) return draw_window(view, frame, out);
    if (which == MaskSwitch::globals && now.globals > 0)
        if (const auto n = number(frame, "##globals", "tokens", now.globals, 1, most, out))
            out.push_back(SetGlobalTokens{*n});
    if (which == MaskSwitch::block && now.block)
        if (const auto n = number(frame, "##block", "length", *now.block, 1, most, out))
            out.push_back(SetBlock{*n});
    if (which == MaskSwitch::padding && now.padding)
        if (const auto n = number(frame, "##padding", "valid", *now.padding, 0, now.keys, out))
            out.push_back(SetPadding{*n});
    if (which == MaskSwitch::paint && now.any_rule &&
        button(
            frame, "bake", "rules → paint",
            {"Turn the rules into paint", "The same mask, with every pair free to paint. Key: B"}))
        out.push_back(PaintRules{});
}

/// A switch that cannot be turned says why when it is pointed at.
void draw_switch(const MasksView& view, MaskSwitch which, const Frame& frame, Actions& out) {
    const SwitchView& rule = view.switches[static_cast<std::size_t>(which)];
    const bool can = rule.possible.empty() && (which != MaskSwitch::paint || rule.on);
    const Tip tip{rule.name + ": " + rule.text, rule.possible.empty() ? rule.tip : rule.possible};
    if (const auto on = toggle(frame, "on", rule.name, rule.on, tip); on && (can || !*on))
        turn(view, which, *on, out);
}

void draw_row(const MasksView& view, MaskSwitch which, ImVec2 low, ImVec2 size, const Frame& frame,
              Actions& out) {
    const SwitchView& rule = view.switches[static_cast<std::size_t>(which)];
    const float high = low.y + size.y;
    ImGui::SetCursorScreenPos({low.x, low.y + (size.y - frame.px(kChipRow)) / 2});
    draw_switch(view, which, frame, out);
    const float controls = low.x + frame.px(kSwitch);
    ImGui::SetCursorScreenPos({controls, low.y + (size.y - ImGui::GetFrameHeight()) / 2});
    ImGui::BeginGroup();
    draw_numbers(view, which, frame, out);
    ImGui::EndGroup();
    const float text_extent = controls + frame.px(kControls);
    const float count = low.x + size.x - frame.px(kCount);
    if (!rule.on || count - text_extent < frame.px(kLeastDescription)) return;
    const Color color = frame.theme.text;
    draw_text_in(
        frame, frame.fonts.body, {text_extent, low.y}, {count, high}, Align::left, color,
        fit_text(frame, frame.fonts.body, rule.text, count - text_extent - frame.px(kSpace12)));
    draw_text_in(frame, frame.fonts.digits_small, {count, low.y}, {low.x + size.x, high},
                 Align::right, color, rule.count);
}

int switch_columns(float width, const Frame& frame) {
    const float each = frame.px(kSwitch + kControls + kSpace16);
    return within(static_cast<int>((width + frame.px(kSpace16)) / each), 1, 3);
}

float controls_height(const MasksView& view, ImVec2 space, const Frame& frame) {
    if (view.tab == MasksTab::conventions) return lists_height(view, space.x, frame);
    const int columns = switch_columns(space.x, frame);
    return frame.px(kSwitchesRow) * static_cast<float>((kSwitches + columns - 1) / columns);
}

void draw_switches(const MasksView& view, ImVec2 low, ImVec2 high, const Frame& frame,
                   Actions& out) {
    const float space = high.y - low.y;
    const int columns = switch_columns(high.x - low.x, frame);
    const int rows = (kSwitches + columns - 1) / columns;
    const float gap = frame.px(kSpace16);
    const ImVec2 size{
        (high.x - low.x - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns),
        space / static_cast<float>(rows)};
    for (int n = 0; n < kSwitches; ++n) {
        const ImVec2 at{low.x + static_cast<float>(n / rows) * (size.x + gap),
                        low.y + static_cast<float>(n % rows) * size.y};
        ImGui::PushID(n);
        draw_row(view, static_cast<MaskSwitch>(n), at, size, frame, out);
        ImGui::PopID();
    }
}

/// What is looked at, where there are several.
void draw_places(const MasksView& view, ControlBar& bar) {
    const MaskControls& now = view.controls;
    if (now.heads > 1)
        if (const auto head = bar.number("##head", "head", now.head, 0, now.heads - 1,
                                         {"Head to show", "Key: H"}))
            bar.out.push_back(ShowHead{*head, now.batch});
    if (now.batches > 1)
        if (const auto batch = bar.number("##batch", "sequence", now.batch, 0, now.batches - 1,
                                          {"Sequence of the batch to show", ""}))
            bar.out.push_back(ShowHead{now.head, *batch});
}

/// The choice of the brush, and its number for the bias.
void draw_brush(const MasksView& view, ControlBar& bar) {
    if (!view.takes_bias || !view.maps.empty()) return;
    const Tip tip{"Target of a click or a drag",
                  "The mask, or a number into the bias. Key: Shift+B"};
    if (const auto n =
            bar.label("paint").choice("brush", {"mask", "bias"}, view.bias_value ? 1 : 0, tip))
        bar.out.push_back(SetBiasBrush{*n == 1 ? std::optional<double>(1.0) : std::nullopt});
    if (!view.bias_value) return;
    const Tip typed_tip{"Number to paint",
                        "Added to the score of each painted pair. Click to type."};
    if (const auto typed = bar.logits("bias", view::written_logits({*view.bias_value}),
                                      view::Logits::finite, typed_tip);
        typed && !typed->empty())
        bar.out.push_back(SetBiasBrush{typed->front()});
}

void draw_masks_bar(const MasksView& view, ControlBar& bar) {
    const Tip tip{"This document's mask, or other conventions beside it", "Key: V"};
    if (const auto n =
            bar.choice("tab", {"Compose", "Conventions"}, static_cast<int>(view.tab), tip))
        bar.out.push_back(ShowMasksTab{static_cast<MasksTab>(*n)});
    draw_places(view, bar);
    if (view.tab == MasksTab::compose) {
        const Tip empty{"Result of softmax for a row whose keys are all forbidden",
                        "0 everywhere, or NaN everywhere."};
        if (const auto n = bar.label("empty rows give")
                               .choice("empty", {"0", "NaN"}, view.controls.nan ? 1 : 0, empty))
            bar.out.push_back(SetEmptyRows{*n == 1});
        draw_brush(view, bar);
    } else {
        const Tip gain{"Scores, times",
                       "Shows the conventions with larger scores. The document does not change."};
        if (const auto n = bar.label("scores").choice("gain", view.gain_names, view.gain, gain))
            bar.out.push_back(SetConventionGain{view.gains[*n]});
    }
    if (bar.label("copy mask as").button("numpy", "numpy", {"Code that makes this mask", "Key: N"}))
        bar.out.push_back(CopyMask{MaskCode::numpy});
    if (bar.button("pytorch", "PyTorch", {"Code that makes this mask", "Key: Shift+N"}))
        bar.out.push_back(CopyMask{MaskCode::pytorch});
    if (bar.button("flex", "Flex",
                   {"mask_mod and score_mod of FlexAttention", "PyTorch 2.5 and later"}))
        bar.out.push_back(CopyMask{MaskCode::flex_attention});
}

/// What sets the mask, or the conventions.
void draw_controls(const MasksView& view, const Box& box, const Frame& frame, Actions& out) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float height = controls_height(view, box.size(), frame);
    const ImVec2 high{box.high.x, low.y + height};
    view.tab == MasksTab::compose ? draw_switches(view, low, high, frame, out)
                                  : draw_lists(view, low, high, frame, out);
    ImGui::SetCursorScreenPos({low.x, high.y - 1.0F});
    leave_space({1.0F, 1.0F});
}

}  // namespace

std::string draw_masks_workspace(const AppState& state, const WorkArea& r, const Frame& frame,
                                 Actions& out) {
    Parts parts{.missing_data = view::masks_missing_data(state)};
    if (!parts.missing_data.empty()) return draw_parts(state, r, parts, frame, out);
    const MasksView view = build_masks_view(state);
    const bool compose = view.tab == MasksTab::compose;
    parts.heading = {view.point, {}, view.notes};
    parts.heading.warns = view.warns;
    parts.status = view::computed_text(state);
    parts.controls = [&](ControlBar& bar) { draw_masks_bar(view, bar); };
    std::optional<Pair> hovered;
    const auto draw = [&](const Box& box, std::size_t n, std::size_t count) {
        const auto pair = view.maps.empty() ? draw_pair_grids(view, n, count, box, frame, out)
                                            : draw_pair_maps(view, view::map_look(state), n, count,
                                                             box, frame, out);
        if (pair) hovered = pair;
    };
    add_compared(parts, state, {view.both, view.grids, compose ? 1U : 2U, draw}, frame, out);
    if (!view.maps.empty()) {
        parts.hero = {"matrices", "matrices",
                      [&](const Box& box) { draw(box, 0, view.maps.size()); }};
        parts.singles =
            parts_of(titles_of(view.maps), [&](const Box& box, std::size_t n) { draw(box, n, 1); });
    }
    if (r.chrome)
        parts.others.insert(parts.others.begin(),
                            {"controls", compose ? "rules" : "conventions",
                             [&](const Box& box) { draw_controls(view, box, around(frame), out); },
                             CanvasPart::Where::below, 0.0F,
                             [&](ImVec2 space) { return controls_height(view, space, frame); }});
    std::string status = draw_parts(state, r, parts, frame, out);
    if (hovered != view.hovered) out.push_back(HoverPair{hovered});
    return status;
}

extern const WorkspacePanel kMasksPanel{"masks", draw_masks_workspace};

}  // namespace attn::ui
