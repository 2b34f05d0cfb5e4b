#include "app/common/map/ruler.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/map/camera.h"
#include "app/common/map/pictures.h"
#include "app/common/map/text.h"
#include "core/large/map_input.h"
#include "core/large/weight_map.h"

namespace attn::view {
namespace {

// Design units.
constexpr double kColumnLabel = 88.0;  // from one number to the next
constexpr double kRowLabel = 48.0;
constexpr double kColumnWord = kFigureCell;  // cells that hold a token's word
constexpr double kRowWord = 20.0;
constexpr double kDocumentLabel = 240.0;
constexpr double kDocumentTick = 6.0;
constexpr double kWholeRow = 1e-3;  // a row whose weights sum to 1 but for rounding
constexpr Index kNumbered = 10;     // between words every tenth token has its number

/// One axis of the canvas.
struct RulerAxis {
    const MapLook& look;
    double length = 0.0;  // of the canvas, pixels
    double middle = 0.0;  // cell
    Index cells = 0;
    double label = 0.0;  // pixels from one number to the next
    double word = 0.0;   // pixels of a cell that holds a word
    bool keys = false;
    const AxisText* text = nullptr;

    double cells_per_px() const { return keys ? columns_per_pixel(look) : rows_per_pixel(look); }
    double cell_px() const { return 1.0 / cells_per_px(); }
    double at(double cell) const { return length / 2.0 + (cell - middle) * cell_px(); }
    Index first() const { return clamped_cell(middle - length / 2.0 / cell_px()); }
    Index last() const { return clamped_cell(middle + length / 2.0 / cell_px()); }
    Index clamped_cell(double cell) const {
        return std::clamp(static_cast<Index>(std::floor(cell)), Index{0},
                          std::max(cells - 1, Index{0}));
    }
};

RulerAxis axis_of(const MapLook& look, bool keys) {
    const MapCanvas canvas = canvas_of(look);
    const MapCamera camera = shown_camera(look);
    const double scale = canvas.scale;
    if (keys)
        return {look,
                canvas.width,
                camera.column,
                look.size.columns,
                kColumnLabel * scale,
                kColumnWord * scale,
                true};
    return {look, canvas.height, camera.row, look.size.rows, kRowLabel * scale, kRowWord * scale};
}

void add_documents(const RulerAxis& axis, std::vector<RulerMark>& marks) {
    const std::span<const Index> starts = axis.text->starts;
    const double scale = canvas_of(axis.look).scale;
    double ticked = -kDocumentTick * scale;
    double labelled = -kDocumentLabel * scale;
    const auto first = std::lower_bound(starts.begin(), starts.end(), axis.first());
    for (auto start = first; start != starts.end() && *start <= axis.last(); ++start) {
        const double at = axis.at(static_cast<double>(*start));
        if (at < 0.0 || at - ticked < kDocumentTick * scale) continue;
        ticked = at;
        const bool space = at - labelled >= kDocumentLabel * scale;
        if (space) labelled = at;
        marks.push_back(
            {at, space ? fmt::format("doc {}", grouped(start - starts.begin())) : "", true});
    }
}

void add_numbers(const RulerAxis& axis, std::vector<RulerMark>& marks) {
    const Index step = round_step(axis.label * axis.cells_per_px());
    for (Index n = axis.first() / step * step; n <= axis.last(); n += step)
        marks.push_back({axis.at(static_cast<double>(n) + 0.5), grouped(n), false});
}

/// A row has room for number and word; a column's word is cut to its cell.
std::string word_label(const RulerAxis& axis, Index n) {
    const std::string word = axis.text->word(n);
    if (word.empty()) return grouped(n);
    if (axis.text->labelled) return word;
    if (n % kNumbered != 0) return word;
    if (!axis.keys) return grouped(n) + " " + word;
    return axis.text->own ? word : grouped(n);
}

void add_description(const RulerAxis& axis, std::vector<RulerMark>& marks) {
    for (Index n = axis.first(); n <= axis.last(); ++n)
        marks.push_back({.at = axis.at(static_cast<double>(n) + 0.5),
                         .label = word_label(axis, n),
                         .space = axis.keys ? axis.cell_px() : 0.0,
                         .upright = axis.keys && axis.cell_px() < axis.word});
}

void add_selected(const RulerAxis& axis, std::vector<RulerMark>& marks) {
    const auto& selected = axis.text->selected;
    if (!selected || *selected < axis.first() || *selected > axis.last()) return;
    const std::string word = axis.text->word(*selected);
    marks.push_back({axis.at(static_cast<double>(*selected) + 0.5),
                     word.empty() ? grouped(*selected) : grouped(*selected) + " " + word, true, 0.0,
                     true});
}

// ---- profiles

/// Sums over sampled texels are estimates and say so.
std::string profile_title(const MapLook& look, std::string text) {
    return is_estimated(look) ? text + ", sampled" : text;
}

double largest_of(const std::vector<double>& sums) {
    double largest = 0.0;
    for (const double sum : sums)
        if (std::isfinite(sum)) largest = std::max(largest, sum);
    return largest;
}

/// The ends of texel n along the axis, and its share of the largest.
struct Bar {
    double from, to, share;
    bool nan;
};

std::vector<Bar> bars(const RulerAxis& axis, Index first, Index side,
                      const std::vector<double>& sums) {
    const double largest = largest_of(sums);
    std::vector<Bar> all;
    for (std::size_t n = 0; n < sums.size(); ++n) {
        const Index cell = first + static_cast<Index>(n) * side;
        const Index end = std::min(cell + side, axis.cells);
        const double from = axis.at(static_cast<double>(cell));
        const double to = axis.at(static_cast<double>(end));
        const bool nan = std::isnan(sums[n]);
        if (to < 0.0 || from > axis.length || !(sums[n] > 0.0 || nan)) continue;
        all.push_back({from, to, nan ? 1.0 : std::min(sums[n] / largest, 1.0), nan});
    }
    return all;
}

std::string count_text(Index count, const char* one, const char* many) {
    return count == 1 ? fmt::format("the one {}", one)
                      : fmt::format("the {} {}", grouped(count), many);
}

/// ", 8 keys a bar": what the largest bar is a mean of.
std::string bar_text(Index side, const char* many) {
    return side == 1 ? "" : fmt::format(", {} {} a bar", grouped(side), many);
}

/// "mean weight per key over the 128 queries in view".
std::string column_title(const large::Profiles& sums) {
    const std::string left_out =
        fmt::format("{} in rows of texels with NaN", grouped(sums.queries_left_out));
    if (sums.queries == 0) return "no mean weight per key: every query in view is " + left_out;
    const std::string title = "mean weight per key over " +
                              count_text(sums.queries, "query", "queries") + " in view" +
                              bar_text(sums.side, "keys");
    return sums.queries_left_out == 0 ? title : title + ", without " + left_out;
}

std::string row_title(const large::Profiles& sums) {
    return "weight per query, Σ over " + count_text(sums.keys, "key", "keys") + " in view" +
           bar_text(sums.side, "queries");
}

}  // namespace

bool has_upright_tokens(const MapLook& look, double width) {
    const Index keys = look.size.columns;
    return has_own_tokens(look, true) && keys <= kMostLabelled &&
           static_cast<double>(keys) * kColumnWord > width;
}

Index round_step(double least) {
    if (!(least > 1.0)) return 1;
    const auto decade = static_cast<Index>(std::pow(10.0, std::floor(std::log10(least))));
    for (const Index step : {decade, 2 * decade, 5 * decade})
        if (static_cast<double>(step) >= least) return step;
    return 10 * decade;
}

AxisText axis_text(const MapLook& look, bool keys) {
    AxisText text{keys ? look.size.columns : look.size.rows,
                  [&look, keys](Index n) { return token_text(look, keys, n); },
                  has_own_tokens(look, keys)};
    if (look.input) text.starts = look.input->document_starts;
    if (look.selected) text.selected = keys ? look.selected->column : look.selected->row;
    text.labelled = text.own && text.cells <= kMostLabelled;
    return text;
}

std::vector<RulerMark> ruler(const MapLook& look, bool keys, const AxisText& text) {
    RulerAxis axis = axis_of(look, keys);
    axis.cells = text.cells;
    axis.text = &text;
    std::vector<RulerMark> marks;
    add_documents(axis, marks);
    const bool named = !text.word(0).empty();
    const bool fits = named && axis.cell_px() >= axis.word;
    fits || (named && text.labelled) ? add_description(axis, marks) : add_numbers(axis, marks);
    add_selected(axis, marks);
    return marks;
}

std::vector<RulerMark> row_ruler(const MapLook& look) {
    return look.input ? ruler(look, false, axis_text(look, false)) : std::vector<RulerMark>{};
}
std::vector<RulerMark> column_ruler(const MapLook& look) {
    return look.input ? ruler(look, true, axis_text(look, true)) : std::vector<RulerMark>{};
}

std::optional<MapProfile> row_profile(const MapLook& look) {
    if (!look.snapshot || !look.snapshot->profiles) return std::nullopt;
    const large::Profiles& sums = *look.snapshot->profiles;
    MapProfile profile;
    profile.title = profile_title(look, row_title(sums));
    profile.caption = "weight per query";
    profile.tooltip =
        "Σ_j a[i, j] over the keys j in view; a bar of several queries is their mean. 1: the query "
        "attends only to keys in view.";
    profile.largest = short_weight(largest_of(sums.rows));
    const auto is_one = [](double sum) { return std::abs(sum - 1.0) < kWholeRow; };
    if (std::ranges::all_of(sums.rows, is_one)) return profile;  // a bar of bars says nothing
    for (const Bar& bar : bars(axis_of(look, false), sums.first_row, sums.side, sums.rows))
        (bar.nan ? profile.nans : profile.bars).push_back({0.0, bar.from, bar.share, bar.to});
    return profile;
}

std::optional<MapProfile> column_profile(const MapLook& look) {
    if (!look.snapshot || !look.snapshot->profiles) return std::nullopt;
    const large::Profiles& sums = *look.snapshot->profiles;
    MapProfile profile;
    profile.title = profile_title(look, column_title(sums));
    profile.caption = sums.queries == 0 ? profile.title : "mean weight per key";
    profile.tooltip =
        "Mean of a[i, j] over the queries i in view; a bar of several keys is their mean, so its "
        "unit is the weight of one key at every zoom.";
    profile.largest = short_weight(largest_of(sums.columns));
    for (const Bar& bar : bars(axis_of(look, true), sums.first_column, sums.side, sums.columns))
        profile.bars.push_back({bar.from, 0.0, bar.to, bar.share});
    return profile;
}

}  // namespace attn::view
