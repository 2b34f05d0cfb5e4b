#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/document/document.h"
#include "app/common/document/heads.h"
#include "app/common/format.h"
#include "app/common/map/cells.h"
#include "app/common/pair_grid.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/generate/view.h"
#include "core/io/npy.h"
#include "core/models/lens.h"

namespace attn::view {
namespace {

constexpr Index kStripRows = 24;  // the last ones, up to the step that is looked at
constexpr Index kStripKeys = 24;  // of more keys than are cells side by side

std::string token_text(const Generated& written, Index token) {
    return shown_token((*written.names)[token]);
}

/// Those of the text and those that were taken before step `at`.
std::vector<std::string> tokens_until(const Generated& written, Index at) {
    std::vector<std::string> all;
    for (const std::string& token : written.prompt) all.push_back(shown_token(token));
    for (Index n = 0; n < at; ++n) all.push_back(token_text(written, written.tokens[n]));
    return all;
}

/// The rows of a head, one a step; keys that came later are masked.
struct StripRows {
    std::vector<float> values;
    IsMasked later;
    Index rows = 0, keys = 0;
    MatrixView<const float> matrix() const { return {values.data(), rows, keys, keys}; }
};

std::span<const float> row_of(const GeneratedStep& step, HeadPlace place) {
    return step.weights[place.layer].matrix(0, place.head).row(0);
}

StripRows rows_of(const Generated& written, HeadPlace place, Index first, Index last) {
    StripRows strip;
    strip.rows = last - first + 1;
    strip.keys = std::ssize(row_of(*written.steps[last], place));
    for (Index n = first; n <= last; ++n) {
        const auto row = row_of(*written.steps[n], place);
        const auto more = static_cast<std::size_t>(strip.keys) - row.size();
        strip.values.insert(strip.values.end(), row.begin(), row.end());
        strip.values.insert(strip.values.end(), more, 0.0F);
        strip.later.insert(strip.later.end(), row.size(), 0);
        strip.later.insert(strip.later.end(), more, 1);
    }
    return strip;
}

/// Which of many keys have a column: those with the most weight in these rows.
std::vector<Index> heaviest_keys(const StripRows& strip) {
    std::vector<double> sums(strip.keys, 0.0);
    for (Index n = 0; n < strip.rows; ++n)
        std::ranges::transform(sums, strip.matrix().row(n), sums.begin(), std::plus<>());
    std::vector<Index> keys(sums.size());
    std::iota(keys.begin(), keys.end(), Index{0});
    for (double& sum : sums)
        if (std::isnan(sum)) sum = std::numeric_limits<double>::infinity();  // is seen
    std::ranges::stable_sort(keys, std::ranges::greater(), [&](Index key) { return sums[key]; });
    keys.resize(kStripKeys);
    std::ranges::sort(keys);
    return keys;
}

/// These keys, and last what a row gives all others; `names` are those of its columns.
StripRows with_keys(const StripRows& strip, const std::vector<Index>& keys,
                    std::vector<std::string>& names) {
    StripRows made;
    made.rows = strip.rows;
    made.keys = std::ssize(keys) + 1;
    for (Index n = 0; n < strip.rows; ++n) {
        const auto row = strip.matrix().row(n);
        double rest = std::accumulate(row.begin(), row.end(), 0.0);
        for (const Index key : keys) {
            const float weight = row[key];
            rest -= double{weight};
            made.values.push_back(weight);
            made.later.push_back(strip.later[n * strip.keys + key]);
        }
        made.values.push_back(static_cast<float>(std::max(rest, 0.0)));
        made.later.push_back(0);
    }
    std::vector<std::string> retained;
    for (const Index key : keys) retained.push_back(names[key]);
    retained.push_back(fmt::format("{} others", grouped(strip.keys - std::ssize(keys))));
    names = std::move(retained);
    return made;
}

/// The shared place, in this model.
HeadPlace place_of(const AppState& state, const GeneratedStep& step) {
    const Index layers = std::ssize(step.weights);
    const Index layer = std::clamp<Index>(state.document().layer, 0, layers - 1);
    const Index heads = step.weights[layer].shape().h;
    return {layer, std::clamp<Index>(state.head, 0, heads - 1)};
}

/// Of the last steps up to `at`.
GridView strip_grid(const AppState& state, Index at, HeadPlace place) {
    const Generated& written = written_of(state);
    const Index first = std::max<Index>(0, at - kStripRows + 1);
    StripRows strip = rows_of(written, place, first, at);
    const Index keys = strip.keys;
    Sheet sheet;
    sheet.id = Stage::weights;
    sheet.role = Role::weight;
    const std::vector<std::string> tokens = tokens_until(written, at);
    const auto last_of_text = std::ssize(written.prompt) - 1;
    sheet.row_labels.assign(tokens.begin() + last_of_text + first, tokens.end());
    sheet.column_labels = tokens;
    const bool some = is_map_size(strip.rows, keys);
    if (some) strip = with_keys(strip, heaviest_keys(strip), sheet.column_labels);
    sheet.values = strip.matrix();
    GridView grid = make_grid(state, sheet, {ColorScale::unit, false, strip.later, false});
    grid.title = fmt::format(
        "A{}, {}: one row per step{}", state.document().groups.empty() ? "" : " of the decoder",
        head_name(place), some ? fmt::format(", {} of {} keys", kStripKeys, grouped(keys)) : "");
    grid.tooltip =
        "Weights of the last token that was read, over the keys in the cache; later keys are "
        "hatched.\nClick a row to go to its step.";
    if (some)
        grid.tooltip +=
            "\nShown: the keys with the most weight in these rows, and the sum of the others.";
    grid.first_row = first;
    for (CellView& cell : grid.cells)
        if (cell.look == CellLook::masked) cell.text.clear();  // no weight: it was not read yet
    const auto last = strip.matrix().row(strip.rows - 1).first(some ? kStripKeys : keys);
    look_at(grid, {strip.rows - 1, std::ranges::max_element(last) - last.begin()});
    return grid;
}

/// What each of the tokens that were read up to step `at` gives to the experts of a layer, a row a token.
StripRows routing_until(const Generated& written, Index at, Index layer) {
    StripRows strip;
    for (Index n = 0; n <= at; ++n) {
        const auto& routing = written.steps[n]->routing;
        if (layer >= std::ssize(routing) || routing[layer].empty()) return {};
        const Tensor& shares = routing[layer];
        strip.keys = shares.shape().d;
        strip.rows += shares.shape().t;
        strip.values.insert(strip.values.end(), shares.values().begin(), shares.values().end());
    }
    for (const float share : strip.values) strip.later.push_back(share == 0.0F ? 1 : 0);
    return strip;
}

/// Of the last tokens; what no share is given is no number.
std::optional<GridView> experts_grid(const AppState& state, Index at, Index layer) {
    const Generated& written = written_of(state);
    StripRows strip = routing_until(written, at, layer);
    if (strip.rows == 0) return std::nullopt;
    const Index left_out = std::max<Index>(0, strip.rows - kStripRows);
    const auto cut = [&](auto& all) {
        all.erase(all.begin(), all.begin() + left_out * strip.keys);
    };
    cut(strip.values), cut(strip.later);
    strip.rows -= left_out;
    Sheet sheet;
    sheet.id = Stage::output;
    sheet.values = strip.matrix();
    sheet.role = Role::output;
    const std::vector<std::string> tokens = tokens_until(written, at);
    sheet.row_labels.assign(tokens.begin() + left_out, tokens.end());
    for (Index n = 0; n < strip.keys; ++n) sheet.column_labels.push_back(fmt::format("{}", n));
    GridView grid = make_grid(state, sheet, {ColorScale::unit, false, strip.later, false});
    grid.title = fmt::format("experts of layer {}: one row per token", layer);
    grid.tooltip = "The router's weight of each expert in a token's MLP.\nHatched: not selected.";
    grid.editable = false;
    for (CellView& cell : grid.cells)
        if (cell.look == CellLook::masked) cell.text.clear();  // it is not taken
    return grid;
}

}  // namespace

std::string last_token(const AppState& state) {
    const std::vector<std::string> read = tokens_until(written_of(state), step_of(state));
    return read.empty() ? std::string() : read.back();
}

std::string experts_text(const AppState& state) {
    const Generated& written = written_of(state);
    const Index at = step_of(state);
    if (cannot_generate(state) || at >= std::ssize(written.steps)) return {};
    const GeneratedStep& step = *written.steps[at];
    if (step.routing.empty()) return {};
    const Index layer = place_of(state, step).layer;
    const StripRows strip = routing_until(written, at, layer);
    if (strip.rows == 0) return {};
    const auto last = strip.matrix().row(strip.rows - 1);
    std::vector<Index> taken;
    for (Index n = 0; n < strip.keys; ++n)
        if (last[n] != 0.0F) taken.push_back(n);
    const auto share = [&](Index n) { return last[n]; };
    std::ranges::stable_sort(taken, std::greater<>(), share);
    std::vector<std::string> items;
    for (const Index n : taken)
        items.push_back(fmt::format("{} {}{}", n, items.empty() ? "takes " : "", number(share(n))));
    return fmt::format("{} of “{}”", fmt::join(items, ", "), tokens_until(written, at).back());
}

void add_strip(const AppState& state, GenerateView& view) {
    const Generated& written = written_of(state);
    const GeneratedStep& step = *written.steps[view.at];
    const HeadPlace place = place_of(state, step);
    view.layer = place.layer;
    view.layers = std::ssize(step.weights);
    view.head = place.head;
    view.heads = step.weights[place.layer].shape().h;
    view.strip = strip_grid(state, view.at, place);
    view.experts = experts_grid(state, view.at, place.layer);
    const Index tokens = std::ssize(written.prompt) + view.at;
    const Index columns =
        written.bytes_of_token / std::max<Index>(8 * written.layers * written.kv_heads, 1);
    view.cache = fmt::format(
        "KV cache {}; each token adds {}",
        bytes_text(static_cast<double>(written.bytes_of_token * (tokens + written.encoder_tokens))),
        bytes_text(static_cast<double>(written.bytes_of_token)));
    if (written.most_tokens && *written.most_tokens > 0)
        view.cache_share = static_cast<double>(tokens) / static_cast<double>(*written.most_tokens);
    view.cache_formula =
        fmt::format("2 (K and V) · {} · {} · {} · {} · 4 bytes", counted(written.layers, "layer"),
                    counted(written.kv_heads, "head"), counted(columns, "column"),
                    written.encoder_tokens == 0
                        ? counted(tokens, "token")
                        : fmt::format("({} + {} of the encoder)", counted(tokens, "token"),
                                      written.encoder_tokens));
}

void add_lens(const AppState& state, GenerateView& view) {
    const Generated& written = written_of(state);
    const auto& lens = written.lenses[view.at];
    if (!lens) return;
    view.lens_title = fmt::format("Logit lens: p of {}", quoted_token(state, lens->token));
    for (const LensLayer& each : lens->layers) {
        if (each.best.empty()) continue;
        GenerateLensRow row;
        row.layer = each.layer < 0 ? "in" : std::to_string(each.layer);
        row.best = token_text(written, each.best.front().id);
        row.best_text = percent(each.best.front().probability);
        row.probability = each.probability;
        row.text = percent(each.probability);
        view.lens.push_back(std::move(row));
    }
}

}  // namespace attn::view
