#include "core/models/circuits.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <fmt/format.h>
#include "core/call.h"
#include "core/models/block.h"
#include "core/models/ends.h"
#include "core/models/family.h"
#include "core/models/interventions.h"
#include "core/models/layers.h"
#include "core/models/model.h"
#include "core/models/spectrum.h"
#include "core/models/weights.h"
#include "core/text.h"

namespace attn {
namespace {

using Matrix = Eigen::MatrixXd;

/// QK = q kᵀ, OV = v o.
struct Factors {
    Matrix q, k, v, o;  // [width, d_k], [width, d_k], [width, d_v], [d_v, width]
};

Matrix part_of(const WeightMatrix& whole, Index row, Index rows, Index column, Index columns) {
    Matrix part(rows, columns);
    for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < columns; ++c) part(r, c) = whole(row + r, column + c);
    return part;
}

/// The columns of a projection that head `head` of `heads` owns.
Matrix head_columns_of(const Tensor& whole, Index head, Index heads) {
    const Index width = whole.shape().d / heads;
    return part_of(whole, 0, whole.shape().t, head * width, width);
}

/// Into the columns of y, whose norm of all heads together has those from `first` on.
void fold_after(Matrix& y, const Tensor& scale, Index first) {
    if (scale.empty()) return;
    if (scale.count() == y.cols()) first = 0;
    for (Index c = 0; c < y.cols(); ++c) y.col(c) *= double{scale.values()[first + c]};
}

/// Into the rows of a matrix that reads what a norm gives; a LayerNorm takes the mean off what goes in.
void fold_before(Matrix& w, const NormWeights& norm, Norm kind) {
    if (!norm.there()) return;
    for (Index r = 0; r < w.rows(); ++r) w.row(r) *= double{norm.scale.values()[r]};
    if (kind == Norm::layer) w.rowwise() -= w.colwise().mean().eval();
}

/// Into what is normalised and then read: the norm is of what comes out of y.
void fold_norm_after(Matrix& y, const NormWeights& norm, Norm kind) {
    if (!norm.there()) return;
    if (kind == Norm::layer) y.colwise() -= y.rowwise().mean().eval();
    fold_after(y, norm.scale, 0);
}

/// Into what reads latents: x to them, with the weights of their norms.
void fold_latents(Matrix& w, const LatentWeights& latent) {
    if (!latent.there()) return;
    const Index width = latent.kv.weight.shape().t;
    const auto folded = [&](const LinearWeights& linear, const NormWeights& norm, Index first) {
        const Index columns = linear.weight.shape().d;
        Matrix rows = w.middleRows(first, columns);
        for (Index r = 0; r < norm.scale.count(); ++r)
            rows.row(r) *= double{norm.scale.values()[r]};
        return Matrix(part_of(linear.weight, 0, width, 0, columns) * rows);
    };
    const Index q_rows = w.rows() - latent.kv.weight.shape().d;
    Matrix made = folded(latent.kv, latent.kv_norm, q_rows);
    made += latent.q.there() ? folded(latent.q, latent.q_norm, 0) : Matrix(w.topRows(q_rows));
    w = std::move(made);
}

Result<Factors> factors_of(const Model& model, HeadPlace at) {
    const ModelConfig& config = model.config();
    if (!config.family->names.distances.empty())
        return bad_input(
            fmt::format("{} adds a number for each distance to its scores, which W_Q "
                        "and W_K do not hold: its circuits are not computed here",
                        config.family->text));
    if (auto valid = check_interventions({{at}, {}, {}}, model, 1); !valid)
        return tl::unexpected(valid.error());
    const BlockWeights& block = model.weights().blocks[at.layer];
    const Params& params = block.attention;
    const Index key_head = at.head * config.kv_heads / config.heads;
    Factors of{head_columns_of(params[Param::w_q], at.head, config.heads),
               head_columns_of(params[Param::w_k], key_head, config.kv_heads),
               head_columns_of(params[Param::w_v], key_head, config.kv_heads),
               {}};
    const Tensor& w_o = params[Param::w_o];
    of.o = part_of(w_o, at.head * of.v.cols(), of.v.cols(), 0, w_o.shape().d);
    const Norm kind = config.family->norm;
    for (Matrix* const each : {&of.q, &of.k, &of.v}) fold_latents(*each, block.latent);
    if (!config.family->norms_after)
        for (Matrix* const each : {&of.q, &of.k, &of.v})
            fold_before(*each, block.attention_norm, kind);
    fold_after(of.q, block.q_norm.scale, at.head * of.q.cols());
    fold_after(of.k, block.k_norm.scale, key_head * of.k.cols());
    fold_norm_after(of.o, block.attention_out_norm, kind);
    fold_after(of.o, block.attention_scale, 0);
    for (const Matrix* const each : {&of.q, &of.k, &of.v, &of.o})
        if (!each->allFinite())
            return bad_input(fmt::format("a weight of L{} H{} is infinite; expected finite numbers",
                                         at.layer, at.head));
    return of;
}

Tensor tensor_of(const Matrix& matrix) {
    auto made = Tensor::uninitialised({1, 1, matrix.rows(), matrix.cols()});
    for (Index r = 0; r < matrix.rows(); ++r)
        for (Index c = 0; c < matrix.cols(); ++c)
            made(0, 0, r, c) = static_cast<float>(matrix(r, c));
    return made;
}

/// Rows first … first + count of a table by the transposed factor, [d, count].
Tensor by_table(const Tensor& factor, const WeightMatrix& table, Index first, Index count) {
    auto made = Tensor::uninitialised({1, 1, factor.shape().t, count});
    table.multiply_with_rows(factor.matrix(0, 0), first, count, made.matrix(0, 0));
    return made;
}

/// o through the final norm, to be read out: without what that divides by.
Matrix read_by(const Model& model, Matrix o) {
    fold_norm_after(o, model.weights().final_norm, model.config().family->norm);
    return o;
}

/// The model gives a logit for each token that it reads.
bool reads_tokens(const Model& model) {
    return model.gives_logits() && model.config().reads_text() &&
           read_out_table(model).shape().t == model.weights().embedding.shape().t;
}

/// λ of W_E v o W_U are those of o W_U W_E v, which is small.
std::optional<double> copying_of(const Model& model, const Factors& of) {
    const WeightMatrix& embedding = model.weights().embedding;
    if (!reads_tokens(model) || embedding.shape().d != of.v.rows()) return std::nullopt;
    const Tensor v = tensor_of(of.v.transpose()), o = tensor_of(read_by(model, of.o));
    Matrix small = Matrix::Zero(of.o.rows(), of.v.cols());
    constexpr Index kRows = 4096, kColumns = 1024;  // of the vocabulary: multiplied, summed at once
    for (Index from = 0; from < embedding.shape().t; from += kRows) {
        const Index rows = std::min(kRows, embedding.shape().t - from);
        const Tensor in = by_table(v, embedding, from, rows);
        const Tensor out = by_table(o, read_out_table(model), from, rows);
        using Rows =
            Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
        const Rows ins(in.data(), in.shape().t, rows), outs(out.data(), out.shape().t, rows);
        for (Index first = 0; first < rows; first += kColumns) {
            const Index count = std::min(kColumns, rows - first);
            small += outs.middleCols(first, count).cast<double>() *
                     ins.middleCols(first, count).cast<double>().transpose();
        }
    }
    return balance_of_eigenvalues(small);
}

/// The embeddings of tokens, one below the other, without positions.
Tensor token_rows(const Model& model, std::span<const Index> ids) {
    const ModelConfig& config = model.config();
    auto x = Tensor::uninitialised({1, 1, std::ssize(ids), config.width});
    for (Index t = 0; t < x.shape().t; ++t)
        model.weights().embedding.copy_row(ids[t], x.matrix(0, 0).row(t));
    for (float& value : x.values()) value *= static_cast<float>(config.embedding_factor);
    const NormWeights& norm = model.weights().embedding_norm;
    return norm.there() ? normalised(x, norm, config.family->norm, config.epsilon) : x;
}

Result<void> check_tokens(const Model& model, HeadPlace at, const std::vector<ModelToken>& tokens) {
    const WeightMatrix& embedding = model.weights().embedding;
    if (!model.config().reads_text())
        return bad_input(fmt::format("a circuit over tokens is of a model that reads texts, not {}",
                                     model.config().image ? "images" : "sounds"));
    if (tokens.empty()) return bad_input("the text has no token");
    for (const ModelToken& token : tokens)
        if (token.id < 0 || token.id >= embedding.shape().t)
            return bad_input(
                fmt::format("token {} is not one of {}", token.id, embedding.shape().t));
    const BlockWeights& block = model.weights().blocks[at.layer];
    if (const Index width = block.latent.there() ? block.latent.kv.weight.shape().t
                                                 : block.attention[Param::w_q].shape().t;
        width != embedding.shape().d)
        return bad_input(
            fmt::format("layer {} reads vectors of {}; expected {}, as the embedding has", at.layer,
                        counted(width, "number"), embedding.shape().d));
    return {};
}

/// q, k and v of a head, a row a token, all of them at position 0: where that turns a token each is a text of its own.
struct TokenHeads {
    Matrix q, k, v;
};
TokenHeads heads_of(const Model& model, HeadPlace at, const Tensor& rows) {
    const ModelConfig& config = model.config();
    const BlockWeights& block = model.weights().blocks[at.layer];
    const Index key_head = at.head * config.kv_heads / config.heads;
    const Index count = rows.shape().t;
    const bool turns = config.turns(at.layer) && config.rope_of(at.layer).turned_before();
    const Index together = turns ? 1 : std::max<Index>(count, 1);
    TokenHeads made;
    for (Index first = 0; first < count; first += together) {
        Inputs some = attention_inputs(turns ? row_of(rows, first) : rows, block, config, at.layer);
        if (some.projects()) some = given_heads(std::move(some), block, config, at.layer);
        const auto put = [&](Matrix& all, const Tensor& heads, Index head) {
            if (first == 0) all.resize(count, heads.shape().d);
            for (Index t = 0; t < heads.shape().t; ++t)
                for (Index c = 0; c < heads.shape().d; ++c)
                    all(first + t, c) = heads(0, head, t, c);
        };
        put(made.q, some.q, at.head);
        put(made.k, some.k, key_head);
        put(made.v, some.v, key_head);
    }
    return made;
}

/// The rows of a table that are the tokens'.
Matrix rows_of(const WeightMatrix& table, std::span<const Index> ids) {
    Matrix made(std::ssize(ids), table.shape().d);
    std::vector<float> row(table.shape().d);
    for (Index t = 0; t < made.rows(); ++t) {
        table.copy_row(ids[t], row);
        for (Index c = 0; c < made.cols(); ++c) made(t, c) = row[c];
    }
    return made;
}

std::vector<Index> ids_of(const std::vector<ModelToken>& tokens) {
    std::vector<Index> ids;
    for (const ModelToken& token : tokens) ids.push_back(token.id);
    return ids;
}

TokenProduct product_of(const Matrix& left, const Matrix& right, double factor,
                        std::vector<Index> others) {
    return {tensor_of(left), tensor_of(right), factor, std::move(others),
            tensor_of(factor * left * right.transpose())};
}

/// A head of a model over the tokens of a text.
struct OverTokens {
    const Model& model;
    HeadPlace at;
    TokenHeads heads;
    Matrix out;  // W_O of the head, to be read out
    double score_factor, logit_factor;

    TokenProduct qk(const std::vector<Index>& others) const {
        const Matrix keys = heads_of(model, at, token_rows(model, others)).k;
        return product_of(heads.q, keys, score_factor, others);
    }
    TokenProduct ov(const std::vector<Index>& others) const {
        if (!reads_tokens(model)) return {};
        const Matrix read = rows_of(read_out_table(model), others) * out.transpose();
        return product_of(heads.v, read, logit_factor, others);
    }
};

Result<OverTokens> over_tokens(const Model& model, HeadPlace at,
                               const std::vector<ModelToken>& tokens) {
    const auto of = factors_of(model, at);
    if (!of) return tl::unexpected(of.error());
    if (auto valid = check_tokens(model, at, tokens); !valid) return tl::unexpected(valid.error());
    const ModelConfig& config = model.config();
    OverTokens made{model,
                    at,
                    heads_of(model, at, token_rows(model, ids_of(tokens))),
                    read_by(model, of->o),
                    1.0,
                    config.residual_factor * config.logit_factor};
    made.score_factor = score_factor(layer_spec(config, at.layer), made.heads.q.cols());
    return made;
}

/// The best of each row, as they come.
class Nearest {
  public:
    Nearest(Index rows, Index count)
        : best_(static_cast<std::size_t>(rows)), count_(static_cast<std::size_t>(count)) {}

    /// values: a column for each of the vocabulary's tokens from `first` on.
    void take(const Matrix& values, Index first) {
        for (Index i = 0; i < values.rows(); ++i) {
            auto& row = best_[i];
            for (Index n = 0; n < values.cols(); ++n) row.push_back({values(i, n), first + n});
            const auto order = [](const Each& a, const Each& b) {
                return a.value != b.value ? a.value > b.value : a.id < b.id;
            };
            std::erase_if(row, [](const Each& each) { return std::isnan(each.value); });
            const auto retained =
                row.begin() + static_cast<std::ptrdiff_t>(std::min(row.size(), count_));
            std::partial_sort(row.begin(), retained, row.end(), order);
            row.erase(retained, row.end());
        }
    }
    /// The best of each row, then the next of each.
    std::vector<Index> in_turns() const {
        std::vector<Index> ids;
        for (std::size_t rank = 0; rank < count_; ++rank)
            for (const auto& row : best_)
                if (rank < row.size() && ids.size() < count_ &&
                    std::ranges::find(ids, row[rank].id) == ids.end())
                    ids.push_back(row[rank].id);
        return ids;
    }

  private:
    struct Each {
        double value;
        Index id;
    };
    std::vector<std::vector<Each>> best_;
    std::size_t count_;
};

}  // namespace

Result<HeadCircuit> head_circuit(const Model& model, HeadPlace at, const RunControl& control) {
    const auto of = factors_of(model, at);
    if (!of) return tl::unexpected(of.error());
    HeadCircuit made;
    made.qk = singular_values(of->q, of->k.transpose());
    made.ov = singular_values(of->v, of->o);
    if (control.stop.stop_requested()) return failed("the circuit was stopped");
    made.copying = copying_of(model, *of);
    return made;
}

Result<TokenCircuit> token_circuit(const Model& model, HeadPlace at,
                                   const std::vector<ModelToken>& tokens) {
    const auto over = over_tokens(model, at, tokens);
    if (!over) return tl::unexpected(over.error());
    const std::vector<Index> ids = ids_of(tokens);
    return TokenCircuit{over->qk(ids), over->ov(ids)};
}

Result<TokenCircuit> vocabulary_circuit(const Model& model, HeadPlace at,
                                        const std::vector<ModelToken>& tokens, Index count,
                                        const RunControl& control) {
    constexpr Index kTogether = 2048;
    const auto over = over_tokens(model, at, tokens);
    if (!over) return tl::unexpected(over.error());
    const Index text = model.weights().embedding.shape().t;
    const bool reads = reads_tokens(model);
    Nearest keys(std::ssize(tokens), std::min(count, text)), raised = keys;
    const Matrix by_output = over->heads.v * over->out;
    for (Index first = 0; first < text; first += kTogether) {
        if (control.stop.stop_requested()) return failed("the circuit was stopped");
        std::vector<Index> some(std::min(kTogether, text - first));
        std::iota(some.begin(), some.end(), first);
        const Matrix k = heads_of(model, at, token_rows(model, some)).k;
        keys.take(over->score_factor * over->heads.q * k.transpose(), first);
        if (reads)
            raised.take(
                over->logit_factor * by_output * rows_of(read_out_table(model), some).transpose(),
                first);
        if (control.progress)
            control.progress(static_cast<double>(first + std::ssize(some)) /
                             static_cast<double>(text));
    }
    return TokenCircuit{over->qk(keys.in_turns()),
                        reads ? over->ov(raised.in_turns()) : TokenProduct{}};
}

Result<std::vector<Composition>> compositions(const Model& model, HeadPlace later,
                                              const RunControl& control) {
    const auto to = factors_of(model, later);
    if (!to) return tl::unexpected(to.error());
    std::vector<Composition> all;
    const Matrix q = triangle(to->q), k = triangle(to->k), v = triangle(to->v),
                 o = triangle(to->o.transpose());
    const double qk_size = (q * k.transpose()).norm(), ov_size = (v * o.transpose()).norm();
    for (HeadPlace at; at.layer < later.layer; ++at.layer)
        for (at.head = 0; at.head < model.config().heads; ++at.head) {
            if (control.stop.stop_requested()) return failed("the compositions were stopped");
            const auto from = factors_of(model, at);
            if (!from) return tl::unexpected(from.error());
            if (from->o.cols() != to->q.rows())
                return bad_input(fmt::format(
                    "head {}.{} writes vectors of {} and layer {} reads {}; expected equal "
                    "widths",
                    at.layer, at.head, counted(from->o.cols(), "number"), later.layer,
                    to->q.rows()));
            const Matrix out = triangle(from->v);
            const double size = (out * triangle(from->o.transpose()).transpose()).norm();
            const auto share = [&](const Matrix& reads, const Matrix& rest, double other) {
                const double most = size * other;
                const double both = (out * (from->o * reads) * rest.transpose()).norm();
                return most > 0.0 ? both / most : 0.0;
            };
            all.push_back({at, share(to->q, k, qk_size), share(to->k, q, qk_size),
                           share(to->v, o, ov_size), size});
        }
    return all;
}

}  // namespace attn
