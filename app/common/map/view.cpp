#include "app/common/map/view.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/color_look.h"
#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/map/camera.h"
#include "app/common/map/colors.h"
#include "app/common/map/pictures.h"
#include "app/common/map/ruler.h"
#include "app/common/map/text.h"
#include "app/common/state.h"
#include "core/large/map_input.h"
#include "core/large/tiles.h"
#include "core/large/weight_map.h"

namespace attn::view {
namespace {

std::string title(const AppState& state) {
    const MapSize size = map_size(map_look(state));
    if (size == MapSize{}) return "No matrix yet";
    const Document& document = state.document();
    return fmt::format("{} × {}, d_k {}, {}{}{}", grouped(size.rows), grouped(size.columns),
                       document.size.d_k, is_toy(document) ? "“" : "", document.title,
                       is_toy(document) ? "”" : "");
}

std::string hint(const AppState& state) {
    if (is_empty(state.document()) && !is_toy(state.document()))
        return empty_text(state.document());
    if (is_empty(state.document()))
        return "Open a file with queries and keys (Ctrl+O), or generate them.";
    return map_look(state).fault.empty() ? "Preparing queries and keys." : "";
}

/// Scores are sums, never samples.
std::string score_quality(const large::ScorePicture& scores) {
    if (scores.tiles.empty()) return "computing";
    std::string text = scores.complete ? "exact" : "exact, sharpening";
    if (scores.nans > 0) text += fmt::format(", {} texels NaN", grouped(scores.nans));
    if (scores.infinities > 0) text += fmt::format(", {} texels ±∞", grouped(scores.infinities));
    return text;
}

/// What no picture may hide.
std::string nan_remark(const MapLook& look) {
    if (!look.snapshot || shows_scores(look)) return {};
    const large::NotFinite& found = look.snapshot->not_finite;
    if (found.in_view.first) return fmt::format(", {} NaN", grouped(found.in_view.cells));
    return found.all.first ? ", NaN outside the view" : "";
}

/// "exact" only when every texel in view is.
std::string quality(const MapLook& look, bool estimated) {
    if (look.snapshot && shows_scores(look)) return score_quality(look.snapshot->scores);
    if (!look.snapshot || look.snapshot->tiles.empty()) return "computing";
    if (estimated) {
        const auto exact = [](const auto& tile) {
            return tile->origin != large::TileOrigin::sampled;
        };
        return std::ranges::any_of(look.snapshot->tiles, exact) ? "partly sampled"
                                                                : "sampled preview";
    }
    return look.snapshot->complete ? "exact" : "exact, sharpening";
}

std::string hover_text(const MapLook& look, large::Cell cell) {
    const auto token = [&](const char* kind, bool key, Index n) {
        const std::string document = document_of(*look.input, n);
        const std::string word = has_own_tokens(look, key) ? token_text(look, key, n) : "";
        return fmt::format("{} {}{}{}", kind, grouped(n),
                           word.empty() ? "" : fmt::format(" “{}”", word),
                           document.empty() ? "" : fmt::format(" (doc {})", document));
    };
    std::string text = token("query", false, cell.row) + " → " + token("key", true, cell.column);
    const auto drawn = drawn_weight(look, cell);
    if (!drawn) return text;
    if (drawn->masked) return text + ": masked";
    if (shows_scores(look))
        return fmt::format("{}: {} = {}", text,
                           score_description(look.input->source.spec, drawn->side),
                           number(drawn->weight));
    const bool bound = look.colors.pooling == large::Pooling::max;  // the largest of some rows
    const std::string_view estimate = drawn->exact ? "" : bound ? "at least " : "about ";
    const std::string weight = fmt::format("{}{}", estimate, number(drawn->weight));
    if (drawn->side == 1) return text + ": " + weight;
    return fmt::format("{}; {}: {}", text, texel_text(look.colors.pooling, drawn->side), weight);
}

MapLegend legend(const AppState& state, Index side) {
    const MapLook& look = map_look(state);
    const AttentionSpec& spec = look.input->source.spec;
    const bool masks = spec.mask.any();
    MapLegend legend = shows_scores(look)
                           ? score_legend(score_range_in_view(look), spec, side, masks, state.theme)
                           : map_legend(range_in_view(look, color_look(state).map), look.colors,
                                        side, masks, state.theme);
    if (!look.snapshot) return legend;
    const large::ScorePicture& scores = look.snapshot->scores;
    const large::NanWeights& nan = look.snapshot->not_finite.in_view;
    if (!shows_scores(look) && nan.first) legend.nan = nan_text(nan);
    if (shows_scores(look) && scores.nans > 0) legend.nan = "NaN";
    if (shows_scores(look) && scores.infinities > 0) legend.infinite = "±∞";
    if (!legend.nan.empty() || !legend.infinite.empty())
        legend.note += ", without values that are not finite";
    return legend;
}

void add_canvas(MapView& view, const AppState& state) {
    const MapLook& look = map_look(state);
    const MapSize size = map_size(look);
    view.matrix = cells_on_canvas(look, {}, size.rows, size.columns);
    view.pictures = map_pictures(state);
    view.figures = map_figures(state);
    view.row_ruler = row_ruler(look);
    view.column_ruler = column_ruler(look);
    view.row_title = "query i";
    view.column_title = "key j";
    view.row_profile = row_profile(look);
    view.column_profile = column_profile(look);
    view.minimap = minimap(state);
    view.zoom_text = zoom_text(look);
    const Index side = Index{1} << drawn_level(look);
    view.legend = legend(state, side);
    if (view.sampled) view.legend.title += ", some rows only";
}

void add_marks(MapView& view, const MapLook& look) {
    if (look.input->needle) {
        const PixelRect at = cells_on_canvas(look, *look.input->needle, 1, 1);
        if (is_on_canvas(look, at))
            view.marks.push_back(
                {(at.left + at.right) / 2.0, (at.top + at.bottom) / 2.0, "needle"});
    }
    if (look.selected) view.selected = cells_on_canvas(look, *look.selected, 1, 1);
    if (!look.hovered) return;
    view.hovered = cells_on_canvas(look, *look.hovered, 1, 1);
    view.hover_text = hover_text(look, *look.hovered);
}

// ---- the exact pass

std::string rows_text(const large::PassState& pass) {
    return fmt::format("{} of {} rows", grouped(pass.rows_done), grouped(pass.rows));
}

/// Down to what rounding shows: never 100 % before the end.
std::string done_text(double fraction) {
    return fmt::format("{:.0f} %", std::floor(100 * fraction));
}

std::string pass_text(const large::PassState& pass, double fraction, bool wanted) {
    if (fraction >= 1.0) {
        const std::string rows = fmt::format("exact overview of {} row{}", grouped(pass.rows),
                                             pass.rows == 1 ? "" : "s");
        if (pass.seconds <= 0.0) return rows;
        return rows + " in " + (pass.seconds < 1.0 ? "less than a second" : duration(pass.seconds));
    }
    if (pass.running)
        return fmt::format("exact overview {}, {} left", done_text(fraction),
                           duration(pass.seconds_left));
    if (wanted) return fmt::format("exact overview {}: the view comes first", done_text(fraction));
    return fmt::format("exact overview paused at {}: {}", done_text(fraction), rows_text(pass));
}

std::string preview_text(const large::PreviewState& preview, const large::PassState& pass) {
    const std::string rows =
        fmt::format("sampled: {} of {} rows", grouped(preview.rows_sampled), grouped(pass.rows));
    return preview.seconds >= 0.005 ? rows + fmt::format(" in {:.2f} s", preview.seconds) : rows;
}

std::string error_text(const large::PreviewState& preview) {
    return fmt::format("standard error of a texel's mean: median {}, 95 % of texels below {}",
                       percent(preview.relative_error_median), percent(preview.relative_error_95));
}

}  // namespace

std::string zoom_text(const MapLook& look) {
    const double rows = rows_per_pixel(look), columns = columns_per_pixel(look);
    if (rows != columns)
        return fmt::format("1 cell = {} × {} px", tick(1.0 / rows), tick(1.0 / columns));
    if (rows < 1.0) return fmt::format("1 cell = {} px", tick(1.0 / rows));
    return fmt::format("1 px = {0} × {0} cells", tick(rows));
}

MapView build_map_view(const AppState& state) {
    const MapLook& look = map_look(state);
    MapView view;
    view.title = title(state);
    view.hint = hint(state);
    view.fault = look.fault;
    view.empty = is_empty(state.document()) || !look.fault.empty();
    view.loading = !view.empty && !look.input;
    if (!look.input) return view;
    view.sampled = !shows_scores(look) && is_estimated(look);
    const std::string remark = nan_remark(look);
    view.quality = quality(look, view.sampled) + remark;
    add_canvas(view, state);
    view.flawed = !remark.empty() || !view.legend.nan.empty() || !view.legend.infinite.empty();
    add_marks(view, look);
    view.pass = pass_view(look);
    return view;
}

std::optional<large::Cell> cell_at(const MapLook& look, double x, double y) {
    const double row = std::floor(row_at(look, y));
    const double column = std::floor(column_at(look, x));
    const auto fits = [](double at) { return std::abs(at) < 0x1p62; };  // what an Index holds
    if (!fits(row) || !fits(column)) return std::nullopt;
    const large::Cell cell{static_cast<Index>(row), static_cast<Index>(column)};
    if (!has_map_cell(look, cell)) return std::nullopt;
    return cell;
}

PassView pass_view(const MapLook& look) {
    PassView view;
    if (!look.snapshot) {
        view.text = "sampling rows";
        return view;
    }
    const large::PassState& pass = look.snapshot->pass;
    const large::PreviewState& preview = look.snapshot->preview;
    view.fraction =
        pass.rows > 0 ? static_cast<double>(pass.rows_done) / static_cast<double>(pass.rows) : 0.0;
    view.done = view.fraction >= 1.0;
    const bool begun = pass.rows_done > 0 || pass.running;
    const bool wanted = wants_full_pass(look);
    view.offer_pause = wanted && view.fraction < 1.0;
    view.offer_start = !wanted && view.fraction < 1.0;
    if (view.offer_start) view.start_text = begun ? "resume" : "exact pass";
    if (view.offer_start && pass.seconds_left > 0.0)  // 0: no speed is known yet
        view.start_text += fmt::format(": about {}", duration(pass.seconds_left));
    if (begun)
        view.text = pass_text(pass, view.fraction, wanted);
    else
        view.text = preview.ready ? preview_text(preview, pass) : "sampling rows";
    if (preview.ready && view.fraction < 1.0) view.detail = error_text(preview);
    return view;
}

}  // namespace attn::view
