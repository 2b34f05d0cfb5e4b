#include "app/common/explain/expr.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/format.h"
#include "core/call.h"
#include "core/spec_arrays.h"
#include "core/stages.h"

namespace attn::view {
namespace {

// What stands between the arguments of an operation, in each dialect.
struct Signs {
    std::string_view plus, minus, times, quotient_open, quotient_mid, quotient_close, power_mid,
        power_close;
};
constexpr std::array<Signs, 4> kSigns{{
    {" + ", " − ", "·", "", " ÷ ", "", "^(", ")"},
    {" + ", " - ", "·", "", " / ", "", "^(", ")"},
    {" + ", " - ", " \\cdot ", "\\frac{", "}{", "}", "^{", "}"},
    {" + ", " - ", " * ", "", " / ", "", "**(", ")"},
}};

/// What stands before the arguments of a function, in each dialect; it ends with their parenthesis.
struct Name {
    Op op;
    std::array<std::string_view, 4> open;
};
constexpr Name kNames[] = {
    {Op::exp, {"exp(", "exp(", "\\exp(", "np.exp("}},
    {Op::ln, {"ln(", "ln(", "\\ln(", "np.log("}},
    {Op::sin, {"sin(", "sin(", "\\sin(", "np.sin("}},
    {Op::cos, {"cos(", "cos(", "\\cos(", "np.cos("}},
    {Op::tanh, {"tanh(", "tanh(", "\\tanh(", "np.tanh("}},
    {Op::sqrt, {"√", "sqrt(", "\\sqrt{", "np.sqrt("}},
    {Op::max, {"max(", "max(", "\\max(", "max("}},
};

constexpr double kMostWhole = 1e9;  // below it a whole constant is written out: 10000

/// A number below 0, or a product that begins with one.
bool begins_negative(const Expr& expr) {
    if (expr.op == Op::product) return begins_negative(expr.args[0]);
    return expr.op == Op::number && expr.value < 0.0;
}

Expr negated(Expr expr) {
    if (expr.op == Op::product)
        expr.args[0] = negated(expr.args[0]);
    else
        expr.value = -expr.value;
    return expr;
}

class Writer {
  public:
    explicit Writer(Dialect dialect)
        : dialect_(dialect), signs_(kSigns[static_cast<std::size_t>(dialect)]) {}

    std::vector<Piece> take() { return std::move(pieces_); }

    void add(const Expr& expr) {
        const auto& args = expr.args;
        const bool fraction = dialect_ == Dialect::latex;
        switch (expr.op) {
            case Op::number:
                return pieces_.push_back({text_of(expr), expr.role, false, expr.link});
            case Op::sum:
                return add_sum(expr);
            case Op::product:  // its first factor in parentheses when it has a power of ten
                add_first(args[0], has_power(args[0]));
                add_text(signs_.times);
                return add_guarded(args[1]);
            case Op::difference:
                add(args[0]);
                add_text(signs_.minus);
                return begins_negative(args[1]) ? add_enclosed("(", {args[1]}, ")")
                                                : add_guarded(args[1]);
            case Op::quotient:
                add_text(signs_.quotient_open);
                fraction ? add(args[0]) : add_first(args[0], false);
                add_text(signs_.quotient_mid);
                fraction                    ? add(args[1])
                : args[1].op == Op::product ? add_enclosed("(", {args[1]}, ")")
                                            : add_guarded(args[1]);
                return add_text(signs_.quotient_close);
            case Op::power:
                add_guarded(args[0]);
                return add_enclosed(signs_.power_mid, {args[1]}, signs_.power_close);
            default:
                return add_function(expr);
        }
    }

  private:
    void add_text(std::string_view text) {
        if (!text.empty()) pieces_.push_back({std::string(text)});
    }
    void add_sum(const Expr& expr) {
        for (std::size_t n = 0; n < expr.args.size(); ++n) {
            const bool minus = n > 0 && begins_negative(expr.args[n]);
            if (n > 0) add_text(minus ? signs_.minus : signs_.plus);
            add(minus ? negated(expr.args[n]) : expr.args[n]);
        }
    }
    void add_function(const Expr& expr) {
        const std::string_view open =
            std::ranges::find(kNames, expr.op, &Name::op)->open[static_cast<std::size_t>(dialect_)];
        if (open.ends_with('(')) return add_enclosed(open, expr.args, ")");
        if (open.ends_with('{')) return add_enclosed(open, expr.args, "}");
        add_text(open);
        add_guarded(expr.args[0]);
    }
    static bool is_compound(const Expr& expr) {
        return expr.op == Op::sum || expr.op == Op::difference;
    }
    void add_first(const Expr& expr, bool enclosed) {
        enclosed || is_compound(expr) ? add_enclosed("(", {expr}, ")") : add(expr);
    }
    /// In parentheses when it is negative, has a power of ten or is made of parts.
    void add_guarded(const Expr& expr) {
        const bool negative = expr.op == Op::number && expr.value < 0.0;
        add_first(expr, negative || has_power(expr));
    }
    void add_enclosed(std::string_view open, const std::vector<Expr>& args,
                      std::string_view close) {
        add_text(open);
        for (std::size_t n = 0; n < args.size(); ++n) {
            if (n > 0) add_text(", ");
            add(args[n]);
        }
        add_text(close);
    }
    std::string text_of(const Expr& expr) const {
        const bool is_short = expr.constant && dialect_ == Dialect::screen;
        const bool whole =
            std::trunc(expr.value) == expr.value && std::abs(expr.value) < kMostWhole;
        if (is_short && whole) return fmt::format("{}", static_cast<long>(expr.value));
        return is_short ? significant(expr.value, 4) : write_number(expr.value, dialect_);
    }
    /// Only on screen is it another product: 1.2·10⁻⁵.
    bool has_power(const Expr& expr) const {
        return dialect_ == Dialect::screen && expr.op == Op::number &&
               text_of(expr).find("·10") != std::string::npos;
    }

    Dialect dialect_;
    const Signs& signs_;
    std::vector<Piece> pieces_;
};

/// 1e-05 -> 1 \cdot 10^{-5}
std::string latex_number(const std::string& text) {
    const std::size_t e = text.find('e');
    if (e == text.npos) return text;
    return fmt::format("{} \\cdot 10^{{{}}}", text.substr(0, e), std::stoi(text.substr(e + 1)));
}

std::string not_finite(double value, Dialect dialect) {
    const bool latex = dialect == Dialect::latex;
    const bool python = dialect == Dialect::python;
    if (std::isnan(value)) return latex ? "\\text{NaN}" : python ? "np.nan" : "NaN";
    const std::string sign = value < 0 ? "-" : "";
    return sign + (latex ? "\\infty" : python ? "np.inf" : "inf");
}

// ---- on screen

Role role_of(const CellRef& cell) {
    return std::visit([](auto key) { return info(key).role; }, cell.tensor);
}

Line step_line(const Step& step, bool last, Role role, std::size_t most_inline) {
    const std::size_t count = count_numbers(step.expr);
    const bool brief = !step.brief.empty() && (count == 0 || count > most_inline);
    Line line{step.label,
              brief ? std::vector<Piece>{Piece{step.brief}} : write(step.expr, Dialect::screen)};
    line.pieces.push_back(Piece{" = "});
    const std::string result = number(step.result);
    line.pieces.push_back(last ? Piece{result, role} : Piece{result});
    line.pieces.back().link = step.link;
    return line;
}

double norm_of(const std::vector<double>& values) {
    double squares = 0.0;
    for (const double value : values) squares += value * value;
    return std::sqrt(squares);
}

double dot(const DotProduct& pair) {
    double sum = 0.0;
    for (std::size_t n = 0; n < pair.left.values.size(); ++n)
        sum += pair.left.values[n] * pair.right.values[n];
    return sum;
}

Line length_line(const Factor& factor, double length) {
    return {
        fmt::format("‖{}‖", factor.letter),
        {Piece{fmt::format("√(Σ {}_c²) = ", factor.letter)}, Piece{number(length), factor.role}}};
}

// ---- tables

constexpr int kMostDecimals = 4;

/// Seven characters hold the largest number with its sign.
int decimals_for(double largest) {
    int decimals = kMostDecimals;
    for (double ten = 10.0; decimals > 1 && largest >= ten; ten *= 10.0) --decimals;
    return decimals;
}

std::string column_number(double value, int decimals) {
    const bool vanishes = value != 0.0 && std::abs(value) < 0.5 * std::pow(10.0, -decimals);
    return vanishes ? significant(value, 1) : cell_number(value, decimals);
}

double largest_of(const std::vector<double>& values) {
    double largest = 0.0;
    for (const double value : values)
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    return largest;
}

std::optional<CellRef> link_of(const Factor& factor, std::size_t n) {
    return n < factor.links.size() ? factor.links[n] : std::nullopt;
}

std::string heading_of(const Factor& factor) {
    return factor.heading.empty() ? factor.letter : factor.heading;
}

struct Sums {
    std::vector<double> products, running;
};

Sums sums_of(const DotProduct& pair) {
    Sums sums;
    double sum = 0.0;
    for (std::size_t n = 0; n < pair.left.values.size(); ++n) {
        sums.products.push_back(pair.left.values[n] * pair.right.values[n]);
        sums.running.push_back(sum += sums.products.back());
    }
    if (pair.bias) sums.running.push_back(sum + *pair.bias);
    return sums;
}

std::vector<TableColumn> product_columns(const DotProduct& pair) {
    const std::string left = heading_of(pair.left);
    const std::string right = heading_of(pair.right);
    return {{left, pair.left.role},
            {right, pair.right.role},
            {fmt::format("{}·{}", left, right), std::nullopt},
            {"sum", std::nullopt, true}};
}

}  // namespace

std::vector<Expr> numbers_of(std::span<const double> values, Role role) {
    std::vector<Expr> numbers;
    for (const double value : values) numbers.push_back(plain(value, role));
    return numbers;
}

Expr sum_of_products(std::span<const Expr> x, std::span<const Expr> y) {
    std::vector<Expr> terms;
    for (std::size_t c = 0; c < x.size(); ++c) terms.push_back(x[c] * y[c]);
    return combine(Op::sum, std::move(terms));
}

Expr length_of(std::span<const Expr> x) { return combine(Op::sqrt, {sum_of_products(x, x)}); }

Expr scaled_expr(const AttentionSpec& spec, Index d_k, Expr score) {
    if (spec.scale == ScaleKind::sqrt_dk) score = score / combine(Op::sqrt, {constant(d_k)});
    if (spec.scale == ScaleKind::value) score = score * constant(spec.scale_value);
    if (spec.temperature != 1.0) score = score / constant(spec.temperature);
    return score;
}

double evaluate(const Expr& expr) {
    std::vector<double> args;
    for (const Expr& arg : expr.args) args.push_back(evaluate(arg));
    switch (expr.op) {
        case Op::number:
            break;
        case Op::sum:
            return std::accumulate(args.begin(), args.end(), 0.0);
        case Op::product:
            return args[0] * args[1];
        case Op::quotient:
            return args[0] / args[1];
        case Op::difference:
            return args[0] - args[1];
        case Op::exp:
            return std::exp(args[0]);
        case Op::sqrt:
            return std::sqrt(args[0]);
        case Op::max:
            return std::ranges::max(args);
        case Op::power:
            return std::pow(args[0], args[1]);
        case Op::ln:
            return std::log(args[0]);
        case Op::sin:
            return std::sin(args[0]);
        case Op::cos:
            return std::cos(args[0]);
        case Op::tanh:
            return std::tanh(args[0]);
    }
    return expr.value;
}

std::size_t count_numbers(const Expr& expr) {
    if (expr.op == Op::number) return 1;
    std::size_t count = 0;
    for (const Expr& arg : expr.args) count += count_numbers(arg);
    return count;
}

std::vector<Piece> write(const Expr& expr, Dialect dialect) {
    Writer writer(dialect);
    writer.add(expr);
    return writer.take();
}

std::string write_text(const Expr& expr, Dialect dialect) {
    std::string text;
    for (const Piece& piece : write(expr, dialect)) text += piece.text;
    return text;
}

std::string write_number(double value, Dialect dialect) {
    if (dialect == Dialect::screen) return number(value);
    if (!std::isfinite(value)) return not_finite(value, dialect);
    const std::string text = exact(static_cast<float>(value) + 0.0F);
    return dialect == Dialect::latex ? latex_number(text) : text;
}

std::string python_list(const std::vector<double>& values) {
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(write_number(value, Dialect::python));
    return fmt::format("np.array([{}])", fmt::join(texts, ", "));
}

Expr Explanation::add(std::string label, std::string tex_label, Expr expr, std::string brief) {
    const double result = evaluate(expr);
    steps.push_back(
        {std::move(label), std::move(tex_label), std::move(expr), result, std::move(brief)});
    return plain(result);
}

std::vector<Line> explanation_lines(const Explanation& explanation, std::size_t most_inline) {
    std::vector<Line> lines;
    const Role role = role_of(explanation.cell);
    for (std::size_t n = 0; n < explanation.steps.size(); ++n)
        lines.push_back(
            step_line(explanation.steps[n], n + 1 == explanation.steps.size(), role, most_inline));
    for (const Step& aside : explanation.asides)
        lines.push_back(step_line(aside, false, role, most_inline));
    for (const std::string& note : explanation.notes)
        lines.push_back({"", {Piece{note, {}, true}}});
    return lines;
}

std::string copied_text(const Step& step) {
    return fmt::format("{} = {} = {}\n", step.label, write_text(step.expr, Dialect::text),
                       write_number(step.result, Dialect::text));
}

std::string copied_latex(const Step& step, std::string_view label) {
    return fmt::format("  {} &= {} \\\\\n  &= {}", label, write_text(step.expr, Dialect::latex),
                       write_number(step.result, Dialect::latex));
}

std::string latex_align(std::string_view rows) {
    return fmt::format("% needs \\usepackage{{amsmath}}\n\\begin{{align*}}\n{}\n\\end{{align*}}\n",
                       rows);
}

std::vector<Line> geometry_lines(const Explanation& explanation) {
    if (explanation.cell.tensor != OperandId(Stage::scores) || !explanation.dot) return {};
    const DotProduct& pair = *explanation.dot;
    const double q = norm_of(pair.left.values);
    const double k = norm_of(pair.right.values);
    std::vector<Line> lines{length_line(pair.left, q), length_line(pair.right, k)};
    if (q == 0.0 || k == 0.0) {
        lines.push_back({"θ", {Piece{"a vector of length 0 has no direction", {}, true}}});
        return lines;
    }
    const double cosine = std::clamp(dot(pair) / (q * k), -1.0, 1.0);
    lines.push_back({"cos θ", {Piece{"q·k ÷ (‖q‖ ‖k‖) = " + number(cosine)}}});
    lines.push_back(
        {"θ", {Piece{cell_number(std::acos(cosine) * 180.0 / std::numbers::pi, 1) + "°"}}});
    lines.push_back({"q·k",
                     {Piece{"‖q‖ ‖k‖ cos θ = "}, Piece{factor(number(q)), pair.left.role},
                      Piece{"·"}, Piece{factor(number(k)), pair.right.role}, Piece{"·"},
                      Piece{factor(number(cosine))}, Piece{" = " + number(q * k * cosine)}}});
    return lines;
}

std::vector<std::string> column_texts(const std::vector<double>& values) {
    const int decimals = decimals_for(largest_of(values));
    std::vector<std::string> texts;
    for (const double value : values) texts.push_back(column_number(value, decimals));
    return texts;
}

InspectorTable product_table(const DotProduct& pair) {
    const Sums sums = sums_of(pair);
    const double largest = largest_of(sums.products);
    const auto left = column_texts(pair.left.values);
    const auto right = column_texts(pair.right.values);
    const auto products = column_texts(sums.products);
    const auto running = column_texts(sums.running);
    InspectorTable table{"", pair.counts, product_columns(pair), {}, std::nullopt};
    const std::size_t shown = std::min(left.size(), kMostTableRows);
    if (shown < left.size())
        table.title = fmt::format("the first {} of {} terms", shown, left.size());
    for (std::size_t n = 0; n < shown; ++n) {
        TableRow row{pair.labels[n], {}};
        row.cells = {{left[n], pair.left.role, link_of(pair.left, n)},
                     {right[n], pair.right.role, link_of(pair.right, n)},
                     {products[n], {}, {}},
                     {running[n], {}, {}}};
        if (largest > 0.0 && std::isfinite(sums.products[n])) row.bar = sums.products[n] / largest;
        table.rows.push_back(std::move(row));
    }
    if (pair.bias)
        table.total = TableRow{
            "bias", {{}, {}, {column_texts({*pair.bias})[0], {}, {}}, {running.back(), {}, {}}}};
    return table;
}

std::optional<InspectorTable> explanation_table(const Explanation& explanation) {
    if (explanation.table) return explanation.table;
    if (!explanation.dot || explanation.dot->left.values.empty()) return std::nullopt;
    return product_table(*explanation.dot);
}

std::string text_of(const InspectorView& view) {
    std::string text = fmt::format("{}: {}\n", view.title, view.value);
    if (!view.formula.empty()) text += view.formula + '\n';
    for (const std::vector<Line>* lines : {&view.lines, &view.geometry})
        for (const Line& line : *lines) {
            if (!line.label.empty()) text += line.label + (line.pieces.empty() ? "" : ": ");
            for (const Piece& piece : line.pieces) text += piece.text;
            text += '\n';
        }
    return text;
}

}  // namespace attn::view
