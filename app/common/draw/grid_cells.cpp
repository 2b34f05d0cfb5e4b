#include "app/common/draw/grid_parts.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/typeset.h"
#include "app/common/format.h"
#include "app/common/number_style.h"

namespace attn::ui {
namespace {

constexpr float kFewDecimals = 44.0F;  // narrower cells show two decimals
constexpr Index kFew = 5;
constexpr Index kMany = 20;
constexpr float kCrowded = 32.0F;   // narrower cells of many show the largest alone
constexpr Index kLargestOfRow = 3;  // shown where not all numbers are
constexpr int kUsualChars = 6;      // "−0.603": large figures are of one size in all matrices
constexpr double kZeroInk = 0.6;    // of a ".00"
constexpr float kGapped = 5.0F;     // rows so high have gaps between them
constexpr float kThin = 2.0F;       // px: cells that are thinner are drawn as one picture
constexpr float kInfinity = 1.8F;   // its size relative to digits
constexpr double kHuge = 1e5;       // written as 1e30
constexpr double kOne = 1.0 + 1e-6;

constexpr float kHatch = 10.0F;         // design units between the lines of a masked cell
constexpr float kLeastHatched = 20.0F;  // smaller ones have their ground alone
constexpr double kHatchAlone = 0.4;     // how strong they are
constexpr double kHatchBehind = 0.18;   // behind a number, which they must not strike through

int cell_chars(std::string_view text) { return static_cast<int>(characters(text)); }

int chars_before_point(std::string_view text) { return cell_chars(text.substr(0, text.find('.'))); }

/// Where no number passes 1, and in a matrix of many rows or columns, a zero before every point adds nothing.
bool drops_zero(const GridView& grid) {
    return std::max(grid.rows, grid.columns) > kFew ||
           std::ranges::none_of(grid.cells, [](const CellView& cell) {
               return cell.look == CellLook::number && std::abs(cell.value) > kOne;
           });
}

/// How a number is written: decimals at most, and whether the zero before the point stands.
struct Spelling {
    int decimals = 0;
    bool zero = true;
};

std::string text_of(const GridView& grid, const CellView& cell, const Spelling& spelling) {
    if (cell.look != CellLook::number) return cell.text;
    std::string text = spelling.decimals >= grid.decimals
                           ? cell.text
                           : view::cell_number(cell.value, spelling.decimals);
    if (!spelling.zero) text = view::without_leading_zero(std::move(text));
    return grid.plus && cell.value > 0.0 ? "+" + text : text;
}

/// How the numbers of one grid are set: all on one decimal point.
struct NumberSetting {
    view::Font font;
    float char_width = 0.0F;
    int before = 0;           // characters before the point, at most
    int after = 0;            // from the point on, at most
    int text_chars = 0;       // characters of "NaN", "−∞", at most
    bool huge_apart = false;  // huge numbers among others: set by themselves
    Spelling spelling;
    bool fits = false;
};

bool is_huge(const CellView& cell) {
    return cell.look == CellLook::number && std::abs(cell.value) >= kHuge;
}

NumberSetting measure(const GridView& grid, const Spelling& spelling) {
    NumberSetting setting;
    setting.spelling = spelling;
    setting.huge_apart = std::ranges::any_of(grid.cells, [](const CellView& cell) {
        return cell.look == CellLook::number && !is_huge(cell);
    });
    for (const CellView& cell : grid.cells) {
        if (cell.look == CellLook::masked || (setting.huge_apart && is_huge(cell))) continue;
        if (cell.look != CellLook::number) {
            setting.text_chars = std::max(setting.text_chars, cell_chars(cell.text));
            continue;
        }
        const std::string text = text_of(grid, cell, spelling);
        const int before = chars_before_point(text);
        setting.before = std::max(setting.before, before);
        setting.after = std::max(setting.after, cell_chars(text) - before);
    }
    if (setting.before + setting.after == 0 && !grid.cells.empty()) setting.before = 3;  // "NaN"
    return setting;
}

view::Font smallest_digits(const Frame& frame) { return {Face::mono, frame.px(kLeastText)}; }

bool try_font(NumberSetting& setting, const Frame& frame, const view::Font& font, ImVec2 cell,
              float gap, int least_chars) {
    setting.font = font;
    setting.char_width = frame.text_width(font, "0");
    const int chars = std::max({setting.before + setting.after, setting.text_chars, least_chars});
    const float width = setting.char_width * static_cast<float>(chars);
    // a character of air: "1.5" beside "−1.5" must not read as a difference
    const float air = std::max(gap, setting.char_width);
    setting.fits = chars > 0 && width + air <= cell.x && font.px + 2.0F <= cell.y;
    return setting.fits;
}

/// As large and as exact as fits. One decimal says something only of numbers that pass 2; below, a colour without
/// a number says more than "0.0".
NumberSetting set_numbers(const GridView& grid, const GridPlace& place, const Frame& frame) {
    const Fonts& fonts = frame.fonts;
    const float gap = frame.px(4);
    const int full = grid.decimals;
    const int two = std::min(full, 2);
    const int one = grid.range.high >= 2.0 ? std::min(full, 1) : two;
    NumberSetting setting;
    const view::Font least =
        smallest_digits(frame);  // two of them at least: no cell is asked where they do not fit
    if (place.cell.y < least.px + 2.0F || place.cell.x < 2.5F * frame.text_width(least, "0"))
        return setting;
    const auto fits = [&](const view::Font& font, Spelling spelling, float space, int chars = 0) {
        setting = measure(grid, spelling);
        return try_font(setting, frame, font, place.cell, space, chars);
    };
    const bool spacious = place.cell.x >= frame.px(kFewDecimals);
    const bool zero = !drops_zero(grid);
    if (spacious && (fits(fonts.digits_large, {full, zero}, gap * 2, kUsualChars) ||
                     fits(fonts.digits_medium, {full, zero}, gap * 2, kUsualChars) ||
                     fits(fonts.digits, {full, zero}, gap * 2, kUsualChars) ||
                     fits(fonts.digits_small, {full, zero}, gap)))
        return setting;
    for (const view::Font& font : {view::Font(fonts.digits_small), smallest_digits(frame)})
        for (const Spelling spelling :
             {Spelling{two, zero}, {two, false}, {one, zero}, {one, false}})
            if (fits(font, spelling, gap / 2)) return setting;
    return setting;
}

/// The colour of a cell on its way from the previous stage.
Color fill_of(const GridCanvas& canvas, const Fade& fade, std::size_t n) {
    const Color base = canvas.frame.theme.background;
    const Color to = canvas.grid.cells[n].fill;
    const Color from = fade.previous ? fade.previous->cells[n].fill : base;
    return fade.fade < 1.0 ? blend(from, to, fade.fade) : to;
}

void fill_cell(const GridCanvas& canvas, const Fade& fade, std::size_t n, ImVec2 low) {
    const ImVec2 cell = canvas.place.cell;
    const float gap = cell.x >= canvas.frame.px(14) ? canvas.frame.px(1) : 0.0F;
    const bool low_rows = cell.y < canvas.frame.px(kGapped);  // gaps would be all that is seen
    const ImVec2 high{low.x + cell.x - gap, low.y + cell.y - (low_rows ? 0.0F : gap)};
    canvas.frame.painter.rect(low, high, fill_of(canvas, fade, n));
}

Image picture(const GridCanvas& canvas, const Fade& fade) {
    Image image{static_cast<int>(canvas.grid.columns), static_cast<int>(canvas.grid.rows), {}};
    image.rgba.reserve(canvas.grid.cells.size() * 4);
    for (std::size_t n = 0; n < canvas.grid.cells.size(); ++n) {
        const Color c = fill_of(canvas, fade, n);
        image.rgba.insert(image.rgba.end(), {c.r, c.g, c.b, c.a});
    }
    return image;
}

/// FNV-1a: names the pixels for the texture cache.
std::uint64_t content_key(const Image& image) {
    std::uint64_t key = 14695981039346656037ULL ^ static_cast<std::uint64_t>(image.width);
    for (const std::uint8_t byte : image.rgba) key = (key ^ byte) * 1099511628211ULL;
    return key;
}

void fill_picture(const GridCanvas& canvas, const Fade& fade) {
    const Image image = picture(canvas, fade);
    canvas.frame.painter.image({content_key(image), [&] { return image; }}, canvas.place.origin,
                               canvas.end());
}

void draw_cross(Painter& painter, ImVec2 low, ImVec2 size, Color color, float thickness) {
    painter.line(low, {low.x + size.x, low.y + size.y}, color, thickness);
    painter.line({low.x + size.x, low.y}, {low.x, low.y + size.y}, color, thickness);
}

/// Masked: hatched. NaN: crossed in its own colour. −∞: a frame. 0 is a plain cell.
void draw_look(const GridCanvas& canvas, const CellView& cell, ImVec2 low, bool numbers) {
    const Theme& theme = canvas.frame.theme;
    const float thin = canvas.frame.px(1);
    const ImVec2 size{canvas.place.cell.x - thin, canvas.place.cell.y - thin};
    const float least = canvas.frame.px(kLeastHatched);
    if (cell.look == CellLook::masked && size.x >= least && size.y >= least)
        draw_hatch(canvas.frame.painter, low, size, canvas.frame.px(kHatch),
                   view::translucent(theme.muted, numbers ? kHatchBehind : kHatchAlone), thin);
    if (cell.look == CellLook::not_a_number && !numbers)
        draw_cross(canvas.frame.painter, low, size, cell.ink, thin);
    if (cell.look == CellLook::infinite)
        canvas.frame.painter.outline({low.x + thin, low.y + thin},
                                     {low.x + size.x - thin, low.y + size.y - thin}, cell.ink,
                                     thin);
}

/// The colour of a cell's number: of a weight that reads as 0 a quieter one.
Color ink_of(const GridCanvas& canvas, std::size_t n, std::string_view text) {
    const CellView& cell = canvas.grid.cells[n];
    const bool weight = canvas.grid.range.scale == ColorScale::unit;
    if (!weight || text.find_first_of("123456789") != text.npos) return cell.ink;
    return cell.look == CellLook::number ? blend(cell.fill, cell.ink, kZeroInk) : cell.ink;
}

/// All points of a grid stand under each other within their columns.
void draw_number(const GridCanvas& canvas, const NumberSetting& setting, std::size_t n,
                 ImVec2 low) {
    const CellView& cell = canvas.grid.cells[n];
    const ImVec2 high{low.x + canvas.place.cell.x, low.y + canvas.place.cell.y};
    if (setting.huge_apart && is_huge(cell)) {
        const std::string text = view::significant(cell.value, 1);
        if (canvas.frame.text_width(setting.font, text) <= canvas.place.cell.x)
            draw_text_in(canvas.frame, setting.font, low, high, Align::center, cell.ink, text);
        return;
    }
    const bool dash = cell.look == CellLook::masked && cell.value == 0.0;  // no weight of 0
    const std::string text =
        dash && canvas.grid.legend.empty() ? "–" : text_of(canvas.grid, cell, setting.spelling);
    if (cell.look != CellLook::number) {
        view::Font font = setting.font;
        if (cell.look == CellLook::infinite)  // a low sign among digits
            font.px = std::min(kInfinity * font.px, (high.y - low.y) / 2);
        return draw_text_in(canvas.frame, font, low, high, Align::center, ink_of(canvas, n, text),
                            text);
    }
    const float block = setting.char_width * static_cast<float>(setting.before + setting.after);
    const int indent = setting.before - chars_before_point(text);
    const float x = (low.x + high.x - block) / 2 + setting.char_width * static_cast<float>(indent);
    canvas.frame.painter.text(setting.font, {x, (low.y + high.y - setting.font.px) / 2},
                              ink_of(canvas, n, text), text);
}

/// A number by itself: "" where nothing is to be said, as of what reads as 0; nullopt where it does not fit.
std::optional<std::string> lone_text(const GridCanvas& canvas, std::size_t n) {
    const CellView& cell = canvas.grid.cells[n];
    const view::Font font = smallest_digits(canvas.frame);
    if (cell.look == CellLook::masked) return "";
    for (const Spelling spelling : {Spelling{2, false}, {1, false}, {0}}) {
        std::string text = text_of(canvas.grid, cell, spelling);
        const bool whole = std::abs(cell.value - std::round(cell.value)) < 0.005;
        const bool few = spelling.decimals == 0 && std::abs(cell.value) < 10.0 && !whole;
        const bool zero = text.find_first_of("123456789") == text.npos && cell.value != 0.0;
        if (cell.look == CellLook::number && zero) return "";
        if (cell.look == CellLook::number && few) break;
        const auto fits = [&] {
            return canvas.frame.text_width(font, text) + 2.0F <= canvas.place.cell.x;
        };
        if (fits()) return text;
        if (spelling.decimals != 1 || !text.ends_with(".0")) continue;
        text.resize(text.size() - 2);  // .97 among .4 and .1 is 1
        if (fits()) return text;
    }
    return is_huge(cell) ? std::optional<std::string>("") : std::nullopt;
}

void draw_lone_number(const GridCanvas& canvas, std::size_t n, ImVec2 low,
                      const std::string& text) {
    const ImVec2 high{low.x + canvas.place.cell.x, low.y + canvas.place.cell.y};
    draw_text_in(canvas.frame, smallest_digits(canvas.frame), low, high, Align::center,
                 ink_of(canvas, n, text), text);
}

/// What these cells show, if each that has a number has room for it: a few of them would look like all there are.
void add_lone(const GridCanvas& canvas, const std::vector<std::size_t>& cells,
              std::vector<std::string>& texts) {
    std::vector<std::string> added;
    for (const std::size_t n : cells)
        if (auto text = lone_text(canvas, n))
            added.push_back(*std::move(text));
        else
            return;
    for (std::size_t n = 0; n < cells.size(); ++n) texts[cells[n]] = std::move(added[n]);
}

/// The largest of a row; the first of equals count.
std::vector<Index> largest_of_row(const GridView& grid, Index row) {
    std::vector<Index> order;
    for (Index column = 0; column < grid.columns; ++column)
        if (grid.at(row, column).look == CellLook::number) order.push_back(column);
    const auto most = std::min<std::ptrdiff_t>(kLargestOfRow, std::ssize(order));
    std::partial_sort(order.begin(), order.begin() + most, order.end(), [&](Index a, Index b) {
        const double x = grid.at(row, a).value;
        const double y = grid.at(row, b).value;
        return x != y ? x > y : a < b;
    });
    order.resize(most);
    return order;
}

/// A matrix with many small cells of weights: figures in all of them would hide the few large ones.
bool is_crowded(const GridCanvas& canvas) {
    const GridView& grid = canvas.grid;
    return grid.range.scale == ColorScale::unit && grid.row_role == Role::query &&
           grid.column_role == Role::key && std::min(grid.rows, grid.columns) >= kMany &&
           canvas.place.cell.x < canvas.frame.px(kCrowded);
}

/// What cells show alone: those of the focused row and column, and the largest of each row of a matrix of query by key. In a
/// single row some numbers among cells without one would look like all there are: that of the focused column alone. Of what
/// stands left of the hero, in which cells without one would look empty, the focused row.
std::vector<std::string> lone_numbers(const GridCanvas& canvas) {
    const GridView& grid = canvas.grid;
    std::vector<std::string> texts(grid.cells.size());
    if (canvas.place.cell.y < canvas.frame.px(kLeastText) || !grid.legend.empty()) return texts;
    const bool aside = grid.slot == Slot::left;
    const bool pairs =
        !aside && grid.rows > 1 && grid.row_role == Role::query && grid.column_role == Role::key;
    const auto at = [&](Index row, Index column) -> std::size_t {
        return row * grid.columns + column;
    };
    for (Index row = 0; row < grid.rows; ++row) {
        std::vector<std::size_t> cells;
        if (grid.focus_row == row && grid.rows > 1)
            for (Index column = 0; column < grid.columns; ++column)
                cells.push_back(at(row, column));
        else if (pairs)
            for (const Index column : largest_of_row(grid, row)) cells.push_back(at(row, column));
        add_lone(canvas, cells, texts);
    }
    if (!grid.focus_column || aside) return texts;
    std::vector<std::size_t> cells;
    for (Index row = 0; row < grid.rows; ++row) cells.push_back(at(row, *grid.focus_column));
    add_lone(canvas, cells, texts);
    return texts;
}

/// Of a bar: two decimals; of a number from 1 on fewer where they do not fit.
std::string bar_number(const GridCanvas& canvas, double value) {
    int decimals = 2;
    std::string text;
    for (double least = 1.0; decimals >= 0; --decimals, least *= 10.0) {
        text = view::cell_number(value, decimals);
        if (drops_zero(canvas.grid)) text = view::without_leading_zero(std::move(text));
        const float width = canvas.frame.text_width(smallest_digits(canvas.frame), text);
        if (width + 2.0F <= canvas.place.cell.x || std::abs(value) < least) break;
    }
    return text;
}

/// Each cell's share of the range, from its foot; the number stands above it where it fits. They grow as the stage
/// arrives.
void draw_bars(const GridCanvas& canvas, double arrived) {
    const Frame& frame = canvas.frame;
    const double largest = canvas.grid.range.high;
    const float gap = canvas.place.cell.x >= frame.px(14) ? frame.px(2) : 0.0F;
    for (Index column = 0; column < canvas.grid.columns; ++column) {
        const CellView& cell = canvas.grid.at(0, column);
        if (cell.look != CellLook::number) continue;
        const Titled titled(frame.painter,
                            [&] { return cell_description(canvas.grid, 0, column); });
        const ImVec2 low = canvas.corner(0, column);
        const float bottom = low.y + canvas.place.cell.y;
        const float above = frame.px(kLeastText + 4);
        const bool numbered = canvas.place.cell.y >= 2 * above;
        const float space = canvas.place.cell.y - (numbered ? above : 0.0F);
        const auto share =
            largest > 0.0 ? static_cast<float>(std::clamp(cell.value / largest, 0.0, 1.0) * arrived)
                          : 0.0F;
        const float top = bottom - std::max(space * share, cell.value > 0.0 ? 1.0F : 0.0F);
        frame.painter.rect({low.x + gap / 2, top}, {low.x + canvas.place.cell.x - gap, bottom},
                           frame.theme.role(canvas.grid.role));
        const std::string text = bar_number(canvas, cell.value);
        const view::Font font = smallest_digits(frame);
        if (!numbered || frame.text_width(font, text) + 2.0F > canvas.place.cell.x) continue;
        draw_text_in(frame, font, {low.x, top - font.px - frame.px(2)},
                     {low.x + canvas.place.cell.x, top - frame.px(2)}, Align::center,
                     frame.theme.text, text);
    }
    const ImVec2 origin = canvas.place.origin;
    frame.painter.line({origin.x, canvas.end().y}, canvas.end(), frame.theme.muted, frame.px(1));
    const view::Font font = smallest_digits(frame);
    const float above = frame.px(kLeastText + 4);
    const bool reached = std::ranges::any_of(canvas.grid.cells, [&](const CellView& cell) {
        return cell.look == CellLook::number && cell.value >= largest;
    });
    if (canvas.place.cell.y < 2 * above || reached) return;  // else a bar has it
    const float top = origin.y + above;
    frame.painter.line({origin.x, top}, {canvas.end().x, top}, frame.theme.line, frame.px(1));
    draw_text_in(frame, font, {origin.x - frame.px(40), top - font.px},
                 {origin.x - frame.px(6), top + font.px}, Align::right, frame.theme.muted,
                 view::legend_tick(largest));
}

bool same_size(const GridView& a, const GridView* b) {
    return b && a.rows == b->rows && a.columns == b->columns && b->cells.size() == a.cells.size();
}

}  // namespace

void draw_hatch(Painter& painter, ImVec2 low, ImVec2 size, float step, Color color,
                float thickness) {
    const ImVec2 high{low.x + size.x, low.y + size.y};
    for (float sum = std::ceil((low.x + low.y) / step) * step; sum < high.x + high.y; sum += step)
        painter.line({std::min(sum - low.y, high.x), std::max(low.y, sum - high.x)},
                     {std::max(low.x, sum - high.y), std::min(sum - low.x, high.y)}, color,
                     thickness);
}

bool shows_numbers(const GridView& grid, const GridPlace& place, const Frame& frame) {
    return set_numbers(grid, place, frame).fits;
}

void draw_cells(const GridCanvas& canvas, const Fade& wanted) {
    record_rect_for_tests(canvas.frame.painter, Measuring::Kind::cells, canvas.place.origin,
                          canvas.end());
    if (canvas.grid.as_bars) return draw_bars(canvas, wanted.fade);
    const Fade fade{same_size(canvas.grid, wanted.previous) ? wanted.previous : nullptr,
                    wanted.fade};
    const GridView& grid = canvas.grid;
    const bool many = grid.rows * grid.columns > canvas.frame.painter.most_cells() ||
                      std::min(canvas.place.cell.x, canvas.place.cell.y) < kThin;
    if (many) fill_picture(canvas, fade);
    NumberSetting setting = set_numbers(grid, canvas.place, canvas.frame);
    if (is_crowded(canvas)) setting.fits = false;
    const auto alone = setting.fits ? std::vector<std::string>() : lone_numbers(canvas);
    std::size_t n = 0;
    for (Index row = 0; row < grid.rows; ++row)
        for (Index column = 0; column < grid.columns; ++column, ++n) {
            const Titled titled(canvas.frame.painter,
                                [&] { return cell_description(grid, row, column); });
            const ImVec2 low = canvas.corner(row, column);
            if (!many) fill_cell(canvas, fade, n, low);
            draw_look(canvas, grid.cells[n], low, setting.fits);
            if (setting.fits) draw_number(canvas, setting, n, low);
            if (!setting.fits && !alone[n].empty()) draw_lone_number(canvas, n, low, alone[n]);
        }
}

}  // namespace attn::ui
