// The map says how a weight of every kind of attention is made: rotated, normalised or multiplied operands, a soft cap,
// ALiBi, sinks. The numbers of each step are worked out here in double.

#include "app/common/document/document.h"
#include "app/common/map/inspector.h"
#include "app/common/map/map_cell.h"
#include "app/common/map/text.h"
#include "core/bias.h"
#include "core/scores/score.h"
#include "core/train/run.h"
#include "core/train/task_table.h"
#include "tests/view/view_test.h"
#include "tests/view/waves.h"

using namespace attn::view;

namespace {

constexpr Index kTokens = 80;
constexpr Index kWidth = 8;
constexpr large::Cell kCell{50, 47};

/// Two heads of queries, keys and values; the map of Large looks at kCell of head 0.
AppState state_of_kind(const AttentionSpec& spec, Params params = {}) {
    Inputs inputs;
    for (const auto& [tensor, pace] :
         {std::pair{&inputs.q, 0.37}, {&inputs.k, 0.53}, {&inputs.v, 0.71}}) {
        *tensor = Tensor(Shape{1, 2, kTokens, kWidth});
        Index n = 0;
        for (float& value : tensor->values())
            value = static_cast<float>(1.5 * std::sin(pace * static_cast<double>(++n)));
    }
    inputs.params = std::move(params);
    Document document = document_of({std::make_shared<const Inputs>(std::move(inputs))});
    document.name = document.title = "waves";
    document.spec = spec;
    return after(state_of(std::move(document)).value(),
                 {SetWorkspace{"large"}, SetMapCanvas{{1000.0, 800.0}}});
}

AppState looking(const AttentionSpec& spec, Params params = {}) {
    return mapped(state_of_kind(spec, std::move(params)), {SelectMapCell{kCell}});
}

using Row = std::vector<double>;
using Vectors = std::pair<Row, Row>;  // of a query and a key

Row row_of(const Tensor& tensor, Index t) {
    const auto row = tensor.matrix(0, 0).row(t);
    return {row.begin(), row.end()};
}

double dot(const Row& q, const Row& k) {
    double sum = 0.0;
    for (std::size_t c = 0; c < q.size(); ++c) sum += q[c] * k[c];
    return sum;
}

/// Columns c and c + 4 turn by position · 10000^(−c / 4).
Row turned(const Row& x, Index position) {
    Row y(x);
    for (std::size_t c = 0; c < 4; ++c) {
        const double angle =
            static_cast<double>(position) * std::pow(10000.0, -static_cast<double>(c) / 4.0);
        y[c] = x[c] * std::cos(angle) - x[c + 4] * std::sin(angle);
        y[c + 4] = x[c] * std::sin(angle) + x[c + 4] * std::cos(angle);
    }
    return y;
}

Row divided(Row x) {
    const double length = std::sqrt(dot(x, x));
    for (double& each : x) each /= length;
    return x;
}

/// "label: text" of every line, the text alone where there is no label; without those that name the two tokens.
std::vector<std::string> lines_of(const InspectorView& view) {
    std::vector<std::string> lines;
    for (const Line& line : view.lines) {
        std::string text;
        for (const Piece& piece : line.pieces) text += piece.text;
        if (line.label.empty() && (text.starts_with("query ") || text.starts_with("key ")))
            continue;
        lines.push_back(line.label.empty() ? text : line.label + ": " + text);
    }
    return lines;
}

/// Nothing but the products' own line, which ends with their sum.
void check_products(std::string& line, const std::string& name, double sum) {
    CHECK(line.starts_with(name + ": "));
    CHECK(line.ends_with(" = " + number(sum)));
    line = "products";
}

/// What the inspector shows of a kind that ends with S: its product's name, how its operands are made.
void check_operands(const AttentionSpec& spec, const Params& params, const std::string& product,
                    const std::string& how, const std::function<Vectors(Row, Row)>& make) {
    const AppState state = looking(spec, params);
    const Inputs& in = *state.document().inputs;
    const Row q = row_of(in.q, kCell.row);
    const bool as_is = spec.scale == ScaleKind::q_and_k;
    const double factor = as_is ? 1.0 : 1.0 / std::sqrt(8.0);
    Row scaled;
    double sum = 0.0;
    for (Index j = 0; j < kTokens; ++j) {
        Row k = row_of(in.k, j);
        k.push_back(static_cast<double>(j));  // its position, for those that turn
        const auto [left, right] = make(q, k);
        scaled.push_back(dot(left, right) * factor);
        sum += std::exp(scaled.back());
    }
    const double s = scaled[kCell.column];
    const double l = std::log(sum);
    std::vector<std::string> lines = lines_of(map_inspector(state));
    REQUIRE(lines.size() == 7);
    check_products(lines[3], product, s / factor);
    CHECK(
        lines ==
        std::vector<std::string>{
            fmt::format("a = exp(S − L), S = {} · factor, L = logsumexp of the row", product), how,
            fmt::format("S, a: score {}  weight {}", number(s), number(std::exp(s - l))),
            "products",
            fmt::format("{}: {}·{} = {}", as_is ? "× 1" : "÷ √d_k", number(s / factor),
                        number(factor), number(s)),
            fmt::format("− L: {} − {} = {}", number(s), number(l), number(s - l)),
            fmt::format("exp: exp({} − {}) = {}", number(s), number(l), number(std::exp(s - l)))});
    const std::string python = map_inspector(state).as_python;
    CHECK(has(python, "# " + how + "\n"));
    CHECK(has(python, "# q′ of query 50\n"));
    CHECK(has(python, product == "q′·k" ? "  # key 47\n" : "  # k′ of key 47\n"));
    CHECK(map_inspector(state).table->title == "");
    CHECK(map_inspector(state).table->columns[2].title == product);
    CHECK(map_inspector(state).geometry[2].label == "cos θ");
}

}  // namespace

TEST_CASE("RoPE, cosine, general scores: the inspector says what became of q and k, in numbers") {
    AttentionSpec rope;
    rope.rope = Rope{};
    rope.query_offset = 5;
    const auto turn = [](const Row& q, Row k) {
        const auto j = static_cast<Index>(k.back());
        k.pop_back();
        return Vectors{turned(q, kCell.row + 5), turned(k, j)};
    };
    check_operands(rope, {}, "q′·k′", "q′ and k′ are q and k rotated by their positions.", turn);
    AttentionSpec cosine;
    cosine.score = Score::cosine;
    check_operands(cosine, {}, "q′·k′", "q′ and k′ are q and k divided by their lengths.",
                   [](const Row& q, Row k) {
                       k.pop_back();
                       return Vectors{divided(q), divided(k)};
                   });
    AttentionSpec scaled;
    scaled.scale = ScaleKind::q_and_k;
    const auto quarter = [](Row row) {
        for (double& value : row) value *= std::pow(8.0, -0.25);
        return row;
    };
    check_operands(scaled, {}, "q′·k′", "q′ and k′ are q and k times d_k^(−¼).",
                   [&](const Row& q, Row k) {
                       k.pop_back();
                       return Vectors{quarter(q), quarter(k)};
                   });
    AttentionSpec general;
    general.score = Score::general;
    Params params;
    params[Param::w_score] = Tensor(Shape{1, 1, kWidth, kWidth});
    for (Index c = 0; c < kWidth; ++c) {
        params[Param::w_score](0, 0, c, c) = 0.5F;
        params[Param::w_score](0, 0, c, (c + 1) % kWidth) = 0.25F;
    }
    check_operands(general, params, "q′·k", "q′ is q times W_score.", [](const Row& q, Row k) {
        k.pop_back();
        Row made(q.size());
        for (std::size_t c = 0; c < q.size(); ++c) {
            made[c] += 0.5 * q[c];
            made[(c + 1) % q.size()] += 0.25 * q[c];
        }
        return Vectors{made, k};
    });
    rope.score = Score::cosine;
    CHECK(operand_names(rope).how ==
          "q′ and k′ are q and k rotated by their positions, then divided by their lengths.");
    rope.score = Score::general;
    CHECK(operand_names(rope).how ==
          "q′ and k′ are q and k rotated by their positions, q′ then times W_score.");
    CHECK(operand_names({}).how.empty());
    CHECK(operand_names({}).product() == "q·k");
}

TEST_CASE("a soft cap, ALiBi and a sink are steps of the inspector, each alone and together") {
    for (const bool cap : {false, true})
        for (const bool alibi : {false, true})
            for (const bool sink : {false, true}) {
                if (!cap && !alibi && !sink) continue;
                INFO("cap ", cap, ", alibi ", alibi, ", sink ", sink);
                AttentionSpec spec;
                if (cap) spec.softcap = 2.0;
                spec.alibi = alibi;
                if (alibi) spec.query_offset = 5;
                spec.mask.causal = CausalAlign::top_left;
                Params params;
                if (sink) params[Param::sinks] = Tensor({1, 1, 1, 2}, {0.5F, 40.0F});
                const AppState state = looking(spec, params);
                const Inputs& in = *state.document().inputs;
                const Index p = kCell.row + (alibi ? 5 : 0);
                const double factor = 1.0 / std::sqrt(8.0), slope = 0.0625;  // 2^−4: head 0 of 2
                double s = 0.0, capped = 0.0, b = 0.0, sum = sink ? std::exp(0.5) : 0.0;
                for (Index j = p; j >= 0; --j) {
                    const double scaled = dot(row_of(in.q, kCell.row), row_of(in.k, j)) * factor;
                    const double limited = cap ? 2.0 * std::tanh(scaled / 2.0) : scaled;
                    const double biased =
                        alibi ? limited - slope * static_cast<double>(p - j) : limited;
                    sum += std::exp(biased);
                    if (j == kCell.column) s = scaled, capped = limited, b = biased;
                }
                const double l = std::log(sum);
                const std::string x = cap || alibi ? "B" : "S";
                const std::string rule = cap && alibi ? "B = 2.00·tanh(S ÷ 2.00) − slope·|p − j|, "
                                         : cap        ? "B = 2.00·tanh(S ÷ 2.00), "
                                         : alibi ? "B = S − slope·|p − j|, "
                                                 : "";
                std::vector<std::string> expected{
                    fmt::format("a = exp({} − L), {}S = q·k · factor, L = logsumexp of the row{}",
                                x, rule, sink ? " and the sink" : ""),
                    fmt::format("{}, a: score {}  weight {}", x, number(b),
                                number(std::exp(b - l))),
                    "products",
                    fmt::format("÷ √d_k: {}·{} = {}", number(s / factor), number(factor),
                                number(s))};
                if (cap)
                    expected.push_back(
                        fmt::format("cap: 2.00·tanh({} ÷ 2.00) = {}", number(s), number(capped)));
                if (alibi)
                    expected.push_back(fmt::format("− slope·|p − j|: {} − 0.0625·8.00 = {}",
                                                   number(capped), number(b)));
                const std::string shifted = fmt::format("{} − {}", number(b), number(l));
                expected.push_back(fmt::format("− L: {} = {}", shifted, number(b - l)));
                expected.push_back(
                    fmt::format("exp: exp({}) = {}", shifted, number(std::exp(b - l))));
                if (sink)
                    expected.push_back(
                        fmt::format("sink: a logit of 0.50 in the row takes exp(0.50 − L) = {}",
                                    number(std::exp(0.5 - l))));
                const InspectorView view = map_inspector(state);
                std::vector<std::string> lines = lines_of(view);
                REQUIRE(lines.size() > 2);
                check_products(lines[2], "q·k", s / factor);
                CHECK(lines == expected);
                CHECK(view.value == number(std::exp(b - l)));
                CHECK(has(view.as_text, fmt::format("a = exp({} - L), L = logsumexp of the row{}\n",
                                                    x, sink ? " and the sink" : "")));
                const std::string plain = "q @ k * 0.35355339059327373";
                CHECK(has(
                    view.as_python,
                    fmt::format("print(np.exp({}{}{} - logsumexp))\n", cap ? "2 * np.tanh(" : "",
                                cap ? plain + " / 2)" : plain, alibi ? " - 0.0625 * 8" : "")));
                CHECK(has(view.as_latex, "\\tanh(") == cap);
            }
}

TEST_CASE("a bias is a step of the inspector, before or behind the soft cap") {
    for (const bool cap : {false, true})
        for (const bool first : {false, true}) {
            if (first && !cap) continue;
            INFO("cap ", cap, ", first ", first);
            AttentionSpec spec;
            if (cap) spec.softcap = 2.0;
            spec.bias_before_softcap = first;
            spec.mask.causal = CausalAlign::top_left;
            const AppState plain = looking(spec, {});
            const Dimensions& size = plain.document().size;
            Tensor bias(Shape{1, 1, 1, size.tk}, 0.0F);
            bias(0, 0, 0, kCell.column) = 1.5F;
            spec.mask.bias = make_bias(bias);
            const AppState state = looking(spec, {});
            const Inputs& in = *state.document().inputs;
            const double s =
                dot(row_of(in.q, kCell.row), row_of(in.k, kCell.column)) / std::sqrt(8.0);
            const auto capped = [&](double x) { return cap ? 2.0 * std::tanh(x / 2.0) : x; };
            const double b = first ? capped(s + 1.5) : capped(s) + 1.5;
            const large::CellArithmetic& sum = map_look(state).inspected->arithmetic;
            CHECK(sum.biased == doctest::Approx(b));
            const InspectorView view = map_inspector(state);
            const std::vector<std::string> lines = lines_of(view);
            const double before = first ? s : capped(s);
            CHECK(std::ranges::count(lines, fmt::format("+ bias: {} + 1.50 = {}", number(before),
                                                        number(before + 1.5))) == 1);
            CHECK(has(lines.front(), first ? "B = 2.00·tanh((S + bias[i, j]) ÷ 2.00), "
                                     : cap ? "B = 2.00·tanh(S ÷ 2.00) + bias[i, j], "
                                           : "B = S + bias[i, j], "));
            const std::string product = "q @ k * 0.35355339059327373";
            CHECK(has(view.as_python, first ? "2 * np.tanh((" + product + " + 1.5) / 2)"
                                      : cap ? "2 * np.tanh(" + product + " / 2) + 1.5"
                                            : product + " + 1.5"));
            CHECK(view.value == number(sum.weight));
        }
}

TEST_CASE("scores of a biased call are drawn and named as softmax takes them") {
    AttentionSpec spec;
    spec.softcap = 2.0;
    spec.alibi = true;
    spec.rope = Rope{};
    AppState state =
        mapped(state_of_kind(spec), {SetMapPicture{MapPictureOf::scores}, GoToCell{kCell}});
    state = after(std::move(state), {HoverMapCell{kCell}});
    const LargeView view = build_large_view(state);
    CHECK(view.legend.title == "biased score B = 2.00·tanh(S ÷ 2.00) − slope·|p − j|");
    CHECK(view.inspector.title == "biased score[50 → 47]");
    const double biased = map_look(state).inspected->arithmetic.biased;
    CHECK(view.inspector.value == number(biased));
    CHECK(has(view.hover_text, view.legend.title + " = " + number(biased)));
    CHECK(middle_figure(view).text == cell_number(biased, 2));
    CHECK(view.picture_tip ==
          "weights: a = softmax of B over the keys. scores: the biased score B = 2.00·tanh(S ÷ "
          "2.00) − slope·|p − j|, S = q′·k′ ÷ √d_k; a pixel of several pairs shows their "
          "mean.  Key: W");
    CHECK(score_description(spec, 4) ==
          "mean biased score of 4 × 4 cells, B = 2.00·tanh(S ÷ 2.00) − slope·|p − j|");
    CHECK_FALSE(find_commands(mapped(state_of_kind(spec)), "Show the biased scores").empty());
}

TEST_CASE("a sink leaves less than 1 to the keys, the row says how much; NaN in a sink is named") {
    Params params;
    params[Param::sinks] = Tensor({1, 1, 1, 2}, {6.0F, 0.0F});
    const AppState state =
        mapped(state_of_kind({}, params), {SearchMap{large::Search{large::Search::Of::query, 50}}});
    const double total = map_look(state).snapshot->search->total;
    CHECK(total < 0.95);
    CHECK(has(build_large_view(state).found_title, "Σ of the row = " + number(total)));
    CHECK(
        build_large_view(state).picture_tip ==
        "weights: a = softmax of S over the keys and the sink. scores: the scaled score S = q·k ÷ "
        "√d_k; a pixel of several pairs shows their mean.  Key: W");
    params[Param::sinks](0, 0, 0, 0) = std::nanf("");
    CHECK(lines_of(map_inspector(looking({}, params))).back() ==
          "The sink's logit is NaN: it makes every weight of the head NaN.");
}

TEST_CASE("what is not finite is named of the operands that are multiplied") {
    large::NotFinite found;
    found.known = true;
    found.q = {1, 0, large::Cell{3, 2}, std::nanf("")};
    AttentionSpec spec;
    spec.score = Score::general;
    CHECK(not_finite_text(found, spec)[0] == "Q′ holds 1 NaN: the first is Q′[3, 2] = NaN.");
    CHECK(not_finite_text(found, {})[0] == "Q holds 1 NaN: the first is Q[3, 2] = NaN.");
}

TEST_CASE("scores that are no dot products have no map, and the sentence says what shows them") {
    const Tensor square(Shape{1, 1, kWidth, kWidth}), row(Shape{1, 1, 1, kWidth});
    Params additive;
    additive[Param::w_score_q] = additive[Param::w_score_k] = square;
    additive[Param::w_score_row] = row;
    for (const auto& [score, params] :
         {std::pair{Score::student_t, Params{}}, {Score::additive, additive}}) {
        AttentionSpec spec;
        spec.score = score;
        AppState state = state_of_kind(spec, params);
        state = after(std::move(state), {run(requested_map_input(state).value(), {})});
        CHECK(build_large_view(state).fault ==
              fmt::format("the score is {}, but a map of weights needs dot products: dot, cosine, "
                          "general or relative is expected; attnscope trace computes these "
                          "weights, and Step shows them up to 65,536 pairs",
                          info(score).key));
    }
}
