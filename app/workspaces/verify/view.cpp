#include "app/workspaces/verify/view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/inspector.h"
#include "app/common/number_style.h"
#include "app/common/pair_grid.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/verify/actions.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

using verify::Cell, verify::DiffRow, verify::Errors;

constexpr Index kMostVerifyCells = 64;  // rows and columns of the map; more are blocks
const verify::DiffReport* report_of(const AppState& state) {
    const auto& result = verify_look(state).result;
    return result && result->error.empty() ? &result->report : nullptr;
}

/// As `scale` measures it. Both NaN, or the same ∞: 0; one side alone NaN: NaN; ∞ against another number: ∞.
double error_of(const DiffRow& row, CheckedCell at, ErrorScale scale) {
    const float actual = (*row.actual)(at.b, at.h, at.t, at.d);
    const double expected = (*row.expected)(at.b, at.h, at.t, at.d);
    const bool both_nan = std::isnan(actual) && std::isnan(expected);
    if (both_nan || static_cast<double>(actual) == expected) return 0.0;
    if (std::isnan(actual) || std::isnan(expected)) return std::numeric_limits<double>::quiet_NaN();
    const double difference = static_cast<double>(actual) - expected;
    if (std::isinf(difference)) return scale == ErrorScale::difference ? difference : HUGE_VAL;
    switch (scale) {
        case ErrorScale::tolerance:
            return std::abs(difference) /
                   row.comparison.tolerance.at(expected, at.b, at.h, at.t, at.d);
        case ErrorScale::difference:
            return difference;
        case ErrorScale::relative:
            return std::abs(difference) / std::abs(expected);
        case ErrorScale::ulp:
            break;
    }
    return static_cast<double>(verify::ulp_distance(actual, static_cast<float>(expected)));
}

/// How a matrix is cut into cells that can be seen.
struct Blocks {
    Index rows = 0, columns = 0;  // of the matrix
    Index tall = 1, wide = 1;     // of a block
    Index drawn_rows() const { return (rows + tall - 1) / tall; }
    Index drawn_columns() const { return (columns + wide - 1) / wide; }
};

Blocks blocks_of(const DiffRow& row) {
    const Shape shape = row.actual->shape();
    const auto side = [](Index n) {
        return std::max<Index>(1, (n + kMostVerifyCells - 1) / kMostVerifyCells);
    };
    return {shape.t, shape.d, side(shape.t), side(shape.d)};
}

struct Worst {
    CheckedCell cell;
    double error = 0.0;
};

/// Of one block of the head that is shown; NaN before all.
Worst worst_in(const DiffRow& row, const Blocks& blocks, CheckedCell head, Index i, Index j,
               ErrorScale scale) {
    Worst worst{{head.b, head.h, i * blocks.tall, j * blocks.wide}, 0.0};
    double most = -1.0;
    for (Index t = i * blocks.tall; t < std::min(blocks.rows, (i + 1) * blocks.tall); ++t)
        for (Index d = j * blocks.wide; d < std::min(blocks.columns, (j + 1) * blocks.wide); ++d) {
            const double error = error_of(row, {head.b, head.h, t, d}, scale);
            const double size = std::isnan(error) ? HUGE_VAL : std::abs(error);
            if (size > most) most = size, worst = {{head.b, head.h, t, d}, error};
        }
    return worst;
}

std::vector<std::string> labels_along(const AppState& state, const DiffRow& row, Axis axis,
                                      Index count, Index block) {
    const Document& document = state.document();
    const auto stage = verify::stage_of(row.key);
    const StageInfo* const about = stage ? &info(*stage) : nullptr;
    const Axis own = about == nullptr    ? row.key == "logsumexp" ? Axis::query : Axis::d_model
                     : axis == Axis::key ? about->columns
                                         : about->rows;
    const Index there = own == Axis::query ? document.size.tq
                        : own == Axis::key ? document.size.tk
                                           : 0;
    const Index drawn = (count + block - 1) / block;
    if (block == 1 && count == there && !(about == nullptr && axis == Axis::key))
        return axis_labels(state, own, count);
    std::vector<std::string> labels;
    for (Index n = 0; n < drawn; ++n) labels.push_back(fmt::format("{}", n * block));
    return labels;
}

/// Colours from 0 to the largest, or around 0.
void color_errors(const AppState& state, GridView& grid, ErrorScale scale) {
    grid.ticks.clear();
    if (scale == ErrorScale::difference) {
        grid.ticks = {{0.5, "0"}};
        return;
    }
    double most = scale == ErrorScale::tolerance ? 1.0 : 0.0;
    for (const CellView& cell : grid.cells)
        if (std::isfinite(cell.value)) most = std::max(most, cell.value);
    grid.range = {ColorScale::unit, 0.0, most > 0.0 ? most : 1.0, ColorCurve::root,
                  ColorMap::errors};
    grid.low_label = "0";
    grid.high_label = legend_tick(grid.range.high);
    if (scale == ErrorScale::tolerance && most > 1.0)
        grid.ticks.push_back({position_of(grid.range, 1.0), "1: tolerance"});
    for (CellView& cell : grid.cells) {
        if (cell.look == CellLook::not_a_number) continue;
        cell.fill = color_of(grid.range, cell.value, state.theme);
        cell.ink = ink_on(cell.fill, state.theme);
    }
}

GridView error_grid(const AppState& state, const DiffRow& row, CheckedCell at) {
    const VerifyLook& look = verify_look(state);
    const Blocks blocks = blocks_of(row);
    std::vector<float> values;
    for (const auto [i, j] : each_cell(blocks.drawn_rows(), blocks.drawn_columns()))
        values.push_back(static_cast<float>(worst_in(row, blocks, at, i, j, look.scale).error));
    Sheet sheet;
    sheet.id = find_stage(row.key).value_or(Stage::scores);
    sheet.values = {values.data(), blocks.drawn_rows(), blocks.drawn_columns(),
                    blocks.drawn_columns()};
    sheet.row_labels = labels_along(state, row, Axis::query, blocks.rows, blocks.tall);
    sheet.column_labels = labels_along(state, row, Axis::key, blocks.columns, blocks.wide);
    const auto stage = find_stage(row.key);
    sheet.role = stage ? info(*stage).role : Role::score;
    const auto scale =
        look.scale == ErrorScale::difference ? ColorScale::diverging : ColorScale::unit;
    GridView grid = make_grid(state, sheet, {scale, false, {}});
    color_errors(state, grid, look.scale);
    grid.title = fmt::format("{} of {}", kScaleText[static_cast<std::size_t>(look.scale)], row.key);
    grid.shape = fmt::format("head [{}, {}], {}", at.b, at.h, size(blocks.rows, blocks.columns));
    grid.tooltip =
        fmt::format("error of the checked value, compared with the expected value; {}",
                    look.scale == ErrorScale::tolerance ? "1: the largest allowed error"
                                                        : "0: equal, the same ∞, or both NaN");
    look_at(grid, {at.t / blocks.tall, at.d / blocks.wide});
    return grid;
}

std::string short_error(double value) { return value == 0.0 ? "0" : significant(value, 2); }

/// NaN and ∞ beside a number are worse than any error.
std::string largest_error(const Errors& errors) {
    if (errors.nan.count > 0) return "NaN";
    return errors.infinite.count > 0 ? "∞" : short_error(errors.max);
}

constexpr std::uint64_t kManyUlp = 1'000'000;  // from here on a power of ten

/// "2.1e-06 + 1.2e-07 |expected|".
std::string tolerance_text(const verify::Tolerance& tolerance) {
    return fmt::format("{}{} + {} |expected|", tolerance.entries ? "by entry, at most " : "",
                       short_error(tolerance.absolute), short_error(tolerance.relative));
}

void add_lines(const AppState& state, const verify::DiffReport& report, VerifyView& view) {
    const DiffRow* const shown = shown_array(state);
    for (const DiffRow& row : report.rows) {
        const Errors& all = row.comparison.all;
        view.lines.push_back(
            {row.key,
             {row.key, largest_error(all), short_error(row.comparison.relative),
              all.ulp < kManyUlp ? grouped(static_cast<Index>(all.ulp))
                                 : significant(static_cast<double>(all.ulp), 2),
              all.beyond == 0 ? "0"
                              : fmt::format("{} of {}", grouped(all.beyond), grouped(all.count))},
             all.beyond > 0,
             &row == shown});
    }
}

CheckedCell place_of(const Cell& cell) { return {cell.b, cell.h, cell.t, cell.d}; }

void add_parts(const DiffRow& row, CheckedCell at, VerifyView& view) {
    const auto text = [](std::string what, const Errors& errors) {
        return errors.beyond == 0 ? fmt::format("{}: {}", what, largest_error(errors))
                                  : fmt::format("{}: {} beyond tolerance, largest {}", what,
                                                grouped(errors.beyond), largest_error(errors));
    };
    for (const verify::HeadErrors& head : row.comparison.heads) {
        CheckedCell worst = place_of(head.errors.worst);
        worst.b = head.b, worst.h = head.h;
        view.heads.push_back({text(fmt::format("[{}, {}]", head.b, head.h), head.errors), worst,
                              head.errors.beyond > 0, head.b == at.b && head.h == at.h});
    }
    for (const verify::RowErrors& each : row.comparison.rows) {
        CheckedCell worst = place_of(each.errors.worst);
        worst.b = each.b, worst.h = each.h, worst.t = each.t;
        view.rows.push_back({text(fmt::format("[{}, {}, {}]", each.b, each.h, each.t), each.errors),
                             worst, true, each.b == at.b && each.h == at.h && each.t == at.t});
    }
    view.rows_title = "worst rows";
    const auto& rows = row.comparison.rows;
    const auto alike = std::ranges::count_if(rows, [&](const verify::RowErrors& each) {
        return largest_error(each.errors) == largest_error(rows.front().errors) &&
               each.errors.beyond == rows.front().errors.beyond;
    });
    if (alike > 1 && alike == std::ssize(rows) &&
        rows.size() < verify::kMostRows) {  // all are listed: by place
        view.rows_title = fmt::format("{} rows are equally wrong", alike);
        std::ranges::sort(view.rows, {}, [](const auto& each) {
            return std::tuple(each.worst.b, each.worst.h, each.worst.t);
        });
    }
}

std::string outcome_text(const verify::Outcome& outcome) {
    const std::string left =
        std::isinf(outcome.factor())
            ? "no error is left"
            : fmt::format("the error becomes {} times smaller", significant(outcome.factor(), 3));
    return fmt::format("{} With this fault in the reference, {}{}. Remedy: {}.",
                       sentence(fmt::format("{} ({})", outcome.fault->text, outcome.variant)), left,
                       outcome.explains ? ", all within tolerance" : ", not all within tolerance",
                       outcome.fault->remedy);
}

void add_findings(const AppState& state, const verify::DiffReport& report, VerifyView& view) {
    const auto add = [&](std::string text, bool bad) {
        view.findings.push_back({std::move(text), bad, bad});
    };
    if (const DiffRow* const row = shown_array(state); row != nullptr) {
        if (!row->extent.empty())
            add(fmt::format("Beyond tolerance in {}: {}.", row->key, row->extent), true);
        add(fmt::format("Tolerance for {}: {}.", row->key,
                        tolerance_text(row->comparison.tolerance)),
            false);
    }
    if (report.size && !report.options.empty())  // a document's own call is said elsewhere
        add(fmt::format("Options: {}.", report.options), false);
    for (const verify::Examined& side : report.examined) {
        if (side.diagnosis) {
            const verify::Diagnosis& found = *side.diagnosis;
            if (found.named.empty())
                add(fmt::format("Tried {} faults; none explains the difference.",
                                std::ranges::count_if(found.outcomes, &verify::Outcome::tried)),
                    true);
            if (found.named.size() > 1)
                add(fmt::format("These tensors cannot distinguish {} faults.", found.named.size()),
                    false);
            for (const std::size_t n : found.named) {
                add(outcome_text(found.outcomes[n]), true);
                view.findings.back().warns = found.named.size() > 1 || !found.outcomes[n].explains;
            }
        }
        for (const verify::Fact& fact : side.facts) add(fact.text, fact.suspicious);
        for (const verify::Sign& sign : side.signs)
            if (sign.fits) add(sentence(fmt::format("{}: {}", sign.fault->text, sign.text)), true);
    }
    for (const auto& [path, names] :
         {std::tie(report.a, report.only_a), std::tie(report.b, report.only_b)})
        if (!names.empty())
            add(fmt::format("Not compared: {} of {}.", fmt::join(names, ", "), path), false);
    for (const Note& note : report.notes) add(note.text, false);
}

/// Rows [batch, head, row] of one array that hold NaN.
struct NanRows {
    Index rows = 0, all = 0;
    CheckedCell first;
};
NanRows nan_rows(const Tensor& values) {
    NanRows found;
    const Shape shape = values.shape();
    for (const auto [b, h] : each_cell(shape.b, shape.h))
        for (Index t = 0; t < shape.t; ++t, ++found.all) {
            const auto row = values.matrix(b, h).row(t);
            if (std::ranges::none_of(row, [](float value) { return std::isnan(value); })) continue;
            if (found.rows++ == 0) found.first = {b, h, t, 0};
        }
    return found;
}

/// "NaN in 2 of 8 rows of weights, first in [0, 1, 3]. ", or of the first array with NaN; "": no array has any.
std::string nan_rows_text(const verify::DiffReport& report) {
    const DiffRow* named = nullptr;
    for (const DiffRow& row : report.rows)
        if ((named == nullptr || row.key == "weights") && nan_rows(*row.actual).rows > 0)
            named = &row;
    if (named == nullptr) return {};
    const NanRows nan = nan_rows(*named->actual);
    return fmt::format("NaN in {} of {} of {}, first in [{}, {}, {}]. ", grouped(nan.rows),
                       counted(nan.all, "row"), named->key, nan.first.b, nan.first.h, nan.first.t);
}

/// "W_Q[0, 0, 2, 1] is NaN", of the inputs' first NaN, else of their first ∞; "": all are finite.
std::string first_not_finite(const Inputs& inputs) {
    struct Named {
        std::string_view name;
        const Tensor& values;
    };
    std::vector<Named> all{
        {"X", inputs.x}, {"X_kv", inputs.x_kv}, {"Q", inputs.q}, {"K", inputs.k}, {"V", inputs.v}};
    for (const ParamInfo& row : param_table()) all.push_back({row.npz, inputs.params[row.param]});
    for (const bool nan : {true, false})
        for (const auto& [name, values] : all) {
            const Shape shape = values.shape();
            for (const auto [b, h] : each_cell(shape.b, shape.h))
                for (const auto [t, d] : each_cell(shape.t, shape.d)) {
                    const float value = values(b, h, t, d);
                    if (nan ? std::isnan(value) : std::isinf(value))
                        return fmt::format("{}[{}, {}, {}, {}] is {}", name, b, h, t, d,
                                           number(value));
                }
        }
    return {};
}

/// The cause that the diagnosis found; "" where it found none, or only most of the error.
std::string diagnosed(const verify::DiffReport& report) {
    const bool one = report.examined.size() == 1 && report.examined.front().diagnosis;
    if (!one) return {};
    const verify::Diagnosis& found = *report.examined.front().diagnosis;
    return found.explained && !found.named.empty() ? report.verdict.detail : std::string();
}

std::string point_of(const verify::DiffReport& report) {
    const bool by_reference = std::ranges::all_of(
        report.rows, [](const DiffRow& row) { return row.expected_from == "reference"; });
    const std::string& checked = report.b.empty() ? report.a : report.b;
    const std::string expected = report.b.empty() || by_reference ? "float64" : report.a;
    const verify::Verdict& verdict = report.verdict;
    const std::string arrays = counted(verdict.arrays, "array");
    switch (verdict.kind) {
        case verify::Verdict::Kind::different:
            if (const std::string cause = diagnosed(report); !cause.empty())
                return sentence(fmt::format("{}: {} differs from {} in {} of {}.", cause, checked,
                                            expected, verdict.beyond, arrays));
            return sentence(fmt::format("{} differs from {}: {} of {} beyond tolerance; {}.",
                                        checked, expected, verdict.beyond, arrays, verdict.detail));
        case verify::Verdict::Kind::equal:
            return nan_rows_text(report) + sentence(fmt::format("{} matches {}: {} of {}.", checked,
                                                                expected, verdict.arrays, arrays));
        case verify::Verdict::Kind::equal_sides:
            return sentence(
                fmt::format("{} matches {}, but {} differs from the reference of these inputs and "
                            "options.",
                            checked, expected, verdict.detail));
        case verify::Verdict::Kind::unchecked:
        case verify::Verdict::Kind::suspicious:
            break;
    }
    return fmt::format("{}: {}.", checked, verdict.text());
}

void add_choices(const AppState& state, VerifyView& view) {
    view.look = verify_look(state);
    view.fault_keys = {"", std::string(kExampleFault)};
    view.fault_names = {"no fault planted", "example: the causal mask"};
    for (const verify::Fault& fault : verify::fault_table()) {
        view.fault_keys.emplace_back(fault.key);
        view.fault_names.emplace_back(fault.text);
    }
    const auto found = std::ranges::find(view.fault_keys, applied_fault(state));
    view.fault =
        found == view.fault_keys.end() ? 0 : static_cast<int>(found - view.fault_keys.begin());
}

}  // namespace

const verify::DiffRow* shown_array(const AppState& state) {
    const verify::DiffReport* const report = report_of(state);
    if (report == nullptr || report->rows.empty()) return nullptr;
    const auto named = std::ranges::find(report->rows, verify_look(state).array, &DiffRow::key);
    if (named != report->rows.end()) return &*named;
    const auto differs = [](const DiffRow& row) { return row.comparison.all.beyond > 0; };
    const auto first = std::ranges::find_if(report->rows, differs);
    if (first != report->rows.end()) return &*first;
    const auto weights = std::ranges::find(report->rows, "weights", &DiffRow::key);
    return weights == report->rows.end() ? &report->rows.back() : &*weights;
}

std::optional<CheckedCell> shown_cell(const AppState& state) {
    const DiffRow* const row = shown_array(state);
    if (row == nullptr || row->actual->empty()) return std::nullopt;
    const Shape shape = row->actual->shape();
    const CheckedCell at = verify_look(state).cell.value_or(place_of(row->comparison.all.worst));
    return CheckedCell{
        std::clamp<Index>(at.b, 0, shape.b - 1), std::clamp<Index>(at.h, 0, shape.h - 1),
        std::clamp<Index>(at.t, 0, shape.t - 1), std::clamp<Index>(at.d, 0, shape.d - 1)};
}

CheckedCell checked_cell_at(const AppState& state, Index row, Index column) {
    const DiffRow* const array = shown_array(state);
    const auto at = shown_cell(state);
    if (array == nullptr || !at) return {};
    return worst_in(*array, blocks_of(*array), *at, row, column, verify_look(state).scale).cell;
}

std::string verify_differs(const AppState& state) {
    const verify::DiffReport* const report = report_of(state);
    const bool equal = report == nullptr || report->equal || shows_example(state);
    return equal ? std::string() : point_of(*report);
}

VerifyView build_verify_view(const AppState& state) {
    VerifyView view;
    const VerifyLook& look = verify_look(state);
    view.missing_data = verify_missing_data(state);
    add_choices(state, view);
    if (!view.missing_data.empty()) return view;
    view.status = computed_text(state);
    if (!look.result || requested_check(state)) {
        view.point = job_status_text(state, "check", "Comparing the results…");
        if (!look.result) return view;
    }
    if (!look.result->error.empty()) {
        view.point = fmt::format("Not compared: {}.", look.result->error);
        view.bad = true;
        return view;
    }
    const verify::DiffReport& report = look.result->report;
    view.ready = true;
    if (view.point.empty()) view.point = point_of(report);
    if (const std::string& why = look.result->not_planted; !why.empty())
        view.point = fmt::format("Not planted: {}. {}", why, view.point);
    view.bad = !report.equal;
    if (const std::string nan = nan_rows_text(report); !nan.empty())
        if (const std::string input = first_not_finite(*state.document().inputs); !input.empty()) {
            view.point = fmt::format("Input {}. {}", input, view.point);
            view.warns = true;
        }
    add_lines(state, report, view);
    add_findings(state, report, view);
    const DiffRow* const row = shown_array(state);
    const auto at = shown_cell(state);
    if (row == nullptr || !at) return view;
    view.grid = error_grid(state, *row, *at);
    const Blocks blocks = blocks_of(*row);
    if (blocks.tall > 1 || blocks.wide > 1)
        view.blocks = fmt::format("each cell is the worst of up to {} × {} numbers", blocks.tall,
                                  blocks.wide);
    add_parts(*row, *at, view);
    return view;
}

InspectorView verify_inspector(const AppState& state) {
    const DiffRow* const row = shown_array(state);
    const auto at = shown_cell(state);
    if (row == nullptr || !at) return only_hint("Nothing is compared yet.");
    const float actual = (*row->actual)(at->b, at->h, at->t, at->d);
    const double expected = (*row->expected)(at->b, at->h, at->t, at->d);
    const verify::Tolerance& tolerance = row->comparison.tolerance;
    const double share = error_of(*row, *at, ErrorScale::tolerance);
    const auto stage = find_stage(row->key);
    InspectorView view;
    view.empty = false;
    view.role = stage ? info(*stage).role : Role::score;
    view.title = fmt::format("{}[{}, {}, {}, {}]", row->key, at->b, at->h, at->t, at->d);
    view.value = number(actual);
    view.formula = "|actual − expected| ≤ a + r |expected|";
    view.add("actual", exact(actual));
    view.add("expected", fmt::format("{} from {}", significant(expected, 9),
                                     row->expected_from == "reference" ? "the float64 reference"
                                                                       : row->expected_from));
    view.add("difference", significant(static_cast<double>(actual) - expected, 3));
    view.add("allowed",
             fmt::format("{} + {} · {} = {}",
                         significant(tolerance.absolute_at(at->b, at->h, at->t, at->d), 3),
                         significant(tolerance.relative, 3), significant(std::abs(expected), 3),
                         significant(tolerance.at(expected, at->b, at->h, at->t, at->d), 3)));
    view.add("fraction of tolerance",
             std::isnan(share) ? std::string("NaN on one side only") : significant(share, 3));
    if (std::isfinite(actual) && std::isfinite(expected)) {
        view.add("relative", significant(error_of(*row, *at, ErrorScale::relative), 3));
        view.add("ULP", grouped(static_cast<Index>(error_of(*row, *at, ErrorScale::ulp))));
    }
    if (checked_in_step(state)) view.add("", "Enter opens this number in Step.");
    view.as_text = view.as_latex = view.as_python = text_of(view);
    return view;
}

}  // namespace attn::view
