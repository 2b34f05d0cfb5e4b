#include <algorithm>
#include <cmath>

#include "app/ui/common/grid_parts.h"
#include "app/view/common/format.h"

namespace attn::ui {
namespace {

using view::CellLook;
using view::CellView;
using view::Color;
using view::GridView;

constexpr float kTinyDigits = 10.0F;     // design units
constexpr float kSmallestDigits = 8.0F;  // where the cells of twelve tokens have a character of air
constexpr int kUsualChars = 6;  // "−0.603": large figures are of one size in all matrices
constexpr double kUnlit = 0.6;  // how far cells that are no source fade into the background

constexpr float kHatch = 10.0F;        // design units between the lines of a masked cell
constexpr double kHatchAlone = 0.4;    // how strong they are
constexpr double kHatchBehind = 0.18;  // behind a number, which they must not strike through

/// How the numbers of one grid are set: all on one decimal point.
struct NumberSetting {
    view::Font font;
    float char_width = 0.0F;
    int before = 0;  // characters before the point, at most
    int after = 0;   // from the point on, at most
    int words = 0;   // characters of "NaN", "−∞", at most
    int decimals = 0;
    bool fits = false;
};

int code_points(std::string_view text) {
    return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

int chars_before_point(std::string_view text) {
    return code_points(text.substr(0, text.find('.')));
}

/// The number of a cell as it is written here: in full, or to fewer decimals.
std::string text_of(const GridView& grid, const CellView& cell, int decimals) {
    if (cell.look != CellLook::number || decimals >= grid.decimals) return cell.text;
    return view::cell_number(cell.value, decimals);
}

NumberSetting measure(const GridView& grid, int decimals) {
    NumberSetting setting;
    setting.decimals = decimals;
    for (const CellView& cell : grid.cells) {
        if (cell.look == CellLook::masked) continue;
        if (cell.look != CellLook::number) {
            setting.words = std::max(setting.words, code_points(cell.text));
            continue;
        }
        const std::string text = text_of(grid, cell, decimals);
        const int before = chars_before_point(text);
        setting.before = std::max(setting.before, before);
        setting.after = std::max(setting.after, code_points(text) - before);
    }
    if (setting.before == 0 && !grid.cells.empty()) setting.before = 3;  // "NaN" only
    return setting;
}

view::Font sized_digits(const Frame& frame, float px) { return {view::Face::mono, frame.px(px)}; }
view::Font tiny_digits(const Frame& frame) { return sized_digits(frame, kTinyDigits); }

bool try_font(NumberSetting& setting, const Frame& frame, const view::Font& font, ImVec2 cell,
              float gap, int least_chars) {
    setting.font = font;
    setting.char_width = frame.text_width(font, "0");
    const int chars = std::max({setting.before + setting.after, setting.words, least_chars});
    const float width = setting.char_width * static_cast<float>(chars);
    // a character of air: "1.5" beside "−1.5" must not read as a difference
    const float air = std::max(gap, setting.char_width);
    setting.fits = setting.before > 0 && width + air <= cell.x && font.px + 2.0F <= cell.y;
    return setting.fits;
}

/// As large and as exact as fits; a small figure rather than fewer than two decimals. One decimal says
/// something only of numbers that pass 2; below, a colour without a number says more than "0.0".
NumberSetting set_numbers(const GridView& grid, const GridPlace& place, const Frame& frame) {
    const Fonts& fonts = frame.fonts;
    const float gap = frame.px(4);
    NumberSetting setting = measure(grid, grid.decimals);
    const auto fits = [&](const view::Font& font, int decimals, float room, int least_chars = 0) {
        if (setting.decimals != decimals) setting = measure(grid, decimals);
        return try_font(setting, frame, font, place.cell, room, least_chars);
    };
    const int full = grid.decimals;
    const int two = std::min(full, 2);
    const int one = grid.range.high >= 2.0 ? std::min(full, 1) : two;
    if (fits(fonts.digits_large, full, gap * 2, kUsualChars) ||
        fits(fonts.digits_medium, full, gap * 2, kUsualChars) ||
        fits(fonts.digits, full, gap * 2, kUsualChars) || fits(fonts.digits_small, full, gap) ||
        fits(fonts.digits_small, two, gap) || fits(tiny_digits(frame), full, gap / 2) ||
        fits(tiny_digits(frame), two, gap / 2) || fits(fonts.digits_small, one, gap / 2))
        return setting;
    for (const float px : {kTinyDigits, kTinyDigits - 1.0F, kSmallestDigits})
        for (const int decimals : {two, one})
            if (fits(sized_digits(frame, px), decimals, gap / 2)) return setting;
    return setting;
}

bool is_lit(const GridView& grid, std::size_t n) { return grid.lit.empty() || grid.lit[n]; }

/// The colour of a cell on its way from the previous stage, dimmed when it is no source.
Color fill_of(const GridCanvas& canvas, const Fade& fade, std::size_t n) {
    const Color base = canvas.frame.theme.background;
    const Color to = canvas.grid.cells[n].fill;
    const Color from = fade.previous ? fade.previous->cells[n].fill : base;
    const Color now = fade.fade < 1.0 ? blend(from, to, fade.fade) : to;
    return is_lit(canvas.grid, n) ? now : blend(now, base, kUnlit);
}

void fill_rectangles(const GridCanvas& canvas, const Fade& fade) {
    const float gap = canvas.place.cell.x >= canvas.frame.px(14) ? canvas.frame.px(1) : 0.0F;
    for (Index row = 0; row < canvas.grid.rows; ++row)
        for (Index column = 0; column < canvas.grid.columns; ++column) {
            const auto n = static_cast<std::size_t>(row * canvas.grid.columns + column);
            const ImVec2 low = canvas.corner(row, column);
            const ImVec2 high{low.x + canvas.place.cell.x - gap, low.y + canvas.place.cell.y - gap};
            canvas.frame.painter.rect(low, high, fill_of(canvas, fade, n));
        }
}

view::Image picture(const GridCanvas& canvas, const Fade& fade) {
    view::Image image{
        static_cast<int>(canvas.grid.columns), static_cast<int>(canvas.grid.rows), {}};
    image.rgba.reserve(canvas.grid.cells.size() * 4);
    for (std::size_t n = 0; n < canvas.grid.cells.size(); ++n) {
        const Color c = fill_of(canvas, fade, n);
        image.rgba.insert(image.rgba.end(), {c.r, c.g, c.b, c.a});
    }
    return image;
}

/// FNV-1a: names the pixels for the texture cache.
std::uint64_t content_key(const view::Image& image) {
    std::uint64_t key = 14695981039346656037ULL ^ static_cast<std::uint64_t>(image.width);
    for (const std::uint8_t byte : image.rgba) key = (key ^ byte) * 1099511628211ULL;
    return key;
}

void fill_picture(const GridCanvas& canvas, const Fade& fade) {
    const view::Image image = picture(canvas, fade);
    canvas.frame.painter.image({content_key(image), [&] { return image; }}, canvas.place.origin,
                               canvas.end());
}

/// Lines x + y = n · step over the cell: they go on from cell to cell.
void draw_hatch(view::Painter& painter, ImVec2 low, ImVec2 size, float step, view::Color color,
                float thickness) {
    const ImVec2 high{low.x + size.x, low.y + size.y};
    for (float sum = std::ceil((low.x + low.y) / step) * step; sum < high.x + high.y; sum += step)
        painter.line({std::min(sum - low.y, high.x), std::max(low.y, sum - high.x)},
                     {std::max(low.x, sum - high.y), std::min(sum - low.x, high.y)}, color,
                     thickness);
}

void draw_cross(view::Painter& painter, ImVec2 low, ImVec2 size, view::Color color,
                float thickness) {
    painter.line(low, {low.x + size.x, low.y + size.y}, color, thickness);
    painter.line({low.x + size.x, low.y}, {low.x, low.y + size.y}, color, thickness);
}

/// Masked: hatched. NaN: crossed in its own colour. −∞: a frame. 0 is a plain cell.
void draw_look(const GridCanvas& canvas, const CellView& cell, ImVec2 low, bool numbers) {
    const view::Theme& theme = canvas.frame.theme;
    const float thin = canvas.frame.px(1);
    const ImVec2 size{canvas.place.cell.x - thin, canvas.place.cell.y - thin};
    if (cell.look == CellLook::masked)
        draw_hatch(canvas.frame.painter, low, size, canvas.frame.px(kHatch),
                   view::translucent(theme.muted, numbers ? kHatchBehind : kHatchAlone), thin);
    if (cell.look == CellLook::not_a_number && !numbers)
        draw_cross(canvas.frame.painter, low, size, cell.ink, thin);
    if (cell.look == CellLook::infinite)
        canvas.frame.painter.outline({low.x + thin, low.y + thin},
                                     {low.x + size.x - thin, low.y + size.y - thin}, cell.ink,
                                     thin);
}

void draw_number(const GridCanvas& canvas, const NumberSetting& setting, const CellView& cell,
                 ImVec2 low, view::Color ink) {
    const ImVec2 high{low.x + canvas.place.cell.x, low.y + canvas.place.cell.y};
    if (cell.look != CellLook::number) {
        draw_text_in(canvas.frame, setting.font, low, high, Align::center, ink, cell.text);
        return;
    }
    const std::string text = text_of(canvas.grid, cell, setting.decimals);
    const float block = setting.char_width * static_cast<float>(setting.before + setting.after);
    const int indent = setting.before - chars_before_point(text);
    const float x = (low.x + high.x - block) / 2 + setting.char_width * static_cast<float>(indent);
    canvas.frame.painter.text(setting.font, {x, (low.y + high.y - setting.font.px) / 2}, ink, text);
}

/// The old number leaves while the new one comes; one that stays the same stays still.
void draw_fading_number(const GridCanvas& canvas, const Fade& fade, const NumberSetting& setting,
                        std::size_t n, ImVec2 low) {
    const CellView& cell = canvas.grid.cells[n];
    const CellView* old = fade.previous ? &fade.previous->cells[n] : nullptr;
    const double dim = is_lit(canvas.grid, n) ? 1.0 : 1.0 - kUnlit * 0.6;
    const Color base = canvas.frame.theme.background;
    const Color ink = is_lit(canvas.grid, n)
                          ? cell.ink
                          : ink_on(blend(cell.fill, base, kUnlit), canvas.frame.theme.name);
    const bool still = fade.fade >= 1.0 || (old && old->text == cell.text);
    draw_number(canvas, setting, cell, low, view::translucent(ink, still ? dim : fade.fade * dim));
    if (!still && old)
        draw_number(canvas, setting, *old, low, view::translucent(old->ink, 1.0 - fade.fade));
}

bool same_size(const GridView& a, const GridView* b) {
    return b && a.rows == b->rows && a.columns == b->columns && b->cells.size() == a.cells.size();
}

}  // namespace

float readable_cell_width(const GridView& grid, const Frame& frame) {
    const NumberSetting setting = measure(grid, std::min(grid.decimals, 1));
    return frame.text_width(sized_digits(frame, kSmallestDigits), "0") *
               static_cast<float>(setting.before + setting.after + 1) +
           frame.px(1);
}

void draw_cells(const GridCanvas& canvas, const Fade& wanted) {
    const Fade fade{same_size(canvas.grid, wanted.previous) ? wanted.previous : nullptr,
                    wanted.fade};
    const bool many = canvas.grid.rows * canvas.grid.columns > canvas.frame.painter.most_cells();
    many ? fill_picture(canvas, fade) : fill_rectangles(canvas, fade);
    const NumberSetting setting = set_numbers(canvas.grid, canvas.place, canvas.frame);
    for (Index row = 0; row < canvas.grid.rows; ++row)
        for (Index column = 0; column < canvas.grid.columns; ++column) {
            const auto n = static_cast<std::size_t>(row * canvas.grid.columns + column);
            const ImVec2 low = canvas.corner(row, column);
            draw_look(canvas, canvas.grid.cells[n], low, setting.fits);
            if (setting.fits) draw_fading_number(canvas, fade, setting, n, low);
        }
}

}  // namespace attn::ui
