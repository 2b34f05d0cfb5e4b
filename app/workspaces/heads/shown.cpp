#include "app/workspaces/heads/shown.h"

#include "app/common/memo.h"
#include "app/common/state.h"
#include "app/workspaces/heads/compute.h"
#include "core/scores/score.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

ClippedKeys clipped_of(const HeadsShown& shown, std::size_t n) {
    const std::vector<double>& means = shown.keys->means[n];
    if (shown.of.clip == SinkClip::none || means.empty()) return {};
    if (shown.of.clip == SinkClip::limit) return heavy_keys(means, shown.of.limit);
    ClippedKeys keys(means.size(), 0);
    keys.front() = 1;
    return keys;
}

/// None of a head that has no such numbers.
HeadsKeys keys_of(HeadsKeys::Of of) {
    HeadsKeys keys{std::move(of), {}, {}};
    const auto& [result, show] = keys.of;
    for (const HeadFacts& facts : result->heads) {
        const HeadMatrix matrix = head_matrix(*result, show, facts.place);
        const bool rollout = show == HeadShow::rollout;
        keys.largest.push_back(key_largest(matrix.values));
        keys.means.push_back(
            matrix.values.columns == 0
                ? std::vector<double>()
                : key_means(rollout ? matrix.values : result->weights(facts.place)));
    }
    return keys;
}

/// `kept`: keys that may be of the same.
HeadsShown shown_of(HeadsShown::Of of, const std::shared_ptr<const HeadsKeys>& cached) {
    auto keys = found_once(cached, {of.result, of.show}, keys_of);
    HeadsShown shown{std::move(of), std::move(keys), {}, {}, 0.0};
    for (std::size_t n = 0; n < shown.of.result->heads.size(); ++n) {
        shown.clipped.push_back(clipped_of(shown, n));
        shown.largest.push_back(largest_of(shown.keys->largest[n], shown.clipped.back()));
        shown.largest_of_all = std::max(shown.largest_of_all, shown.largest.back());
    }
    return shown;
}

}  // namespace

void follow_shown(AppState& state) {
    HeadsLook& look = heads_look(state);
    if (!has_current_heads(state)) return look.shown.reset();
    const auto cached = look.shown ? look.shown->keys : nullptr;
    look.shown = found_once(look.shown, {look.result, look.show, look.clip, look.clip_limit},
                            [&](HeadsShown::Of of) { return shown_of(std::move(of), cached); });
}

HeadColors head_colors(const HeadsLook& look, HeadPlace place, const ColorLook& colors) {
    const HeadsShown& shown = *look.shown;
    const auto n =
        static_cast<std::size_t>(shown.of.result->find(place) - shown.of.result->heads.data());
    double high = look.own_range ? shown.largest[n] : shown.largest_of_all;
    if (high == 0.0) high = 1.0;
    const bool sign = info(look.show).has_sign;
    ColorRange range{sign ? ColorScale::diverging : ColorScale::unit, sign ? -high : 0.0, high,
                     look.curve};
    range = with_look(range, colors);
    if (look.own_range || look.show != HeadShow::weights) range.high = high;
    return {range, shown.clipped[n]};
}

Index clipped_keys(const HeadsShown& shown) {
    std::vector<std::uint8_t> any;
    for (const auto& keys : shown.clipped) {
        any.resize(std::max(any.size(), keys.size()), 0);
        for (std::size_t j = 0; j < keys.size(); ++j) any[j] = any[j] | keys[j];
    }
    return std::ranges::count(any, 1);
}

}  // namespace attn::view
