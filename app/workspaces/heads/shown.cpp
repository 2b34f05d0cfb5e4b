#include "app/workspaces/heads/shown.h"

#include <algorithm>
#include <utility>

#include "app/common/kept.h"
#include "app/workspaces/heads/state.h"

namespace attn::view {
namespace {

ClippedKeys clipped_of(const HeadsShown& shown, HeadPlace place, const HeadMatrix& matrix) {
    const auto& [result, show, clip, limit] = shown.of;
    if (clip == SinkClip::none || matrix.values.columns == 0) return {};
    if (clip == SinkClip::limit)
        return heavy_keys(show == HeadShow::rollout ? matrix.values : result->weights(place),
                          limit);
    ClippedKeys keys(static_cast<std::size_t>(matrix.values.columns), 0);
    keys.front() = 1;
    return keys;
}

HeadsShown shown_of(HeadsShown::Of of) {
    HeadsShown shown{std::move(of), {}, {}, 0.0};
    const HeadsResult& result = *shown.of.result;
    for (const HeadFacts& facts : result.heads) {
        const HeadMatrix matrix = head_matrix(result, shown.of.show, facts.place);
        shown.clipped.push_back(clipped_of(shown, facts.place, matrix));
        shown.largest.push_back(largest_of(matrix.values, shown.clipped.back()));
        shown.largest_of_all = std::max(shown.largest_of_all, shown.largest.back());
    }
    return shown;
}

}  // namespace

void follow_shown(AppState& state) {
    HeadsLook& look = heads_look(state);
    if (!has_current_heads(state)) return look.shown.reset();
    look.shown =
        found_once(look.shown, {look.result, look.show, look.clip, look.clip_limit}, shown_of);
}

HeadColors head_colors(const HeadsLook& look, HeadPlace place) {
    const HeadsShown& shown = *look.shown;
    const auto n =
        static_cast<std::size_t>(shown.of.result->find(place) - shown.of.result->heads.data());
    double high = look.own_range ? shown.largest[n] : shown.largest_of_all;
    const bool whole = look.show == HeadShow::weights && look.clip == SinkClip::none;
    if (!look.own_range && whole) high = std::max(high, 1.0);
    if (high == 0.0) high = 1.0;
    const bool sign = info(look.show).has_sign;
    return {{sign ? ColorScale::diverging : ColorScale::unit, sign ? -high : 0.0, high, look.curve},
            shown.clipped[n]};
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
