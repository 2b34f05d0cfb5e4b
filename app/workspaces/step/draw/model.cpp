#include <algorithm>
#include <functional>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/imgui_compat.h"
#include "app/workspaces/step/draw/canvas.h"
#include "app/workspaces/step/draw/controls.h"

namespace attn::ui {
namespace {

using view::Actions;
using view::ControlsView;

// Design units.
constexpr float kWidth = 336.0F;
constexpr float kPad = 16.0F;
constexpr float kRow = 36.0F;
constexpr float kModelGap = 6.0F;     // under the button
constexpr Index kMostFileHeads = 64;  // that the slider reaches

constexpr ImGuiWindowFlags kPopover =
    ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
    ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoFocusOnAppearing;

using Row = std::function<void(const Frame& frame, Actions& out)>;

/// A whole number of the model; the tracks of all of them begin at one place.
struct Size {
    const char* id;
    const char* words;
    Index value, high;
    Tip tip;
};

std::optional<Index> size_slider(const Size& size, const Frame& frame, Actions& out) {
    const float label = frame.text_width(frame.fonts.body, "d_model");
    const SliderWords words{size.words, std::to_string(size.value), "000", label};
    return log_slider(frame, size.id, words, size.value, 1, size.high, ImGui::CalcItemWidth(),
                      size.tip, out);
}

template <class MakeAction>
Row size_row(Size size, MakeAction make) {
    return [size, make](const Frame& frame, Actions& out) {
        if (const auto next = size_slider(size, frame, out)) out.push_back(make(*next));
    };
}

void add_sizes(const ControlsView& view, std::vector<Row>& rows) {
    const char* how = "Powers of two are stops. Double-click to type.";
    if (view.toy) {
        rows.push_back(size_row({"##d_model",
                                 "d_model",
                                 view.d_model,
                                 view::kMaxModelWidth,
                                 {"d_model: columns of X. X is [T, d_model]", how}},
                                [](Index n) { return view::SetModelWidth{n}; }));
        rows.push_back(
            size_row({"##d_k",
                      "d_k",
                      view.d_k,
                      view::kMaxKeyWidth,
                      {"d_k: columns of Q and K in each head. W_Q is [d_model, heads · d_k]", how}},
                     [](Index n) { return view::SetKeyWidth{n}; }));
    }
    const Index most = view.toy ? view::kMaxHeads : std::max(kMostFileHeads, view.heads);
    if (view.projects)
        rows.push_back(
            size_row({"##heads",
                      "heads",
                      view.heads,
                      most,
                      {"H: attention heads", "Each has its own d_k columns of W_Q, W_K and W_V."}},
                     [](Index n) { return view::SetHeads{n}; }));
}

/// |i − j| ≤ w.
void draw_window_mask(const ControlsView& view, const Frame& frame, Actions& out) {
    const Tip tip{"Window mask: |i − j| ≤ w", "A query sees only the keys near it. [T, T]"};
    if (const auto on = toggle(frame, "window", view.window_words, view.windowed, tip))
        out.push_back(view::SetWindow{*on ? std::optional<Index>(1) : std::nullopt});
    if (!view.window) return;
    const Index high = std::max(view.tokens - 1, *view.window);
    ImGui::SameLine(0.0F, frame.px(16));
    const auto next = number_field(frame, "##window", "w", *view.window, 0, high,
                                   number_width(frame, "w", high), tip, out);
    if (next) out.push_back(view::SetWindow{*next});
}

void draw_seed(const ControlsView& view, const Frame& frame, Actions& out) {
    const Tip tip{"Seed of the toy weights", "The same seed gives the same W_Q, W_K, W_V."};
    const float width = seed_width(frame, view.seed);
    if (const auto next = seed_field(frame, "##seed", view.seed, width, tip, out))
        out.push_back(view::SetSeed{*next});
    ImGui::SameLine(0.0F, frame.px(8));
    if (button(frame, "reseed", "re-seed",
               {"The next seed", "New weights, row r of each W is drawn from N(0, 1/(2r + 4))."}))
        out.push_back(view::SetSeed{view.seed + 1});
}

/// What the popover holds, from top to bottom.
std::vector<Row> rows_of(const ControlsView& view, unsigned left_out) {
    std::vector<Row> rows;
    for (unsigned n = kRowItems; n-- > 0;)
        if ((left_out & bit_of(RowItem{n})) != 0)
            rows.emplace_back([&view, n](const Frame& frame, Actions& out) {
                draw_row_item(RowItem{n}, view, frame, out);
            });
    add_sizes(view, rows);
    rows.emplace_back(
        [&view](const Frame& frame, Actions& out) { draw_window_mask(view, frame, out); });
    if (view.toy)
        rows.emplace_back(
            [&view](const Frame& frame, Actions& out) { draw_seed(view, frame, out); });
    return rows;
}

/// The rows beneath each other; in a low window beside each other too, so that none is cut.
struct Columns {
    std::size_t rows = 1;  // of each
    float width = 0.0F;
    ImVec2 size;  // of the popover
};

Columns columns_of(std::size_t count, float top, const Frame& frame) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const float pad = frame.px(kPad);
    const float row = frame.px(kRow);
    const auto most = static_cast<std::size_t>(std::max(1.0F, (display.y - top - 2 * pad) / row));
    const std::size_t columns = (count + most - 1) / most;
    const auto beside = static_cast<float>(columns);
    Columns laid;
    laid.rows = (count + columns - 1) / columns;
    laid.width = std::min(frame.px(kWidth) - 2 * pad, (display.x - pad) / beside - pad);
    laid.size = {pad + beside * (laid.width + pad), 2 * pad + row * static_cast<float>(laid.rows)};
    return laid;
}

void draw_columns(const std::vector<Row>& rows, const Columns& columns, ImVec2 low,
                  const Frame& frame, Actions& out) {
    const float pad = frame.px(kPad);
    ImGui::PushItemWidth(columns.width);
    for (std::size_t n = 0; n < rows.size(); ++n) {
        const auto column = static_cast<float>(n / columns.rows);
        const auto row = static_cast<float>(n % columns.rows);
        ImGui::SetCursorScreenPos(
            {low.x + pad + column * (columns.width + pad), low.y + pad + row * frame.px(kRow)});
        rows[n](frame, out);
    }
    ImGui::PopItemWidth();
}

/// Escape and a click elsewhere; the keyboard goes back to the button.
void close_when_left(const ModelButton& button, ImVec2 low, ImVec2 high, const Frame& frame,
                     Actions& out) {
    if (frame.focus == nullptr) return;
    const Hands& hands = frame.focus->hands();
    if (hands.overlay || hands.list) return;
    const bool clicked = ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
                         !ImGui::IsMouseHoveringRect(low, high, false) &&
                         !ImGui::IsMouseHoveringRect(button.low, button.high, false);
    const bool escape = !hands.typing && take_key(frame, view::Key::escape);
    if (clicked || escape) out.push_back(view::ShowModel{false});
    const bool by_keys = frame.focus->focus().control != 0;
    if (escape && by_keys) out.push_back(view::FocusControl{button.control});
}

}  // namespace

void draw_model(const ControlsView& view, const ModelButton& button, const Frame& frame,
                Actions& out) {
    const std::vector<Row> rows = rows_of(view, button.left_out);
    const float top = button.high.y + frame.px(kModelGap);
    const Columns columns = columns_of(rows.size(), top, frame);
    const ImVec2 low{std::max(0.0F, button.high.x - columns.size.x), top};
    const ImVec2 high{low.x + columns.size.x, low.y + columns.size.y};
    ImGui::SetNextWindowPos(low);
    ImGui::SetNextWindowSize(columns.size);
    ImGui::Begin("model", nullptr, kPopover);
    ImGui::PushClipRect(low, high, false);  // the window's padding cuts nothing
    frame.painter.rect(low, high, frame.theme.surface, frame.px(8));
    frame.painter.outline(low, high, frame.theme.muted, frame.px(1), frame.px(8));
    if (frame.focus != nullptr) frame.focus->keep_inside();
    draw_columns(rows, columns, low, frame, out);
    ImGui::PopClipRect();
    ImGui::End();
    close_when_left(button, low, high, frame, out);
}

}  // namespace attn::ui
