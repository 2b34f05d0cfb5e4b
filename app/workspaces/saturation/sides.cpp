#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/common/format.h"
#include "app/workspaces/saturation/parts.h"

namespace attn::view {
namespace {

// --- bars

BarView bar_of(const SaturationRow& row, std::size_t j) {
    BarView bar;
    bar.label = std::to_string(j);
    bar.value = row.weights[j];
    bar.text = percent(bar.value);
    bar.bare = bar.text.substr(0, bar.text.find(' '));
    const std::string raw = number(row.scores[j] / row.raw_factor);
    bar.tooltip = fmt::format("a_{0} = {1}\ns_{0} = {2}, z_{0} = {3}", j, number(bar.value),
                              number(row.scores[j]), raw);
    return bar;
}

/// Percentages as shown have one decimal: their sum counts tenths.
std::string rounding_note(const std::vector<double>& weights) {
    long tenths = 0;
    for (const double weight : weights) {
        if (std::isnan(weight)) return "";
        tenths += std::lround(1000.0 * weight);
    }
    if (tenths == 1000) return "";
    return fmt::format("rounded: adds to {}.{} %", tenths / 10, tenths % 10);
}

SaturationSideView side_view(const SaturationRow& row, Index d_k, bool is_scaled) {
    SaturationSideView side;
    side.title = is_scaled ? "scaled" : "unscaled";
    side.formula = is_scaled ? fmt::format("a = softmax(z / √{})", d_k) : "a = softmax(z)";
    side.role = is_scaled ? Role::weight : Role::score;
    for (std::size_t j = 0; j < row.weights.size(); ++j) side.bars.push_back(bar_of(row, j));
    side.rounding_note = rounding_note(row.weights);
    side.note = fmt::format("p_max(1 − p_max) = {}", measure(row.metrics.max_slope));
    return side;
}

// --- the Jacobians

constexpr Index kMostWrittenKeys = 32;
constexpr double kMostEntry = 0.25;  // a(1 − a) at a = 1/2: the most that an entry of J can be

/// One range for both, so that a dying gradient fades beside the other: the largest entry, rounded up.
ColorRange shared_range(const SaturationPair& pair) {
    double most = 0.0;
    for (const SaturationRow* row : {&pair.scaled, &pair.unscaled})
        for (const double value : row->jacobian)
            if (!std::isnan(value)) most = std::max(most, std::abs(value));
    const double step = std::pow(10.0, std::floor(std::log10(std::max(most, 1e-300))));
    const double end = std::min(kMostEntry, step * std::ceil(most / step));
    return {ColorScale::diverging, end > 0.0 ? -end : -kMostEntry, end > 0.0 ? end : kMostEntry};
}

/// Fills and their inks, looked up: working out each of 65,536 cells takes 50 ms.
class Paints {
  public:
    struct Paint {
        Color fill, ink;
    };
    Paints(const ColorRange& range, ThemeName theme) : range_(range) {
        for (std::size_t n = 0; n < paints_.size(); ++n) {
            const double share = static_cast<double>(n) / static_cast<double>(paints_.size() - 1);
            const double value = std::lerp(range.low, range.high, share);
            const Color fill = color_of(range, value, theme);
            paints_[n] = {fill, ink_on(fill, theme)};
        }
    }
    const Paint& of(double value) const {
        const double share = (value - range_.low) / (range_.high - range_.low);
        const double last = static_cast<double>(paints_.size() - 1);
        return paints_[static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * last + 0.5)];
    }

  private:
    ColorRange range_;
    std::array<Paint, 257> paints_;
};

CellView jacobian_cell(double value, const Paints& paints, bool written, ThemeName theme) {
    CellView cell;
    cell.value = value;
    if (std::isnan(value)) {
        cell.look = CellLook::not_a_number;
        cell.fill = view::theme(theme).nan;
        cell.ink = ink_on(cell.fill, theme);
    } else {
        cell.fill = paints.of(value).fill;
        cell.ink = paints.of(value).ink;
    }
    if (written) cell.text = cell_number(value, 2);
    return cell;
}

GridView jacobian_view(const SaturationRow& row, const char* side, const ColorRange& range,
                       ThemeName theme) {
    GridView grid;
    grid.id = Stage::weights;
    grid.title = fmt::format("J {}", side);
    grid.rows = grid.columns = std::ssize(row.weights);
    grid.shape = size(grid.rows, grid.columns);
    grid.tooltip = fmt::format(
        "Jacobian of the {} softmax: J[i,j] = ∂a_i/∂s_j = a_i (δ_ij − a_j), {}. Both Jacobians "
        "have one colour scale.",
        side, grid.shape);
    grid.role = grid.row_role = Role::weight;
    grid.column_role = Role::score;
    for (Index j = 0; j < grid.rows; ++j) grid.row_labels.push_back(std::to_string(j));
    grid.column_labels = grid.row_labels;
    const Paints paints(range, theme);
    const bool written = grid.rows <= kMostWrittenKeys;
    grid.cells.reserve(row.jacobian.size());
    for (const double value : row.jacobian)
        grid.cells.push_back(jacobian_cell(value, paints, written, theme));
    grid.range = range;
    grid.low_label = tick(range.low);
    grid.high_label = tick(range.high);
    grid.ticks = {{0.5, "0"}};
    return grid;
}

}  // namespace

void set_sides(SaturationView& view, const SaturationPair& pair, ThemeName theme) {
    const ColorRange range = shared_range(pair);
    view.scaled = side_view(pair.scaled, view.controls.d_k, true);
    view.unscaled = side_view(pair.unscaled, view.controls.d_k, false);
    view.scaled.jacobian = jacobian_view(pair.scaled, "scaled", range, theme);
    view.unscaled.jacobian = jacobian_view(pair.unscaled, "unscaled", range, theme);
}

std::vector<ComparedNumber> row_numbers(const SaturationPair& pair, Index d_k) {
    const RowMetrics& s = pair.scaled.metrics;
    const RowMetrics& u = pair.unscaled.metrics;
    const double raw = pair.scaled.raw_factor;
    return {
        {"∂p_max/∂s_max", "p_max(1 − p_max)",
         "With respect to softmax's own input s. Not a sign of health: it is small for "
         "uniform rows too, and largest at p_max = 1/2.",
         measure(s.max_slope), measure(u.max_slope)},
        {"∂p_max/∂z_max", fmt::format("scaled: the same / √{}", d_k),
         "With respect to the raw score z: scaling divides it by √d_k once more.",
         measure(s.max_slope * raw), measure(u.max_slope)},
        {"‖J‖_F", "J = diag(a) − a aᵀ",
         "Root of the sum of squares of the softmax Jacobian with respect to its input s.",
         measure(s.jacobian_frobenius), measure(u.jacobian_frobenius)},
        {"‖∂a/∂z‖_F", fmt::format("scaled: J / √{}", d_k),
         "The same norm with respect to the raw score z.", measure(s.jacobian_frobenius * raw),
         measure(u.jacobian_frobenius)},
        {"‖J‖₂", "largest eigenvalue of J", "The most that J stretches any change of s.",
         measure(s.jacobian_spectral), measure(u.jacobian_spectral)},
        {"exp H", fmt::format("keys in play, of {}", pair.scaled.weights.size()),
         "How many equal weights would have the same entropy.", cell_number(s.effective_keys, 2),
         cell_number(u.effective_keys, 2)},
    };
}

}  // namespace attn::view
