#include "app/workspaces/step/draw/layout.h"

#include "app/common/draw/axis_labels.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kLayoutGap = 8.0F;
// A cell of the hero at most: this, or this part of a large canvas.
constexpr float kWidestCell = 160.0F, kWiderCell = 0.25F;
constexpr float kHighestCell = 128.0F, kHigherCell = 0.2F;
constexpr float kArmCellWidth = 0.4F, kArmCellHeight = 0.25F;  // of an arm, at most: of the hero's
constexpr float kHighestRow = 28.0F;                           // one row above a matrix
constexpr float kLegend = 36.0F;
constexpr float kRightTitle = 40.0F;  // height above a matrix there
constexpr float kMostLabels = 176.0F;
constexpr float kLabelAir = 6.0F;  // a figure's words are a little wider than the screen's

constexpr float kLeastArm = 0.12F;    // of the canvas
constexpr float kLeftArm = 0.16F;     // of its width
constexpr float kLeastAbove = 28.0F;  // two rows with their names
constexpr float kRowAbove = 0.7F;     // of the hero's, of so few
constexpr Index kFewRows = 8;
constexpr float kFewTokens = 3.0F;
constexpr float kMostArm = 0.2F;
constexpr float kMostAspect = 1.6F;  // of a cell: width to height
constexpr float kLowAspect = 2.5F;   // of one that is low, while its number asks for the width
constexpr float kNumbered = 41.0F;
constexpr float kLabelled = 12.0F;  // a column that its label, upright, has room above
constexpr float kLowCanvas = 300.0F;
constexpr float kLowLegend = 34.0F;
constexpr float kWholePixels = 16.0F;

// For weights, which have the sentence above their columns.
constexpr float kArcs = 80.0F, kFigureArcs = 48.0F, kLowestArcs = 32.0F;
constexpr float kBars = 52.0F, kLowestBars = 44.0F;      // their numbers are clear of the mark at 1
constexpr float kArcsShare = 0.09F, kBarsShare = 0.06F;  // of a high canvas
constexpr float kLowBars = 0.1F;                         // of the canvas
constexpr float kLeastRows = 0.42F, kMostRows = 0.5F;    // of it: the matrix, before words and arcs
constexpr float kReadableRow = 12.8F;                    // whose label needs no second column
constexpr std::size_t kMostOfArcs = 20;                  // tokens: of more the matrix comes first
constexpr float kEvenness = 92.0F;
constexpr float kWordAspect = 1.9F;
constexpr float kLevelAspect = 4.0F;  // at most, for the sake of level words

/// How many there are, one at least.
template <class Count>
float some(Count count) {
    return static_cast<float>(std::max<Count>(count, 1));
}

/// The scores' own shape: one row a query, one column a key.
struct Tokens {
    float queries, keys;
};

/// Whole pixels while there are enough.
float whole(float cell, const Frame& frame) {
    return cell < frame.px(kWholePixels) ? cell : std::floor(cell);
}

/// The matrix has only bars above its columns, which are words.
bool is_of_text(const StepView& view) { return !view.sentence.empty(); }

/// The aspect of a cell, and the pitch of columns that level words ask for.
struct Wanted {
    float aspect, pitch;
};

/// Wider than high rather than small: figures are.
float widest_cell(float height, const Wanted& wanted, const Frame& frame) {
    const float level = wanted.pitch <= height * kLevelAspect ? wanted.pitch : 0.0F;
    return std::max({height * wanted.aspect, std::min(height * kLowAspect, frame.px(kNumbered)),
                     frame.px(kLabelled), level});
}

ImVec2 largest_cell(ImVec2 available, const Frame& frame) {
    return {std::max(frame.px(kWidestCell), available.x * kWiderCell),
            std::max(frame.px(kHighestCell), available.y * kHigherCell)};
}

ImVec2 hero_cell(ImVec2 space, ImVec2 largest, Tokens tokens, const Wanted& wanted,
                 const Frame& frame) {
    const float height = std::min(space.y / tokens.queries, largest.y);
    const float width = std::min(space.x / tokens.keys, largest.x);
    return {whole(std::min(width, widest_cell(height, wanted, frame)), frame),
            whole(std::min(height, width), frame)};
}

/// As wide as the scores, so that all stages look alike; with few tokens, wide enough for numbers of more columns.
float hero_width(const StepView& view, float cell, Tokens tokens, float space, const Frame& frame) {
    const float scores = cell * tokens.keys;
    if (tokens.keys > kFewTokens) return scores;
    const Index columns = std::max(view.controls.d_model, view.controls.d_k);
    return std::max(scores, std::floor(std::min(frame.px(kNumbered) * some(columns), space)));
}

float label_width(const StepView& view, const Frame& frame, float pitch) {
    const float queries = row_labels_width({view.queries, pitch, Role::query, {}, {}}, frame);
    const float keys = row_labels_width({view.keys, pitch, Role::key, {}, {}}, frame);
    return std::min(std::max(queries, keys) + frame.px(kLabelAir), frame.px(kMostLabels));
}

/// What surrounds the hero: an arm at the left, one above, and above that the words with arcs, or the labels.
struct Around {
    ImVec2 arms;
    float arcs = 0.0F;
    bool of_text = true;
};

/// Of column labels, or of words and arcs.
float head_height(const StepView& view, const CanvasLayout& layout, float pitch,
                  const Frame& frame) {
    if (layout.chips == ChipForm::none)
        return column_labels_height({view.keys, pitch, Role::key, {}, {}}, frame);
    return layout.chip + layout.arcs + frame.px(kLayoutGap);
}

/// The boxes inside these; the space of the labels depends on the cells, and the cells on it.
CanvasLayout fit(const StepView& view, const Frame& frame, ImVec2 available, const Around& around) {
    CanvasLayout layout;
    layout.largest = largest_cell(available, frame);
    layout.arms = around.arms;
    layout.arcs = around.arcs;
    const bool of_text = around.of_text && view.keys.size() <= kMostChips;
    const Wanted wanted{of_text ? kWordAspect : kMostAspect,
                        of_text ? std::ceil(level_pitch(view.keys, frame)) : 0.0F};
    const float right = frame.px(kEvenness);
    layout.right = right > available.x * kMostArm ? 0.0F : right;  // or it is not drawn
    layout.legend = frame.px(available.y < frame.px(kLowCanvas) ? kLowLegend : kLegend);
    const float gap = frame.px(kLayoutGap);
    const Tokens tokens{some(view.queries.size()), some(view.keys.size())};
    ImVec2 cell = layout.largest, space;
    for (int pass = 0; pass < 4; ++pass) {
        layout.chips = of_text ? chip_form(view.keys, cell.x, frame) : ChipForm::none;
        layout.chip = chip_height(view.keys, layout.chips, frame);
        const float head = head_height(view, layout, cell.x, frame);
        // Narrower cells turn the labels more: at the end their room does not shrink again.
        layout.head = pass < 2 ? head : std::max(layout.head, head);
        layout.labels = label_width(view, frame, cell.y);
        space = {
            std::max(available.x - layout.labels - layout.arms.x - layout.right - 2 * gap, 1.0F),
            std::max(available.y - layout.head - layout.arms.y - layout.legend - gap, 1.0F)};
        cell = hero_cell(space, layout.largest, tokens, wanted, frame);
    }
    layout.hero.low = {layout.labels + layout.arms.x + gap, layout.head + layout.arms.y + gap};
    layout.hero.high = {layout.hero.low.x + hero_width(view, cell.x, tokens, space.x, frame),
                        layout.hero.low.y + cell.y * tokens.queries};
    return layout;
}

void move_by(CanvasLayout& layout, ImVec2 by) {
    for (ImVec2* corner : {&layout.hero.low, &layout.hero.high})
        *corner = {std::floor(corner->x + by.x), std::floor(corner->y + by.y)};
}

/// The sentence, the bars of one row and the matrix: one above the other, on one axis. In a low window the bars give way
/// first, whose numbers are those of the row, then the arcs are lower; many tokens have no arcs.
CanvasLayout fit_sentence(const StepView& view, const Frame& frame, ImVec2 available, float arm) {
    const bool few = view.keys.size() <= kMostOfArcs;
    const float rows = frame.px(kReadableRow) * some(view.queries.size());
    const float least =
        within(rows, kLeastRows * available.y, (few ? kMostRows : 1.0F) * available.y);
    const auto missing = [&](const CanvasLayout& layout) {
        return least - (available.y - layout.legend - layout.hero.low.y);
    };
    const float most = std::max(frame.px(kBars), available.y * kBarsShare);
    const float height = std::min(most, available.y * kLowBars);
    const ImVec2 bars{arm, height < frame.px(kLowestBars) ? 0.0F : height};
    const ImVec2 none{arm, 0.0F};
    float arcs = frame.is_canvas_alone() ? frame.px(kFigureArcs)
                                         : std::max(frame.px(kArcs), available.y * kArcsShare);
    CanvasLayout layout = fit(view, frame, available, {bars, arcs});
    if (few && missing(layout) > 0.0F) layout = fit(view, frame, available, {none, arcs});
    if (const float excess = missing(layout); excess > 0.0F) {
        arcs = few && arcs - excess >= frame.px(kLowestArcs) ? arcs - excess : 0.0F;
        layout = fit(view, frame, available, {few ? none : bars, arcs});
    }
    return layout;
}

/// The height of an arm above whose few rows, of K and V, are not much lower than the hero's.
float least_above(const StepView& view, const CanvasLayout& layout, const Frame& frame,
                  ImVec2 available) {
    const float most = available.y * kMostArm;
    const float least = std::max(available.y * kLeastArm, std::min(frame.px(kLeastAbove), most));
    if (view.controls.d_k > kFewRows) return least;
    const float pitch = layout.hero.size().y / some(view.queries.size());
    return within(kRowAbove * pitch * some(view.controls.d_k), least, most);
}

/// A picture on paper is of one stage, and a low canvas has no space for others: only what surrounds this matrix.
CanvasLayout fit_stage(const StepView& view, const Frame& frame, ImVec2 available) {
    if (is_of_text(view)) return fit_sentence(view, frame, available, 0.0F);
    if (view.operands.empty()) return fit(view, frame, available, {{}, 0.0F, false});
    const Around least{{available.x * kLeastArm, available.y * kLeastArm}, 0.0F, false};
    const bool top = std::ranges::count(view.operands, Slot::top, &GridView::slot) > 0;
    const float above =
        top ? least_above(view, fit(view, frame, available, least), frame, available) : 0.0F;
    return fit(view, frame, available, {{least.arms.x, above}, 0.0F, false});
}

/// Of every stage the same box: above it is space for the words, arcs and bars of the weights, or for the labels and the
/// arm of other stages, and at its left for the arm.
CanvasLayout fit_stages(const StepView& view, const Frame& frame, ImVec2 available) {
    const bool narrow = available.x < frame.px(kNarrowCanvas);
    const float arm = narrow ? 0.0F : available.x * kLeftArm;
    CanvasLayout layout = fit_sentence(view, frame, available, arm);
    const auto labels = [&] {
        const float pitch = layout.hero.size().x / some(view.keys.size());
        return column_labels_height({view.keys, pitch, Role::key, {}, {}}, frame);
    };
    const float gap = frame.px(kLayoutGap);
    const float above = layout.hero.low.y - gap;
    const float missing =
        narrow ? 0.0F : labels() + gap + least_above(view, layout, frame, available) - above;
    if (missing > 0.0F) {
        const bool arcs = layout.chips != ChipForm::none && layout.arcs > 0.0F;
        layout = fit(view, frame, available,
                     {{arm, layout.arms.y + (arcs ? 0.0F : missing)},
                      layout.arcs + (arcs ? missing : 0.0F)});
    }
    if (is_of_text(view)) return layout;
    layout.chips = ChipForm::none;
    layout.arcs = 0.0F;
    layout.head = labels();
    layout.arms.y = std::max(layout.hero.low.y - gap - layout.head, 0.0F);
    return layout;
}

/// The left arm takes the width that large cells leave, up to a fifth; the rest is spread evenly around.
CanvasLayout boxes_of(const StepView& view, const Frame& frame, ImVec2 available) {
    const bool alone = frame.is_canvas_alone() || available.y < frame.px(kLowCanvas);
    CanvasLayout layout =
        alone ? fit_stage(view, frame, available) : fit_stages(view, frame, available);
    const auto spare = [&] {
        return std::max(available.x - layout.hero.high.x - layout.right - frame.px(kLayoutGap),
                        0.0F);
    };
    if (layout.arms.x > 0.0F) {
        const float wider =
            std::min(spare(), std::max(available.x * kMostArm - layout.arms.x, 0.0F));
        layout.arms.x += wider;
        move_by(layout, {wider, 0.0F});
    }
    const float aside = std::floor(spare() / 2);
    move_by(layout, {aside, 0.0F});
    if (!is_of_text(view)) layout.right = available.x - layout.hero.high.x;
    return layout;
}

/// A matrix that fills the hero's box, or as much of it as its shape asks for.
GridPlace in_hero(const GridView& grid, const Box& hero, ImVec2 largest) {
    const ImVec2 space{hero.high.x - hero.low.x, hero.high.y - hero.low.y};
    return {hero.low,
            {std::min(space.x / some(grid.columns), largest.x),
             std::min(space.y / some(grid.rows), largest.y)}};
}

/// The matrices of one slot, nearest to the hero last, as drawn from the outside in.
std::vector<std::size_t> in_slot(const StepView& view, Slot slot) {
    std::vector<std::size_t> found;
    for (std::size_t n = 0; n < view.operands.size(); ++n)
        if (view.operands[n].slot == slot) found.push_back(n);
    return found;
}

void place_left(const StepView& view, const Frame& frame, float row_height, CanvasLayout& layout) {
    const std::vector<std::size_t> left = in_slot(view, Slot::left);
    if (left.empty()) return;
    const float gap = frame.px(kLayoutGap);
    const auto count = static_cast<float>(left.size());
    const float each = (layout.arms.x - gap * (count - 1)) / count;
    float right = layout.hero.low.x - gap;
    for (auto n = left.rbegin(); n != left.rend(); ++n) {
        const GridView& grid = view.operands[*n];
        const float width = std::min(each / some(grid.columns), layout.largest.x * kArmCellWidth);
        right -= width * static_cast<float>(grid.columns);
        layout.operands[*n] = {{std::floor(right), layout.hero.low.y}, {width, row_height}};
        right -= gap;
    }
}

float row_height_above(const GridView& grid, float space, float largest, const Frame& frame) {
    if (grid.as_bars) return space;
    const float most = grid.rows == 1 ? frame.px(kHighestRow) : largest * kArmCellHeight;
    return std::min(space / some(grid.rows), most);
}

/// Bars take the space that the rows leave.
void place_top(const StepView& view, const Frame& frame, const GridPlace& hero, const GridView& in,
               CanvasLayout& layout) {
    const std::vector<std::size_t> top = in_slot(view, Slot::top);
    if (top.empty()) return;
    const float gap = frame.px(kLayoutGap) / 2;
    const auto count = static_cast<float>(top.size());
    float space = layout.arms.y - gap * (count - 1);
    float rows = 0.0F;
    for (const std::size_t n : top)
        if (!view.operands[n].as_bars) rows += 1.0F;
    const float each = space / std::max(rows + (rows < count ? 1.0F : 0.0F), 1.0F);
    float bottom = layout.hero.low.y - frame.px(kLayoutGap);
    for (auto n = top.rbegin(); n != top.rend(); ++n) {
        const GridView& grid = view.operands[*n];
        const float share =
            grid.as_bars ? space - std::min(each, frame.px(kHighestRow)) * rows : each;
        const float height = row_height_above(grid, share, layout.largest.y, frame);
        bottom -= height * static_cast<float>(grid.rows);
        const float width = hero.cell.x * static_cast<float>(in.columns) / some(grid.columns);
        layout.operands[*n] = {{hero.origin.x, std::floor(bottom)}, {width, height}};
        bottom -= gap;
    }
}

GridPlace at_right(const GridView& grid, const CanvasLayout& layout, float row_height,
                   const Frame& frame) {
    const float width = std::min((layout.right - frame.px(kLayoutGap)) / some(grid.columns),
                                 layout.largest.x * kArmCellWidth);
    return {{layout.hero.high.x + frame.px(kLayoutGap), layout.hero.low.y}, {width, row_height}};
}

/// One below the other; a matrix of the hero's rows has them at the same height, one of parameters has square cells.
void place_right(const StepView& view, const Frame& frame, float row_height, CanvasLayout& layout) {
    const std::vector<std::size_t> right = in_slot(view, Slot::right);
    const float gap = frame.px(kRightTitle);
    const float space = layout.hero.high.y - layout.hero.low.y + gap;
    float top = layout.hero.low.y;
    for (const std::size_t n : right) {
        const float each = space / some(right.size()) - gap;
        const float height = std::min(row_height, each / some(view.operands[n].rows));
        layout.operands[n] = at_right(view.operands[n], layout, height, frame);
        GridPlace& place = layout.operands[n];
        place.origin.y = std::floor(top);
        if (std::holds_alternative<Param>(view.operands[n].id))  // it has none of the hero's rows
            place.cell.x = place.cell.y = std::min(place.cell.x, place.cell.y);
        top += each + gap;
    }
}

}  // namespace

CanvasLayout lay_out_canvas(const StepView& view, const Frame& frame, ImVec2 available) {
    CanvasLayout layout = boxes_of(view, frame, available);
    layout.operands.resize(view.operands.size());
    layout.result = in_hero(view.result, layout.hero, layout.largest);
    place_left(view, frame, layout.result.cell.y, layout);
    place_top(view, frame, layout.result, view.result, layout);
    place_right(view, frame, layout.result.cell.y, layout);
    return layout;
}

}  // namespace attn::ui
