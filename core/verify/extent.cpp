// b batch entry, h head, t row, d column.

#include "core/verify/extent.h"
#include "core/entries.h"
#include "core/stages.h"
#include "core/stop.h"
#include "core/tensor.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attn::verify {
namespace {

constexpr Index kBlocks[] = {16, 32, 64, 128};

bool is_beyond(float actual, double expected, double allowed) {
    const auto a = static_cast<double>(actual);
    if (a == expected || (std::isnan(a) && std::isnan(expected))) return false;
    return !(std::abs(a - expected) <= allowed) || std::isinf(a) || std::isinf(expected);
}

/// Which of so many rows, heads, …: in order.
struct Some {
    std::vector<Index> at;
    Index of = 0;

    void add(Index n) {
        if (at.empty() || at.back() != n) at.push_back(n);
    }
    void sort() {
        std::ranges::sort(at);
        at.erase(std::unique(at.begin(), at.end()), at.end());
    }
    Index count() const { return std::ssize(at); }
    bool all() const { return count() == of; }
};

/// First and one past the last of what stands side by side.
using Range = std::pair<Index, Index>;
std::vector<Range> ranges_of(const Some& some) {
    std::vector<Range> ranges;
    for (const Index n : some.at)
        if (!ranges.empty() && ranges.back().second == n)
            ++ranges.back().second;
        else
            ranges.emplace_back(n, n + 1);
    return ranges;
}

std::string listed(const std::vector<std::string>& items, std::string_view last) {
    if (items.size() == 1) return items.front();
    const std::vector<std::string> first(items.begin(), items.end() - 1);
    return fmt::format("{} {} {}", fmt::join(first, ", "), last, items.back());
}

/// " (the last block of 32 or 64)", " (whole blocks of 16)"; "": they are no blocks.
std::string block_text(const Some& some, const std::vector<Range>& ranges) {
    std::vector<std::string> last;
    Index whole = 0;
    for (const Index block : kBlocks) {
        if (block >= some.of) continue;
        const bool fits = std::ranges::all_of(ranges, [&](const Range& range) {
            return range.first % block == 0 &&
                   (range.second % block == 0 || range.second == some.of);
        });
        if (!fits) continue;
        whole = block;
        const bool one = ranges.size() == 1 && ranges.front().second == some.of &&
                         some.of - ranges.front().first <= block;
        if (one) last.push_back(fmt::format("{}", block));
    }
    if (!last.empty()) return fmt::format(" (the last block of {})", listed(last, "or"));
    if (whole == 0) return {};
    const bool one = ranges.size() == 1 && ranges.front().second - ranges.front().first <= whole;
    return fmt::format(" ({} of {})", one ? "one block" : "whole blocks", whole);
}

/// "row 3", "rows 128–149 (the last block of 32)", "every head", "columns 0, 4, 8, … 28", "12 of 40 rows from 3 to 31".
std::string description_of(const Some& some, std::string_view one, std::string_view many) {
    if (some.all()) return fmt::format("every {}", one);
    const std::vector<Range> ranges = ranges_of(some);
    if (some.count() == 1) return fmt::format("{} {}", one, some.at.front());
    const Index step = some.at[1] - some.at[0];
    bool regular = step > 1 && some.count() > 3;
    for (std::size_t n = 1; n < some.at.size(); ++n)
        regular = regular && some.at[n] - some.at[n - 1] == step;
    if (regular)
        return fmt::format("{} {}, {}, {}, … {}", many, some.at[0], some.at[1], some.at[2],
                           some.at.back());
    if (ranges.size() > 3)
        return fmt::format("{} of {} {} from {} to {}{}", some.count(), some.of, many,
                           some.at.front(), some.at.back(), block_text(some, ranges));
    std::vector<std::string> items;
    for (const auto& [first, end] : ranges)
        items.push_back(end - first == 1 ? fmt::format("{}", first)
                                         : fmt::format("{}–{}", first, end - 1));
    return fmt::format("{} {}{}", many, listed(items, "and"), block_text(some, ranges));
}

/// A row with numbers beyond tolerance.
struct WrongRow {
    Index b, h, t;
};

class Extent {
  public:
    Extent(const Tensor& actual, const TensorD& expected, const Tolerance& tolerance)
        : actual_(actual), expected_(expected), tolerance_(tolerance) {
        const Shape shape = actual.shape();
        batches_.of = shape.b, heads_.of = shape.h, rows_.of = shape.t, columns_.of = shape.d;
        std::vector<bool> columns(shape.d);
        for_each_row(shape, [&](Index b, Index h, Index t) { see_row({b, h, t}, columns); });
        for (Index d = 0; d < shape.d; ++d)
            if (columns[d]) columns_.add(d);
        for (Some* const some : {&batches_, &heads_, &rows_}) some->sort();
    }

    bool none() const { return wrong_.empty(); }

    std::string where(ColumnsAre columns) const {
        const bool whole_rows = columns_.all();
        if (whole_rows && std::ssize(wrong_) == rows_.of * heads_.of * batches_.of)
            return "every row" + of_which();
        const bool product =
            std::ssize(wrong_) == rows_.count() * heads_.count() * batches_.count();
        std::string text = product ? description_of(rows_, "row", "rows")
                                   : fmt::format("{} of {} rows, from row {} to {},", wrong_.size(),
                                                 rows_.of * heads_.count() * batches_.count(),
                                                 rows_.at.front(), rows_.at.back());
        if (!whole_rows)
            text = fmt::format("{} of {}", description_of(columns_, "column", "columns"), text);
        text += of_which();
        if (columns == ColumnsAre::keys && right_of_diagonal_) text += ", right of the diagonal";
        return text;
    }

    /// "": nothing that has a name.
    std::string what() const {
        if (std::string text = one_number(); !text.empty()) return text;
        if (std::string text = ratio(); !text.empty()) return text;
        if (std::string text = other_rows(); !text.empty()) return text;
        if (std::string text = other_heads(); !text.empty()) return text;
        return row_ratios();
    }

  private:
    /// At column d of a row of the expected ones.
    double allowed(const WrongRow& row, std::size_t d) const {
        const auto column = static_cast<Index>(d);
        return tolerance_.at(expected_(row.b, row.h, row.t, column), row.b, row.h, row.t, column);
    }

    void see_row(const WrongRow& row, std::vector<bool>& columns) {
        const auto a = actual_.matrix(row.b, row.h).row(row.t);
        const auto e = expected_.matrix(row.b, row.h).row(row.t);
        const Index diagonal = row.t + columns_.of - rows_.of;
        bool wrong = false;
        for (std::size_t d = 0; d < a.size(); ++d) {
            if (!is_beyond(a[d], e[d], allowed(row, d))) continue;
            wrong = columns[d] = true;
            right_of_diagonal_ = right_of_diagonal_ && static_cast<Index>(d) > diagonal;
        }
        if (!wrong) return;
        wrong_.push_back(row);
        batches_.add(row.b), heads_.add(row.h), rows_.add(row.t);
    }

    std::string of_which() const {
        std::string text;
        if (heads_.of > 1) text += " of " + description_of(heads_, "head", "heads");
        if (batches_.of > 1)
            text += " of " + description_of(batches_, "batch entry", "batch entries");
        return text;
    }

    /// visit(actual, expected) of each wrong number; false stops, and is what comes back.
    template <class Visit>
    bool each_wrong(const WrongRow& row, Visit visit) const {
        end_if_stopped();
        const auto a = actual_.matrix(row.b, row.h).row(row.t);
        const auto e = expected_.matrix(row.b, row.h).row(row.t);
        for (std::size_t d = 0; d < a.size(); ++d)
            if (is_beyond(a[d], e[d], allowed(row, d)) && !visit(static_cast<double>(a[d]), e[d]))
                return false;
        return true;
    }
    template <class Visit>
    bool each_wrong(Visit visit) const {
        return std::ranges::all_of(wrong_,
                                   [&](const WrongRow& row) { return each_wrong(row, visit); });
    }

    std::string one_number() const {
        std::optional<double> first;
        Index count = 0;
        const bool same = each_wrong([&](double a, double) {
            if (!first) first = a;
            ++count;
            return a == *first || (std::isnan(a) && std::isnan(*first));
        });
        if (!same) return {};
        const std::string number =
            std::isnan(*first) ? std::string("NaN") : fmt::format("{:.6g}", *first);
        return count == 1 ? number : "all " + number;
    }

    /// Least squares, and whether it fits every wrong number that `each` visits.
    template <class Each>
    std::optional<double> fitted(Each each) const {
        double ae = 0.0, ee = 0.0;
        each([&](double a, double e) {
            ae += a * e, ee += e * e;
            return true;
        });
        const double factor = ae / ee;
        if (!std::isfinite(factor)) return std::nullopt;
        const bool fits = each([&](double a, double e) {
            return std::abs(a - factor * e) <= std::max(1.0, std::abs(factor)) * tolerance_.at(e);
        });
        return fits ? std::optional(factor) : std::nullopt;
    }

    Index wrong_numbers(const WrongRow& row) const {
        Index count = 0;
        each_wrong(row, [&](double, double) { return ++count > 0; });
        return count;
    }

    std::string ratio() const {
        if (wrong_.size() == 1 && wrong_numbers(wrong_.front()) < 2) return {};
        const auto factor = fitted([&](auto visit) { return each_wrong(visit); });
        return factor ? fmt::format("all {:.6g} times the expected value", *factor) : std::string();
    }

    std::string row_ratios() const {
        double least = HUGE_VAL, most = -HUGE_VAL;
        for (const WrongRow& row : wrong_) {
            if (wrong_numbers(row) < 2) return {};
            const auto factor = fitted([&](auto visit) { return each_wrong(row, visit); });
            if (!factor) return {};
            least = std::min(least, *factor), most = std::max(most, *factor);
        }
        return fmt::format("each row {:.4g} to {:.4g} times the expected value", least, most);
    }

    bool is_row(const WrongRow& shown, const WrongRow& expected) const {
        end_if_stopped();
        const auto a = actual_.matrix(shown.b, shown.h).row(shown.t);
        const auto e = expected_.matrix(expected.b, expected.h).row(expected.t);
        for (std::size_t d = 0; d < a.size(); ++d)
            if (is_beyond(a[d], e[d], allowed(expected, d))) return false;
        return a.size() > 1;
    }

    std::string other_rows() const {
        const WrongRow first = wrong_.front();
        for (Index t = 0; t < rows_.of; ++t) {
            if (t == first.t || !is_row(first, {first.b, first.h, t})) continue;
            const Index by = t - first.t;
            const bool fits = std::ranges::all_of(wrong_, [&](const WrongRow& row) {
                const Index from = row.t + by;
                return from >= 0 && from < rows_.of && is_row(row, {row.b, row.h, from});
            });
            if (fits)
                return fmt::format("each equal to the row expected {} row{} {}", std::abs(by),
                                   std::abs(by) == 1 ? "" : "s", by < 0 ? "before" : "after");
        }
        return {};
    }

    /// The head whose expected rows stand at (b, h) wherever something is wrong.
    std::optional<std::pair<Index, Index>> shown_head(Index b, Index h) const {
        for (Index from_b = 0; from_b < batches_.of; ++from_b)
            for (Index from_h = 0; from_h < heads_.of; ++from_h)
                if (std::ranges::all_of(wrong_, [&](const WrongRow& row) {
                        return row.b != b || row.h != h || is_row(row, {from_b, from_h, row.t});
                    }))
                    return std::pair(from_b, from_h);
        return std::nullopt;
    }

    std::string other_heads() const {
        constexpr std::size_t kMost = 3;
        std::vector<std::string> items;
        for (std::size_t n = 0; n < wrong_.size(); ++n) {
            const auto [b, h, t] = wrong_[n];
            if (n > 0 && wrong_[n - 1].b == b && wrong_[n - 1].h == h) continue;
            const auto from = shown_head(b, h);
            if (!from) return {};
            if (items.size() < kMost)
                items.push_back(
                    fmt::format("[{}, {}] equals [{}, {}]", b, h, from->first, from->second));
            else if (items.size() == kMost)
                items.emplace_back("…");
        }
        return fmt::format("each such row equal to the expected row of another head: {}",
                           fmt::join(items, ", "));
    }

    const Tensor& actual_;
    const TensorD& expected_;
    const Tolerance& tolerance_;
    std::vector<WrongRow> wrong_;
    Some batches_, heads_, rows_, columns_;
    bool right_of_diagonal_ = true;
};

}  // namespace

std::string extent_text(const Tensor& actual, const TensorD& expected, const Tolerance& tolerance,
                        ColumnsAre columns) {
    const Extent extent(actual, expected, tolerance);
    if (extent.none()) return {};
    const std::string what = extent.what();
    return what.empty() ? extent.where(columns)
                        : fmt::format("{}, {}", extent.where(columns), what);
}

}  // namespace attn::verify
