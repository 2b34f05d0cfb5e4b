#include "tests/measure/hero.h"

namespace attn::test {
namespace {

using view::Color;
using view::GridView;
using view::Point;

constexpr float kHair = 0.75F;  // px

bool is_near(float a, float b) { return std::abs(a - b) <= kHair; }

bool is_same_size(const Rect& a, const Rect& b) {
    return is_near(a.width(), b.width()) && is_near(a.height(), b.height());
}

bool is_alike(Color a, Color b, int most) {
    return std::abs(a.r - b.r) <= most && std::abs(a.g - b.g) <= most &&
           std::abs(a.b - b.b) <= most;
}

/// Filled rectangles in the order in which they were drawn.
std::vector<const Mark*> fills_of(const Log& log) {
    std::vector<const Mark*> fills;
    for (const Mark& mark : log.marks)
        if (mark.kind == Mark::Kind::fill) fills.push_back(&mark);
    return fills;
}

/// The step from cell to cell; a single column or row has that of its cells' own size.
Point pitch_of(std::span<const Mark* const> cells, const GridView& grid) {
    const Rect& first = cells.front()->at;
    const auto columns = static_cast<std::size_t>(grid.columns);
    const float x = columns > 1 ? cells[1]->at.low.x - first.low.x : first.width();
    const float y = grid.rows > 1 ? cells[columns]->at.low.y - first.low.y : first.height();
    return {x, y};
}

bool is_lattice(std::span<const Mark* const> cells, const GridView& grid) {
    const Rect& first = cells.front()->at;
    const Point pitch = pitch_of(cells, grid);
    if (pitch.x < first.width() - kHair || pitch.y < first.height() - kHair) return false;
    for (std::size_t n = 0; n < cells.size(); ++n) {
        const auto row = static_cast<float>(n / static_cast<std::size_t>(grid.columns));
        const auto column = static_cast<float>(n % static_cast<std::size_t>(grid.columns));
        const Rect& at = cells[n]->at;
        if (!is_same_size(at, first) || !is_near(at.low.x, first.low.x + column * pitch.x) ||
            !is_near(at.low.y, first.low.y + row * pitch.y))
            return false;
    }
    return true;
}

double alike_share(const std::vector<Color>& colors, const GridView& grid) {
    std::size_t alike = 0;
    for (std::size_t n = 0; n < colors.size(); ++n)
        alike += is_alike(colors[n], grid.cells[n].fill, 1) ? 1U : 0U;
    return static_cast<double>(alike) / static_cast<double>(colors.size());
}

Hero hero_of(std::span<const Mark* const> cells, const GridView& grid) {
    const Rect& first = cells.front()->at;
    const Point pitch = pitch_of(cells, grid);
    Hero hero{{first.low,
               {first.low.x + pitch.x * static_cast<float>(grid.columns),
                first.low.y + pitch.y * static_cast<float>(grid.rows)}},
              {},
              0.0};
    for (const Mark* cell : cells) hero.colors.push_back(cell->color);
    hero.alike = alike_share(hero.colors, grid);
    return hero;
}

std::vector<Hero> drawn_as_rectangles(const Log& log, const GridView& grid) {
    std::vector<Hero> found;
    const auto fills = fills_of(log);
    const std::size_t count = grid.cells.size();
    for (std::size_t n = 0; n + count <= fills.size(); ++n) {
        const std::span cells(&fills[n], count);
        if (is_lattice(cells, grid)) found.push_back(hero_of(cells, grid));
    }
    return found;
}

std::vector<Hero> drawn_as_pictures(const Log& log, const GridView& grid) {
    std::vector<Hero> found;
    for (const Shown& shown : log.pictures) {
        if (shown.image.width != grid.columns || shown.image.height != grid.rows) continue;
        Hero hero{shown.at, {}, 0.0};
        for (std::size_t n = 0; n < grid.cells.size(); ++n) {
            const std::uint8_t* p = &shown.image.rgba[4 * n];
            hero.colors.push_back({p[0], p[1], p[2], p[3]});
        }
        hero.alike = alike_share(hero.colors, grid);
        found.push_back(std::move(hero));
    }
    return found;
}

bool is_better(const Hero& a, const Hero& b) {
    if (a.alike != b.alike) return a.alike > b.alike;
    return a.at.width() * a.at.height() > b.at.width() * b.at.height();
}

}  // namespace

double Hero::share(const Case& window) const {
    return static_cast<double>(at.width()) * at.height() /
           (static_cast<double>(window.width) * static_cast<double>(window.height));
}

std::optional<Hero> find_hero(const Log& log, const GridView& grid) {
    if (grid.cells.empty()) return std::nullopt;
    std::vector<Hero> found = drawn_as_rectangles(log, grid);
    for (Hero& hero : drawn_as_pictures(log, grid)) found.push_back(std::move(hero));
    const auto best = std::ranges::min_element(found, is_better);
    if (best == found.end()) return std::nullopt;
    return *best;
}

double drawn_share(const Camera::Shot& shot, const GridView& grid, const Hero& hero) {
    constexpr double kBeneath =
        0.08;  // the upper edge, of a cell: clear of its number and its edge
    const double width = hero.at.width() / static_cast<double>(grid.columns);
    const double height = hero.at.height() / static_cast<double>(grid.rows);
    std::size_t asked = 0;
    std::size_t seen = 0;
    for (std::size_t n = 0; n < hero.colors.size(); ++n) {
        if (grid.cells[n].look != view::CellLook::number) continue;  // hatched, crossed or framed
        const auto row = static_cast<double>(n / static_cast<std::size_t>(grid.columns));
        const auto column = static_cast<double>(n % static_cast<std::size_t>(grid.columns));
        const Color pixel = shot.at(
            static_cast<int>(hero.at.low.x + (column + 0.5) * width),
            static_cast<int>(hero.at.low.y + row * height + std::max(1.0, kBeneath * height)));
        ++asked;
        seen += is_alike(pixel, hero.colors[n], 2) ? 1U : 0U;
    }
    return asked == 0 ? 0.0 : static_cast<double>(seen) / static_cast<double>(asked);
}

}  // namespace attn::test
