#include "app/workspaces/tensors/view.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/color_look.h"
#include "app/common/document/document.h"
#include "app/common/document/head_axes.h"
#include "app/common/format.h"
#include "app/common/lower_case.h"
#include "app/common/number_style.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/tensors/measure.h"
#include "app/workspaces/tensors/roles.h"
#include "core/io/array_stats.h"
#include "core/rng.h"
#include "core/stages.h"
#include "core/text.h"

namespace attn::view {
namespace {

constexpr std::string_view kPending = "…";
constexpr std::size_t kMostUnusedNamed = 6;
constexpr int kRamp = 24;         // colours of the legend
constexpr Index kMostCells = 64;  // each way, of a matrix whose every number is drawn
constexpr std::ptrdiff_t kMostDistributions = 24;

const ArrayStats* stats_of(const AppState& state, const std::string& name) {
    const auto found = tensors_look(state).stats.find(name);
    return found == tensors_look(state).stats.end() ? nullptr : found->second.get();
}

std::string index_text(const std::vector<Index>& numbers) {
    return fmt::format("[{}]", fmt::join(numbers, ", "));
}

/// What the document reads it as; of files that no attention was made of, what it may be.
std::string role_text(const AppState& state, const TensorRow& row) {
    const Document& document = state.document();
    if (const auto chosen = tensors_look(state).roles.find(row.name);
        chosen != tensors_look(state).roles.end())
        return chosen->second == "-" ? "not used" : chosen->second;
    if (!std::holds_alternative<FileOrigin>(document.origin))
        return model_of(document) != nullptr ? "of the model" : row.name;
    if (const auto read = document.roles.find(row.name); read != document.roles.end())
        return read->second;
    const RoleProposal proposal =
        propose_role(row, stats_of(state, row.name), tensors_look(state).listing.get());
    return proposal.role.empty() ? "not used" : fmt::format("not used; {}?", proposal.role);
}

/// NaN sorts what is not measured last, whichever way.
double stat_number(const AppState& state, const TensorRow& row, TensorColumn column) {
    const ArrayStats* const stats = stats_of(state, row.name);
    const double none = std::nan("");
    if (column == TensorColumn::bytes) return row.bytes;
    if (stats == nullptr || !stats->fault.empty()) return none;
    if (column == TensorColumn::nans) return stats->nans;
    if (column == TensorColumn::infs) return stats->infs;
    if (!stats->finite) return none;
    if (column == TensorColumn::low) return stats->low;
    return column == TensorColumn::mean ? stats->mean : stats->high;
}

std::string stat_text(const AppState& state, const TensorRow& row, TensorColumn column) {
    const ArrayStats* const stats = stats_of(state, row.name);
    if (stats == nullptr) {
        const bool asks = row.bytes > tensors_look(state).listing->most_unasked();
        return std::string(asks && row.name != shown_tensor(state) ? "select it" : kPending);
    }
    if (!stats->fault.empty()) return "–";
    const auto count = [](double n) { return grouped(static_cast<Index>(n)); };
    if (column == TensorColumn::nans) return count(stats->nans);
    if (column == TensorColumn::infs) return count(stats->infs);
    return stats->finite ? number(stat_number(state, row, column)) : "–";
}

void sort_rows(const AppState& state, std::vector<const TensorRow*>& rows) {
    const TensorsLook& look = tensors_look(state);
    const auto text = [&](const TensorRow& row) {
        if (look.sort == TensorColumn::name) return row.name;
        if (look.sort == TensorColumn::dtype) return row.dtype;
        return role_text(state, row);
    };
    const auto before = [&](const TensorRow* a, const TensorRow* b) {
        if (look.sort == TensorColumn::shape)
            return look.descending ? b->extents < a->extents : a->extents < b->extents;
        if (look.sort == TensorColumn::name || look.sort == TensorColumn::dtype ||
            look.sort == TensorColumn::role)
            return look.descending ? text(*b) < text(*a) : text(*a) < text(*b);
        const double x = stat_number(state, *a, look.sort), y = stat_number(state, *b, look.sort);
        if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
        return look.descending ? y < x : x < y;
    };
    if (look.sort != TensorColumn::order) std::ranges::stable_sort(rows, before);
    if (look.sort == TensorColumn::order && look.descending) std::ranges::reverse(rows);
}

std::vector<TensorHead> heads_of_table() {
    return {{TensorColumn::name, "name", "Name in the file", false, 2.6F},
            {TensorColumn::dtype, "dtype", "How each number is stored", false, 1.0F},
            {TensorColumn::shape, "shape", "The length of each axis, slowest-varying first", false,
             1.8F},
            {TensorColumn::bytes, "bytes", "Uncompressed size of the array", true, 1.0F},
            {TensorColumn::low, "min", "The smallest finite number", true, 1.0F},
            {TensorColumn::mean, "mean", "Σ x / n of the finite numbers, in float64", true, 1.0F},
            {TensorColumn::high, "max", "The largest finite number", true, 1.0F},
            {TensorColumn::nans, "NaN", "Count of NaN", true, 0.7F},
            {TensorColumn::infs, "±inf", "Count of infinite numbers", true, 0.7F},
            {TensorColumn::role, "read as", "Role in attention; a ? marks a guess", false, 1.5F}};
}

TensorLine line_of(const AppState& state, const TensorRow& row) {
    TensorLine line;
    line.name = row.name;
    line.selected = row.name == shown_tensor(state);
    const ArrayStats* const stats = stats_of(state, row.name);
    line.faulty = stats != nullptr && (stats->nans > 0 || stats->infs > 0);
    const std::string role = role_text(state, row);
    line.unused = role.starts_with("not used");
    line.cells = {row.name, row.dtype, index_text(row.extents), bytes_text(row.bytes)};
    for (const TensorColumn column : {TensorColumn::low, TensorColumn::mean, TensorColumn::high,
                                      TensorColumn::nans, TensorColumn::infs})
        line.cells.push_back(stat_text(state, row, column));
    line.cells.push_back(role);
    return line;
}

void add_stat_lines(const ArrayStats& stats, TensorDetail& detail) {
    const auto count = [](double n) { return grouped(static_cast<Index>(n)); };
    const auto add = [&](std::string text) { detail.lines.push_back(std::move(text)); };
    add(fmt::format("{} number{}, {} of them 0", count(stats.count), stats.count == 1 ? "" : "s",
                    count(stats.zeros)));
    if (stats.finite)
        add(fmt::format("min {}, mean {}, max {}, standard deviation {}", number(stats.low),
                        number(stats.mean), number(stats.high), number(stats.deviation)));
    else
        add("No number is finite.");
    if (stats.nans > 0)
        add(fmt::format("{} NaN, the first at {}", count(stats.nans), index_text(stats.first_nan)));
    if (stats.infs > 0)
        add(fmt::format("{} infinite, the first at {}", count(stats.infs),
                        index_text(stats.first_inf)));
    if (stats.rows > 0 && stats.nonnegative)
        add(fmt::format("rows that sum to 1: {} of {} (smallest Σ {}, largest {})",
                        count(stats.unit_rows), count(stats.rows), number(stats.least_sum),
                        number(stats.most_sum)));
}

void add_role_lines(const AppState& state, const TensorRow& row, const ArrayStats* stats,
                    TensorDetail& detail) {
    if (!std::holds_alternative<FileOrigin>(state.document().origin)) return;
    const auto add = [&](std::string text) { detail.lines.push_back(std::move(text)); };
    const auto& read = state.document().roles;
    if (const auto as = read.find(row.name); as != read.end())
        add(fmt::format("Read as {}.", as->second));
    else
        add("Not used.");
    const RoleProposal proposal = propose_role(row, stats, tensors_look(state).listing.get());
    if (!proposal.role.empty())
        add(fmt::format("It may be {}{}: {}.", proposal.role,
                        proposal.axes.empty() ? "" : " " + proposal.axes, proposal.reason));
    else if (stats != nullptr && !read.contains(row.name))
        add("Its role is not clear from its name, shape or numbers.");
    detail.role_names = {"as its name says"};
    detail.role_keys = {""};
    for (const TensorRole& role : tensor_roles()) {
        detail.role_names.push_back(role.key == "-" ? std::string(role.text)
                                                    : fmt::format("{}: {}", role.key, role.text));
        detail.role_keys.emplace_back(role.key);
    }
    const auto chosen = tensors_look(state).roles.find(row.name);
    if (chosen == tensors_look(state).roles.end()) return;
    const auto at = std::ranges::find(detail.role_keys, chosen->second);
    if (at != detail.role_keys.end()) detail.role = static_cast<int>(at - detail.role_keys.begin());
}

std::vector<double> bins_of(const ArrayStats& stats) {
    std::vector<double> bins;
    if (!stats.fault.empty() || !stats.finite || !(stats.high > stats.low)) return bins;
    const double most = *std::ranges::max_element(stats.bins);
    for (const double bin : stats.bins) bins.push_back(bin / most);
    return bins;
}

/// An array twice as tall as wide is drawn transposed, because a canvas is wide.
bool is_narrow(const ArrayStats& stats) { return stats.preview_rows >= 2 * stats.preview_columns; }

Image paint_preview(const ArrayStats& stats, const ColorRange& range, ThemeName name) {
    const bool turned = is_narrow(stats);
    const Index rows = turned ? stats.preview_columns : stats.preview_rows;
    const Index columns = turned ? stats.preview_rows : stats.preview_columns;
    Image image{static_cast<int>(columns), static_cast<int>(rows), {}};
    const Theme& theme = view::theme(name);
    for (const auto [row, column] : each_cell(rows, columns)) {
        const float value = stats.preview[turned ? column * rows + row : row * columns + column];
        const Color color = std::isnan(value)   ? theme.nan
                            : std::isinf(value) ? theme.masked
                                                : color_of(range, value, name);
        for (const std::uint8_t part : {color.r, color.g, color.b, color.a})
            image.rgba.push_back(part);
    }
    return image;
}

std::vector<std::string> counted(Index count) {
    std::vector<std::string> labels;
    for (Index n = 0; n < count; ++n) labels.push_back(fmt::format("{}", n));
    return labels;
}

/// Its last two axes, where the preview has every number of them.
std::optional<GridView> grid_of(const AppState& state, const TensorRow& row,
                                const ArrayStats& stats, ColorScale scale) {
    const auto extent = [&](std::size_t back) {
        return row.extents.size() < back ? Index{1} : row.extents[row.extents.size() - back];
    };
    const Index rows = stats.preview_rows, columns = stats.preview_columns;
    if (rows != extent(2) || columns != extent(1) || std::max(rows, columns) > kMostCells)
        return std::nullopt;
    Sheet sheet;
    sheet.values = {stats.preview.data(), rows, columns, columns};
    sheet.row_labels = counted(rows);
    sheet.column_labels = counted(columns);
    sheet.row_role = sheet.column_role = Role::input;
    GridView grid = make_grid(state, sheet, {scale, is_narrow(stats), {}});
    grid.title.clear();
    grid.shape.clear();
    grid.editable = false;
    grid.selected.reset();
    return grid;
}

void add_picture(const AppState& state, const TensorRow& row,
                 const std::shared_ptr<const ArrayStats>& stats, TensorDetail& detail) {
    if (stats->preview.empty()) return;
    // Violet is of weights: rows that sum to 1.
    const bool unit = stats->nonnegative && stats->rows > 0 && stats->unit_rows == stats->rows;
    const ColorRange range =
        with_look(range_of(unit ? ColorScale::unit : ColorScale::diverging, stats->preview),
                  color_look(state));
    detail.grid = grid_of(state, row, *stats, range.scale);
    const auto single = [](Index extent) { return extent == 1; };
    const bool one =
        row.extents.size() < 3 || std::all_of(row.extents.begin(), row.extents.end() - 2, single);
    detail.caption = one ? "values" : "its last two axes, at index 0 of the others";
    if (is_narrow(*stats)) detail.caption += ", transposed: rows run across";
    const ThemeName name = state.theme;
    std::uint64_t key = hash_text(detail.title + detail.shape);
    key = mix(key, static_cast<std::uint64_t>(name) * 8 + static_cast<std::uint64_t>(range.map));
    key = mix(key, std::bit_cast<std::uint64_t>(range.high));
    key = mix(key, reinterpret_cast<std::uintptr_t>(stats.get()));
    detail.picture = {key, [stats, range, name] { return paint_preview(*stats, range, name); }};
    const auto aspect =
        static_cast<float>(stats->preview_rows) / static_cast<float>(stats->preview_columns);
    detail.aspect = is_narrow(*stats) ? 1.0F / aspect : aspect;
    detail.low = legend_tick(unit ? 0.0 : -range.high);
    detail.high = legend_tick(range.high);
    for (int n = 0; n < kRamp; ++n)
        detail.colors.push_back(
            color_at(range.scale, static_cast<double>(n) / (kRamp - 1), name, range.map));
    detail.bins = bins_of(*stats);
    detail.least = number(stats->low);
    detail.most = number(stats->high);
}

/// For the rows around the selected one in the table.
void add_distributions(const AppState& state, TensorsView& view) {
    const auto count = std::ssize(view.lines);
    const auto at = std::ranges::find(view.lines, true, &TensorLine::selected) - view.lines.begin();
    const auto first = std::clamp<std::ptrdiff_t>(
        at - kMostDistributions / 2, 0, std::max<std::ptrdiff_t>(count - kMostDistributions, 0));
    for (auto n = first; n < std::min(count, first + kMostDistributions); ++n) {
        const TensorLine& line = view.lines[static_cast<std::size_t>(n)];
        const ArrayStats* const stats = stats_of(state, line.name);
        view.distributions.push_back(
            {line.name, stats == nullptr ? std::vector<double>() : bins_of(*stats), line.selected});
    }
}

std::optional<TensorDetail> detail_of(const AppState& state) {
    const TensorsLook& look = tensors_look(state);
    const TensorRow* const row = look.listing->find(shown_tensor(state));
    if (row == nullptr) return std::nullopt;
    TensorDetail detail;
    detail.title = row->name;
    detail.shape =
        fmt::format("{} {}, {}", row->dtype, index_text(row->extents), bytes_text(row->bytes));
    const ArrayStats* const stats = stats_of(state, row->name);
    if (stats == nullptr)
        detail.pending = job_status_text(state, "tensors", "Reading its numbers.");
    else if (!stats->fault.empty())
        detail.pending = fmt::format("No picture: {}.", stats->fault);
    else
        add_stat_lines(*stats, detail);
    add_role_lines(state, *row, stats, detail);
    if (stats != nullptr && stats->fault.empty())
        add_picture(state, *row, look.stats.at(row->name), detail);
    return detail;
}

std::string unused_text(const AppState& state, const TensorListing& listing) {
    const Document& document = state.document();
    if (!std::holds_alternative<FileOrigin>(document.origin) || !document.no_attention.empty())
        return {};
    std::vector<std::string> names;
    for (const TensorRow& row : listing.rows)
        if (!document.roles.contains(row.name)) names.push_back(shortened(row.name));
    if (names.empty()) return {};
    const std::size_t named = std::min(names.size(), kMostUnusedNamed);
    std::string text = fmt::format(
        "Not used: {}",
        fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named), ", "));
    if (names.size() > named) text += fmt::format(" and {} more", names.size() - named);
    return text + ".";
}

std::string point_text(const AppState& state, const TensorListing& listing) {
    double bytes = 0.0;
    for (const TensorRow& row : listing.rows) bytes += row.bytes;
    const std::size_t count = listing.rows.size();
    const std::string& title = state.document().title;
    return fmt::format(
        "{}: {} array{}, {}.", is_toy(state.document()) ? fmt::format("“{}”", title) : title,
        grouped(static_cast<Index>(count)), count == 1 ? "" : "s", bytes_text(bytes));
}

void add_question(const FileQuestion& question, TensorsView& view) {
    view.question = question.text;
    for (std::size_t n = 0; n < std::min(question.answers.size(), std::size(kAnswerKeys)); ++n) {
        const FileQuestion::Answer& answer = question.answers[n];
        const char letter = static_cast<char>('A' + n);
        view.answers.push_back({fmt::format("{}: {}", letter, answer.title), answer.meaning,
                                fmt::format("Open the file with this answer\nKey: {}", letter),
                                AnswerTensors{answer.option, answer.value}});
    }
}

/// How the arrays are read: an entry for each option that the window offers.
void add_options(const TensorsLook& look, TensorsView& view) {
    for (const ReadingOption& option : reading_options()) {
        if (option.title.empty()) continue;
        const auto given = look.options.find(std::string(option.key));
        view.options.push_back({std::string(option.key),
                                std::string(option.title),
                                std::string(option.tip),
                                {"as the file says"},
                                given == look.options.end() ? "" : given->second});
        for (const std::string_view value : option.values)
            view.options.back().names.emplace_back(value);
    }
}

}  // namespace

std::vector<const TensorRow*> tensor_rows(const AppState& state) {
    std::vector<const TensorRow*> rows;
    const TensorsLook& look = tensors_look(state);
    if (!look.listing || look.listing->document != state.shared_document()) return rows;
    const std::string wanted = lower_case(look.filter);
    for (const TensorRow& row : look.listing->rows)
        if (lower_case(row.name).find(wanted) != std::string::npos) rows.push_back(&row);
    sort_rows(state, rows);
    return rows;
}

TensorsView build_tensors_view(const AppState& state) {
    TensorsView view;
    const TensorsLook& look = tensors_look(state);
    view.filter = look.filter;
    view.sort = look.sort;
    view.descending = look.descending;
    view.heads = heads_of_table();
    const Document& document = state.document();
    if (!document.no_attention.empty())
        view.reason = fmt::format("It gives no attention to compute: {}.", document.no_attention);
    if (document.question) add_question(*document.question, view);
    const auto* file = std::get_if<FileOrigin>(&document.origin);
    view.can_read = file != nullptr;
    view.axes_names = {"as the file says"};
    view.axes_keys = {""};
    for (const HeadAxesInfo& row : head_axes_table()) {
        view.axes_names.emplace_back(row.title);
        view.axes_keys.emplace_back(row.key);
    }
    view.axes =
        static_cast<int>(std::ranges::find(view.axes_keys, look.axes) - view.axes_keys.begin());
    add_options(look, view);
    if (!look.listing || look.listing->document != state.shared_document()) {
        view.empty = "Reading the names of the arrays.";
        return view;
    }
    const TensorListing& listing = *look.listing;
    if (!listing.fault.empty()) {
        view.empty = fmt::format("The arrays cannot be listed: {}.", listing.fault);
        return view;
    }
    view.point = point_text(state, listing);
    view.unused = unused_text(state, listing);
    for (const TensorRow* row : tensor_rows(state)) view.lines.push_back(line_of(state, *row));
    for (std::size_t n = 0; n < view.heads.size(); ++n) {
        std::vector<std::string*> column;
        for (TensorLine& line : view.lines)
            if (view.heads[n].right && n < line.cells.size()) column.push_back(&line.cells[n]);
        align_decimals(column);
    }
    if (listing.rows.empty())
        view.empty =
            "There is no array yet: type a sentence in Step (1 S), or open a file (Ctrl+O).";
    else if (view.lines.empty())
        view.empty = fmt::format("No name contains “{}”. Esc shows all.", look.filter);
    view.detail = detail_of(state);
    add_distributions(state, view);
    return view;
}

}  // namespace attn::view
