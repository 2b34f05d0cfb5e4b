#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/common/expr.h"
#include "app/common/format.h"

namespace attn::view {
namespace {

// What stands around the arguments of an operation, in each dialect.
struct Signs {
    std::string_view plus, minus, times, quotient_open, quotient_mid, quotient_close, exp_open,
        exp_close, sqrt_open, sqrt_close, max_open, max_close;
};
constexpr std::array<Signs, 4> kSigns{{
    {" + ", " − ", "·", "", " ÷ ", "", "exp(", ")", "√", "", "max(", ")"},
    {" + ", " - ", "·", "", " / ", "", "exp(", ")", "sqrt(", ")", "max(", ")"},
    {" + ", " - ", " \\cdot ", "\\frac{", "}{", "}", "\\exp(", ")", "\\sqrt{", "}", "\\max(", ")"},
    {" + ", " - ", " * ", "", " / ", "", "np.exp(", ")", "np.sqrt(", ")", "max(", ")"},
}};

class Writer {
  public:
    explicit Writer(Dialect dialect)
        : dialect_(dialect), signs_(kSigns[static_cast<std::size_t>(dialect)]) {}

    void add(const Expr& expr);
    std::vector<Piece> take() { return std::move(pieces_); }

  private:
    void add_number(const Expr& expr);
    void add_text(std::string_view text);
    void add_sum(const Expr& expr);
    /// In parentheses when it is negative, has a power of ten or is made of parts.
    void add_guarded(const Expr& expr);
    /// Of a product, the first: in parentheses when it has a power of ten.
    void add_first_factor(const Expr& expr);
    std::string text_of(const Expr& expr) const;
    bool has_power(const Expr& expr) const;
    void add_enclosed(std::string_view open, const std::vector<Expr>& args, std::string_view close);

    Dialect dialect_;
    const Signs& signs_;
    std::vector<Piece> pieces_;
};

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

void Writer::add_text(std::string_view text) {
    if (text.empty()) return;
    Piece piece;
    piece.text = std::string(text);
    pieces_.push_back(std::move(piece));
}

std::string Writer::text_of(const Expr& expr) const {
    const bool is_short = expr.constant && dialect_ == Dialect::screen;
    return is_short ? significant(expr.value, 4) : write_number(expr.value, dialect_);
}

/// Only on screen is it another product: 1.2·10⁻⁵.
bool Writer::has_power(const Expr& expr) const {
    return dialect_ == Dialect::screen && expr.op == Op::number &&
           text_of(expr).find("·10") != std::string::npos;
}

void Writer::add_number(const Expr& expr) {
    Piece piece;
    piece.text = text_of(expr);
    piece.role = expr.role;
    piece.link = expr.link;
    pieces_.push_back(std::move(piece));
}

void Writer::add_sum(const Expr& expr) {
    for (std::size_t n = 0; n < expr.args.size(); ++n) {
        const bool minus = n > 0 && begins_negative(expr.args[n]);
        if (n > 0) add_text(minus ? signs_.minus : signs_.plus);
        add(minus ? negated(expr.args[n]) : expr.args[n]);
    }
}

void Writer::add_guarded(const Expr& expr) {
    const bool negative = expr.op == Op::number && expr.value < 0.0;
    const bool compound = expr.op == Op::sum || expr.op == Op::difference;
    if (negative || compound || has_power(expr)) return add_enclosed("(", {expr}, ")");
    add(expr);
}

void Writer::add_first_factor(const Expr& expr) {
    has_power(expr) ? add_enclosed("(", {expr}, ")") : add(expr);
}

void Writer::add_enclosed(std::string_view open, const std::vector<Expr>& args,
                          std::string_view close) {
    add_text(open);
    for (std::size_t n = 0; n < args.size(); ++n) {
        if (n > 0) add_text(", ");
        add(args[n]);
    }
    add_text(close);
}

void Writer::add(const Expr& expr) {
    const auto& args = expr.args;
    const bool fraction = dialect_ == Dialect::latex;
    switch (expr.op) {
        case Op::number:
            return add_number(expr);
        case Op::sum:
            return add_sum(expr);
        case Op::product:
            add_first_factor(args[0]);
            add_text(signs_.times);
            return add_guarded(args[1]);
        case Op::difference:
            add(args[0]);
            add_text(signs_.minus);
            return add_guarded(args[1]);
        case Op::quotient:
            add_text(signs_.quotient_open);
            add(args[0]);
            add_text(signs_.quotient_mid);
            fraction ? add(args[1]) : add_guarded(args[1]);
            return add_text(signs_.quotient_close);
        case Op::exp:
            return add_enclosed(signs_.exp_open, args, signs_.exp_close);
        case Op::sqrt:
            if (!signs_.sqrt_close.empty())
                return add_enclosed(signs_.sqrt_open, args, signs_.sqrt_close);
            add_text(signs_.sqrt_open);
            return add_guarded(args[0]);
        case Op::max:
            return add_enclosed(signs_.max_open, args, signs_.max_close);
    }
}

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

}  // namespace

double evaluate(const Expr& expr) {
    std::vector<double> args;
    for (const Expr& arg : expr.args) args.push_back(evaluate(arg));
    double value = expr.value;
    switch (expr.op) {
        case Op::number:
            break;
        case Op::sum:
            value = 0.0;
            for (const double arg : args) value += arg;
            break;
        case Op::product:
            value = args[0] * args[1];
            break;
        case Op::quotient:
            value = args[0] / args[1];
            break;
        case Op::difference:
            value = args[0] - args[1];
            break;
        case Op::exp:
            value = std::exp(args[0]);
            break;
        case Op::sqrt:
            value = std::sqrt(args[0]);
            break;
        case Op::max:
            value = *std::max_element(args.begin(), args.end());
            break;
    }
    return value;
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

}  // namespace attn::view
