#include "core/formula.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "core/dimensions.h"
#include "core/metrics.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/softmax.h"

namespace attn {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr Index kMostSide = 64;  // of eye() and ones()
constexpr int kDeepest = 64;     // parentheses within each other

using Arguments = std::vector<SmallMatrix>;

SmallMatrix number_of(double value) { return {1, 1, {value}}; }

template <class F>
SmallMatrix each(const SmallMatrix& of, F f) {
    SmallMatrix result = of;
    for (double& entry : result.entries) entry = f(entry);
    return result;
}

/// A number made of each row.
template <class F>
SmallMatrix each_row(const SmallMatrix& of, F f) {
    SmallMatrix result{of.rows, 1, {}};
    for (Index i = 0; i < of.rows; ++i)
        result.entries.push_back(
            f(std::span<const double>(of.entries)
                  .subspan(i * of.columns, static_cast<std::size_t>(of.columns))));
    return result;
}

double sum_of(std::span<const double> row) { return std::accumulate(row.begin(), row.end(), 0.0); }
double most_of(std::span<const double> row) { return std::ranges::max(row); }
double place_of_most(std::span<const double> row) {
    return static_cast<double>(std::ranges::max_element(row) - row.begin());
}

/// Entries by place.
template <class F>
SmallMatrix made(Index rows, Index columns, F f) {
    SmallMatrix result{rows, columns, {}};
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j) result.entries.push_back(f(i, j));
    return result;
}
SmallMatrix transposed(const SmallMatrix& of) {
    return made(of.columns, of.rows, [&](Index i, Index j) { return of(j, i); });
}
SmallMatrix row_of(const SmallMatrix& of, Index i) {
    return made(1, of.columns, [&](Index, Index j) { return of(i, j); });
}

SmallMatrix softmax(const Arguments& of) {
    SmallMatrix result = of[0];
    const auto width = static_cast<std::size_t>(result.columns);
    for (std::size_t at = 0; at < result.entries.size(); at += width) {
        const auto row = std::span(result.entries).subspan(at, width);
        softmax_row(row, row, EmptyRows::nan);
    }
    return result;
}
SmallMatrix jacobian(const Arguments& of) {
    return {of[0].columns, of[0].columns, softmax_jacobian(row_of(of[0], 0).entries)};
}
SmallMatrix causal(const Arguments& of) {
    return made(of[0].rows, of[0].columns,
                [&](Index i, Index j) { return j <= i ? of[0](i, j) : -kInf; });
}
SmallMatrix row_entropies(const Arguments& of) {
    return each_row(of[0], [&](auto row) { return row_metrics(row, of[0].columns).entropy; });
}
Index side_of(const SmallMatrix& of) {
    const double n = of.entries[0];
    return n >= 1.0 && n <= static_cast<double>(kMostSide) ? static_cast<Index>(n) : 1;
}

template <double (*f)(double)>
SmallMatrix entrywise(const Arguments& of) {
    return each(of[0], f);
}
template <double (*f)(std::span<const double>)>
SmallMatrix rowwise(const Arguments& of) {
    return each_row(of[0], f);
}

struct Function {
    std::string_view name;
    std::size_t arguments;
    SmallMatrix (*call)(const Arguments& of);
};
constexpr Function kFunctions[] = {
    {"abs", 1, entrywise<std::fabs>},
    {"alibi", 2,
     [](const Arguments& of) {
         const Index heads = side_of(of[1]);
         const double head = std::clamp(of[0].entries[0], 0.0, static_cast<double>(heads - 1));
         return number_of(alibi_slope(static_cast<Index>(head), heads));
     }},
    {"argmax", 1, rowwise<place_of_most>},
    {"causal", 1, causal},
    {"columns", 1,
     [](const Arguments& of) { return number_of(static_cast<double>(of[0].columns)); }},
    {"cos", 1, entrywise<std::cos>},
    {"entropy", 1, row_entropies},
    {"exp", 1, entrywise<std::exp>},
    {"eye", 1,
     [](const Arguments& of) {
         const Index n = side_of(of[0]);
         return made(n, n, [](Index i, Index j) { return i == j ? 1.0 : 0.0; });
     }},
    {"floor", 1, entrywise<std::floor>},
    {"jacobian", 1, jacobian},
    {"ln", 1, entrywise<std::log>},
    {"log2", 1, entrywise<std::log2>},
    {"max", 1, [](const Arguments& of) { return number_of(most_of(of[0].entries)); }},
    {"ones", 2,
     [](const Arguments& of) {
         return made(side_of(of[0]), side_of(of[1]), [](Index, Index) { return 1.0; });
     }},
    {"rowmax", 1, rowwise<most_of>},
    {"rows", 1, [](const Arguments& of) { return number_of(static_cast<double>(of[0].rows)); }},
    {"rowsum", 1, rowwise<sum_of>},
    {"sin", 1, entrywise<std::sin>},
    {"softmax", 1, softmax},
    {"sqrt", 1, entrywise<std::sqrt>},
    {"sum", 1, [](const Arguments& of) { return number_of(sum_of(of[0].entries)); }},
};

/// Both sides entry by entry, a side of one row or column repeated. False where the shapes do not fit.
template <class F>
bool combine(SmallMatrix& left, const SmallMatrix& right, F f) {
    const auto fits = [](Index a, Index b) { return a == b || a == 1 || b == 1; };
    if (!fits(left.rows, right.rows) || !fits(left.columns, right.columns)) return false;
    const auto at = [](const SmallMatrix& of, Index i, Index j) {
        return of(of.rows == 1 ? 0 : i, of.columns == 1 ? 0 : j);
    };
    left = made(std::max(left.rows, right.rows), std::max(left.columns, right.columns),
                [&](Index i, Index j) { return f(at(left, i, j), at(right, i, j)); });
    return true;
}

bool multiply(SmallMatrix& left, const SmallMatrix& right) {
    if (left.columns != right.rows) return false;
    left = made(left.rows, right.columns, [&](Index i, Index j) {
        double sum = 0.0;
        for (Index c = 0; c < left.columns; ++c) sum += left(i, c) * right(c, j);
        return sum;
    });
    return true;
}

using Combine = bool (*)(SmallMatrix& left, const SmallMatrix& right);
template <class F>
bool by(SmallMatrix& left, const SmallMatrix& right) {
    return combine(left, right, F{});
}
struct Operator {
    std::string_view sign;
    Combine combine;
};
constexpr Operator kComparisons[] = {{"<=", by<std::less_equal<double>>},
                                     {">=", by<std::greater_equal<double>>},
                                     {"==", by<std::equal_to<double>>},
                                     {"<", by<std::less<double>>},
                                     {">", by<std::greater<double>>}};
constexpr Operator kSums[] = {{"+", by<std::plus<double>>}, {"-", by<std::minus<double>>}};
constexpr Operator kProducts[] = {
    {"*", by<std::multiplies<double>>}, {"/", by<std::divides<double>>}, {"@", multiply}};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Evaluates while it reads. The first fault stays, and nothing is read after it.
class FormulaReader {
  public:
    FormulaReader(std::string_view text, const NamedMatrices& names)
        : text_(text), rest_(text), names_(names) {}

    Result<SmallMatrix> whole() {
        SmallMatrix value = comparison();
        skip_spaces();
        if (!rest_.empty()) wrong(fmt::format("cannot be read from '{}' on", rest_));
        if (!fault_.empty()) return bad_input(fmt::format("the formula '{}' {}", text_, fault_));
        return value;
    }

  private:
    SmallMatrix wrong(std::string why) {
        if (fault_.empty()) fault_ = std::move(why);
        rest_ = {};
        return number_of(kNaN);
    }
    void skip_spaces() {
        while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    }
    bool take(std::string_view sign) {
        skip_spaces();
        if (!rest_.starts_with(sign)) return false;
        rest_.remove_prefix(sign.size());
        return true;
    }
    void need(std::string_view sign) {
        if (!take(sign)) wrong(fmt::format("has no '{}' where one is expected", sign));
    }

    /// Operands of one rank with its operators between them, from left to right.
    template <std::size_t N>
    SmallMatrix chain(SmallMatrix (FormulaReader::*operand)(), const Operator (&operators)[N]) {
        SmallMatrix left = (this->*operand)();
        for (;;) {
            const auto* const found =
                std::ranges::find_if(operators, [&](const Operator& o) { return take(o.sign); });
            if (found == std::end(operators)) return left;
            const SmallMatrix right = (this->*operand)();
            if (!found->combine(left, right))
                return wrong(fmt::format("has {} × {} {} {} × {}, which do not fit", left.rows,
                                         left.columns, found->sign, right.rows, right.columns));
        }
    }
    SmallMatrix comparison() { return chain(&FormulaReader::sum, kComparisons); }
    SmallMatrix sum() { return chain(&FormulaReader::product, kSums); }
    SmallMatrix product() { return chain(&FormulaReader::sign, kProducts); }

    SmallMatrix sign() {
        if (++depth_ > kDeepest) return wrong("is nested too deeply");
        SmallMatrix value = take("-") ? each(sign(), std::negate<double>()) : power();
        --depth_;
        return value;
    }
    SmallMatrix power() {
        SmallMatrix base = postfix();
        if (!take("^")) return base;
        const SmallMatrix exponent = sign();
        const auto raise = [](double a, double b) { return std::pow(a, b); };
        return combine(base, exponent, raise) ? base : wrong("has a power whose shapes do not fit");
    }

    SmallMatrix postfix() {
        SmallMatrix value = primary();
        for (;;) {
            if (take("'"))
                value = transposed(value);
            else if (take("["))
                value = indexed(value);
            else
                return value;
        }
    }
    SmallMatrix indexed(const SmallMatrix& of) {
        const Index i = index_below(of.rows);
        if (!take(",")) return need("]"), fault_.empty() ? row_of(of, i) : of;
        const Index j = index_below(of.columns);
        need("]");
        return fault_.empty() ? number_of(of(i, j)) : of;
    }
    Index index_below(Index count) {
        const double value = sum().entries[0];
        const bool fits = value >= 0.0 && value < static_cast<double>(count);
        if (!fits) wrong(fmt::format("has the index {}; expected 0 to {}", value, count - 1));
        return fits ? static_cast<Index>(value) : 0;
    }

    SmallMatrix primary() {
        skip_spaces();
        if (take("(")) {
            SmallMatrix inside = comparison();
            need(")");
            return inside;
        }
        if (take("[")) return listed();
        if (rest_.empty()) return wrong("ends too early");
        if (is_digit(rest_.front()) || rest_.front() == '.') return literal();
        if (is_letter(rest_.front())) return name();
        return wrong(fmt::format("cannot be read from '{}' on", rest_));
    }
    SmallMatrix listed() {
        SmallMatrix value{0, 0, {}};
        do {
            do value.entries.push_back(comparison().entries[0]);
            while (take(","));
            const Index count = std::ssize(value.entries);
            if (++value.rows == 1) value.columns = count;
            if (count != value.rows * value.columns)
                return wrong("has a matrix whose rows differ in length");
        } while (take(";"));
        need("]");
        return value;
    }
    SmallMatrix literal() {
        double value = 0.0;
        const auto [end, failed] =
            std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (failed != std::errc())
            return wrong(fmt::format("has '{}', which is not a number", rest_));
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return number_of(value);
    }
    SmallMatrix name() {
        std::size_t length = 1;
        while (length < rest_.size() && (is_letter(rest_[length]) || is_digit(rest_[length])))
            ++length;
        const std::string_view word = rest_.substr(0, length);
        rest_.remove_prefix(length);
        if (take("(")) return call(word);
        if (const auto found = names_.find(word); found != names_.end()) return found->second;
        if (word == "inf") return number_of(kInf);
        if (word == "nan") return number_of(kNaN);
        return wrong(fmt::format("has '{}', which is not a known name", word));
    }
    SmallMatrix call(std::string_view word) {
        Arguments arguments;
        do arguments.push_back(comparison());
        while (take(","));
        need(")");
        const auto* const found = std::ranges::find(kFunctions, word, &Function::name);
        if (found == std::end(kFunctions))
            return wrong(fmt::format("has '{}', which is not a function: expected one of {}", word,
                                     formula_functions()));
        if (arguments.size() != found->arguments)
            return wrong(fmt::format("gives {} {} arguments; expected {}", word, arguments.size(),
                                     found->arguments));
        return found->call(arguments);
    }

    std::string_view text_, rest_;
    const NamedMatrices& names_;
    std::string fault_;
    int depth_ = 0;
};

}  // namespace

Result<SmallMatrix> evaluate_formula(std::string_view text, const NamedMatrices& names) {
    return FormulaReader(text, names).whole();
}

std::string formula_functions() {
    std::string names;
    for (const Function& function : kFunctions) {
        if (!names.empty()) names += ", ";
        names += function.name;
    }
    return names;
}

}  // namespace attn
