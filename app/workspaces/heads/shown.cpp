#include "app/workspaces/heads/shown.h"

#include <algorithm>

#include "app/workspaces/heads/state.h"

namespace attn::view {
namespace {

ClippedKeys clipped_of(const HeadsShown& shown, std::size_t n) {
    const std::vector<double>& means = shown.keys->means[n];
    if (shown.clip == SinkClip::none || means.empty()) return {};
    if (shown.clip == SinkClip::limit) return heavy_keys(means, shown.limit);
    ClippedKeys keys(means.size(), 0);
    keys.front() = 1;
    return keys;
}

/// None of a head that has no such numbers.
std::shared_ptr<const HeadsKeys> keys_of(const HeadsLook& look) {
    HeadsKeys keys;
    for (const HeadFacts& facts : look.result->heads) {
        const HeadMatrix matrix = head_matrix(*look.result, look.show, facts.place);
        const bool rollout = look.show == HeadShow::rollout;
        keys.largest.push_back(key_largest(matrix.values));
        keys.means.push_back(
            matrix.values.columns == 0
                ? std::vector<double>()
                : key_means(rollout ? matrix.values : look.result->weights(facts.place)));
    }
    return std::make_shared<const HeadsKeys>(std::move(keys));
}

bool is_current(const HeadsLook& look) {
    const HeadsShown* const shown = look.shown.get();
    return shown != nullptr && shown->of == look.result && shown->show == look.show &&
           shown->clip == look.clip && shown->limit == look.clip_limit;
}

HeadsShown shown_of(const HeadsLook& look) {
    const HeadsShown* const was = look.shown.get();
    const bool same = was != nullptr && was->of == look.result && was->show == look.show;
    HeadsShown shown{
        look.result, look.show, look.clip, look.clip_limit, same ? was->keys : keys_of(look),
        {},          {},        0.0};
    for (std::size_t n = 0; n < look.result->heads.size(); ++n) {
        shown.clipped.push_back(clipped_of(shown, n));
        shown.largest.push_back(largest_of(shown.keys->largest[n], shown.clipped.back()));
        shown.largest_of_all = std::max(shown.largest_of_all, shown.largest.back());
    }
    return shown;
}

}  // namespace

void follow_shown(AppState& state) {
    HeadsLook& look = heads_look(state);
    if (!has_current_heads(state))
        look.shown = nullptr;
    else if (!is_current(look))
        look.shown = std::make_shared<const HeadsShown>(shown_of(look));
}

HeadColors head_colors(const HeadsLook& look, HeadPlace place) {
    const HeadsShown& shown = *look.shown;
    const auto n = static_cast<std::size_t>(shown.of->find(place) - shown.of->heads.data());
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
