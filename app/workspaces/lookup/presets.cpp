#include <algorithm>
#include <cmath>

#include "app/workspaces/lookup/state.h"

namespace attn::view {
namespace {

/// Keys set by hand; values are real places, (longitude / 45°, latitude / 22.5°).
std::vector<LookupPair> capitals() {
    return {{"France", "Paris", {2.0, 0.6}, {0.05, 2.17}},
            {"Germany", "Berlin", {1.5, 1.3}, {0.3, 2.33}},
            {"Japan", "Tokyo", {-1.4, 1.7}, {3.1, 1.59}},
            {"Kenya", "Nairobi", {0.6, -2.0}, {0.82, -0.06}},
            {"Brazil", "Brasília", {-1.9, -0.9}, {-1.06, -0.7}}};
}

std::vector<LookupPair> keys_as_values() {
    std::vector<LookupPair> pairs = capitals();
    for (LookupPair& pair : pairs) {
        pair.value = pair.key;
        pair.v = pair.k;
    }
    return pairs;
}

}  // namespace

const std::vector<MemoryPreset>& memory_presets() {
    static const std::vector<MemoryPreset> presets{
        {"capitals",
         "capitals, with keys set by hand and places on the map as values",
         capitals(),
         {1.6, 0.3}},
        {"two-near",
         "two near keys: the query can hardly tell them apart",
         {{"river bank", "water", {2.0, 0.5}, {-2.5, 2.0}},
          {"savings bank", "money", {1.9, 0.75}, {2.5, 2.0}},
          {"meadow", "grass", {-1.2, 1.6}, {-2.0, -1.5}},
          {"market", "stalls", {-0.6, -1.9}, {2.0, -1.5}}},
         {1.8, 0.5}},
        {"long-key",
         "one long key: the largest dot product is not with the most similar key",
         {{"first token", "nothing", {2.4, 3.0}, {-2.0, 1.5}},
          {"cat", "animal", {1.2, 0.25}, {2.2, 1.0}},
          {"sat", "verb", {-1.0, 0.8}, {0.4, -2.2}}},
         {1.5, 0.3}},
        {"keys-as-values", "V = K: the output is a blend of keys", keys_as_values(), {1.6, 0.3}},
        {"tie",
         "two keys with the same score: a hard lookup has no single answer",
         {{"left", "A", {1.0, 1.5}, {-2.0, 1.0}},
          {"right", "B", {1.0, -1.5}, {2.0, 1.0}},
          {"behind", "C", {-2.0, 0.0}, {0.0, -2.0}}},
         {1.6, 0.0}}};
    return presets;
}

PlanePoint free_place(const LookupControls& controls) {
    constexpr PlanePoint kFirst{1.0, 1.0};
    constexpr double kApart = 0.9;
    const auto distance = [](const PlanePoint& a, const PlanePoint& b) {
        return std::hypot(a[0] - b[0], a[1] - b[1]);
    };
    std::vector<PlanePoint> places;
    for (double y = kPlaneEnd - 1.0; y > -kPlaneEnd; y -= 1.0)
        for (double x = kPlaneEnd - 1.0; x > -kPlaneEnd; x -= 1.0) places.push_back({x, y});
    std::ranges::stable_sort(places, {},
                             [&](const PlanePoint& at) { return distance(at, kFirst); });
    const auto place = std::ranges::find_if(places, [&](const PlanePoint& at) {
        return std::ranges::none_of(controls.pairs, [&](const LookupPair& pair) {
            return distance(at, pair.k) < kApart || distance(at, pair.v) < kApart;
        });
    });
    return place == places.end() ? kFirst : *place;
}

}  // namespace attn::view
