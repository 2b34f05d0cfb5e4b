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

// Design units.
constexpr float kPairs = 208.0F, kList = 140.0F, kLeastList = 102.0F, kSlider = 128.0F;

constexpr Index kMostCount = view::kMostWindow;
static_assert(kMostCount == view::kMostLatents);

/// Places controls from left to right in rows of `width`.
class Row {
  public:
    Row(const Frame& frame, float width)
        : frame_(frame), low_(ImGui::GetCursorScreenPos()), width_(width) {}
    void place(float width) {
        const bool fits = x_ + width <= width_ || x_ == 0.0F;
        if (!fits) x_ = 0.0F, y_ += frame_.px(kControlRow);
        ImGui::SetCursorScreenPos({low_.x + x_, low_.y + y_});
        x_ += width + frame_.px(kSpace8);
    }
    float height() const { return y_ + frame_.px(kControlRow); }
    /// The width of each of `count` that share a row.
    float share(std::size_t count) const {
        const auto n = static_cast<float>(count);
        return std::floor((width_ - (n - 1) * frame_.px(kSpace8)) / n);
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

/// Controls of the settings of one side.
struct Settings {
    const view::KindSideView& side;
    Row& row;
    const Frame& frame;
    Actions& out;

    void set(std::string_view setting, std::string value) const {
        out.push_back(view::SetKind{side.side, std::string(setting), std::move(value)});
    }
    void toggled(const char* id, std::string_view setting, const std::string& words, bool now,
                 const char* on, const Tip& tip) const {
        row.place(toggle_width(frame, words));
        if (const auto value = toggle(frame, id, words, now, tip))
            set(setting, *value ? on : "off");
    }
    void slid(std::string_view setting, const char* label, double now, double high,
              const Tip& tip) const {
        row.place(frame.px(kSlider + kSpace8));  // its number ends at its edge
        const SliderWords words{label, view::significant(now, 3), "100"};
        if (const auto value =
                real_slider(frame, fmt::format("##{}", setting).c_str(), words, now,
                            view::kLeastTemperature, high, frame.px(kSlider), tip, out))
            set(setting, fmt::format("{}", *value));
    }
    void counted(const char* id, std::string_view setting, const char* words, Index now, Index low,
                 const Tip& tip) const {
        const float width = number_width(frame, words, kMostCount);
        row.place(width);
        if (const auto value =
                number_field(frame, id, words, now, low, kMostCount, width, tip, out))
            set(setting, fmt::format("{}", *value));
    }
};

void draw_choices(const Settings& at) {
    const float width = list_width(at.side.choices.size(), at.row, at.frame);
    for (const view::KindChoice& choice : at.side.choices) {
        at.row.place(width);
        const auto current = static_cast<std::size_t>(choice.current);
        const Options options{choice.names, choice.current, choice.names[current]};
        const std::string id = "##" + std::string(choice.setting);
        if (const auto n = combo(at.frame, id.c_str(), options, width,
                                 {choice.heading, choice.tooltip}, at.out))
            at.set(choice.setting, choice.keys[static_cast<std::size_t>(*n)]);
    }
}

/// What the mask and the operation count: keys to each side, keys a chunk, latents, states.
void draw_sizes(const Settings& at) {
    const AttentionKind& kind = at.side.kind;
    if (view::is_windowed(kind.mask))
        at.counted("##window", "window", "W", kind.window, 0,
                   {"Window", "|i − j| ≤ W: so many keys to each side."});
    if (kind.operation == KindOperation::chunked)
        at.counted("chunk", "chunk", "keys", kind.chunk, 1,
                   {"Keys a chunk", "The last one may be shorter."});
    if (kind.operation == KindOperation::latents)
        at.counted("latents", "latents", "M", kind.latents, 1,
                   {"Latents", "Learned queries that read all tokens."});
    if (kind.operation == KindOperation::linformer)
        at.counted("rank", "rank", "M", kind.rank, 1,
                   {"Rows", "Weighted sums of the keys, and of the values, that stand for all."});
    if (kind.operation == KindOperation::state_space)
        at.counted("state", "state", "N", kind.state, 1,
                   {"States", "Numbers kept for each column of V."});
}

void draw_numbers(const Settings& at) {
    const AttentionKind& kind = at.side.kind;
    if (at.side.shows_scaling)
        at.toggled("scaling", "scaling", "÷√d_k", kind.scaled, "on",
                   {"Scaling", "The scores are divided by √d_k, the root of the keys' width."});
    if (at.side.shows_temperature)
        at.slid("temperature", "τ", kind.temperature, view::kMostTemperature,
                {"Temperature", "The scores are divided by τ: below 1 the rows get sharper."});
    const Tip cap{"Soft cap", "S becomes cap · tanh(S / cap): no score passes the cap."};
    const bool capped = kind.softcap != 0.0;
    if (at.side.shows_cap) at.toggled("cap", "softcap", "cap", capped, "1", cap);
    if (at.side.shows_cap && capped) at.slid("softcap", "", kind.softcap, view::kMostLogit, cap);
    if (at.side.shows_sink)
        at.toggled("sink", "sink", "sink", kind.sink.has_value(), "0",
                   {"Sink",
                    "One more logit, 0, in the denominator of every row: its share goes to no "
                    "value."});
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

void draw_score_seed(const view::KindsView& view, const Frame& frame, Actions& out) {
    if (!view.seeded) return;
    const float width = seed_width(frame, view.seed);
    flow(frame, width);
    const Tip tip{"Seed of the scores' parameters", view.note};
    if (const auto seed = seed_field(frame, "##seed", view.seed, width, tip, out))
        out.push_back(view::SetKindsSeed{*seed});
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
        out.push_back(view::SetOnlineSide{static_cast<view::KindsSide>(*n)});
    const float width = number_width(frame, "chunk", view::kMostChunk);
    flow(frame, width);
    if (const auto keys =
            number_field(frame, "##chunk", "chunk", online.chunk_keys, 1, view::kMostChunk, width,
                         {"Keys a chunk", "1 to 64. Keys: + doubles, − halves."}, out))
        out.push_back(view::SetOnlineChunk{*keys});
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
    const auto press = [&](const char* id, const char* words, const Tip& why, view::Action action) {
        flow(frame, button_width(frame, words));
        if (button(frame, id, words, why) && !view.same) out.push_back(std::move(action));
    };
    press("swap", "A ⇄ B", {"A and B change places", "Key: X"}, view::SwapKinds{});
    press("copy", "A → B", {"Copy the settings of A to B", "Key: C"},
          view::CopyKind{view::KindsSide::a});
    draw_score_seed(view, frame, out);
}

float draw_kind_settings(const view::KindSideView& side, float width, const Frame& frame,
                         Actions& out) {
    ImGui::PushID(side.letter.c_str());
    Row row(frame, width);
    const Settings settings{side, row, frame, out};
    draw_choices(settings);
    draw_sizes(settings);
    draw_numbers(settings);
    ImGui::PopID();
    return row.height();
}

}  // namespace attn::ui
