#include "app/view/large/json.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace attn::view {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kPoolingNames{"mean", "max", "log_mean"};
constexpr std::array<std::string_view, 2> kSearchNames{"key", "query"};

template <class Value>
void read_maybe(Fields& fields, std::string_view key, std::optional<Value>& value) {
    if (fields.find(key) == nullptr) return;
    value.emplace();
    map_from(fields, key, *value);
}

void check_colors(Fields& fields, const MapColors& colors) {
    const bool fine = colors.low_percentile >= 0.0 &&
                      colors.low_percentile < colors.high_percentile &&
                      colors.high_percentile <= 100.0;
    if (!fine)
        fields.complain(fmt::format("has percentiles {} to {}: expected 0 to 100, ascending",
                                    colors.low_percentile, colors.high_percentile));
}

void check_camera(Fields& fields, const MapCamera& camera) {
    if (!std::isfinite(camera.row) || !std::isfinite(camera.column))
        fields.complain(fmt::format("looks at row {}, column {}: expected finite numbers",
                                    camera.row, camera.column));
    if (!(camera.cells_per_unit > 0.0) || !std::isfinite(camera.cells_per_unit))
        fields.complain(fmt::format("has 'cells_per_unit' = {}: expected a number above 0",
                                    camera.cells_per_unit));
}

}  // namespace

ordered_json map_to(const large::Cell& cell) {
    return {{"row", cell.row}, {"column", cell.column}};
}

ordered_json map_to(const large::Head& head) { return {{"b", head.b}, {"h", head.h}}; }

ordered_json map_to(const large::Search& search) {
    return {{"of", kSearchNames[static_cast<std::size_t>(search.of)]}, {"index", search.index}};
}

ordered_json map_to(const std::optional<large::Search>& search) {
    return search ? map_to(*search) : ordered_json(nullptr);
}

ordered_json map_to(const MapCamera& camera) {
    return {{"row", number_to(camera.row)},
            {"column", number_to(camera.column)},
            {"cells_per_unit", number_to(camera.cells_per_unit)}};
}

ordered_json map_to(const MapColors& colors) {
    return {{"pooling", kPoolingNames[static_cast<std::size_t>(colors.pooling)]},
            {"log_scale", colors.log_scale},
            {"low_percentile", number_to(colors.low_percentile)},
            {"high_percentile", number_to(colors.high_percentile)}};
}

ordered_json map_to(const large::TopChoice& top) {
    return {{"skip_first_key", top.skip_first_key}, {"one_per_query", top.one_per_query}};
}

void map_from(Fields& fields, std::string_view key, large::TopChoice& top) {
    read_object(fields, key, [&](Fields& inner) {
        inner.read("skip_first_key", top.skip_first_key);
        inner.read("one_per_query", top.one_per_query);
    });
}

void map_from(Fields& fields, std::string_view key, large::Cell& cell) {
    read_object(fields, key, [&](Fields& inner) {
        inner.need_index("row", cell.row);
        inner.need_index("column", cell.column);
    });
}

void map_from(Fields& fields, std::string_view key, large::Head& head) {
    read_object(fields, key, [&](Fields& inner) {
        inner.read_index("b", head.b);
        inner.read_index("h", head.h);
    });
}

void map_from(Fields& fields, std::string_view key, large::Search& search) {
    read_object(fields, key, [&](Fields& inner) {
        inner.read_name("of", search.of, kSearchNames);
        inner.need_index("index", search.index);
    });
}

void map_from(Fields& fields, std::string_view key, std::optional<large::Search>& search) {
    read_maybe(fields, key, search);
}

void map_from(Fields& fields, std::string_view key, MapCamera& camera) {
    read_object(fields, key, [&](Fields& inner) {
        inner.need("row", camera.row);
        inner.need("column", camera.column);
        inner.need("cells_per_unit", camera.cells_per_unit);
        check_camera(inner, camera);
    });
}

void map_from(Fields& fields, std::string_view key, MapColors& colors) {
    read_object(fields, key, [&](Fields& inner) {
        inner.read_name("pooling", colors.pooling, kPoolingNames);
        inner.read("log_scale", colors.log_scale);
        inner.read("low_percentile", colors.low_percentile);
        inner.read("high_percentile", colors.high_percentile);
        check_colors(inner, colors);
    });
}

ordered_json large_to(const LargeLook& look) {
    ordered_json large{{"draft", map_to(look.draft)},
                       {"camera", map_to(look.camera)},
                       {"fitted", look.fitted},
                       {"picture", kMapPictureNames[static_cast<std::size_t>(look.picture)]},
                       {"colors", map_to(look.colors)},
                       {"top", map_to(look.top)}};
    if (look.go_to_open) large["go_to"] = look.go_to_draft;
    if (look.full_pass) large["full_pass"] = *look.full_pass;
    if (look.selected) large["selected"] = map_to(*look.selected);
    if (look.search) large["search"] = map_to(*look.search);
    return large;
}

void read_large(Fields& fields, LargeLook& look) {
    map_from(fields, "draft", look.draft);
    map_from(fields, "camera", look.camera);
    fields.read("fitted", look.fitted);
    fields.read_name("picture", look.picture, kMapPictureNames);
    map_from(fields, "colors", look.colors);
    map_from(fields, "top", look.top);
    look.go_to_open = fields.find("go_to") != nullptr;
    fields.read("go_to", look.go_to_draft);
    if (fields.find("full_pass") != nullptr) fields.read("full_pass", look.full_pass.emplace());
    read_maybe(fields, "selected", look.selected);
    read_maybe(fields, "search", look.search);
}

}  // namespace attn::view
