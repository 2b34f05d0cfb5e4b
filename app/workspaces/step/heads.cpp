#include "app/workspaces/step/heads.h"

#include <bit>

#include <fmt/format.h>

#include "app/common/color_look.h"
#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/row_range.h"
#include "app/common/state.h"
#include "app/workspaces/step/grids.h"
#include "app/workspaces/step/predict.h"
#include "app/workspaces/step/view.h"
#include "core/metrics.h"
#include "core/rng.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// One head of one stage, or of its gradient. It shares what it is of: a picture may be painted after the state has gone on.
struct OneHead {
    std::shared_ptr<const Document> document;
    std::shared_ptr<const Trace> trace;
    Stage stage = Stage::weights;
    Index batch = 0;
    Index head = 0;
    bool by_row = false;    // each row has colours of its own
    bool gradient = false;  // `trace` holds gradients
    ColorLook look = {};

    Index part() const {  // along the stage's own head axis
        const Dimensions& size = document->size;
        if (info(stage).heads != HeadAxis::key_value || size.kv_heads == 0) return head;
        return head / std::max<Index>(size.heads / size.kv_heads, 1);
    }
    MatrixView<const float> values() const {
        const Tensor& tensor = (*trace)[stage];
        const Shape& shape = tensor.shape();
        return tensor.matrix(std::min(batch, shape.b - 1), std::min(part(), shape.h - 1));
    }
};

/// Values, or gradients where the canvas shows them.
std::shared_ptr<const Trace> shown_trace(const AppState& state) {
    return state.show_gradients ? state.gradients.trace() : state.trace;
}

/// The stage whose matrices are drawn: the one on the canvas, and where that joins the heads, their weights.
/// nullopt: nothing of a single head is known yet.
std::optional<Stage> pictured_stage(const AppState& state) {
    const Stage shown = state.stage;
    const Stage stage = shown == Stage::output ? weight_stage(state.document()) : shown;
    if (info(stage).heads == HeadAxis::none || (*shown_trace(state))[stage].empty())
        return std::nullopt;
    return stage;
}

IsMasked hidden_of(const OneHead& one) {
    return one.gradient ? hidden_gradients(*one.document, one.stage, one.batch, one.head)
                        : hidden_pairs(*one.document, one.stage, one.batch, one.head);
}

ColorScale colors_of(const OneHead& one) {
    return one.gradient ? ColorScale::diverging : info(one.stage).colors;
}

/// Row after row: a tensor's matrix has no gaps.
std::span<const float> entries_of(const MatrixView<const float>& matrix) {
    return {matrix.data, static_cast<std::size_t>(matrix.rows * matrix.columns)};
}

/// As the canvas colours the cells of that head: one pixel a cell.
Image paint(const OneHead& one, ThemeName name) {
    const MatrixView<const float> matrix = one.values();
    const IsMasked hidden = hidden_of(one);
    ColorRange whole = with_look(range_of(colors_of(one), entries_of(matrix)), one.look);
    const double reach =
        one.gradient ? 0.0 : score_reach(*one.trace, one.stage, one.batch, one.head);
    if (reach > whole.high) whole.low = -reach, whole.high = reach;
    Image image{static_cast<int>(matrix.columns), static_cast<int>(matrix.rows), {}};
    std::size_t n = 0;
    for (Index i = 0; i < matrix.rows; ++i) {
        const ColorRange range = one.by_row ? range_of_row(whole, matrix.row(i)) : whole;
        for (const float value : matrix.row(i)) {
            Color color = std::isnan(value) ? theme(name).nan : color_of(range, value, name);
            if (!hidden.empty() && hidden[n++] != 0) color = theme(name).masked;
            image.rgba.insert(image.rgba.end(), {color.r, color.g, color.b, color.a});
        }
    }
    return image;
}

/// A hash of everything that decides the pixels.
std::uint64_t key_of(const OneHead& one, ThemeName name) {
    const MatrixView<const float> matrix = one.values();
    std::uint64_t key = hash_text("head");
    const auto add = [&](Index part) { key = mix(key, static_cast<std::uint64_t>(part)); };
    add(static_cast<Index>(one.stage));
    add(static_cast<Index>(name));
    add(matrix.columns);
    add(one.by_row ? 1 : 0);
    add(static_cast<Index>(one.look.map));
    add(one.look.to_one ? 1 : 0);
    add(one.gradient ? 1 : 0);
    for (const float value : entries_of(matrix)) add(std::bit_cast<std::uint32_t>(value));
    for (const std::uint8_t hidden : hidden_of(one)) add(hidden);
    return key;
}

/// What a person calls it: "weights", "scores", "Q", "∂L/∂A".
std::string text_for(Stage stage, bool gradient) {
    if (gradient) return "∂L/∂" + name_of(stage);
    if (stage == Stage::weights) return "weights";
    if (stage == Stage::dropped) return "weights after dropout";
    return name_of(stage);
}

std::vector<float> sizes_of(std::span<const float> values) {
    std::vector<float> sizes(values.begin(), values.end());
    for (float& value : sizes) value = std::abs(value);
    return sizes;
}

/// "largest in weights: 97.1 % at golden → my".
std::string strongest_text(const OneHead& one) {
    const MatrixView<const float> matrix = one.values();
    const std::span<const float> values = entries_of(matrix);
    const auto not_numbers =
        std::ranges::count_if(values, [](float value) { return std::isnan(value); });
    if (not_numbers == std::ssize(values)) return "All numbers of this head are NaN.";
    const Document& document = *one.document;
    const std::vector<float> sizes = one.gradient ? sizes_of(values) : std::vector<float>();
    const std::span<const float> compared = one.gradient ? std::span(sizes) : values;
    const Index best = largest_entry(compared);
    const double value = values[best];
    const bool weighs =
        !one.gradient && (one.stage == Stage::weights || one.stage == Stage::dropped);
    std::string text = fmt::format(
        "largest {}in {}: {} at [{}, {}]", one.gradient ? "magnitude " : "number ",
        text_for(one.stage, one.gradient), weighs ? percent(value) : number(value),
        axis_label(document, info(one.stage).rows, best / matrix.columns, one.batch),
        axis_label(document, info(one.stage).columns, best % matrix.columns, one.batch));
    const auto ties = std::ssize(largest_places(compared, kTied)) - 1;
    if (ties > 0) text += fmt::format(", and {} as large", counted(ties, "other"));
    if (not_numbers > 0)
        text += fmt::format("; {} {} NaN", counted(not_numbers, "number"),
                            not_numbers == 1 ? "is" : "are");
    return text;
}

HeadPicture picture_of(const AppState& state, std::optional<Stage> stage, Index head) {
    HeadPicture picture;
    picture.head = head;
    picture.title = fmt::format("H{}", head);
    picture.shown = head == state.head;
    const auto& names = state.document().head_names;
    if (head < std::ssize(names)) picture.name = names[head];
    picture.tooltip = "Click to show this head on the canvas.";
    if (!stage) return picture;
    OneHead one{state.shared_document(), shown_trace(state), *stage, state.batch, head};
    one.gradient = state.show_gradients;
    one.look = color_look(state);
    one.by_row = colors_of(one) == ColorScale::unit && step_look(state).rows_scaled;
    picture.drawn = true;
    picture.tooltip = strongest_text(one);
    picture.picture = {key_of(one, state.theme),
                       [one, name = state.theme] { return paint(one, name); }};
    return picture;
}

}  // namespace

HeadsView build_heads_view(const AppState& state) {
    HeadsView view;
    const Dimensions& size = state.document().size;
    if (size.heads < 2 || !step_missing_data(state).empty()) return view;
    const auto stage = is_guessing(state) ? std::nullopt : pictured_stage(state);
    view.batch = state.batch;
    if (stage) {
        const Shape& shape = (*shown_trace(state))[*stage].shape();
        view.rows = shape.t;
        view.columns = shape.d;
        view.caption = text_for(*stage, state.show_gradients);
    }
    for (Index head = 0; head < size.heads; ++head)
        view.heads.push_back(picture_of(state, stage, head));
    return view;
}

}  // namespace attn::view
