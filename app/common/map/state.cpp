#include "app/common/map/state.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/fields.h"

namespace attn::view {

void describe(Visitor& visit, large::Search& search) {
    constexpr std::string_view kSides[] = {"key", "query"};
    visit("of", search.of, kSides);
    visit("index", search.index,
          {.low = 0.0, .high = static_cast<double>(kMostIndex), .needed = true});
}

void describe(Visitor& visit, large::TopChoice& top) {
    visit("skip_first_key", top.skip_first_key);
    visit("one_per_query", top.one_per_query);
}

void describe(Visitor& visit, MapCamera& camera) {
    constexpr About kNeeded{.needed = true};
    visit("row", camera.row, kNeeded);
    visit("column", camera.column, kNeeded);
    visit("cells_per_unit", camera.cells_per_unit, kNeeded);
    if (!std::isfinite(camera.row) || !std::isfinite(camera.column))
        visit.complain(fmt::format("looks at row {}, column {}: expected finite numbers",
                                   camera.row, camera.column));
    if (!(camera.cells_per_unit > 0.0) || !std::isfinite(camera.cells_per_unit))
        visit.complain(fmt::format("has 'cells_per_unit' = {}: expected a number above 0",
                                   camera.cells_per_unit));
}

void describe(Visitor& visit, MapColors& colors) {
    visit("pooling", colors.pooling, kPoolingNames);
    visit("log_scale", colors.log_scale);
    visit("low_percentile", colors.low_percentile);
    visit("high_percentile", colors.high_percentile);
    const bool fine = colors.low_percentile >= 0.0 &&
                      colors.low_percentile < colors.high_percentile &&
                      colors.high_percentile <= 100.0;
    if (!fine)
        visit.complain(fmt::format("has percentiles {} to {}: expected 0 to 100, ascending",
                                   colors.low_percentile, colors.high_percentile));
}

void describe(Visitor& visit, MapLook& look) {
    visit("draft", look.draft);
    visit("camera", look.camera);
    visit("fitted", look.fitted);
    visit("picture", look.picture, kMapPictureNames);
    visit("colors", look.colors);
    visit("top", look.top);
    std::optional<std::string> go_to;
    if (look.go_to_open) go_to = look.go_to_draft;
    visit("go_to", go_to);
    look.go_to_open = go_to.has_value();
    if (go_to) look.go_to_draft = *go_to;
    visit("full_pass", look.full_pass);
    visit("selected", look.selected);
    visit("search", look.search);
}

void leave_out_times(AppState& state) {
    if (!map_look(state).snapshot) return;
    auto timeless = std::make_shared<large::MapSnapshot>(*map_look(state).snapshot);
    timeless->pass.seconds = timeless->pass.gflops = timeless->preview.seconds = 0.0;
    map_look(state).snapshot = std::move(timeless);
}

}  // namespace attn::view
