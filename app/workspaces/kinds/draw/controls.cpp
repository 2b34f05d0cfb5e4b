#include <fmt/format.h>

#include "app/common/format.h"
#include "app/workspaces/kinds/actions.h"
#include "app/workspaces/kinds/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kPairs = 208.0F, kList = 160.0F, kSlider = 160.0F;

constexpr Index kMostCount = view::kMostWindow;
static_assert(kMostCount == view::kMostLatents);

/// Controls of the settings of one side.
struct Settings {
    const KindSideView& side;
    ControlBar& bar;

    /// Of a control: both sides have one.
    std::string id(std::string_view setting) const {
        return fmt::format("##{} {}", setting, side.letter);
    }
    void set(std::string_view setting, std::string value) const {
        bar.out.push_back(SetKind{side.side, std::string(setting), std::move(value)});
    }
    void toggled(std::string_view setting, const std::string& text, bool now, const char* on,
                 const Tip& tip) const {
        if (const auto value = bar.label(side.letter).toggle(id(setting).c_str(), text, now, tip))
            set(setting, *value ? on : "off");
    }
    void slid(std::string_view setting, const char* label, double now, double high,
              const Tip& tip) const {
        if (const auto value =
                bar.label(side.letter)
                    .slider(id(setting).c_str(), {label, view::significant(now, 3), "100"}, now,
                            view::kLeastTemperature, high, kSlider, tip))
            set(setting, fmt::format("{}", *value));
    }
    void counted(std::string_view setting, const char* text, Index now, Index low,
                 const Tip& tip) const {
        if (const auto value =
                bar.label(side.letter).number(id(setting).c_str(), text, now, low, kMostCount, tip))
            set(setting, fmt::format("{}", *value));
    }
};

void draw_choices(const Settings& at) {
    for (const KindChoice& choice : at.side.choices) {
        const auto current = static_cast<std::size_t>(choice.current);
        const Options options{choice.names, choice.current, choice.names[current]};
        if (const auto n = at.bar.label(at.side.letter)
                               .combo(at.id(choice.setting).c_str(), options, kList,
                                      {choice.heading, choice.tooltip}))
            at.set(choice.setting, choice.keys[*n]);
    }
}

/// What the mask and the operation count: keys to each side, keys a chunk, latents, states.
void draw_sizes(const Settings& at) {
    const AttentionKind& kind = at.side.kind;
    const bool nsa = kind.operation == Operation::nsa;
    if (view::is_windowed(kind.mask) || nsa)
        at.counted("window", "W", kind.window, 0,
                   {"Window", rule_of(kind.mask) == KeyRule::strided
                                  ? "i − j ≤ W: at most W keys before the query, and itself."
                                  : "|i − j| ≤ W: at most W keys on each side."});
    if (rule_of(kind.mask) || nsa)
        at.counted("keys", "k", kind.keys, 1,
                   {"Keys per query", nsa ? "Keys of the window and of the selected blocks."
                                          : "How many keys each query may read."});
    if (view::has_setting(kind.operation, "chunk"))
        at.counted("chunk", "keys", kind.chunk, 1,
                   {nsa ? "Keys per block" : "Keys per chunk", "The last one may be shorter."});
    if (view::has_setting(kind.operation, "latents"))
        at.counted("latents", "M", kind.latents, 1,
                   {"Latents", "Learned queries that read all tokens."});
    if (view::has_setting(kind.operation, "rank"))
        at.counted("rank", "M", kind.rank, 1,
                   {"Rows", "Weighted sums that replace all keys and all values."});
    if (view::has_setting(kind.operation, "state"))
        at.counted("state", "N", kind.state, 1, {"States", "Numbers stored for each column of V."});
}

void draw_numbers(const Settings& at) {
    const AttentionKind& kind = at.side.kind;
    if (at.side.shows_scaling)
        at.toggled("scaling", "÷√d_k", kind.scaled, "on",
                   {"Scaling", "The scores are divided by √d_k, the root of the keys' width."});
    if (at.side.shows_temperature)
        at.slid("temperature", "τ", kind.temperature, view::kMostTemperature,
                {"Temperature", "The scores are divided by τ: below 1 the rows get sharper."});
    const Tip cap{"Soft cap", "S becomes cap · tanh(S / cap): no score exceeds the cap."};
    const bool capped = kind.softcap != 0.0;
    if (at.side.shows_cap) at.toggled("softcap", "cap", capped, "1", cap);
    if (at.side.shows_cap && capped) at.slid("softcap", "", kind.softcap, view::kMostLogit, cap);
    if (at.side.shows_sink)
        at.toggled(
            "sink", "sink", kind.sink.has_value(), "0",
            {"Sink",
             "One more logit, 0, in the denominator of every row: its weight goes to no value."});
}

void draw_settings(const KindSideView& side, ControlBar& bar) {
    const Settings settings{side, bar};
    draw_choices(settings);
    draw_sizes(settings);
    draw_numbers(settings);
}

// ---- the row

void draw_pairs(const KindsView& view, ControlBar& bar) {
    const std::string shown = view.pair < 0 ? "own pair" : view.pairs[view.pair];
    const Options options{view.pairs, view.pair, shown};
    const Tip tip{"Presets", "Sets both sides. Key: N for the next."};
    if (const auto n = bar.combo("##pairs", options, kPairs, tip))
        bar.out.push_back(ChooseKinds{std::string(view::kinds_presets()[*n].key)});
}

void draw_online_controls(const OnlineView& online, ControlBar& bar) {
    if (const auto n = bar.choice(
            "side", {"A", "B"}, static_cast<int>(online.side),
            {"Side of the online softmax", "It processes one row of scores of this side."}))
        bar.out.push_back(SetOnlineSide{static_cast<KindsSide>(*n)});
    if (const auto keys = bar.number("##chunk", "chunk", online.chunk_keys, 1, view::kMostChunk,
                                     {"Keys per chunk", "1 to 64. Keys: + doubles, − halves."}))
        bar.out.push_back(SetOnlineChunk{*keys});
    const auto press = [&](const char* id, const char* text, const Tip& tip, Action action) {
        if (bar.button(id, text, tip)) bar.out.push_back(std::move(action));
    };
    press("back", "←", {"Previous chunk", "Key: ←"}, StepOnline{-1});
    press("next", "→", {"Next chunk", "Key: →"}, StepOnline{1});
    press("play", online.playing ? "stop" : "play", {"Play the chunks", "Key: Space"},
          PlayOnline{});
}

}  // namespace

void draw_kinds_bar(const KindsView& view, const OnlineView& online, bool is_online,
                    ControlBar& bar) {
    const Tip tip{"View", "Two kinds side by side, or one row of softmax chunk by chunk. Key: O"};
    if (const auto n = bar.choice("view", {"Compare", "Online softmax"}, is_online ? 1 : 0, tip))
        bar.out.push_back(ShowOnline{*n == 1});
    if (is_online) return draw_online_controls(online, bar);
    draw_pairs(view, bar);
    const auto press = [&](const char* id, const char* text, const Tip& why, Action action) {
        if (bar.button(id, text, why) && !view.same) bar.out.push_back(std::move(action));
    };
    press("swap", "A ⇄ B", {"Swap A and B", "Key: X"}, SwapKinds{});
    press("copy", "A → B", {"Copy the settings of A to B", "Key: C"}, CopyKind{KindsSide::a});
    bar.rest();
    draw_settings(view.a, bar);
    draw_settings(view.b, bar);
    if (!view.seeded) return;
    if (const auto seed =
            bar.seed("##seed", view.seed, {"Seed of the scores' parameters", view.note}))
        bar.out.push_back(SetKindsSeed{*seed});
}

}  // namespace attn::ui
