#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "app/common/draw/draw.h"
#include "app/common/draw/widgets.h"
#include "app/common/format.h"
#include "app/workspaces/kinds/draw/parts.h"

namespace attn::ui {
namespace {

using view::Actions;
using view::KindsSide;

// Design units.
constexpr float kPairs = 208.0F;
constexpr float kList = 140.0F;
constexpr float kLeastList = 102.0F;
constexpr float kRow = 34.0F;
constexpr float kControlsGap = 8.0F;
constexpr float kSlider = 128.0F;

void set(const view::KindSideView& side, const char* setting, std::string value, Actions& out) {
    out.push_back(view::SetKind{side.side, setting, std::move(value)});
}

/// Places controls from left to right in rows of `width`.
class Row {
  public:
    Row(const Frame& frame, float width)
        : frame_(frame), low_(ImGui::GetCursorScreenPos()), width_(width) {}
    void place(float width) {
        const bool fits = x_ + width <= width_ || x_ == 0.0F;
        if (!fits) x_ = 0.0F, y_ += frame_.px(kRow);
        ImGui::SetCursorScreenPos({low_.x + x_, low_.y + y_});
        x_ += width + frame_.px(kControlsGap);
    }
    float height() const { return y_ + frame_.px(kRow); }
    /// The width of each of `count` that share a row.
    float share(std::size_t count) const {
        const auto n = static_cast<float>(count);
        return std::floor((width_ - (n - 1) * frame_.px(kControlsGap)) / n);
    }

  private:
    const Frame& frame_;
    ImVec2 low_;
    float width_;
    float x_ = 0.0F;
    float y_ = 0.0F;
};

/// All in one row, or all but one, where that leaves them readable.
float list_width(std::size_t count, const Row& row, const Frame& frame) {
    for (std::size_t n = count; n + 1 >= count && n > 0; --n)
        if (row.share(n) >= frame.px(kLeastList)) return std::min(row.share(n), frame.px(kList));
    return frame.px(kList);
}

void draw_choices(const view::KindSideView& side, Row& row, const Frame& frame, Actions& out) {
    const float width = list_width(side.choices.size(), row, frame);
    for (const view::KindChoice& choice : side.choices) {
        row.place(width);
        const auto current = static_cast<std::size_t>(choice.current);
        const Options options{choice.names, choice.current, choice.names[current]};
        const std::string id = "##" + std::string(choice.setting);
        if (const auto n =
                combo(frame, id.c_str(), options, width, {choice.heading, choice.tooltip}, out))
            set(side, std::string(choice.setting).c_str(),
                choice.keys[static_cast<std::size_t>(*n)], out);
    }
}

void draw_scaling(const view::KindSideView& side, Row& row, const Frame& frame, Actions& out) {
    row.place(toggle_width(frame, "÷√d_k"));
    const Tip tip{"Scaling", "The scores are divided by √d_k, the root of the keys' width."};
    if (const auto on = toggle(frame, "scaling", "÷√d_k", side.kind.scaled, tip))
        set(side, "scaling", *on ? "on" : "off", out);
}

void draw_temperature(const view::KindSideView& side, Row& row, const Frame& frame, Actions& out) {
    const SliderWords words{"τ", view::significant(side.kind.temperature, 3), "100"};
    row.place(frame.px(kSlider + kControlsGap));  // its number ends at its edge
    const Tip tip{"Temperature", "The scores are divided by τ: below 1 the rows get sharper."};
    if (const auto value = real_slider(frame, "##temperature", words, side.kind.temperature,
                                       view::kLeastTemperature, view::kMostTemperature,
                                       frame.px(kSlider), tip, out))
        set(side, "temperature", fmt::format("{}", *value), out);
}

void draw_window_reach(const view::KindSideView& side, Row& row, const Frame& frame, Actions& out) {
    const bool windowed =
        side.kind.mask == KindMask::window || side.kind.mask == KindMask::causal_window;
    if (!windowed) return;
    const float width = number_width(frame, "W", view::kMostWindow);
    row.place(width);
    const Tip tip{"Window", "|i − j| ≤ W: so many keys to each side."};
    if (const auto value = number_field(frame, "##window", "W", side.kind.window, 0,
                                        view::kMostWindow, width, tip, out))
        set(side, "window", fmt::format("{}", *value), out);
}

/// What the operation counts: keys a chunk, latents, states.
void draw_operation_size(const view::KindSideView& side, Row& row, const Frame& frame,
                         Actions& out) {
    const AttentionKind& kind = side.kind;
    const auto number = [&](const char* setting, const char* words, Index value, const Tip& tip) {
        const float width = number_width(frame, words, view::kMostLatents);
        row.place(width);
        if (const auto now =
                number_field(frame, setting, words, value, 1, view::kMostLatents, width, tip, out))
            set(side, setting, fmt::format("{}", *now), out);
    };
    if (kind.operation == KindOperation::chunked)
        number("chunk", "keys", kind.chunk, {"Keys a chunk", "The last one may be shorter."});
    if (kind.operation == KindOperation::latents)
        number("latents", "M", kind.latents, {"Latents", "Learned queries that read all tokens."});
    if (kind.operation == KindOperation::state_space)
        number("state", "N", kind.state, {"States", "Numbers kept for each column of V."});
}

void draw_cap(const view::KindSideView& side, Row& row, const Frame& frame, Actions& out) {
    const bool on = side.kind.softcap != 0.0;
    row.place(toggle_width(frame, "cap"));
    const Tip tip{"Soft cap", "S becomes cap · tanh(S / cap): no score passes the cap."};
    if (const auto now = toggle(frame, "cap", "cap", on, tip))
        set(side, "softcap", *now ? "1" : "off", out);
    if (!on) return;
    row.place(frame.px(kSlider + kControlsGap));
    const SliderWords words{"", view::significant(side.kind.softcap, 3), "100"};
    if (const auto value =
            real_slider(frame, "##softcap", words, side.kind.softcap, view::kLeastTemperature,
                        view::kMostLogit, frame.px(kSlider), tip, out))
        set(side, "softcap", fmt::format("{}", *value), out);
}

void draw_sink(const view::KindSideView& side, Row& row, const Frame& frame, Actions& out) {
    row.place(toggle_width(frame, "sink"));
    const Tip tip{"Sink",
                  "One more logit, 0, in the denominator of every row: its share goes to "
                  "no value."};
    if (const auto on = toggle(frame, "sink", "sink", side.kind.sink.has_value(), tip))
        set(side, "sink", *on ? "0" : "off", out);
}

// ---- the row above

void draw_pairs(const view::KindsView& view, const Frame& frame, Actions& out) {
    flow(frame, frame.px(kPairs));
    const std::string shown =
        view.pair < 0 ? "own pair" : view.pairs[static_cast<std::size_t>(view.pair)];
    const Options options{view.pairs, view.pair, shown};
    const Tip tip{"Pairs that teach", "Sets both sides. Key: N for the next."};
    if (const auto n = combo(frame, "##pairs", options, frame.px(kPairs), tip, out))
        out.push_back(view::ChooseKinds{
            std::string(view::kinds_presets()[static_cast<std::size_t>(*n)].key)});
}

void draw_pair_buttons(const view::KindsView& view, const Frame& frame, Actions& out) {
    flow(frame, button_width(frame, "A ⇄ B"));
    if (button(frame, "swap", "A ⇄ B", {"A and B change places", "Key: X"}) && !view.same)
        out.push_back(view::SwapKinds{});
    flow(frame, button_width(frame, "A → B"));
    if (button(frame, "copy", "A → B", {"Copy the settings of A to B", "Key: C"}) && !view.same)
        out.push_back(view::CopyKind{KindsSide::a});
}

void draw_score_seed(const view::KindsView& view, const Frame& frame, Actions& out) {
    if (!view.seeded) return;
    const float width = seed_width(frame, view.seed);
    flow(frame, width);
    const Tip tip{"Seed of the scores' parameters", view.note};
    if (const auto seed = seed_field(frame, "##seed", view.seed, width, tip, out))
        out.push_back(view::SetKindsSeed{*seed});
}

void draw_chunk(const view::OnlineView& online, const Frame& frame, Actions& out) {
    const float width = number_width(frame, "chunk", view::kMostChunk);
    flow(frame, width);
    const Tip tip{"Keys a chunk", "1 to 64. Keys: + doubles, − halves."};
    if (const auto keys = number_field(frame, "##chunk", "chunk", online.chunk_keys, 1,
                                       view::kMostChunk, width, tip, out))
        out.push_back(view::SetOnlineChunk{*keys});
}

void draw_steps(const view::OnlineView& online, const Frame& frame, Actions& out) {
    const auto press = [&](const char* id, const char* words, const Tip& tip, view::Action action) {
        flow(frame, button_width(frame, words));
        if (button(frame, id, words, tip)) out.push_back(std::move(action));
    };
    press("back", "←", {"Previous chunk", "Key: ←"}, view::StepOnline{-1});
    press("next", "→", {"Next chunk", "Key: →"}, view::StepOnline{1});
    press("play", online.playing ? "stop" : "play", {"Play the chunks", "Key: Space"},
          view::PlayOnline{});
}

void draw_online_controls(const view::OnlineView& online, const Frame& frame, Actions& out) {
    flow(frame, 2 * button_width(frame, "A"));
    if (const auto n = choice(frame, "side", {"A", "B"}, static_cast<int>(online.side),
                              {"Whose scores", "The online softmax goes through one row of them."}))
        out.push_back(view::SetOnlineSide{static_cast<KindsSide>(*n)});
    draw_chunk(online, frame, out);
    draw_steps(online, frame, out);
}

}  // namespace

void draw_kinds_top(const view::KindsView& view, const view::OnlineView& online, bool is_online,
                    const Frame& frame, Actions& out) {
    const Tip tip{"What is shown",
                  "Two kinds side by side, or one row of softmax chunk by chunk. "
                  "Key: O"};
    if (const auto n = choice(frame, "view", {"Compare", "Online softmax"}, is_online ? 1 : 0, tip))
        out.push_back(view::ShowOnline{*n == 1});
    if (is_online) return draw_online_controls(online, frame, out);
    draw_pairs(view, frame, out);
    draw_pair_buttons(view, frame, out);
    draw_score_seed(view, frame, out);
}

float draw_kind_settings(const view::KindSideView& side, float width, const Frame& frame,
                         Actions& out) {
    ImGui::PushID(side.letter.c_str());
    Row row(frame, width);
    draw_choices(side, row, frame, out);
    draw_window_reach(side, row, frame, out);
    draw_operation_size(side, row, frame, out);
    if (side.shows_scaling) draw_scaling(side, row, frame, out);
    if (side.shows_temperature) draw_temperature(side, row, frame, out);
    if (side.shows_cap) draw_cap(side, row, frame, out);
    if (side.shows_sink) draw_sink(side, row, frame, out);
    ImGui::PopID();
    return row.height();
}

}  // namespace attn::ui
