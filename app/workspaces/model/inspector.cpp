#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "app/common/arithmetic.h"
#include "app/common/document/actions.h"
#include "app/common/explain/expr.h"
#include "app/common/format.h"
#include "app/common/request.h"
#include "app/common/text.h"
#include "app/workspaces/model/actions.h"
#include "app/workspaces/model/view.h"
#include "core/io/npy.h"
#include "core/models/family.h"
#include "core/models/model.h"
#include "core/models/weights.h"
#include "core/spec_arrays.h"
#include "core/tex.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostTerms = 64;  // of a product's table; of more the largest
constexpr int kDigits = 5;

/// The lines of one number: printed factors give the printed product, printed terms the printed sum.
class Lines {
  public:
    Lines(InspectorView& view, Role role) : view_(view), role_(role) {}

    /// `on_click`: goes to the number's own matrix; empty: it has none here.
    void number_line(std::string label, double value, Actions on_click = {}) {
        Piece piece{number(value)};
        piece.on_click = std::move(on_click);
        view_.lines.push_back({std::move(label), {std::move(piece)}});
    }

    /// "0.125 · 9 = 1.125".
    void product(std::string label, double a, double b, Actions on_click = {}) {
        const ProductText text = product_text(a, b, kDigits);
        put(std::move(label), fmt::format("{} · {}", text.a, factor(text.b)), text.product,
            std::move(on_click));
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
    void put(std::string label, std::string text, const std::string& result,
             Actions on_click = {}) {
        Piece operands{std::move(text)};
        operands.on_click = std::move(on_click);
        view_.lines.push_back(
            {std::move(label), {std::move(operands), Piece{" = " + result, role_}}});
    }

    InspectorView& view_;
    Role role_;
};

// ---- operands that have a matrix here

/// The number that is explained, and its operands' places.
class Operands {
  public:
    Operands(const ModelRead& read, const ModelCell& cell) : read_(read), cell_(cell) {}

    /// The same row of another stage; nullopt: of the residual that the layer, or the end, reads.
    Actions at(std::optional<ModelStage> source, Index column) const {
        const ModelStages& stages = read_.stages;
        const bool answer =
            cell_.stage == ModelStage::logits || cell_.stage == ModelStage::probabilities;
        const Index row = answer ? stages.row : cell_.row;
        if (source) return to(stages.layer, *source, row, column);
        const Index reader = this->reader();
        if (reader > 0) return to(reader - 1, block_output(read_.model->config()), row, column);
        ModelStage entry = ModelStage::embedding;
        for (const ModelStage stage : stages.order)
            if (info(stage).part == StackPart::entry) entry = stage;
        return to(stages.layer, entry, row, column);
    }
    Actions same_column(std::optional<ModelStage> source) const { return at(source, cell_.column); }
    /// The context of a head, as Step shows it.
    Actions context_of(Index head) const {
        return {ShowHead{head, {}, read_.stages.layer}, ShowAttentionStage{Stage::context}};
    }
    std::string name(std::optional<ModelStage> source) const {
        if (source) return std::string(info(*source).title);
        return reader() == 0 ? "Embedding" : fmt::format("Residual after layer {}", reader() - 1);
    }
    ModelStage stage() const { return cell_.stage; }

  private:
    /// The layer that reads the residual; at the end of the model as many as there are.
    Index reader() const {
        const bool end = info(cell_.stage).part == StackPart::end;
        return end ? std::ssize(read_.run->layers) : read_.stages.layer;
    }
    static Actions to(Index layer, ModelStage stage, Index row, Index column) {
        return {FollowOperand{layer, std::string(info(stage).key), row, column}};
    }

    const ModelRead& read_;
    const ModelCell cell_;
};

// ---- one rule after the other

/// Where a term of a sum has its matrix.
Actions source_of(const CellTerms::Added& each, std::size_t n, const CellTerms& terms,
                  const Operands& operands) {
    if (each.column) return operands.at(each.source, *each.column);
    if (each.source || each.name == "x") return operands.same_column(each.source);
    const bool head = terms.rule == StageRule::heads && each.name.starts_with("head ");
    if (head && operands.stage() == ModelStage::attention)
        return operands.context_of(static_cast<Index>(n));
    return {};
}

void add_added(const CellTerms& terms, const Operands& operands, Lines& lines,
               InspectorView& view) {
    std::vector<double> values;
    for (std::size_t n = 0; n < terms.added.size(); ++n) {
        const CellTerms::Added& each = terms.added[n];
        const std::string name =
            each.name.empty() || each.name == "x" ? operands.name(each.source) : each.name;
        values.push_back(each.factor * each.value);
        Actions source = source_of(each, n, terms, operands);
        if (each.factor == 1.0)
            lines.number_line(name, each.value, std::move(source));
        else
            lines.product(name, each.factor, each.value, std::move(source));
    }
    if (values.size() <= 8) return lines.sum("sum", values);
    view.add("sum", fmt::format("Σ of {} = {}", counted(std::ssize(values), "term"),
                                cell_number(terms.computed, 4)));
}

void add_norm(const CellTerms& terms, const Operands& operands, Lines& lines) {
    const CellTerms::NormTerms& n = *terms.norm;
    const double root = 1.0 / std::sqrt(n.variance + n.epsilon);
    lines.number_line("x: " + operands.name(n.source), n.x, operands.same_column(n.source));
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
InspectorTable term_table(const CellTerms::ProductTerms& product, const std::string& left,
                          const Operands& operands) {
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
             {{l[n],
               Role::input,
               {},
               operands.at(product.source, product.first_column + static_cast<Index>(order[n]))},
              {r[n], Role::key, {}},
              {p[n], Role::output, {}}},
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

void add_product(const CellTerms& terms, const Operands& operands, Lines& lines,
                 InspectorView& view) {
    const CellTerms::ProductTerms& p = *terms.product;
    const double dot = std::inner_product(p.left.begin(), p.left.end(), p.right.begin(), 0.0);
    view.add("row", operands.name(p.source));
    view.add("column", std::string(p.weights));
    view.add("dot product", fmt::format("Σ of {} = {}", counted(std::ssize(p.left), "product"),
                                        cell_number(dot, 4)));
    if (p.factor != 1.0) lines.product("· factor", dot, p.factor);
    if (p.has_bias) lines.sum("+ bias", {dot, p.bias});
    if (p.cap)
        view.add("soft cap", fmt::format("{} · tanh(z / {}) = {}", number(*p.cap), number(*p.cap),
                                         number(terms.computed)));
    view.table = term_table(p, p.source ? std::string(info(*p.source).symbol) : "x", operands);
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

void add_activation(const CellTerms& terms, const Operands& operands, Lines& lines) {
    const CellTerms::ActivationTerms& a = *terms.activation;
    lines.number_line("x", a.argument, operands.at(a.source, a.column));
    lines.number_line(slope_name(a.kind), a.slope);
    lines.product(a.times ? "activation of the gate" : "activation", a.argument, a.slope);
    if (a.times)
        lines.product("· hidden", a.argument * a.slope, *a.times,
                      operands.at(ModelStage::mlp_hidden, a.times_column));
}

void add_softmax(const CellTerms& terms, const Operands& operands, Lines& lines,
                 InspectorView& view) {
    const CellTerms::SoftmaxTerms& s = *terms.softmax;
    const bool answer = operands.stage() == ModelStage::probabilities;
    lines.number_line("logit z", s.logit,
                      answer ? operands.same_column(ModelStage::logits) : Actions());
    lines.number_line("m = max z", s.largest);
    const double e = std::exp(s.logit - s.largest);
    view.add("e^(z − m)", number(e));
    view.add(fmt::format("Σ over {}", grouped(s.count)), number(s.sum));
    lines.product("e^(z − m) · 1/Σ", e, 1.0 / s.sum);
}

void add_terms(const CellTerms& terms, const Operands& operands, InspectorView& view) {
    Lines lines(view, view.role);
    switch (terms.rule) {
        case StageRule::given:
            return view.add("from", "a number of the model");
        case StageRule::sum:
        case StageRule::heads:
        case StageRule::experts:
            return add_added(terms, operands, lines, view);
        case StageRule::norm:
            return add_norm(terms, operands, lines);
        case StageRule::scale:
            return lines.product("· column scale", terms.scaled, *terms.column_scale,
                                 operands.same_column(terms.source));
        case StageRule::product:
            if (!terms.product) return view.add("from", "no expert: the token takes fewer");
            return add_product(terms, operands, lines, view);
        case StageRule::activation:
            return add_activation(terms, operands, lines);
        case StageRule::softmax:
            return add_softmax(terms, operands, lines, view);
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
    InspectorView view = titled(
        answer ? fmt::format("p({} after {})",
                             shown_token(read.model->answer_text(cell.column), kMostNamed), row)
               : fmt::format("{}[{}, {}]", about.symbol, row, cell.column),
        about.role);
    if (answer && read.model->config().family->read_out == attn::ReadOut::classes)
        view.title =
            fmt::format("p({})", shown_token(read.model->answer_text(cell.column), kMostNamed));
    view.value = number(terms->value);
    view.tex = stage_tex(*read.model, cell.stage, layer);
    view.formula = tex::plain_text(view.tex);
    add_terms(*terms, {read, cell}, view);
    std::string python = python_of(*terms);
    if (answer) {
        const auto logit =
            terms_of(*read.model, *read.run, read.stages, ModelStage::logits, 0, cell.column);
        if (logit) add_terms(*logit, {read, {ModelStage::logits, 0, cell.column}}, view);
    }
    view.as_text = text_of(view);
    view.as_latex =
        fmt::format("${}$, ${}$\n", view.tex.empty() ? std::string(about.symbol) : view.tex,
                    exact(terms->value));
    view.as_python = fmt::format("value = {}  # {}\n", python, exact(terms->value));
    return view;
}

/// The formula of a part: its vector through the frozen norms after it, times the answer's direction w, or x / ‖x‖.
std::string part_tex(const Model& model, const LogitAttribution& sum, const LogitPart& part) {
    if (part.kind == PartKind::read_out_bias) return "b";
    const bool after = model.config().family->norms_after;
    const bool shift = part.kind == PartKind::norm_shift ||
                       part.kind == PartKind::attention_shift || part.kind == PartKind::mlp_shift;
    const bool final_norm = sum.token >= 0 && model.weights().final_norm.there();
    const std::string vector = part.kind == PartKind::head ? "c_h W_{O,h}"
                               : shift                     ? R"(\beta)"
                                                           : "y";
    const std::string direction = sum.token < 0 ? R"(\frac{x}{\|x\|})" : "w";
    if (part.kind == PartKind::norm_shift || (!after && !final_norm))
        return fmt::format(R"({} \cdot {})", vector, direction);
    return after ? fmt::format(R"({} \prod_n \frac{{\gamma_n}}{{\sigma_n}} \cdot {})", vector,
                               direction)
                 : fmt::format(R"(\frac{{{} \gamma}}{{\sigma}} \cdot {})", vector, direction);
}

InspectorView part_inspector(const AppState& state, const ModelRead& read, const LogitPart& part) {
    const LogitAttribution& sum = *read.sum;
    InspectorView view = titled(part_name(part), Role::output);
    Lines lines(view, Role::output);
    view.value = cell_number(part.value, 4);
    view.tex = part_tex(*read.model, sum, part);
    view.formula = tex::plain_text(view.tex);
    const std::string what = sum.token < 0 ? "norm" : sum.against ? "logit difference" : "logit";
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

/// The loss and its gradients by the blocks.
InspectorView loss_inspector(const ModelRead& read) {
    const ModelGradients& made = *read.gradients;
    const BlockGradients& block = made.layers[read.stages.layer];
    InspectorView view = titled("L", Role::score);
    view.value = number(made.loss);
    view.tex = R"(L = -\mathrm{ln}\, p(\mathrm{target}))";
    view.formula = tex::plain_text(view.tex);
    const std::string target = shown_token(read.model->answer_text(*read.target), kMostNamed);
    const std::string layer = fmt::format(" of layer {}", read.stages.layer);
    view.add("target", target);
    view.add("p(target)", number(std::exp(-made.loss)));
    view.add("∂L/∂z", "p − 1 for the target, p for another answer");
    const auto norm = [](const TensorD& values) {
        double squares = 0.0;
        for (const double value : values.values()) squares += value * value;
        return number(std::sqrt(squares));
    };
    const bool after = read.model->config().family->norms_after;
    view.add("‖∂L/∂X_2‖" + layer, norm(block.residual));
    view.add("‖∂L/∂F‖" + layer, norm(block.mlp));
    view.add("‖∂L/∂Y‖" + layer, norm(block.attention));
    view.add("‖∂L/∂X‖ of the embedding", norm(made.embedded));
    view.add("", after ? "Each gradient goes down through a norm of the sum."
                       : "A sum passes its gradient to each of its terms.");
    view.as_text = text_of(view);
    return view;
}

}  // namespace

InspectorView model_inspector(const AppState& state) {
    const ModelRead* const read = shown_model_read(state);
    if (read == nullptr) return {};
    if (const auto cell = explained_cell(state)) return cell_inspector(*read, *cell);
    if (const LogitPart* const part = selected_model_part(state))
        return part_inspector(state, *read, *part);
    if (read->gradients) return loss_inspector(*read);
    return only_hint("Click a matrix, a bar or an answer to see where its numbers come from.");
}

}  // namespace attn::view
