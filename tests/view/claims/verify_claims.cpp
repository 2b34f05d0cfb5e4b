// What a check against expected numbers finds: which arrays, heads, rows and columns.

#include <fmt/format.h>

#include <set>

#include "app/common/document/document.h"
#include "app/workspaces/verify/actions.h"
#include "app/workspaces/verify/state.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

bool check_no_fault(const Match& match) { return verify_look(match.state).fault.empty(); }

using verify::DiffRow;
/// The columns of a row that are wrong.
std::vector<Index> beyond_in(const DiffRow& row, Index b, Index h, Index t) {
    std::vector<Index> all;
    for (Index d = 0; d < row.actual->shape().d; ++d) {
        const double is = (*row.actual)(b, h, t, d), wanted = (*row.expected)(b, h, t, d);
        if (distance(is, wanted) > row.comparison.tolerance.at(wanted, b, h, t, d))
            all.push_back(d);
    }
    return all;
}
Index beyond(const DiffRow& row, std::optional<std::pair<Index, Index>> head = {},
             std::optional<Index> token = {}) {
    const Shape shape = row.actual->shape();
    Index count = 0;
    for (const auto [b, h] : each_cell(shape.b, shape.h))
        for (Index t = 0; t < shape.t; ++t)
            if ((!head || *head == std::pair(b, h)) && (!token || *token == t))
                count += std::ssize(beyond_in(row, b, h, t));
    return count;
}
bool check_different(const Match& claim) {
    const auto& rows = verify_look(claim.state).result->report.rows;
    const auto wrong =
        std::ranges::count_if(rows, [](const DiffRow& row) { return beyond(row) > 0; });
    return wrong > 0 && claim.count(2) == wrong && claim.count(3) == std::ssize(rows);
}
/// "the causal mask starts at the wrong key: the example differs from float64 in 4 of 10 arrays".
bool check_cause(const Match& claim) {
    const auto& report = verify_look(claim.state).result->report;
    const auto wrong =
        std::ranges::count_if(report.rows, [](const DiffRow& row) { return beyond(row) > 0; });
    const auto& diagnosis = report.examined.front().diagnosis;
    return wrong > 0 && claim.count(3) == wrong && claim.count(4) == std::ssize(report.rows) &&
           diagnosis && diagnosis->explained && !diagnosis->named.empty();
}
/// "Input Q[0, 0, 2, 1] is NaN".
bool check_input(const Match& claim) {
    const Inputs& inputs = *claim.state.document().inputs;
    const auto place = split(claim.part[0].substr(claim.part[0].find('[') + 1), ", ");
    const std::string name(claim.part[0].substr(0, claim.part[0].find('[')));
    const Tensor* values = name == "X"      ? &inputs.x
                           : name == "X_kv" ? &inputs.x_kv
                           : name == "Q"    ? &inputs.q
                           : name == "K"    ? &inputs.k
                           : name == "V"    ? &inputs.v
                                            : nullptr;
    for (const ParamInfo& row : param_table())
        if (row.npz == name) values = &inputs.params[row.param];
    if (values == nullptr || place.size() != 4) return false;
    const float value = (*values)(count_of(place[0]), count_of(place[1]), count_of(place[2]),
                                  count_of(split(place[3], "]")[0]));
    return claim.part[1] == "NaN" ? std::isnan(value) : std::isinf(value);
}
/// "staged matches float64: 10 of 10 arrays".
bool check_equal(const Match& claim) {
    const auto& rows = verify_look(claim.state).result->report.rows;
    return claim.count(2) == std::ssize(rows) && claim.count(3) == std::ssize(rows) &&
           std::ranges::all_of(rows, [](const DiffRow& row) { return beyond(row) == 0; });
}
/// "NaN in 2 of 8 rows of weights, first in [0, 1, 3]".
bool check_nan_rows(const Match& claim) {
    const auto& rows = verify_look(claim.state).result->report.rows;
    const auto found = std::ranges::find(rows, claim.part[2], &DiffRow::key);
    if (found == rows.end()) return false;
    const Shape shape = found->actual->shape();
    Index with_nan = 0;
    std::string first;
    for (const auto [b, h] : each_cell(shape.b, shape.h))
        for (Index t = 0; t < shape.t; ++t) {
            if (!has_nan(found->actual->matrix(b, h).row(t))) continue;
            if (with_nan++ == 0) first = fmt::format("{}, {}, {}", b, h, t);
        }
    return claim.count(0) == with_nan && with_nan > 0 && claim.part[3] == first &&
           count_of(split(claim.part[1], " ")[0]) == shape.b * shape.h * shape.t;
}
/// "[0, 1]: 3 beyond tolerance, largest 0.2" of a head, "[0, 1, 2]: …" of a row of one of the arrays.
bool check_part(const Match& match) {
    const auto place = split(match.part[0], ", ");
    const std::pair head(count_of(place[0]), count_of(place[1]));
    std::optional<Index> token;
    if (place.size() > 2) token = count_of(place[2]);
    return std::ranges::any_of(
        verify_look(match.state).result->report.rows,
        [&](const DiffRow& row) { return beyond(row, head, token) == match.count(1); });
}

/// "27, 40–41 and 48", "0, 2, 4, … 28": whether those are `all`.
bool lists(std::string_view stated, const std::set<Index>& all) {
    if (const auto steps = parts_of("{}, {}, {}, … {}", stated))
        return *all.begin() == count_of((*steps)[0]) && *all.rbegin() == count_of((*steps)[3]) &&
               *std::next(all.begin()) == count_of((*steps)[1]);
    std::set<Index> listed;
    for (const std::string& some : split(stated, " and "))
        for (const std::string& each : split(some, ", ")) {
            const auto ends = split(each, "–");
            for (auto n = count_of(ends.front()); n <= count_of(ends.back()); ++n) listed.insert(n);
        }
    return listed == all;
}
/// "every row…", "row 3…", "rows 1–2 and 5…", "12 of 40 rows from 3 to 31…"; the same of columns.
bool tells_which(std::string_view stated, std::string_view one, const std::set<Index>& all,
                 Index of) {
    const std::string name(one);
    const std::string text(stated.substr(0, stated.find_first_of("(")));
    const auto until = [](std::string_view description) {
        return description.substr(0,
                                  std::min(description.find(" of "), description.find(", all ")));
    };
    if (text.starts_with("every " + name)) return std::ssize(all) == of;
    if (text.starts_with(name + " "))
        return all.size() == 1 && count_of(split(split(text, " ")[1], ",")[0]) == *all.begin();
    if (text.starts_with(name + "s ")) {
        std::string list(until(std::string_view(text).substr(name.size() + 2)));
        while (list.ends_with(' ') || list.ends_with(',')) list.pop_back();
        return lists(list, all);
    }
    const auto some = parts_of("{} of {} " + name + "s from {}", text);
    return some && count_of((*some)[0]) == std::ssize(all) && count_of((*some)[1]) == of;
}
/// "Beyond tolerance in scores: every row of head 1, …", "q: column 3 of rows 1–2 of every head": of a checked array.
bool check_extent(const Match& match) {
    if (match.state.workspace != "verify") return match.part.size() == 2;  // "softmax: rows"
    const auto& rows = verify_look(match.state).result->report.rows;
    const auto found = std::ranges::find(rows, match.part[0], &DiffRow::key);
    if (found == rows.end()) return false;
    const Shape shape = found->actual->shape();
    std::set<Index> batches, heads, tokens, columns;
    Index wrong = 0;
    for (const auto [b, h] : each_cell(shape.b, shape.h))
        for (Index t = 0; t < shape.t; ++t) {
            const auto all = beyond_in(*found, b, h, t);
            if (all.empty()) continue;
            ++wrong, columns.insert(all.begin(), all.end());
            batches.insert(b), heads.insert(h), tokens.insert(t);
        }
    std::string_view text =
        match.text.substr(match.text.find(match.part[0]) + match.part[0].size() + 2);
    if (text.find("column") < text.find("row")) {
        const auto at = text.find(" of ", text.find("column"));
        if (!tells_which(text.substr(0, at), "column", columns, shape.d)) return false;
        text.remove_prefix(at + 4);
    }
    if (const auto other =
            parts_of("{} of {} rows, from row {}", text))  // other rows in other heads
        return count_of((*other)[0]) == wrong &&
               count_of((*other)[1]) == shape.t * std::ssize(batches) * std::ssize(heads);
    return tells_which(text, "row", tokens, shape.t);
}
/// "every number of k is a bf16 number": what is left of it in 8 or 11 binary digits is it.
bool check_format(const Match& match) {
    const int digits = match.part[1] == "bf16" ? 8 : 11;
    for (const StageInfo& each : stage_table())
        if (each.key == match.part[0])
            return std::ranges::all_of((*match.state.trace)[each.stage].values(), [&](float value) {
                int exponent = 0;
                const double part = std::frexp(value, &exponent) * std::exp2(digits);
                return !std::isfinite(value) || part == std::floor(part) || exponent < -13;
            });
    return false;
}

constexpr Claim kClaims[] = {
    {"No fault is planted", check_no_fault},
    {"NaN in {} of {} of {}, first in [{}]", check_nan_rows},
    {"{} matches {}: {} of {} array{}", check_equal},
    {"Input {} is {}", check_input},
    {"{} differs from {}: {} of {} array{} beyond tolerance; {}", check_different},
    {"{}: {} differs from {} in {} of {} array{}", check_cause},
    {"[{}]: {} beyond tolerance, largest {}", check_part},
    {"Beyond tolerance in {}: every row{}", check_extent},
    {"Beyond tolerance in {}: row {}", check_extent},
    {"Beyond tolerance in {}: rows {}", check_extent},
    {"Beyond tolerance in {}: column{}", check_extent},
    {"Beyond tolerance in {}: {} of {} rows, {}", check_extent},
    {"Beyond tolerance in {}: {} of {} rows from {}", check_extent},
    {"Beyond tolerance in {}: {} of {} columns from {}", check_extent},
    {"every number of {} is a {} number", check_format},
};

}  // namespace

std::span<const Claim> verify_claims() { return kClaims; }

}  // namespace attn::view
