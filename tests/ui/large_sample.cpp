#include "tests/ui/large_sample.h"

#include <cmath>

#include "app/common/keys.h"
#include "app/common/map/camera.h"
#include "core/large/map_input.h"
#include "core/tensor.h"

namespace attn::test {
namespace {

using view::Color, view::LargeView, view::MapLook, view::PixelRect;

constexpr Color kInk{20, 20, 30, 255};

Color ramp(double t) {
    const auto channel = [](double value) { return static_cast<std::uint8_t>(255.0 * value); };
    return {channel(t), channel(t * t * 0.8), channel(0.25 + 0.3 * t * (1.0 - t)), 255};
}

/// A band and a sink, in any number of pixels.
view::Image paint(int side) {
    view::Image image{side, side, {}};
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
            const double band = std::exp(-std::abs(x - y) * 24.0 / side);
            const Color c = ramp(x < 2 ? 0.9 : band);
            image.rgba.insert(image.rgba.end(), {c.r, c.g, c.b, c.a});
        }
    return image;
}

PixelRect whole_matrix(const MapLook& look) {
    const auto size = static_cast<double>(look.size.columns);
    const view::MapCamera camera = view::shown_camera(look);
    const double scale = look.canvas.scale / camera.cells_per_unit;
    const double left = look.canvas.width / 2 - camera.column * scale;
    const double top = look.canvas.height / 2 - camera.row * scale;
    return {left, top, left + size * scale, top + size * scale};
}

void add_settings(LargeView& view) {
    view.pooling_names = {"mean", "max", "log-mean"};
    view.pooling = 1;
    view.percentile_names = {"99 %", "99.9 %", "all"};
    view.percentile_colors = {{large::Pooling::max, true, 1.0, 99.0},
                              {large::Pooling::max, true, 1.0, 99.9},
                              {large::Pooling::max, true, 0.0, 100.0}};
    view.percentile = 1;
    view.size_names = {"4,096", "131,072", "1,048,576"};
    view.sizes = {4096, 131072, 1048576};
    view.size = 1;
    view.draft.tokens = 131072;
    view.heads = {"head 0", "head 1"};
    view.head_refs = {{0, 0}, {0, 1}};
}

view::MapProfile profile(const PixelRect& matrix, bool rows) {
    view::MapProfile made{"mean weight received", "mean weight", "(1/n) Σ_i a_ij", {}, {}, "0.013"};
    const double from = std::max(0.0, rows ? matrix.top : matrix.left);
    const double to = std::min(1000.0, rows ? matrix.bottom : matrix.right);
    for (double at = from; at < to; at += 2.0) {
        const double share = 0.3 + 0.3 * std::sin(at / 40.0);
        made.bars.push_back(rows ? PixelRect{0, at, share, at + 2}
                                 : PixelRect{at, 0, at + 2, share});
    }
    return made;
}

view::MapLegend legend() {
    view::MapLegend made;
    made.title = "largest weight of 256 × 256 cells";
    for (int n = 0; n <= 16; ++n) made.colors.push_back(ramp(n / 16.0));
    made.ticks = {{0.0, "7.6·10⁻⁶"}, {0.25, "10⁻⁵"}, {0.5, "10⁻³"}, {0.75, "0.1"}, {1.0, "1"}};
    made.masked = "masked";
    made.masked_color = {23, 28, 35, 255};
    made.note = "1 % to 99.9 % of the texels in view, log scale";
    return made;
}

view::RooflineView roofline() {
    return {true,
            236.0,
            18.4,
            {{"exact pass", 410.0, 192.0}, {"preview", 120.0, 150.0}},
            "192 of 236 GFLOP/s: 81.4 % of the peak",
            "2 · pairs · d_k FLOP over the time"};
}

LargeView shown(const MapLook& look) {
    LargeView view;
    view.empty = false;
    view.title = "131,072 × 131,072, generated, seed 1";
    view.matrix = whole_matrix(look);
    view.pictures = {{view.matrix, 1, [] { return paint(256); }}};
    view.row_title = "query i";
    view.column_title = "key j";
    view.row_profile = profile(view.matrix, true);
    view.column_profile = profile(view.matrix, false);
    view.legend = legend();
    view.roofline = roofline();
    view.minimap.picture = view::MapPicture{view.matrix, 2, [] { return paint(128); }};
    view.minimap.view = {0.0, 0.0, 1.0, 1.0};
    view.zoom_text = "1 px = 187.2 × 187.2 cells";
    add_settings(view);
    view.has_needle = true;
    view.top_title = "strongest cells in view";
    for (Index n = 0; n < 10; ++n) view.top.push_back({{70001 + n, n}, "70,001 → 5", "0.7312"});
    view.inspector.hint = "Click a cell to see how its weight comes about.";
    view.bottom_line = "preview in 0.6 s";
    return view;
}

view::InspectorView arithmetic() {
    view::InspectorView view;
    view.empty = false;
    view.title = "A[70,001, 5]";
    view.value = "0.7312";
    view.role = Role::weight;
    view.lines = {{"÷ √d_k", {{"66.21 ÷ √64 = 8.2763", Role::score, false, std::nullopt}}},
                  {"exp(S − logsumexp)",
                   {{"exp(8.2763 − 8.5894) = 0.7312", Role::weight, false, std::nullopt}}}};
    return view;
}

std::string longer(const std::string& text) { return text + " " + std::string(200, 'w'); }

}  // namespace

MapLook sample_look(Index tokens) {
    MapLook look;
    auto input = std::make_shared<large::MapInput>();
    input->source.size.batch = input->source.size.heads = input->source.size.kv_heads = 1;
    input->source.size.tq = input->source.size.tk = tokens;
    input->source.size.d_k = 64;
    input->source.q = input->source.k = std::make_shared<const Tensor>(Shape{1, 1, 1, 1});
    look.input = std::move(input);
    look.size = {tokens, tokens};
    look.canvas = {1000.0, 700.0, 1.0};
    return look;
}

void look_at(MapLook& look, const view::MapCamera& camera) {
    look.camera = camera;
    look.fitted = false;
}

LargeView sample_empty_map() {
    LargeView view;
    view.hint = "Open a file with Q and K, or generate a matrix.";
    add_settings(view);
    return view;
}

LargeView sample_loading_map() {
    LargeView view = sample_empty_map();
    view.empty = false;
    view.loading = true;
    view.title = "131,072 × 131,072, generated, seed 1";
    view.hint = "making Q and K";
    return view;
}

LargeView sample_faulty_map() {
    LargeView view = sample_empty_map();
    view.fault = "heads.npz: Q has 64 columns and K has 32; expected equal widths";
    return view;
}

LargeView sample_overview(const MapLook& look) {
    LargeView view = shown(look);
    view.quality = "sampled preview";
    view.sampled = true;
    for (int n = 0; n <= 8; ++n) {
        const double share = n / 8.0;
        const std::string label = std::to_string(16384 * n / 1000) + "," + "384";
        view.column_ruler.push_back(
            {view.matrix.left + share * (view.matrix.right - view.matrix.left), label, n % 4 == 0});
        view.row_ruler.push_back(
            {view.matrix.top + share * (view.matrix.bottom - view.matrix.top), label, n % 4 == 0});
    }
    view.marks = {{310.0, 420.0, "needle"}};
    view.pass = {"sampled: 3,576 of 131,072 rows",
                 "standard error of a texel: median 3 %, 95 % of them below 11 %",
                 0.0,
                 false,
                 true,
                 false,
                 "exact pass: about 13 s"};
    return view;
}

LargeView sample_close_up(const MapLook& look) {
    MapLook close = look;
    look_at(close, {70001.5, 5.5, 1.0 / 48.0});
    LargeView view = shown(close);
    view.quality = "exact";
    view.pass = {"exact overview: done in 13.1 s", "", 1.0, true, false, false, ""};
    for (int row = 0; row < 14; ++row)
        for (int column = 0; column < 10; ++column) {
            const PixelRect where{476.0 + 48 * (column - 5), 326.0 + 48.0 * (row - 7),
                                  524.0 + 48 * (column - 5), 374.0 + 48.0 * (row - 7)};
            view.figures.push_back({where, "0.0312", kInk});
            if (column == 0) view.row_ruler.push_back({where.top + 24, "the#70,001", row == 7});
            if (row == 0) view.column_ruler.push_back({where.left + 24, "the#5", column == 5});
        }
    view.selected = PixelRect{476, 326, 524, 374};
    view.hovered = PixelRect{524, 326, 572, 374};
    view.hover_text = "query 70,001 (doc 12) → key 6: 0.0312";
    view.marks = {{500.0, 350.0, "needle"}};
    view.minimap.view = {0.0, 0.533, 0.0002, 0.534};
    view.zoom_text = "1 cell = 48 px";
    view.inspector = arithmetic();
    view.found_title = "Queries that attend to key 5: Σ of the column = 40,113.2";
    view.found = view.top;
    return view;
}

LargeView with_long_words(LargeView view) {
    for (std::string* text :
         {&view.hint, &view.title, &view.quality, &view.zoom_text, &view.hover_text,
          &view.row_title, &view.column_title, &view.legend.title, &view.legend.note,
          &view.legend.masked, &view.pass.text, &view.pass.detail, &view.pass.start_text,
          &view.roofline.text, &view.go_to_fault, &view.top_title, &view.found_title,
          &view.needle_reason, &view.bottom_line})
        *text = longer(*text);
    for (view::RulerMark& mark : view.row_ruler) mark.label = longer(mark.label);
    for (view::RulerMark& mark : view.column_ruler) mark.label = longer(mark.label);
    for (view::StrongCell& cell : view.top) cell.text = longer(cell.text);
    for (view::MapMark& mark : view.marks) mark.label = longer(mark.label);
    view.row_profile->title = longer(view.row_profile->title);
    return view;
}

}  // namespace attn::test
