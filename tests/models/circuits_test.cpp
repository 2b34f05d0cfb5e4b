// QK and OV of heads against whole products in double, token circuits against runs, and an induction circuit set by hand.
#include "core/models/circuits.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Dense>

#include "core/backend.h"
#include "core/models/family.h"
#include "core/models/model.h"
#include "core/models/sweep.h"
#include "core/models/weights.h"
#include "tests/support/planted_circuit.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

using Matrix = Eigen::MatrixXd;

Matrix matrix_of(const Tensor& tensor) {
    Matrix made(tensor.shape().t, tensor.shape().d);
    for (Index r = 0; r < made.rows(); ++r)
        for (Index c = 0; c < made.cols(); ++c) made(r, c) = tensor(0, 0, r, c);
    return made;
}
Matrix table_of(const WeightMatrix& table) {
    Matrix made(table.shape().t, table.shape().d);
    for (Index r = 0; r < made.rows(); ++r)
        for (Index c = 0; c < made.cols(); ++c) made(r, c) = table(r, c);
    return made;
}
Eigen::VectorXd scale_of(const NormWeights& norm) { return matrix_of(norm.scale).row(0); }

/// What a norm does to a row but for what it divides by: [n, n].
Matrix norm_matrix(const NormWeights& norm, Norm kind) {
    const Matrix scale = scale_of(norm).asDiagonal();
    const Index n = scale.rows();
    if (kind == Norm::rms) return scale;
    return (Matrix::Identity(n, n) - Matrix::Constant(n, n, 1.0 / static_cast<double>(n))) * scale;
}

/// x to z but for the divisors of the norms: [width, columns of z].
Matrix latent_matrix(const LatentWeights& latent) {
    const Matrix kv = table_of(latent.kv.weight);
    const Index width = kv.rows(), rank = latent.kv_norm.scale.count();
    Matrix q = Matrix::Identity(width, width);
    if (latent.q.there()) q = table_of(latent.q.weight) * scale_of(latent.q_norm).asDiagonal();
    Matrix made(width, q.cols() + kv.cols());
    made << q, kv.leftCols(rank) * scale_of(latent.kv_norm).asDiagonal(),
        kv.rightCols(kv.cols() - rank);
    return made;
}

/// QK and OV, [width, width], of GPT-2, Llama, Qwen 3 or DeepSeek.
std::pair<Matrix, Matrix> whole_products(const Model& model, HeadPlace at) {
    const ModelConfig& config = model.config();
    const BlockWeights& block = model.weights().blocks[at.layer];
    const Index group = at.head / (config.heads / config.kv_heads);
    const Norm kind = config.family->norm;
    Matrix in = norm_matrix(block.attention_norm, kind);
    if (block.latent.there()) in *= latent_matrix(block.latent);
    const auto part = [&](Param param, Index heads, Index head) {
        const Matrix all = matrix_of(block.attention[param]);
        const Index width = all.cols() / heads;
        return Matrix(in * all.middleCols(head * width, width));
    };
    Matrix q = part(Param::w_q, config.heads, at.head);
    Matrix k = part(Param::w_k, config.kv_heads, group);
    const Matrix v = part(Param::w_v, config.kv_heads, group);
    if (block.q_norm.there()) q = q * scale_of(block.q_norm).asDiagonal();
    if (block.k_norm.there()) k = k * scale_of(block.k_norm).asDiagonal();
    const Matrix o = matrix_of(block.attention[Param::w_o]);
    return {q * k.transpose(), v * o.middleRows(at.head * v.cols(), v.cols())};
}

void check_values(const std::vector<double>& values, const Matrix& whole) {
    const Eigen::VectorXd expected = Eigen::JacobiSVD<Matrix>(whole).singularValues();
    REQUIRE(!values.empty());
    REQUIRE(std::ssize(values) <= expected.size());
    for (Index n = 0; n < expected.size(); ++n) {
        const double is = n < std::ssize(values) ? values[n] : 0.0;
        CHECK(std::abs(is - expected(n)) < 1e-9 * expected(0));
    }
}

std::vector<ModelToken> tokens(std::initializer_list<Index> ids) {
    std::vector<ModelToken> made;
    for (const Index id : ids) made.push_back({id, ""});
    return made;
}

const Backend& staged() { return *find_backend("staged"); }

}  // namespace

TEST_CASE("singular values, copying score and composition are those of the whole matrices") {
    for (const char* family : {"gpt2", "llama", "qwen3", "deepseek_v2", "deepseek_v3"}) {
        CAPTURE(family);
        const auto model = must(Model::open(test::golden_model(family)));
        const ModelConfig& config = model.config();
        const Matrix in = table_of(model.weights().embedding);
        const Matrix out =
            model.weights().read_out.there() ? table_of(model.weights().read_out.weight) : in;
        for (Index head = 0; head < config.heads; ++head) {
            const HeadPlace at{1, head};
            const auto circuit = must(head_circuit(model, at));
            const auto [qk, ov] = whole_products(model, at);
            check_values(circuit.qk, qk);
            check_values(circuit.ov, ov);
            const Matrix text = in * ov *
                                norm_matrix(model.weights().final_norm, config.family->norm) *
                                out.transpose();
            const auto values = Eigen::EigenSolver<Matrix>(text, false).eigenvalues();
            REQUIRE(circuit.copying);
            CHECK(*circuit.copying ==
                  doctest::Approx(text.trace() / values.cwiseAbs().sum()).epsilon(1e-4));
            const auto composed = must(compositions(model, at));
            REQUIRE(std::ssize(composed) == config.heads);
            for (const Composition& each : composed) {
                const Matrix from = whole_products(model, each.earlier).second;
                const auto share = [&](const Matrix& to) {
                    return doctest::Approx((from * to).norm() / (from.norm() * to.norm()));
                };
                CHECK(each.q == share(qk));
                CHECK(each.k == share(qk.transpose()));
                CHECK(each.v == share(ov));
                CHECK(each.ov == doctest::Approx(from.norm()));
            }
        }
        CHECK(must(compositions(model, {0, 0})).empty());
    }
}

TEST_CASE("QK over tokens is the score, and OV the logits, of a first layer without positions") {
    for (const char* family :
         {"gpt2", "llama", "qwen3", "gemma2", "granite", "deepseek_v2", "deepseek_v3"}) {
        CAPTURE(family);
        auto opened = must(Model::open(test::golden_model(family)));
        ModelConfig config = opened.config();
        ModelWeights weights = opened.weights();
        ModelFamily still = *config.family;
        if (still.positions == Positions::rope) still.positions = Positions::none;
        still.score_cap = 0.0;
        config.family = &still;
        if (!weights.positions.empty()) weights.positions = Tensor(weights.positions.shape());
        const Model model(config, std::move(weights), std::nullopt);
        const auto text = tokens({3, 1, 4, 1, 5});
        const ModelRun run = must(model.run(text, staged()));
        for (Index head = 0; head < config.heads; ++head) {
            const auto circuit = must(token_circuit(model, {0, head}, text));
            const Tensor& scaled = run.layers[0].trace[Stage::scaled];
            for (Index i = 0; i < 5; ++i)
                for (Index j = 0; j < 5; ++j)
                    CHECK(circuit.qk.values(0, 0, i, j) ==
                          doctest::Approx(scaled(0, head, i, j)).epsilon(1e-4).scale(1e-2));
            if (still.key == "gemma2") continue;  // a norm stands between
            const Tensor& v = run.layers[0].trace[Stage::v].empty() ? run.layers[0].inputs->v
                                                                    : run.layers[0].trace[Stage::v];
            const Matrix o = matrix_of(model.weights().blocks[0].attention[Param::w_o]);
            const Index width = v.shape().d, group = head / (config.heads / config.kv_heads);
            Matrix values(5, width);
            for (Index i = 0; i < 5; ++i)
                for (Index c = 0; c < width; ++c) values(i, c) = v(0, group, i, c);
            const Matrix description =
                table_of(model.weights().read_out.there() ? model.weights().read_out.weight
                                                          : model.weights().embedding);
            const Matrix expected = config.residual_factor * config.logit_factor * values *
                                    o.middleRows(head * width, width) *
                                    norm_matrix(model.weights().final_norm, still.norm) *
                                    description.transpose();
            for (Index i = 0; i < 5; ++i)
                for (Index j = 0; j < 5; ++j)
                    CHECK(circuit.ov.values(0, 0, i, j) ==
                          doctest::Approx(expected(i, text[j].id)).epsilon(1e-4).scale(1e-2));
        }
    }
}

TEST_CASE("with RoPE, QK over tokens is the score at distance 0") {
    const auto model = must(Model::open(test::golden_model("llama")));
    const auto text = tokens({3, 1, 4, 1, 5});
    const ModelRun run = must(model.run(text, staged()));
    const auto circuit = must(token_circuit(model, {0, 3}, text));
    for (Index i = 0; i < 5; ++i)
        CHECK(circuit.qk.values(0, 0, i, i) ==
              doctest::Approx(run.layers[0].trace[Stage::scaled](0, 3, i, i)).epsilon(1e-4));
    CHECK(circuit.qk.values(0, 0, 1, 0) !=
          doctest::Approx(run.layers[0].trace[Stage::scaled](0, 3, 1, 0)));
}

TEST_CASE("the nearest of the vocabulary are those with the largest values, each token's in turn") {
    for (const char* family : {"gpt2", "llama", "qwen3", "phi3"}) {
        CAPTURE(family);
        const auto model = must(Model::open(test::golden_model(family)));
        const Index word_count = model.weights().embedding.shape().t;
        const auto text = tokens({3, 1, 4});
        std::vector<ModelToken> all;
        for (Index id = 0; id < word_count; ++id) all.push_back({id, ""});
        const auto whole = must(token_circuit(model, {1, 1}, all));
        const auto near = must(vocabulary_circuit(model, {1, 1}, text, 7));
        for (const auto& [part, every] : {std::pair{&near.qk, &whole.qk}, {&near.ov, &whole.ov}}) {
            REQUIRE(part->others.size() == 7);
            REQUIRE(part->values.shape() == Shape{1, 1, 3, 7});
            std::vector<std::vector<Index>> order;
            for (Index i = 0; i < 3; ++i) {
                const auto row = every->values.matrix(0, 0).row(text[i].id);
                auto& ids = order.emplace_back();
                for (Index id = 0; id < word_count; ++id) ids.push_back(id);
                std::ranges::stable_sort(ids, std::ranges::greater(),
                                         [&](Index id) { return row[id]; });
                for (Index j = 0; j < 7; ++j)
                    CHECK(part->values(0, 0, i, j) ==
                          doctest::Approx(row[part->others[j]]).epsilon(1e-4).scale(1e-3));
            }
            std::vector<Index> expected;
            for (std::size_t rank = 0; expected.size() < 7; ++rank)
                for (const auto& ids : order)
                    if (expected.size() < 7 &&
                        std::ranges::find(expected, ids[rank]) == expected.end())
                        expected.push_back(ids[rank]);
            CHECK(part->others == expected);
        }
    }
}

TEST_CASE("a value over tokens is the factor times the sum of products of its row and column") {
    const auto model = must(Model::open(test::golden_model("llama")));
    const auto circuit = must(token_circuit(model, {1, 2}, tokens({3, 1, 4, 1, 5})));
    for (const TokenProduct* const part : {&circuit.qk, &circuit.ov})
        for (Index i = 0; i < 5; ++i)
            for (Index j = 0; j < 5; ++j) {
                double sum = 0.0;
                for (Index c = 0; c < part->left.shape().d; ++c)
                    sum += double{part->left(0, 0, i, c)} * part->right(0, 0, j, c);
                CHECK(part->values(0, 0, i, j) ==
                      doctest::Approx(part->factor * sum).epsilon(1e-5).scale(1e-3));
            }
    CHECK(circuit.qk.factor == doctest::Approx(1.0 / std::sqrt(model.config().columns_of_head())));
}

TEST_CASE("what has no circuit is refused by its name") {
    const auto model = must(Model::open(test::golden_model("gpt2")));
    CHECK(must_fail(head_circuit(model, {7, 0})).text() ==
          "there is no layer 7: the model has 2, counted from 0");
    CHECK(must_fail(token_circuit(model, {0, 0}, tokens({50}))).text() ==
          "token 50 is not one of 50");
    CHECK(must_fail(token_circuit(model, {0, 0}, {})).text() == "the text has no token");
    CHECK(must_fail(head_circuit(model, {0, 0}, {stopped(), {}})).kind == ErrorKind::failure);
    CHECK(must_fail(compositions(model, {1, 0}, {stopped(), {}})).kind == ErrorKind::failure);
    ModelWeights weights = model.weights();
    Tensor& w_o = weights.blocks[0].attention[Param::w_o];
    w_o = Tensor(w_o.shape());
    w_o.values()[0] = HUGE_VALF;  // a row of head 0
    const Model endless(model.config(), std::move(weights), std::nullopt);
    const std::string infinite = "a weight of L0 H0 is infinite; expected finite numbers";
    CHECK(must_fail(head_circuit(endless, {0, 0})).text() == infinite);
    CHECK(must_fail(compositions(endless, {1, 0})).text() == infinite);
    must(head_circuit(endless, {0, 1}));
    const auto image = must(Model::open(test::golden_model("vit")));
    CHECK(must_fail(token_circuit(image, {0, 0}, tokens({1}))).text() ==
          "a circuit over tokens is of a model that reads texts, not images");
    CHECK(!must(head_circuit(image, {0, 0})).copying);
    const auto bert = must(Model::open(test::golden_model("bert")));
    CHECK(must(token_circuit(bert, {0, 0}, tokens({1}))).ov.others.empty());
}

TEST_CASE("an induction circuit set by hand: sweep, composition, copying and QK name its heads") {
    const Scratch scratch;
    const auto model = must(Model::open(test::planted_circuit(scratch / "circuit")));
    const auto text = must(model.tokens_of(test::kCircuitText));
    REQUIRE(text.size() == test::kCircuitText.size());
    const ModelRun run = must(model.run(text, staged()));
    const auto sweep = must(sweep_heads(model, run, staged()));
    CHECK(model.shown(sweep.a) == "d");
    CHECK(sweep.difference > 4.0);
    auto order = sweep.swept;
    std::ranges::sort(order, {}, [&](const SweptHead& head) { return sweep.change(head); });
    CHECK(sweep.change(order[0]) < -4.0);
    CHECK(sweep.change(order[1]) < -4.0);
    CHECK(std::abs(sweep.change(order[2])) < 0.5);
    CHECK(std::ranges::find(order.begin(), order.begin() + 2, test::kInduction, &SweptHead::at) !=
          order.begin() + 2);
    CHECK(std::ranges::find(order.begin(), order.begin() + 2, test::kPrevious, &SweptHead::at) !=
          order.begin() + 2);

    CHECK(*must(head_circuit(model, test::kInduction)).copying > 0.9);
    const auto composed = must(compositions(model, test::kInduction));
    const auto most = std::ranges::max_element(composed, {}, &Composition::k);
    CHECK(most->earlier == test::kPrevious);
    CHECK(most->k > 0.25);  // of 12 equal singular values each: 1/√12

    const auto circuit = must(token_circuit(model, test::kInduction, text));
    for (Index i = 0; i < 11; ++i) {  // each letter raises itself most
        const auto row = circuit.ov.values.matrix(0, 0).row(i);
        CHECK(text[std::ranges::max_element(row) - row.begin()].id == text[i].id);
    }
}
