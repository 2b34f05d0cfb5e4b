#include "app/files/stored.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/files/pairs.h"
#include "core/call.h"
#include "core/engine.h"
#include "core/heads/layer.h"
#include "core/masks.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::files {
namespace {

/// One stage of every layer, as it is stored.
struct StoredStage {
    Stage stage;
    std::vector<std::string> names;
    std::vector<GivenPairs> layers;
};

/// A number that forbids its pair.
bool forbids(Stage stage, float value) {
    return stage == Stage::weights
               ? value == 0.0F
               : stage == Stage::masked && value == -std::numeric_limits<float>::infinity();
}

/// Whether every pair j > i + offset is forbidden, and there is one.
bool is_causal(const GivenPairs& pairs, Index offset) {
    const Shape shape = pairs.values.shape();
    if (shape.t < 2) return false;            // one row says nothing
    if (shape.d - 1 <= offset) return false;  // not even the first row ends before the last key
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h)
            for (Index i = 0; i < shape.t; ++i) {
                const auto row = pairs.values.matrix(b, h).row(i);
                const Index first = std::clamp<Index>(i + offset + 1, 0, shape.d);
                if (!std::ranges::all_of(row.subspan(first),
                                         [&](float value) { return forbids(pairs.stage, value); }))
                    return false;
            }
    return true;
}

/// Whether a pair j > i + offset is allowed by the masks that are known: else they explain it.
bool is_news(const MaskSpec& mask, const Dimensions& size, Index offset) {
    for (Index b = 0; b < size.batch; ++b)
        for (Index h = 0; h < size.heads; ++h)
            for (Index i = 0; i < size.tq; ++i)
                for (Index j = std::max<Index>(i + offset + 1, 0); j < size.tk; ++j)
                    if (may_attend(mask, size, b, h, i, j)) return true;
    return false;
}

/// The corner that forbids more is asked first.
void adopt_causal(const std::vector<GivenPairs>& layers, const std::string& path,
                  TensorFile& file) {
    AttentionSpec& spec = file.spec;
    const bool is_stated =
        layers.front().stage == Stage::weights || layers.front().stage == Stage::masked;
    if (!is_stated || spec.mask.causal) return;
    const Index past = file.size.tk - file.size.tq;
    std::vector<std::pair<CausalAlign, Index>> corners{{CausalAlign::top_left, 0}};
    if (spec.query_offset) corners.front().second = *spec.query_offset;
    if (!spec.query_offset && past != 0)
        corners.insert(past < 0 ? corners.begin() : corners.end(),
                       {CausalAlign::bottom_right, past});
    for (const auto& [align, offset] : corners) {
        const bool all =
            std::ranges::all_of(layers, [&](const auto& each) { return is_causal(each, offset); });
        if (!all || !is_news(spec.mask, file.size, offset)) continue;
        spec.mask.causal = align;
        for (AttentionSpec& each : file.layer_specs)
            if (!each.mask.causal) each.mask.causal = align;
        file.size.query_offset = offset;
        file.notes.push_back(fmt::format(
            "{}: {} are {} above the diagonal in every row: the call is causal{}", path,
            info(layers.front().stage).key, layers.front().stage == Stage::weights ? "0" : "−inf",
            align == CausalAlign::bottom_right ? ", from the bottom right" : ""));
        return;
    }
}

/// Where each layer of the call has one, of the call's sizes; else nothing of it is read.
std::optional<StoredStage> read_stage(ArrayReader& reader, const PairsListing& pairs,
                                      const TensorFile& file) {
    const Dimensions& size = file.size;
    const std::vector<Index> expected{size.batch, size.heads, size.tq, size.tk};
    StoredStage stored{pairs.stage, {}, {}};
    for (const Index number : file.numbers) {
        const auto at = std::ranges::find(pairs.layers, number) - pairs.layers.begin();
        if (at == std::ssize(pairs.layers)) return std::nullopt;
        const std::string& name = pairs.names[at];
        if (reader.dtype_of(name) == "bool") return std::nullopt;  // a mask by another name
        auto axes = reader.axes_of(name);
        if (axes.size() < 2 || axes.size() > 4) return std::nullopt;
        axes.insert(axes.begin(), 4 - axes.size(), 1);
        if (axes != expected) return std::nullopt;
        stored.names.push_back(name);
    }
    const Shape shape{size.batch, size.heads, size.tq, size.tk};
    for (const std::string& name : stored.names)
        stored.layers.push_back({pairs.stage, Tensor::shared(shape, reader.numbers(name))});
    return stored;
}

/// The largest difference of a stage, and where it is.
struct Difference {
    double size = 0.0;
    bool any = false;  // in their bits
    Index layer = 0, batch = 0, head = 0, query = 0, key = 0;
};

bool same_bits(float a, float b) {
    return (std::isnan(a) && std::isnan(b)) ||
           std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

void compare(const Tensor& stored, const Tensor& computed, Index layer, Difference& found) {
    const Shape shape = stored.shape();
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h)
            for (Index i = 0; i < shape.t; ++i)
                for (Index j = 0; j < shape.d; ++j) {
                    const float is = stored(b, h, i, j), was = computed(b, h, i, j);
                    if (same_bits(is, was)) continue;
                    double size = std::abs(static_cast<double>(is) - static_cast<double>(was));
                    if (std::isnan(size)) size = std::numeric_limits<double>::infinity();
                    if (!found.any || size > found.size) found = {size, true, layer, b, h, i, j};
                }
}

/// Of each stage; throws where the call cannot be computed.
std::vector<Difference> differences(const std::vector<StoredStage>& stored,
                                    const TensorFile& file) {
    StageSet keep;
    for (const StoredStage& each : stored)
        keep.set(index_of(stage_or_source(each.stage, file.spec)));
    std::vector<Difference> found(stored.size());
    for (std::size_t n = 0; n < file.layers.size(); ++n) {
        Inputs buffer;
        const auto call = or_throw(validate(with_values(file.layers[n], buffer), file.spec_of(n)));
        const Backend* const backend = or_throw(choose_backend("auto", call, keep));
        const Trace trace = or_throw(attend(call, *backend, keep));
        for (std::size_t s = 0; s < stored.size(); ++s)
            compare(stored[s].layers[n].values, trace[stage_or_source(stored[s].stage, file.spec)],
                    file.numbers[n], found[s]);
    }
    return found;
}

std::string place_description(const Difference& at, const TensorFile& file) {
    std::string text;
    if (file.layers.size() > 1) text += fmt::format("layer {}, ", at.layer);
    if (file.size.batch > 1) text += fmt::format("sequence {}, ", at.batch);
    return text + fmt::format("head {}, query {}, key {}", at.head, at.query, at.key);
}

/// A note says whether stored arrays are used or computed again.
void mark_read(const StoredStage& stored, Listing& listing, TensorFile& file) {
    for (const std::string& name : stored.names) {
        std::erase(listing.unused, name);
        std::erase(listing.computed, name);
        file.roles.emplace(name, info(stored.stage).key);
    }
}

/// " × 0.5" of raw scores, which are shown as the scaled ones that they make: d_k is not in them.
std::string scaled_text(Stage stage, const TensorFile& file) {
    if (stage != Stage::scores) return {};
    return fmt::format(" × {:.6g}", score_factor(file.spec, file.size.d_k));
}

std::vector<GivenPairs> shown_pairs(std::vector<GivenPairs> pairs, const TensorFile& file) {
    const double factor = score_factor(file.spec, file.size.d_k);
    for (GivenPairs& layer : pairs) {
        if (layer.stage != Stage::scores) continue;
        Tensor scaled(layer.values.shape());
        std::ranges::transform(std::as_const(layer.values).values(), scaled.values().begin(),
                               [&](float score) { return static_cast<float>(score * factor); });
        layer = {Stage::scaled, std::move(scaled)};
    }
    return pairs;
}

bool has_values(const TensorFile& file) {
    return file.layers.front().projects() || !file.layers.front().v.empty();
}

void compare_stored(const std::string& path, Stored how, std::vector<StoredStage> stored,
                    const OptionValues& typed, TensorFile& file) {
    std::vector<std::string_view> keys;
    for (const StoredStage& each : stored) keys.push_back(info(each.stage).key);
    const std::string_view makers = file.layers.front().projects() ? "X and W" : "Q and K";
    const auto found = caught([&] { return differences(stored, file); });
    const auto differs = [&](std::size_t s) { return !found || (*found)[s].any; };
    std::size_t s = 0;
    while (s < stored.size() && !differs(s)) ++s;
    if (s == stored.size()) {
        file.notes.push_back(fmt::format("{}: {} match the results of {}, bit for bit", path,
                                         fmt::join(keys, ", "), makers));
        return;
    }
    const bool shown = how == Stored::shown && s == 0;
    const std::string what = fmt::format(
        "{}: {} are {}", path, keys[s],
        shown ? "shown as they are stored" + scaled_text(stored[s].stage, file) : "computed again");
    if (!found)
        file.notes.push_back(
            fmt::format("{}; nothing is computed to compare them: {}", what, found.error().text()));
    else
        file.notes.push_back(fmt::format(
            "{}; {} differ by at most {:.3g} ({})", what,
            shown ? fmt::format("the results of {}", makers) : std::string("the stored ones"),
            (*found)[s].size, place_description((*found)[s], file)));
    if (!shown) return;
    const bool dropped = file.spec.drops() && has_values(file);
    const std::string idle = idle_note(typed, stored[s].stage, {file.spec, true, dropped});
    if (!idle.empty()) file.notes.back().text += fmt::format("; in the shown stages, {}", idle);
    file.given = shown_pairs(std::move(stored[s].layers), file);
}

}  // namespace

void resolve_stored(ArrayReader& reader, Stored stored, const CallOptions& options,
                    const OptionValues& typed, Listing& listing, TensorFile& file) {
    if (!file.given.empty()) return adopt_causal(file.given, reader.path(), file);
    if (options.operation) return;
    std::vector<StoredStage> stages;
    for (const PairsListing& pairs : list_all_pairs(reader, options.roles))
        if (auto stage = read_stage(reader, pairs, file)) stages.push_back(*std::move(stage));
    if (stages.empty()) return;
    for (const StoredStage& each : stages) mark_read(each, listing, file);
    adopt_causal(stages.front().layers, reader.path(), file);
    compare_stored(reader.path(), stored, std::move(stages), typed, file);
}

}  // namespace attn::files
