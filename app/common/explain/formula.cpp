// The arithmetic of a score from the formula of its row. c column of q and k, n column of a score's own matrix.

#include <cmath>
#include <span>

#include <fmt/format.h>

#include "app/common/document/chain_rule.h"
#include "app/common/explain/parts.h"
#include "core/check.h"
#include "core/scores/pair_formula.h"
#include "core/scores/score.h"
#include "core/tex.h"
#include "core/text.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr Index kMostSums = 8;  // sums on the way to a score that have a line each

std::string sum_text(const Chain& chain) {
    return "the sum of " + counted(std::ssize(chain.labels), "product");
}

/// A formula's name, as TeX or as text.
std::string name_of(const PairFormula& formula, bool tex);

bool is_sum(const PairFormula& formula) {
    return formula.op == score::Op::sum || formula.op == score::Op::difference;
}
/// As an operand of a product.
std::string factor_name(const PairFormula& formula, bool tex) {
    const bool joined = is_sum(formula) || formula.op == score::Op::times_matrix;
    return joined ? "(" + name_of(formula, tex) + ")" : name_of(formula, tex);
}

std::string param_name(Param param, bool tex) {
    return tex ? tex_symbol(param) : std::string(info(param).symbol);
}

std::string name_of(const PairFormula& formula, bool tex) {
    const auto arg = [&](std::size_t n) { return name_of(formula.args[n], tex); };
    const auto factor = [&](std::size_t n) { return factor_name(formula.args[n], tex); };
    const std::string_view minus = tex ? "-" : "−";
    switch (formula.op) {
        case score::Op::q:
            return "q";
        case score::Op::k:
            return "k";
        case score::Op::row:
        case score::Op::of_distance:
            return param_name(formula.param, tex);
        case score::Op::times_matrix:
            return factor(0) + (tex ? R"(\,)" : " ") + param_name(formula.param, tex);
        case score::Op::tanh:
            return fmt::format("{}({})", tex ? R"(\tanh)" : "tanh", arg(0));
        case score::Op::ln:
            return fmt::format("{}({})", tex ? R"(\ln)" : "ln", arg(0));
        case score::Op::number:
            return fmt::format("{}", formula.value);
        case score::Op::dot:
            return factor(0) + (tex ? R"( \cdot )" : "·") + factor(1);
        case score::Op::norm:
            return tex ? fmt::format(R"(\|{}\|)", arg(0)) : fmt::format("‖{}‖", arg(0));
        case score::Op::squared_norm:
            return tex ? fmt::format(R"(\|{}\|^2)", arg(0)) : fmt::format("‖{}‖²", arg(0));
        case score::Op::product:
            return factor(0) + (tex ? R"( \, )" : " ") + factor(1);
        case score::Op::quotient:
            return tex ? fmt::format(R"(\frac{{{}}}{{{}}})", arg(0), arg(1))
                       : fmt::format("{} ÷ ({})", factor(0), arg(1));
        case score::Op::sum:
            return arg(0) + " + " + arg(1);
        case score::Op::difference:
            if (const PairFormula& a = formula.args[0]; a.op == score::Op::number && a.value == 0.0)
                return fmt::format("{}{}", minus, factor(1));
            return fmt::format("{} {} {}", arg(0), minus, factor(1));
    }
    return {};
}

/// One entry of a vector: "q_c", "(q_c − k_c)".
std::string entry_name(const PairFormula& vector) {
    if (is_sum(vector))
        return fmt::format("({} {} {})", entry_name(vector.args[0]),
                           vector.op == score::Op::sum ? "+" : "−", entry_name(vector.args[1]));
    return factor_name(vector, false) + "_c";
}

/// Whether its entries are those of q and k: then they are counted by c.
bool has_own_columns(const PairFormula& formula) {
    return formula.op != score::Op::row && formula.op != score::Op::times_matrix &&
           std::ranges::all_of(formula.args, has_own_columns);
}

/// Writes the steps from q and k to the score.
class FormulaSteps {
  public:
    FormulaSteps(const AttentionSpec& spec, const ScorePair& pair, Explanation& out)
        : spec_(spec), pair_(pair), out_(out) {}

    void explain(const PairFormula& formula) {
        if (formula.op == score::Op::dot) return explain_dot(formula);
        set_formula(out_, tex_of(formula));
        end_with(out_, number_of(formula));
    }

  private:
    std::string text_of(const PairFormula& formula) const {
        return as_read(spec_, name_of(formula, false));
    }
    std::string tex_of(const PairFormula& formula) const {
        return as_read(spec_, name_of(formula, true), "'");
    }

    void explain_dot(const PairFormula& formula) {
        std::vector<Expr> terms;
        const Chain chain = chain_of(formula, terms);
        set_formula(out_, sum_tex(chain, chain.counts));
        out_.table = product_table(dot_of(chain));
        end_with(out_, combine(Op::sum, std::move(terms))).brief = sum_text(chain);
    }

    /// Both sides of a dot product, and its terms.
    Chain chain_of(const PairFormula& formula, std::vector<Expr>& terms) {
        const std::string index = has_own_columns(formula) ? "c" : "n";
        Chain chain{side_of_vector(formula.args[0], index), side_of_vector(formula.args[1], index)};
        chain.counts = index;
        for (std::size_t n = 0; n < chain.left.numbers.size(); ++n) {
            Expr &left = chain.left.numbers[n], &right = chain.right.numbers[n];
            terms.push_back(left * right);
            for (Expr* each : {&left, &right})
                if (!each->args.empty()) *each = plain(evaluate(*each));
            chain.labels.push_back(std::to_string(n));
        }
        return chain;
    }
    Side side_of_vector(const PairFormula& vector, std::string_view index) {
        const auto indexed = [&](const PairFormula& each) {
            return as_read(spec_, fmt::format("{}[{}]", factor_name(each, true), index), "'");
        };
        const auto made = [&] {
            switch (vector.op) {
                case score::Op::q:
                    return side_of("q", fmt::format("{}, {}]", pair_.q_row, index), "q");
                case score::Op::k:
                    return side_of("k", fmt::format("{}, {}]", pair_.k_row, index), "k");
                case score::Op::times_matrix:
                    return side_of(name_of(vector.args[0], false) + "W", indexed(vector),
                                   name_of(vector.args[0], false) + "·W");
                case score::Op::tanh:
                    return side_of("t", fmt::format(R"(\tanh({}))", indexed(vector.args[0])),
                                   "tanh");
                default:
                    return side_of("w", indexed(vector), "w");
            }
        };
        Side side = made();
        side.numbers = entries_of(vector);
        return side;
    }

    std::vector<Expr> entries_of(const PairFormula& vector, bool inside = false) {
        if (vector.op == score::Op::q) return pair_.q;
        if (vector.op == score::Op::k) return pair_.k;
        if (vector.op == score::Op::row) {
            std::vector<Expr> row;
            for (Index n = 0; n < pair_.columns(vector.param); ++n)
                row.push_back(pair_.param(vector.param, 0, n));
            return row;
        }
        if (vector.op == score::Op::times_matrix) return products_of(vector, inside);
        std::vector<Expr> made = entries_of(vector.args[0], vector.op == score::Op::tanh || inside);
        if (vector.op == score::Op::tanh) {
            for (Expr& each : made) each = combine(Op::tanh, {std::move(each)});
            return made;
        }
        const std::vector<Expr> other = entries_of(vector.args[1], inside);
        for (std::size_t n = 0; n < made.size(); ++n)
            made[n] = combine(vector.op == score::Op::sum ? Op::sum : Op::difference,
                              {std::move(made[n]), other[n]});
        return made;
    }
    /// x W: a step for each entry where they are few, else a note of all of them.
    std::vector<Expr> products_of(const PairFormula& vector, bool inside) {
        const std::vector<Expr> x = entries_of(vector.args[0], inside);
        const std::string text = text_of(vector), tex = tex_of(vector);
        const std::string brief = fmt::format("Σ_c {}·{}[c, {{}}]", entry_name(vector.args[0]),
                                              param_name(vector.param, false));
        const Index columns = pair_.columns(vector.param);
        const bool few = !inside && columns <= kMostSums;
        std::vector<Expr> made;
        for (Index n = 0; n < columns; ++n) {
            std::vector<Expr> column;
            for (Index c = 0; c < std::ssize(x); ++c)
                column.push_back(pair_.param(vector.param, c, n));
            Expr sum = sum_of_products(x, column);
            made.push_back(plain(evaluate(sum)));
            if (few)
                out_.add(fmt::format("({})[{}]", text, n), fmt::format("({})[{}]", tex, n),
                         std::move(sum), as_read(spec_, fmt::format(fmt::runtime(brief), n)));
        }
        if (!few)
            out_.notes.push_back(fmt::format(
                "({})[n] = {}.", text, as_read(spec_, fmt::format(fmt::runtime(brief), "n"))));
        return made;
    }

    Expr number_of(const PairFormula& formula) {
        const auto arg = [&](std::size_t n) { return number_of(formula.args[n]); };
        switch (formula.op) {
            case score::Op::number:
                return constant(formula.value);
            case score::Op::of_distance:
                out_.notes.push_back(
                    fmt::format("{} is the bias of head {} for keys at distance j − i = {}.",
                                param_name(formula.param, false), pair_.head, pair_.distance));
                return pair_.of_distance(formula.param);
            case score::Op::dot:
                return add_dot(formula);
            case score::Op::norm:
                return add_norm(formula, "√Σ_c {}²",
                                [](std::span<const Expr> x) { return length_of(x); });
            case score::Op::squared_norm:
                return add_norm(formula, "Σ_c {}²", [](std::span<const Expr> x) {
                    std::vector<Expr> squares;
                    for (const Expr& each : x)
                        squares.push_back(combine(Op::power, {each, constant(2.0)}));
                    return combine(Op::sum, std::move(squares));
                });
            case score::Op::ln:
                return combine(Op::ln, {arg(0)});
            case score::Op::quotient: {
                Expr above = arg(0), below = arg(1);
                if (evaluate(below) != 0.0) return std::move(above) / std::move(below);
                out_.notes.emplace_back(info(spec_.score).undefined);
                return constant(0.0);
            }
            case score::Op::product:
            case score::Op::sum:
            case score::Op::difference: {
                Expr left = arg(0), right = arg(1);
                return formula.op == score::Op::product ? std::move(left) * std::move(right)
                       : formula.op == score::Op::sum   ? std::move(left) + std::move(right)
                                                        : std::move(left) - std::move(right);
            }
            default:
                break;
        }
        ATTN_CHECK(false, "a vector where a number belongs");
        return {};
    }
    Expr add_dot(const PairFormula& formula) {
        std::vector<Expr> terms;
        const Chain chain = chain_of(formula, terms);
        out_.table = product_table(dot_of(chain));
        return out_.add(text_of(formula), tex_of(formula), combine(Op::sum, std::move(terms)),
                        sum_text(chain));
    }
    template <class Made>
    Expr add_norm(const PairFormula& formula, std::string_view brief, Made made) {
        const PairFormula& vector = formula.args[0];
        return out_.add(text_of(formula), tex_of(formula), made(entries_of(vector)),
                        as_read(spec_, fmt::format(fmt::runtime(brief), entry_name(vector))));
    }

    const AttentionSpec& spec_;
    const ScorePair& pair_;
    Explanation& out_;
};

}  // namespace

void explain_pair(const AttentionSpec& spec, const ScorePair& pair, Explanation& explanation) {
    FormulaSteps(spec, pair, explanation).explain(info(spec.score).formula());
}

}  // namespace attn::view
