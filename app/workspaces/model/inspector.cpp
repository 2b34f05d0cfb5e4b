#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "app/common/arithmetic.h"
#include "app/common/expr.h"
#include "app/common/format.h"
#include "app/common/text.h"
#include "app/workspaces/model/view.h"
#include "core/tex.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostTerms = 64;  // of a product's table; of more the largest
constexpr int kDigits = 5;

/// The lines of one number: printed factors give the printed product, printed terms the printed sum.
class Lines {
  public:
    Lines(InspectorView& view, Role role) : view_(view), role_(role) {}

    void number_line(std::string label, double value) {
        view_.add(std::move(label), number(value));
    }

    /// "0.125 · 9 = 1.125".
    void product(std::string label, double a, double b) {
        const ProductText text = product_text(a, b, kDigits);
        put(std::move(label), fmt::format("{} · {}", text.a, factor(text.b)), text.product);
    }

    /// "0.5 + 1.25 = 1.75".
    void sum(std::string label, const std::vector<double>& terms) {
        const double total = std::accumulate(terms.begin(), terms.end(), 0.0);
        std::string text;
        for (const std::string& each : sum_terms(terms, total, 4)) {
            const bool negative = each.starts_with("−");
            text += text.empty() ? each
                    : negative   ? " − " + each.substr(std::string_view("−").size())
                                 : " + " + each;
        }
        put(std::move(label), std::move(text), cell_number(total, 4));
    }

  private:
    void put(std::string label, std::string text, const std::string& result) {
        view_.lines.push_back(
            {std::move(label), {Piece{std::move(text)}, Piece{" = " + result, role_}}});
    }

    InspectorView& view_;
    Role role_;
};

std::string name_of(const std::optional<ModelStage>& stage, Index layer) {
    if (stage) return std::string(info(*stage).title);
    return layer == 0 ? "Embedding" : fmt::format("Residual after layer {}", layer - 1);
}

// ---- one rule after the other

void add_added(const CellTerms& terms, Index layer, Lines& lines, InspectorView& view) {
    std::vector<double> values;
    for (const CellTerms::Added& each : terms.added) {
        const std::string name =
            each.source || each.name == "x" ? name_of(each.source, layer) : each.name;
        values.push_back(each.factor * each.value);
        if (each.factor == 1.0)
            lines.number_line(name, each.value);
        else
            lines.product(name, each.factor, each.value);
    }
    if (values.size() <= 8) return lines.sum("sum", values);
    view.add("sum", fmt::format("Σ of {} = {}", counted(std::ssize(values), "term"),
                                cell_number(terms.computed, 4)));
}

void add_norm(const CellTerms& terms, Index layer, Lines& lines) {
    const CellTerms::NormTerms& n = *terms.norm;
    const double root = 1.0 / std::sqrt(n.variance + n.epsilon);
    lines.number_line("x: " + name_of(n.source, layer), n.x);
    if (n.centred) {
        lines.number_line("mean μ of the row", n.mean);
        lines.number_line("variance σ² of the row", n.variance);
        lines.number_line("ε", n.epsilon);
        lines.number_line("1 / √(σ² + ε)", root);
        lines.sum("x − μ", {n.x, -n.mean});
        lines.product("(x − μ) / √(σ² + ε)", n.x - n.mean, root);
    } else {
        lines.number_line("mean of x² of the row", n.variance);
        lines.number_line("ε", n.epsilon);
        lines.number_line("1 / √(mean of x² + ε)", root);
        lines.product("x / √(mean of x² + ε)", n.x, root);
    }
    const double normal = (n.x - n.mean) * root;
    lines.product("· scale γ", normal, n.scale);
    if (n.shift) lines.sum("+ shift β", {normal * n.scale, *n.shift});
    if (terms.column_scale) lines.product("· column scale", terms.scaled, *terms.column_scale);
}

/// One row a term: of many the largest and what the others sum to.
InspectorTable term_table(const CellTerms::ProductTerms& product, const std::string& left) {
    std::vector<std::size_t> order(product.left.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto term = [&](std::size_t k) { return product.left[k] * product.right[k]; };
    if (order.size() > kMostTerms) {
        std::ranges::stable_sort(order, std::ranges::greater(),
                                 [&](std::size_t k) { return std::abs(term(k)); });
        order.resize(kMostTerms);
    }
    std::vector<double> lefts, rights, products;
    for (const std::size_t k : order) {
        lefts.push_back(product.left[k]);
        rights.push_back(product.right[k]);
        products.push_back(term(k));
    }
    const auto l = column_texts(lefts), r = column_texts(rights), p = column_texts(products);
    double largest = 0.0;
    for (const double each : products) largest = std::max(largest, std::abs(each));
    InspectorTable table;
    table.label = "c";
    table.columns = {{left, Role::input}, {"weight", Role::key}, {"product", Role::output}};
    for (std::size_t n = 0; n < order.size(); ++n)
        table.rows.push_back(
            {std::to_string(order[n]),
             {{l[n], Role::input, {}}, {r[n], Role::key, {}}, {p[n], Role::output, {}}},
             false,
             false,
             largest > 0.0 ? products[n] / largest : 0.0});
    const double sum =
        std::inner_product(product.left.begin(), product.left.end(), product.right.begin(), 0.0);
    if (order.size() < product.left.size())
        table.rows.push_back(
            {fmt::format("{} more", product.left.size() - order.size()),
             {{},
              {},
              {number(sum - std::accumulate(products.begin(), products.end(), 0.0)), {}, {}}}});
    table.total = TableRow{"Σ", {{}, {}, {number(sum), Role::output, {}}}};
    return table;
}

void add_product(const CellTerms& terms, Index layer, Lines& lines, InspectorView& view) {
    const CellTerms::ProductTerms& p = *terms.product;
    const double dot = std::inner_product(p.left.begin(), p.left.end(), p.right.begin(), 0.0);
    view.add("row", name_of(p.source, layer));
    view.add("column", std::string(p.weights));
    view.add("dot product", fmt::format("Σ of {} = {}", counted(std::ssize(p.left), "product"),
                                        cell_number(dot, 4)));
    if (p.factor != 1.0) lines.product("· factor", dot, p.factor);
    if (p.has_bias) lines.sum("+ bias", {dot, p.bias});
    if (p.cap)
        view.add("soft cap", fmt::format("{} · tanh(z / {}) = {}", number(*p.cap), number(*p.cap),
                                         number(terms.computed)));
    view.table = term_table(p, p.source ? std::string(info(*p.source).symbol) : "x");
}

std::string slope_name(Activation kind) {
    switch (kind) {
        case Activation::relu:
            return "1 where x > 0, else 0";
        case Activation::gelu:
            return "Φ(x)";
        case Activation::gelu_tanh:
            return "(1 + tanh(√(2/π) (x + 0.044715 x³))) / 2";
        case Activation::silu:
            return "σ(x)";
        case Activation::quick_gelu:
            return "σ(1.702 x)";
    }
    return {};
}

void add_activation(const CellTerms& terms, Lines& lines) {
    const CellTerms::ActivationTerms& a = *terms.activation;
    lines.number_line("x", a.argument);
    lines.number_line(slope_name(a.kind), a.slope);
    lines.product(a.times ? "activation of the gate" : "activation", a.argument, a.slope);
    if (a.times) lines.product("· hidden", a.argument * a.slope, *a.times);
}

void add_softmax(const CellTerms& terms, Lines& lines, InspectorView& view) {
    const CellTerms::SoftmaxTerms& s = *terms.softmax;
    lines.number_line("logit z", s.logit);
    lines.number_line("largest m", s.largest);
    const double e = std::exp(s.logit - s.largest);
    view.add("e^(z − m)", number(e));
    view.add(fmt::format("Σ over {}", grouped(s.count)), number(s.sum));
    lines.product("e^(z − m) · 1/Σ", e, 1.0 / s.sum);
}

void add_terms(const CellTerms& terms, Index layer, InspectorView& view) {
    Lines lines(view, view.role);
    switch (terms.rule) {
        case StageRule::given:
            return view.add("from", "a number of the model");
        case StageRule::sum:
        case StageRule::heads:
        case StageRule::experts:
            return add_added(terms, layer, lines, view);
        case StageRule::norm:
            return add_norm(terms, layer, lines);
        case StageRule::scale:
            return lines.product("· column scale", terms.scaled, *terms.column_scale);
        case StageRule::product:
            return add_product(terms, layer, lines, view);
        case StageRule::activation:
            return add_activation(terms, lines);
        case StageRule::softmax:
            return add_softmax(terms, lines, view);
    }
}

/// The same arithmetic from its operands.
std::string python_of(const CellTerms& terms) {
    if (terms.product) {
        const auto& p = *terms.product;
        std::string text = fmt::format("np.dot({}, {})", python_list(p.left), python_list(p.right));
        if (p.factor != 1.0) text = fmt::format("{} * {}", exact(p.factor), text);
        if (p.has_bias) text += fmt::format(" + {}", exact(p.bias));
        if (p.cap) text = fmt::format("{0} * np.tanh(({1}) / {0})", exact(*p.cap), text);
        return text;
    }
    if (terms.norm) {
        const auto& n = *terms.norm;
        std::string text = fmt::format("({} - {}) / np.sqrt({} + {}) * {} + {}", exact(n.x),
                                       exact(n.mean), exact(n.variance), exact(n.epsilon),
                                       exact(n.scale), exact(n.shift.value_or(0.0)));
        return terms.column_scale ? fmt::format("({}) * {}", text, exact(*terms.column_scale))
                                  : text;
    }
    if (terms.activation)
        return fmt::format("{} * {} * {}", exact(terms.activation->argument),
                           exact(terms.activation->slope),
                           exact(terms.activation->times.value_or(1.0)));
    if (terms.softmax)
        return fmt::format("np.exp({} - {}) / {}", exact(terms.softmax->logit),
                           exact(terms.softmax->largest), exact(terms.softmax->sum));
    std::string text;
    for (const CellTerms::Added& each : terms.added)
        text += fmt::format("{}{} * {}", text.empty() ? "" : " + ", exact(each.factor),
                            exact(each.value));
    if (terms.rule == StageRule::scale)
        text = fmt::format("{} * {}", exact(terms.scaled), exact(*terms.column_scale));
    return text.empty() ? exact(terms.value) : text;
}

// ---- what is explained

InspectorView cell_inspector(const ModelRead& read, const ModelCell& cell) {
    const ModelStageInfo& about = info(cell.stage);
    const bool answer = cell.stage == ModelStage::probabilities;
    const auto terms =
        terms_of(*read.model, *read.run, read.stages, cell.stage, cell.row, cell.column);
    if (!terms) return only_hint(sentence(terms.error().text()));
    const Index layer = read.stages.layer;
    const std::string row =
        shown_token(read.run->tokens[answer ? read.stages.row : cell.row].text, kMostNamed);
    InspectorView view =
        titled(answer ? fmt::format("p({} after {})",
                                    shown_token(read.model->shown(cell.column), kMostNamed), row)
                      : fmt::format("{}[{}, {}]", about.symbol, row, cell.column),
               about.role);
    if (answer && read.model->config().family->read_out == attn::ReadOut::classes)
        view.title = fmt::format("p({})", shown_token(read.model->shown(cell.column), kMostNamed));
    view.value = number(terms->value);
    view.tex = stage_tex(*read.model, cell.stage, layer);
    view.formula = tex::plain_text(view.tex);
    add_terms(*terms, layer, view);
    std::string python = python_of(*terms);
    if (answer) {
        const auto logit =
            terms_of(*read.model, *read.run, read.stages, ModelStage::logits, 0, cell.column);
        if (logit) add_terms(*logit, layer, view);
    }
    view.as_text = text_of(view);
    view.as_latex =
        fmt::format("${}$, ${}$\n", view.tex.empty() ? std::string(about.symbol) : view.tex,
                    exact(terms->value));
    view.as_python = fmt::format("value = {}  # {}\n", python, exact(terms->value));
    return view;
}

InspectorView part_inspector(const AppState& state, const ModelRead& read, const LogitPart& part) {
    const LogitAttribution& sum = *read.sum;
    InspectorView view = titled(part_name(part), Role::output);
    Lines lines(view, Role::output);
    view.value = cell_number(part.value, 4);
    view.tex = part.kind == PartKind::head ? R"(\frac{c_h W_{O,h} \gamma}{\sigma} \cdot w)"
                                           : R"(\frac{y \gamma}{\sigma} \cdot w)";
    view.formula = tex::plain_text(view.tex);
    const std::string what = sum.against ? "logit difference" : "logit";
    view.add(what, number(sum.logit));
    view.add("this part adds", cell_number(part.value, 4));
    if (part.kind != PartKind::head) {
        view.as_text = text_of(view);
        return view;
    }
    lines.sum("predicted without this head", {sum.logit, -part.value});
    const bool same = read.request.off == part.at && read.ablated;
    view.add("measured without this head", same                          ? number(*read.ablated)
                                           : requested_model_read(state) ? "the model runs again…"
                                                                         : "not measured");
    if (same) {
        lines.sum("change, measured", {*read.ablated, -sum.logit});
        view.add(
            "",
            "Later layers also read this head, so the measured change includes their response.");
    }
    view.as_text = text_of(view);
    return view;
}

}  // namespace

InspectorView model_inspector(const AppState& state) {
    const ModelRead* const read = current_model_read(state);
    if (read == nullptr) return {};
    if (const auto cell = explained_cell(state)) return cell_inspector(*read, *cell);
    if (const LogitPart* const part = selected_model_part(state))
        return part_inspector(state, *read, *part);
    return only_hint("Click a matrix, a bar or an answer to see where its numbers come from.");
}

}  // namespace attn::view
