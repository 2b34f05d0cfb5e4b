#include <numeric>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/heads.h"
#include "app/common/document/swept.h"
#include "app/common/format.h"
#include "app/common/inspector.h"
#include "app/common/memo.h"
#include "app/common/pair_grid.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/heads/grids.h"
#include "app/workspaces/heads/shown.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"
#include "core/io/npy.h"

namespace attn::view {
namespace {

const ModelCircuit* circuit_here(const AppState& state) {
    const SweptModel* const made = current_circuit(state);
    return made != nullptr ? made->circuit.get() : nullptr;
}

/// QK or OV over tokens, as shown.
const TokenProduct& product_of(const ModelCircuit& circuit, CircuitShow show) {
    return show == CircuitShow::ov ? circuit.over.ov : circuit.over.qk;
}

std::string symbol_of(CircuitShow show) { return show == CircuitShow::ov ? "OV" : "QK"; }

std::string circuit_missing_data(const AppState& state) {
    const bool edges = heads_look(state).circuit_show == CircuitShow::edges;
    if (edges && model_of(state.document()) == nullptr)
        return "Edges between heads need a trained model: open pronouns, stories or a model's "
               "folder.";
    if (model_of(state.document()) == nullptr)
        return "QK and OV need the weights of a trained model: open a model's folder.";
    const SweptModel* const made = current_circuit(state);
    if (made == nullptr)
        return job_status_text(
            state, "head circuit",
            fmt::format(
                "{}: {}.",
                edges ? "Cutting each edge in turn, then running the rest of the model"
                      : fmt::format("Multiplying the weights of {}", head_name(head_here(state))),
                percent(heads_look(state).circuit_done)));
    if (!made->circuit && !made->edges) return sentence(made->fault);
    if (made->edges) return {};
    const HeadsLook& look = heads_look(state);
    if (look.circuit_show == CircuitShow::composition)
        return made->circuit->composed.empty()
                   ? fmt::format("No head comes before {}, so it composes with none.",
                                 head_name(made->circuit->at))
                   : std::string();
    if (!made->circuit->over_fault.empty()) return sentence(made->circuit->over_fault);
    const TokenProduct& product = product_of(*made->circuit, look.circuit_show);
    return product.others.empty() ? "OV over tokens needs logits, and this model has none." : "";
}

/// As a token of the text is labelled; of the vocabulary as it is shown.
std::vector<std::string> column_labels(const AppState& state, const ModelCircuit& circuit,
                                       CircuitShow show) {
    const auto& names = show == CircuitShow::ov ? circuit.written : circuit.read;
    const auto count = std::ssize(names);
    if (heads_look(state).circuit_over == CircuitOver::text)
        return axis_labels(state, Axis::key, count);
    std::vector<std::string> labels;
    for (const std::string& name : names) labels.push_back(shown_token(name));
    return labels;
}

/// What is drawn of numbers that no stage has.
GridView plain_grid(const AppState& state, Sheet sheet, ColorScale scale, double high) {
    sheet.id = Stage::scores;
    sheet.role = Role::score;
    GridView grid = make_grid(state, sheet, {scale, false, {}});
    ColorRange range = grid.range;
    if (high > 0.0) range.high = high;
    color_grid(grid, {range, {}}, state.theme);
    grid.editable = false;
    grid.selected.reset();
    return grid;
}

MapCellsPtr product_map(const CircuitMap::Of& of) {
    const std::shared_ptr<const ModelCircuit> circuit = of.circuit ? of.circuit->circuit : nullptr;
    if (!circuit || !circuit->over_fault.empty() || of.show == CircuitShow::composition) return {};
    const TokenProduct& product = product_of(*circuit, of.show);
    const auto values = product.values.matrix(0, 0);
    if (product.others.empty() || !is_map_size(values.rows, values.columns)) return {};
    const bool ov = of.show == CircuitShow::ov;
    return make_cells({.title = fmt::format("{} of {}", symbol_of(of.show), head_name(circuit->at)),
                       .noun = symbol_of(of.show),
                       .role = Role::score,
                       .values = values,
                       .owner = circuit,
                       .range = signed_range(values),
                       .row_word = ov ? "token" : "query",
                       .column_word = ov ? "logit" : "key",
                       .columns = ov ? circuit->written : circuit->read});
}

GridView product_grid(const AppState& state, const ModelCircuit& circuit) {
    const HeadsLook& look = heads_look(state);
    const TokenProduct& product = product_of(circuit, look.circuit_show);
    const auto values = product.values.matrix(0, 0);
    Sheet sheet;
    sheet.values = values;
    sheet.row_labels = axis_labels(state, Axis::query, values.rows);
    sheet.column_labels = column_labels(state, circuit, look.circuit_show);
    if (look.circuit_show == CircuitShow::ov)
        sheet.row_role = Role::value, sheet.column_role = Role::output;
    GridView grid = plain_grid(state, sheet, ColorScale::diverging, 0.0);
    grid.title = fmt::format("{} of {}", symbol_of(look.circuit_show), head_name(circuit.at));
    grid.tooltip = circuit_formula(look.circuit_show);
    look_at(grid, circuit_cell(state), look.hovered_circuit);
    return grid;
}

/// A row a layer, a column a head, of one of the three.
GridView composition_grid(const AppState& state, const ModelCircuit& circuit, const char* name,
                          const char* formula, double Composition::*of, double high) {
    const Index layers = circuit.at.layer;
    const Index heads = std::ssize(circuit.composed) / layers;
    std::vector<float> values;
    for (const Composition& each : circuit.composed) values.push_back(static_cast<float>(each.*of));
    Sheet sheet;
    sheet.values = {values.data(), layers, heads, heads};
    for (Index n = 0; n < layers; ++n) sheet.row_labels.push_back(fmt::format("L{}", n));
    for (Index n = 0; n < heads; ++n) sheet.column_labels.push_back(fmt::format("H{}", n));
    GridView grid = plain_grid(state, sheet, ColorScale::unit, high);
    grid.title = fmt::format("{} composition", name);
    grid.tooltip = formula;
    look_at(grid, circuit_cell(state), heads_look(state).hovered_circuit);
    return grid;
}

std::vector<GridView> composition_grids(const AppState& state, const ModelCircuit& circuit) {
    double high = 0.0;
    for (const Composition& each : circuit.composed)
        high = std::max({high, each.q, each.k, each.v});
    return {
        composition_grid(state, circuit, "Q", "‖OV QK′‖ / (‖OV‖ ‖QK′‖)", &Composition::q, high),
        composition_grid(state, circuit, "K", "‖OV QK′ᵀ‖ / (‖OV‖ ‖QK′‖)", &Composition::k, high),
        composition_grid(state, circuit, "V", "‖OV OV′‖ / (‖OV‖ ‖OV′‖)", &Composition::v, high)};
}

/// Singular values as bars.
GridView values_grid(const AppState& state, const ModelCircuit& circuit) {
    const CircuitShow show = heads_look(state).circuit_show;
    const auto& from = show == CircuitShow::ov ? circuit.head.ov : circuit.head.qk;
    const std::vector<float> values(from.begin(), from.end());
    const auto count = std::ssize(values);
    Sheet sheet;
    sheet.values = {values.data(), 1, count, count};
    sheet.row_labels = {"σ"};
    sheet.column_labels = axis_labels(state, Axis::d_k, count);
    GridView grid =
        plain_grid(state, sheet, ColorScale::unit, values.empty() ? 0.0 : double{values.front()});
    grid.title = fmt::format("Singular values of {}", symbol_of(show));
    grid.tooltip = show == CircuitShow::ov ? "singular values of W_V W_O, largest first"
                                           : "singular values of W_Q W_Kᵀ, largest first";
    grid.as_bars = true;
    return grid;
}

/// Of the cell that is chosen, the numbers that are multiplied.
void add_products(const TokenProduct& product, CircuitShow show, large::Cell cell,
                  InspectorView& view) {
    const bool ov = show == CircuitShow::ov;
    const auto left = product.left.matrix(0, 0).row(cell.row);
    const auto right = product.right.matrix(0, 0).row(cell.column);
    view.table = InspectorTable{"",
                                "c",
                                {{ov ? "v" : "q", ov ? Role::value : Role::query},
                                 {ov ? "W_O·u" : "k", ov ? Role::output : Role::key},
                                 {"product", Role::score}},
                                {},
                                {}};
    double sum = 0.0;
    std::string lefts, rights;
    for (std::size_t c = 0; c < left.size(); ++c) {
        const double term = double{left[c]} * right[c];
        sum += term;
        view.table->rows.push_back(
            {std::to_string(c),
             {{number(left[c]), {}, {}}, {number(right[c]), {}, {}}, {number(term), {}, {}}}});
        lefts += (c == 0 ? "" : ", ") + exact(left[c]);
        rights += (c == 0 ? "" : ", ") + exact(right[c]);
    }
    view.table->total = TableRow{"Σ", {{"", {}, {}}, {"", {}, {}}, {number(sum), Role::score, {}}}};
    add_line(view, ov ? "factor" : "scale", {Piece{number(product.factor)}});
    add_line(view, "value",
             {Piece{fmt::format("{} · {} = {}", number(product.factor), factor(number(sum)),
                                number(product.factor * sum)),
                    Role::score}});
    view.as_python = fmt::format(
        "left = [{}]\nright = [{}]\nvalue = {} * sum(a * b for a, b in zip(left, right))\n", lefts,
        rights, exact(product.factor));
}

double frobenius(const std::vector<double>& values) {
    return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

void add_composed(const ModelCircuit& circuit, large::Cell cell, InspectorView& view) {
    const auto found = std::ranges::find(circuit.composed, HeadPlace{cell.row, cell.column},
                                         &Composition::earlier);
    if (found == circuit.composed.end()) return;
    const double qk = frobenius(circuit.head.qk), ov = frobenius(circuit.head.ov);
    const auto add = [&](const char* name, double share, double norm) {
        add_line(view, name,
                 {Piece{fmt::format("{} / ({} · {}) = {}", number(share * found->ov * norm),
                                    number(found->ov), number(norm), number(share)),
                        Role::score}});
    };
    view.title = fmt::format("{} after {}", head_name(circuit.at), head_name(found->earlier));
    add_line(view, "‖OV‖", {Piece{number(found->ov)}});
    add_line(view, "‖QK′‖, ‖OV′‖", {Piece{fmt::format("{}, {}", number(qk), number(ov))}});
    add("Q: ‖OV QK′‖", found->q, qk);
    add("K: ‖OV QK′ᵀ‖", found->k, qk);
    add("V: ‖OV OV′‖", found->v, ov);
}

std::string tie_text(std::span<const float> values, float most) {
    return as_much_text(std::ranges::count(values, most) - 1);
}

/// "QK of L1 H1 is largest for query “c” and key “d”: 3.21."
std::string product_point(const AppState& state, const ModelCircuit& circuit) {
    const CircuitShow show = heads_look(state).circuit_show;
    const TokenProduct& product = product_of(circuit, show);
    const auto values = product.values.values();
    if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) return {};
    const auto most = std::ranges::max_element(values);
    const Index at = most - values.begin(), columns = product.values.shape().d;
    const std::string row = axis_labels(state, Axis::query, product.values.shape().t)[at / columns];
    const std::string column = column_labels(state, circuit, show)[at % columns];
    const bool lowers = *most < 0.0F;  // each of them
    if (show == CircuitShow::ov && *most == 0.0F)
        return "No token raises a logit when this head attends to it.";
    return show == CircuitShow::ov
               ? fmt::format("Attending to “{}” {} the logit of “{}” {}: by {}{}.", row,
                             lowers ? "lowers" : "raises", column, lowers ? "least" : "most",
                             number(std::abs(*most)), tie_text(values, *most))
               : fmt::format("QK of {} is largest for query “{}” and key “{}”: {}{}.",
                             head_name(circuit.at), row, column, number(*most),
                             tie_text(values, *most));
}

std::string composition_point(const ModelCircuit& circuit) {
    const Composition* most = nullptr;
    double value = 0.0;
    const char* name = "";
    Index as_much = 0;
    for (const Composition& each : circuit.composed)
        for (const auto& [part, share] :
             {std::pair{"Q", each.q}, std::pair{"K", each.k}, std::pair{"V", each.v}}) {
            if (share > value)
                most = &each, value = share, name = part, as_much = 0;
            else if (share == value && share > 0.0)
                ++as_much;
        }
    if (most == nullptr) return {};
    return fmt::format("{} composes most with {}: {} {}{}.", head_name(circuit.at),
                       head_name(most->earlier), name, number(value), as_much_text(as_much));
}

}  // namespace

std::string circuit_formula(CircuitShow show) {
    switch (show) {
        case CircuitShow::qk:
            return "QK: the score of a query and a key, each computed from its token's embedding "
                   "alone, at distance 0.";
        case CircuitShow::edges:
            return "Width of an edge: change of the logit difference when it is cut.";
        case CircuitShow::ov:
            return "OV: what attending to a token adds to each logit, if the final norm divides by "
                   "1.";
        default:
            return "How strongly this head can read an earlier head's output, from the matrices "
                   "alone: 0 not at all, 1 the upper bound.";
    }
}

large::Cell circuit_cell(const AppState& state) {
    const SweptModel* const made = current_circuit(state);
    if (made != nullptr && made->edges) return edges_cell(state, *made);
    const ModelCircuit* const circuit = circuit_here(state);
    const HeadsLook& look = heads_look(state);
    if (circuit == nullptr) return {};
    Index rows = circuit->at.layer;
    Index columns = rows > 0 ? std::ssize(circuit->composed) / rows : 0;
    if (look.circuit_show != CircuitShow::composition) {
        const Shape shape = product_of(*circuit, look.circuit_show).values.shape();
        rows = shape.t, columns = shape.d;
    }
    const auto inside = [](Index n, Index count) {
        return std::clamp<Index>(n, 0, std::max<Index>(count, 1) - 1);
    };
    return {inside(look.circuit_cell.row, rows), inside(look.circuit_cell.column, columns)};
}

void follow_circuit(AppState& state) {
    HeadsLook& look = heads_look(state);
    if (look.form != HeadForm::circuit || current_circuit(state) == nullptr)
        return look.circuit_map.reset();
    look.circuit_map =
        found_once(look.circuit_map, {look.circuit, look.circuit_show}, [](CircuitMap::Of of) {
            auto cells = product_map(of);
            return CircuitMap{std::move(of), std::move(cells)};
        });
}

HeadCircuitView head_circuit_view(const AppState& state) {
    HeadCircuitView view;
    view.missing_data = circuit_missing_data(state);
    if (!view.missing_data.empty()) return view;
    if (const SweptModel* const made = current_circuit(state); made->edges) {
        view.edges = head_edges_view(state, *made);
        return view;
    }
    const ModelCircuit& circuit = *circuit_here(state);
    if (heads_look(state).circuit_show == CircuitShow::composition) {
        view.grids = composition_grids(state, circuit);
        return view;
    }
    if (const auto& map = heads_look(state).circuit_map; map && map->cells)
        view.maps = cells_views(state, {map->cells}, {circuit_cell(state)});
    else
        view.grids = {product_grid(state, circuit)};
    view.values = values_grid(state, circuit);
    if (circuit.head.copying)
        view.text = fmt::format("copying score Σλ / Σ|λ| = {}", number(*circuit.head.copying));
    return view;
}

std::string circuit_point(const AppState& state) {
    if (heads_look(state).form != HeadForm::circuit || !circuit_missing_data(state).empty())
        return {};
    if (const SweptModel* const made = current_circuit(state); made->edges)
        return edges_point(*made);
    const ModelCircuit& circuit = *circuit_here(state);
    return heads_look(state).circuit_show == CircuitShow::composition
               ? composition_point(circuit)
               : product_point(state, circuit);
}

std::optional<InspectorView> circuit_inspector(const AppState& state) {
    if (heads_look(state).form != HeadForm::circuit || !circuit_missing_data(state).empty())
        return std::nullopt;
    if (const SweptModel* const made = current_circuit(state); made->edges)
        return edges_inspector(state, *made);
    const ModelCircuit& circuit = *circuit_here(state);
    const CircuitShow show = heads_look(state).circuit_show;
    const large::Cell cell = circuit_cell(state);
    InspectorView view = titled({}, Role::score);
    if (show == CircuitShow::composition) {
        add_composed(circuit, cell, view);
    } else {
        const TokenProduct& product = product_of(circuit, show);
        view.title =
            fmt::format("{}[{}, {}]", symbol_of(show),
                        axis_labels(state, Axis::query, product.values.shape().t)[cell.row],
                        column_labels(state, circuit, show)[cell.column]);
        view.value = number(product.values(0, 0, cell.row, cell.column));
        add_products(product, show, cell, view);
        if (circuit.head.copying)
            add_line(view, "copying",
                     {Piece{number(*circuit.head.copying)},
                      Piece{"  Σλ / Σ|λ| of W_E OV W_U", {}, true}});
    }
    view.as_text = view.title + "\n" + view.as_text;
    return view;
}

}  // namespace attn::view
