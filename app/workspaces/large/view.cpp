#include "app/workspaces/large/view.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/map/camera.h"
#include "app/common/map/inspector.h"
#include "app/common/map/pictures.h"
#include "app/common/map/text.h"
#include "app/common/pair.h"
#include "app/common/state.h"
#include "app/workspaces/large/state.h"
#include "core/large/map_input.h"
#include "core/large/weight_map.h"
#include "core/large/weight_rows.h"
#include "core/tensor.h"
#include "core/text.h"

namespace attn::view {
namespace {

constexpr Index kMostWords = 64;  // tokens of a sentence whose cells have their words

struct Percentiles {
    const char* name;
    double low, high;
};
constexpr Percentiles kPercentiles[] = {
    {"99 %", 1.0, 99.0}, {"99.9 %", 1.0, 99.9}, {"all", 0.0, 100.0}};

void add_choices(LargeView& view, const MapLook& look) {
    view.pooling_names = {"mean", "max", "log-mean"};
    view.pooling = static_cast<int>(look.colors.pooling);
    view.log_scale = look.colors.log_scale;
    view.sentence = is_sentence(look);
    for (const Percentiles& choice : kPercentiles) {
        MapColors colors = look.colors;
        colors.low_percentile = choice.low;
        colors.high_percentile = choice.high;
        if (colors == look.colors) view.percentile = static_cast<int>(view.percentile_names.size());
        view.percentile_names.emplace_back(choice.name);
        view.percentile_colors.push_back(colors);
    }
}

/// The usual sizes, and the draft's own when it is another.
void add_generator(LargeView& view, const large::PlantedSpec& draft) {
    view.draft = draft;
    view.sizes.assign(kPlantedSizes.begin(), kPlantedSizes.end());
    auto place = std::ranges::lower_bound(view.sizes, draft.tokens);
    if (place == view.sizes.end() || *place != draft.tokens)
        place = view.sizes.insert(place, draft.tokens);
    view.size = static_cast<int>(place - view.sizes.begin());
    for (const Index tokens : view.sizes) view.size_names.push_back(grouped(tokens));
}

void add_heads(LargeView& view, const AppState& state) {
    const Dimensions& size = state.document().size;
    for (const auto [b, h] : each_cell(size.batch, size.heads)) {
        if (shown_head(state) == large::Head{b, h}) view.head = static_cast<int>(view.heads.size());
        view.heads.push_back(size.batch == 1 ? fmt::format("head {}", h)
                                             : fmt::format("sequence {}, head {}", b, h));
        view.head_refs.push_back({b, h});
    }
}

void add_go_to(LargeView& view, const AppState& state) {
    const MapLook& look = map_look(state);
    view.needle_reason = no_needle_text(state.document());
    view.has_needle = view.needle_reason.empty();
    view.go_to_open = look.go_to_open;
    view.go_to_draft = look.go_to_draft;
    if (look.go_to_draft.find_first_not_of(' ') == std::string::npos) return;
    const auto cell = parse_map_cell(look.go_to_draft);
    const MapSize size = map_size(look);
    if (!cell)
        view.go_to_fault = fmt::format("'{}': expected a query and a key, as in 70001, 5",
                                       shortened(look.go_to_draft));
    else if (!has_map_cell(look, *cell))
        view.go_to_fault = fmt::format("The last cell is {}.",
                                       cell_description({size.rows - 1, size.columns - 1}));
    else
        view.go_to = cell;
}

/// "sat → cat" of a sentence whose cells Step names, else "70,001 → 5".
std::string strong_text(const AppState& state, large::Cell cell) {
    const Document& document = state.document();
    const Index tokens = std::ssize(tokens_of(document, state.batch));
    const bool named = tokens > 0 && std::max(document.size.tq, document.size.tk) <= kMostWords;
    return named ? pair_name(state, {cell.row, cell.column}) : cell_description(cell);
}

std::vector<StrongCell> strong_cells(const AppState& state,
                                     const std::vector<large::WeightedCell>& cells) {
    std::vector<StrongCell> list;
    double most = 0.0;
    for (const large::WeightedCell& each : cells) most = std::max(most, double{each.weight});
    for (const large::WeightedCell& each : cells)
        list.push_back({each.cell, strong_text(state, each.cell), number(each.weight),
                        most > 0.0 ? each.weight / most : 0.0});
    return list;
}

void add_top(LargeView& view, const AppState& state) {
    const MapLook& look = map_look(state);
    if (!look.snapshot) return;
    view.top = strong_cells(state, look.snapshot->top);
    view.top_title = top_text(look.top);
    const large::NanWeights& nan = look.snapshot->not_finite.in_view;
    if (nan.first) view.top_title += fmt::format("; left out: {}", nan_text(nan));
    if (!view.top.empty()) return;
    const bool exact = !is_estimated(look);
    view.top_title += !look.snapshot->complete || (exact && look.snapshot->working)
                          ? ": known when the view is complete"
                      : !exact    ? ": known where the view is exact"
                      : nan.first ? ": every other weight is 0"
                                  : ": every weight is 0";
}

/// "The largest weight in view without key 0 is 0.9012: query 15,301 → key 83, the needle."
std::string point_of(const LargeView& view, const AppState& state) {
    const MapLook& look = map_look(state);
    if (view.top.empty() || !look.snapshot->complete || is_estimated(look)) return {};
    if (look.snapshot->not_finite.in_view.first) return {};  // NaN is not compared
    const StrongCell& first = view.top.front();
    if (view.top.size() > 1 && view.top[1].weight == first.weight) return {};
    const auto& landmarks = state.document().landmarks;
    const bool needle = landmarks && landmarks->needle && *landmarks->needle == first.cell;
    return fmt::format("The largest weight in view{} is {}: {}{}.",
                       look.top.skip_first_key ? " without key 0" : "", first.weight, first.text,
                       needle ? ", the needle" : "");
}

void add_not_finite(LargeView& view, const MapLook& look) {
    if (!look.snapshot || !look.input) return;
    const large::NotFinite& found = look.snapshot->not_finite;
    view.not_finite = not_finite_text(found, look.input->source.spec);
    view.first_nan = found.in_view.first ? found.in_view.first : found.all.first;
}

void add_picture(LargeView& view, const AppState& state) {
    view.picture_names.assign(std::begin(kNamesOf<MapPictureOf>), std::end(kNamesOf<MapPictureOf>));
    view.picture = static_cast<int>(map_look(state).picture);
    const AttentionSpec& spec = state.document().spec;
    const bool sink = map_look(state).input && !map_look(state).input->source.sinks.empty();
    view.picture_tip = fmt::format(
        "weights: a = softmax of {} over the keys{}. scores: the {}{}; a pixel of several pairs "
        "shows their mean.  Key: W",
        logit_letter(spec), sink ? " and the sink" : "", score_description(spec, 1),
        spec.biases() ? ", " + scaled_text(spec) : "");
}

void add_found(LargeView& view, const AppState& state) {
    const MapLook& look = map_look(state);
    if (!look.search) return;
    const bool key = look.search->of == large::Search::Of::key;
    const std::string index = grouped(look.search->index);
    view.found_title = key ? fmt::format("Queries that attend to key {}", index)
                           : fmt::format("Keys that query {} attends to", index);
    const bool there =
        look.snapshot && look.snapshot->search && look.snapshot->search->search == *look.search;
    if (!there) {
        view.found_title += ": searching";
        return;
    }
    const large::SearchResult& result = *look.snapshot->search;
    view.found = strong_cells(state, result.cells);
    view.found_title +=
        fmt::format(": Σ of the {} = {}", key ? "column" : "row", number(result.total));
    if (result.first_nan)
        view.found_title += fmt::format("; left out: {} NaN, first {}", grouped(result.nans),
                                        cell_description(*result.first_nan));
    if (result.rows_missing > 0)
        view.found_title +=
            fmt::format(" so far; queries not computed yet: {}", grouped(result.rows_missing));
}

// --- the exact pass

constexpr double kBytesPerFloat = 4.0;

/// GFLOP/s of a strip-wise pass move K once for each strip of rows, and Q once.
double bytes_of_pass(const MapLook& look) {
    const Dimensions& size = look.input->source.size;
    const double strip =
        static_cast<double>(large::strip_rows(std::max(look.snapshot->block_side, Index{1})));
    const double strips = std::ceil(static_cast<double>(size.tq) / strip);
    return kBytesPerFloat * static_cast<double>(size.d_k) *
           (strips * static_cast<double>(size.tk) + static_cast<double>(size.tq));
}

/// The exact pass under the roof of this machine.
RooflineView roofline_view(const MapLook& look) {
    RooflineView view;
    view.peak = look.machine.peak_gflops;
    view.bandwidth = look.machine.stream_gbytes;
    view.ready = view.peak > 0.0 && view.bandwidth > 0.0;
    if (!view.ready) return view;  // measured before the matrix is there; pictures measure nothing
    view.text = fmt::format("peak {:.0f} GFLOP/s, memory {:.0f} GB/s", view.peak, view.bandwidth);
    view.tooltip =
        "The pass counts 2 · pairs · d_k FLOP (Q Kᵀ only, without the exponentials). It reads K "
        "once for each strip of rows, and Q once.\nThe roof is min(peak, bandwidth · "
        "FLOP/byte): the peak of fused multiply-adds in registers and the bandwidth of the triad a "
        "= b + s·c in memory, both measured on all threads when the first matrix was opened.";
    if (!look.input || !look.snapshot || look.snapshot->pass.gflops <= 0.0) return view;
    const double gflops = look.snapshot->pass.gflops;
    view.points.push_back(
        {"exact pass", pass_flops(look.input->source) / bytes_of_pass(look), gflops});
    view.text = fmt::format("{} of {} GFLOP/s: {} of the peak", significant(gflops, 3),
                            significant(view.peak, 3), percent(gflops / view.peak));
    return view;
}

/// "kept: 17 MiB of 1 GiB; Q and K 8 MiB, …": what is kept of what the weights would take; "" where that is not less.
std::string memory_text(const MapLook& look) {
    if (!look.input) return {};
    const large::WeightSource& source = look.input->source;
    const MapSize size = map_size(look);
    const double cells = static_cast<double>(size.rows) * static_cast<double>(size.columns);
    const double operands =
        static_cast<double>(source.q->shape().count() + source.k->shape().count());
    const auto* snapshot = look.snapshot.get();
    const double blocks = snapshot ? static_cast<double>(snapshot->pyramid_bytes) : 0.0;
    const double tiles = snapshot ? static_cast<double>(snapshot->tile_bytes) : 0.0;
    const double retained = kBytesPerFloat * operands + blocks + tiles;
    if (retained >= kBytesPerFloat * cells) return {};
    return fmt::format(
        "stored: {} of {} (Q and K {}, blocks {}, tiles {}) instead of {} float32 weights",
        bytes_text(retained), bytes_text(kBytesPerFloat * cells),
        bytes_text(kBytesPerFloat * operands), bytes_text(blocks), bytes_text(tiles),
        grouped(size.rows * size.columns));
}

}  // namespace

LargeView build_large_view(const AppState& state) {
    const MapLook& look = map_look(state);
    LargeView view;
    static_cast<MapView&>(view) = build_map_view(state);
    add_choices(view, look);
    add_generator(view, large_look(state).draft);
    add_heads(view, state);
    add_go_to(view, state);
    add_picture(view, state);
    add_not_finite(view, look);
    add_top(view, state);
    view.point = point_of(view, state);
    add_found(view, state);
    if (!look.input) return view;
    view.roofline = roofline_view(look);
    view.inspector = map_inspector(state);
    view.bottom_line = memory_text(look);
    return view;
}

}  // namespace attn::view
