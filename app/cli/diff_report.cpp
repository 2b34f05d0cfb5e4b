#include "app/cli/diff_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attn::cli {
namespace {

using verify::Cell, verify::Errors, verify::Outcome;

constexpr std::size_t kMostHeads = 4;
constexpr std::size_t kMostRowsShown = 5;

/// Columns as wide as their widest entry; all but the first end at the right.
template <std::size_t kColumns>
std::string aligned(const std::vector<std::array<std::string, kColumns>>& rows, int indent) {
    std::array<std::size_t, kColumns> widths{};
    for (const auto& row : rows)
        for (std::size_t c = 0; c < kColumns; ++c) widths[c] = std::max(widths[c], row[c].size());
    std::string text;
    for (const auto& row : rows) {
        std::string line = fmt::format("{:{}}{:<{}}", "", indent, row[0], widths[0]);
        for (std::size_t c = 1; c < kColumns; ++c)
            line += fmt::format("  {:>{}}", row[c], widths[c]);
        text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return text;
}

std::string heading(const DiffReport& report) {
    const bool by_reference = std::ranges::all_of(
        report.rows, [](const DiffRow& row) { return row.expected_from == "reference"; });
    const std::string& checked = report.b.empty() ? report.a : report.b;
    std::string text =
        report.b.empty() || by_reference
            ? fmt::format("{}, compared with the reference\n", checked)
            : fmt::format("{} is checked, {} is what is expected\n", checked, report.a);
    if (report.size) {
        const Dimensions& n = *report.size;
        text +=
            fmt::format("inputs of {}: B {}, H {}, Hkv {}, Tq {}, Tk {}, d_k {}, d_v {}\n",
                        report.inputs_from, n.batch, n.heads, n.kv_heads, n.tq, n.tk, n.d_k, n.d_v);
        text +=
            fmt::format("options: {}\n",
                        report.options.empty() ? "none, plain softmax attention" : report.options);
    } else {
        text += "no inputs (Q and K, or X): nothing can be recomputed\n";
    }
    return text;
}

/// NaN and ∞ beside a number are worse than any error.
std::string worst_number(const Errors& errors) {
    if (errors.nan.count > 0) return "NaN";
    return errors.infinite.count > 0 ? "inf" : short_number(errors.max);
}

/// "beyond": cells beyond tolerance; NaN and inf that meet numbers among them.
std::string table(const std::vector<DiffRow>& rows) {
    if (rows.empty()) return {};
    std::vector<std::array<std::string, 9>> lines{
        {"array", "shape", "max error", "mean", "relative", "ulp", "beyond", "NaN/inf", "against"}};
    for (const DiffRow& row : rows) {
        const verify::Comparison& c = row.comparison;
        lines.push_back({row.key, to_string(c.shape), worst_number(c.all), short_number(c.all.mean),
                         short_number(c.relative), fmt::format("{}", c.all.ulp),
                         fmt::format("{} of {}", c.all.beyond, c.all.count),
                         fmt::format("{}", c.all.nan.count + c.all.infinite.count),
                         row.expected_from});
    }
    return '\n' + aligned(lines, 0);
}

std::string cell_description(std::string_view key, const Cell& cell) {
    return fmt::format("{}[{}, {}, {}, {}]  {:.8g}, expected {:.8g}", key, cell.b, cell.h, cell.t,
                       cell.d, cell.actual, cell.expected);
}

std::string heads_and_rows(const DiffRow& row) {
    const verify::Comparison& c = row.comparison;
    std::vector<std::array<std::string, 4>> lines{{"", "max error", "mean", "beyond"}};
    const auto add = [&](std::string name, const Errors& errors) {
        lines.push_back({std::move(name), worst_number(errors), short_number(errors.mean),
                         fmt::format("{} of {}", errors.beyond, errors.count)});
    };
    std::vector<verify::HeadErrors> heads = c.heads;
    std::erase_if(heads, [](const auto& head) { return head.errors.beyond == 0; });
    std::ranges::stable_sort(
        heads, [](const auto& x, const auto& y) { return x.errors.beyond > y.errors.beyond; });
    if (c.heads.size() > 1)
        for (std::size_t n = 0; n < std::min(heads.size(), kMostHeads); ++n)
            add(fmt::format("head [{}, {}]", heads[n].b, heads[n].h), heads[n].errors);
    for (std::size_t n = 0; n < std::min(c.rows.size(), kMostRowsShown); ++n)
        add(fmt::format("row [{}, {}, {}]", c.rows[n].b, c.rows[n].h, c.rows[n].t),
            c.rows[n].errors);
    return aligned(lines, 2);
}

/// The first array in the order of the computation that is beyond tolerance, in detail.
std::string where(const std::vector<DiffRow>& rows) {
    const auto first = std::ranges::find_if(
        rows, [](const DiffRow& row) { return row.comparison.all.beyond > 0; });
    if (first == rows.end()) return {};
    const Errors& all = first->comparison.all;
    std::string text = fmt::format("\n{} is the first that differs\n", first->key);
    text += fmt::format("  where       {}\n", first->extent);
    text += fmt::format("  worst cell  {}\n", cell_description(first->key, all.worst));
    if (all.nan.count > 0)
        text +=
            fmt::format("  NaN on one side only in {} cell{}, first {}\n", all.nan.count,
                        all.nan.count == 1 ? "" : "s", cell_description(first->key, all.nan.first));
    if (all.infinite.count > 0)
        text += fmt::format("  infinite and different in {} cell{}, first {}\n", all.infinite.count,
                            all.infinite.count == 1 ? "" : "s",
                            cell_description(first->key, all.infinite.first));
    return text + heads_and_rows(*first);
}

std::string by_how_much(const Outcome& outcome) {
    if (std::isinf(outcome.factor())) return "no error is left";
    return fmt::format("the error becomes {:.3g} times smaller", outcome.factor());
}

std::string explanation(const Outcome& outcome) {
    std::string text = fmt::format("  {}: {}\n    {}\n    {}", outcome.fault->key,
                                   outcome.fault->text, outcome.variant, by_how_much(outcome));
    text += outcome.explains ? ", all within tolerance\n" : ", not all within tolerance\n";
    for (const verify::StageChange& stage : outcome.stages)
        if (stage.beyond_before > 0)
            text += fmt::format("    {}: max error {} -> {}, beyond {} -> {}\n", stage.key,
                                short_number(stage.max_before), short_number(stage.max_after),
                                stage.beyond_before, stage.beyond_after);
    return text + fmt::format("    remedy: {}\n    reported: {}\n", outcome.fault->remedy,
                              outcome.fault->source);
}

std::string diagnosis_text(const Examined& file) {
    const verify::Diagnosis& diagnosis = *file.diagnosis;
    std::string text = fmt::format("\ndiagnosis of {}\n", file.path);
    if (diagnosis.named.empty()) {
        std::size_t tried = 0;
        for (const Outcome& outcome : diagnosis.outcomes) tried += outcome.tried;
        return text + fmt::format("  faults that were tried: {}; none explains it\n", tried);
    }
    if (diagnosis.named.size() > 1)
        text += fmt::format("  these tensors cannot distinguish {}\n", diagnosis.named.size());
    for (const std::size_t n : diagnosis.named) text += explanation(diagnosis.outcomes[n]);
    return text;
}

std::string facts_text(const Examined& file) {
    std::string text;
    for (const verify::Fact& fact : file.facts) text += fmt::format("  {}\n", fact.text);
    for (const verify::Sign& sign : file.signs)
        if (sign.fits)
            text += fmt::format("  {}: {}: {}\n", sign.fault->key, sign.fault->text, sign.text);
    return text.empty() ? text : fmt::format("\nseen in {}\n{}", file.path, text);
}

}  // namespace

std::string short_number(double value) { return value == 0.0 ? "0" : fmt::format("{:.2e}", value); }

std::string diff_text(const DiffReport& report) {
    std::string text = heading(report) + table(report.rows) + where(report.rows);
    for (const Examined& file : report.examined) {
        if (file.diagnosis) text += diagnosis_text(file);
        if (!report.equal || !file.has_reference) text += facts_text(file);
    }
    const auto only = [&](const std::string& path, const std::vector<std::string>& names) {
        if (!names.empty())
            text += fmt::format("\nnot compared: {} of {}\n", fmt::join(names, ", "), path);
    };
    only(report.a, report.only_a);
    only(report.b, report.only_b);
    return text + fmt::format("\n{}\n", report.verdict.text());
}

}  // namespace attn::cli
