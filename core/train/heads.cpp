// Attention of one head over one sequence, there and back. i query row, j key column; rows go in blocks of whole tiles, and a
// causal block neither computes nor sums keys behind its last row.

#include <algorithm>
#include <cmath>

#include "core/kernels/staged_tiles.h"
#include "core/train/worker.h"

namespace attn::train {
namespace {

constexpr Index kBlock = 24;  // whole tiles, of 6 rows and of 8

/// body(first, count) for every block of `rows`.
template <class Body>
void for_blocks(Index rows, const Body& body) {
    for (Index first = 0; first < rows; first += kBlock)
        body(first, std::min(kBlock, rows - first));
}

/// out = a · rows t, t + 1, … of the right factor, whose panels are `depth` deep.
void part_product(MatrixView<const float> a, const float* panels, Index depth, Index t,
                  Index columns, MatrixView<float> out) {
    const Index width = panel_width();
    for (Index p = 0; p < panel_count(columns); ++p)
        multiply_panels(a, panels + (p * depth + t) * width, 1, out.column_block(p * width, width));
}

void copy_rows(MatrixView<const float> from, MatrixView<float> to) {
    for (Index i = 0; i < to.rows; ++i)
        std::copy_n(from.row(i).data(), to.columns, to.row(i).data());
}

void clear_rows(MatrixView<float> to) {
    for (Index i = 0; i < to.rows; ++i) std::ranges::fill(to.row(i), 0.0F);
}

}  // namespace

float Weights::factor() const {
    const float root = switches.scaling ? std::sqrt(static_cast<float>(plan.spec.d_k)) : 1.0F;
    return 1.0F / root / static_cast<float>(plan.spec.temperature);
}

Turns::Turns(const Spec& spec) : d_k_(spec.d_k) {
    if (spec.positions != Positions::rotary) return;
    for (Index p = 0; p < spec.tokens; ++p)
        for (Index c = 0; c < d_k_ / 2; ++c) {
            const double power = -2.0 * static_cast<double>(c) / static_cast<double>(d_k_);
            const double angle = static_cast<double>(p) * std::pow(10000.0, power);
            cosines_.push_back(static_cast<float>(std::cos(angle)));
            sines_.push_back(static_cast<float>(std::sin(angle)));
        }
}

void Turns::turn(MatrixView<float> joined, std::span<const Index> positions, bool back) const {
    const Index half = d_k_ / 2;
    const float sign = back ? -1.0F : 1.0F;
    for (Index r = 0; r < joined.rows; ++r) {
        const float* const cosine = cosines_.data() + positions[r] * half;
        const float* const sine = sines_.data() + positions[r] * half;
        for (Index first = 0; first < joined.columns; first += d_k_) {
            float* const a = joined.row(r).data() + first;
            float* const b = a + half;
            for (Index c = 0; c < half; ++c) {
                const float x = a[c], y = b[c], s = sign * sine[c];
                a[c] = x * cosine[c] - y * s;
                b[c] = y * cosine[c] + x * s;
            }
        }
    }
}

Index Worker::keys_of(Index first, Index count, Index tokens) const {
    return plan_.causal() ? first + count : tokens;
}

void Worker::forward_head(const Weights& weights, Index layer, Index s, Index h, RowSums& sums) {
    const Index d_k = plan_.spec.d_k, d_v = plan_.spec.value_width();
    const Index first_row = sequences_[s].first, tokens = sequences_[s].count;
    LayerRows& own = layers_[layer];
    const auto head_of = [&](const Rows& rows, Index width) {
        return rows.view().row_block(first_row, tokens).column_block(h * width, width);
    };
    const MatrixView<float> q = head_of(own.q, d_k);
    const MatrixView<float> a = own.weights[s * plan_.spec.heads + h].make(tokens, tokens);
    float* const panels =
        panels_.at_least(std::max(panel_floats(d_k, tokens), panel_floats(tokens, d_v)));
    pack_rows(head_of(own.k, d_k), panels);
    for_blocks(tokens, [&](Index i, Index count) {
        product(q.row_block(i, count), panels, keys_of(i, count, tokens), a.row_block(i, count));
    });
    softmax_rows(a, weights.factor(), plan_.causal(), sums);

    const MatrixView<float> context = head_of(own.context, d_v);
    if (weights.silenced(layer, h)) return clear_rows(context);
    const MatrixView<float> out = head_.scratch(tokens, d_v);
    pack_columns(head_of(own.v, d_v), panels);
    for_blocks(tokens, [&](Index i, Index count) {
        part_product(a.row_block(i, count).column_block(0, keys_of(i, count, tokens)), panels,
                     tokens, 0, d_v, out.row_block(i, count));
    });
    copy_rows(out, context);
}

MatrixView<float> Worker::backward_weights(MatrixView<const float> a, MatrixView<const float> d_o,
                                           MatrixView<const float> v, float factor, float* panels) {
    const Index tokens = a.rows;
    const MatrixView<float> d_s = scores_.scratch(tokens, tokens);
    pack_rows(v, panels);
    for_blocks(tokens, [&](Index i, Index count) {
        const Index keys = keys_of(i, count, tokens);
        product(d_o.row_block(i, count), panels, keys, d_s.row_block(i, count));
        softmax_backward(a.row_block(i, count).column_block(0, keys),
                         d_s.row_block(i, count).column_block(0, keys), factor);
    });
    return d_s;
}

// forward:  O = A V          so  d_V = Aᵀ d_O,  d_A = d_O Vᵀ
// forward:  A = softmax(S f) so  d_S = f A ∘ (d_A − rowsum(d_A ∘ A))
// forward:  S = Q Kᵀ         so  d_Q = d_S K,  d_K = d_Sᵀ Q
void Worker::backward_head(const Weights& weights, Index layer, Index s, Index h) {
    const Index d_k = plan_.spec.d_k, d_v = plan_.spec.value_width();
    const Index first_row = sequences_[s].first, tokens = sequences_[s].count;
    const LayerRows& own = layers_[layer];
    const auto head_of = [&](const Rows& rows, Index width) {
        return rows.view().row_block(first_row, tokens).column_block(h * width, width);
    };
    const MatrixView<float> d_q = head_of(d_q_, d_k), d_k_head = head_of(d_k_, d_k);
    const MatrixView<float> d_v_head = head_of(d_v_, d_v);
    if (weights.silenced(layer, h)) {
        for (const MatrixView<float>& d : {d_q, d_k_head, d_v_head}) clear_rows(d);
        return;
    }
    const MatrixView<float> d_o = head_of(d_context_, d_v);
    const MatrixView<float> a = own.weights[s * plan_.spec.heads + h].view();
    float* const panels = panels_.at_least(std::max(
        {panel_floats(d_v, tokens), panel_floats(tokens, d_v), panel_floats(tokens, d_k)}));

    const MatrixView<float> d_s =
        backward_weights(a, d_o, head_of(own.v, d_v), weights.factor(), panels);

    // Rows j of Aᵀ begin at the first query that sees key j, in whole blocks.
    const MatrixView<float> turned = turned_scores_.scratch(tokens, tokens);
    const auto turned_product = [&](MatrixView<const float> left, MatrixView<const float> right,
                                    MatrixView<float> to) {
        transpose_into(left, turned);
        pack_columns(right, panels);
        const MatrixView<float> out = head_.scratch(tokens, right.columns);
        for_blocks(tokens, [&](Index j, Index count) {
            const Index first = plan_.causal() ? j : 0;
            part_product(turned.row_block(j, count).column_block(first, tokens - first), panels,
                         tokens, first, right.columns, out.row_block(j, count));
        });
        copy_rows(out, to);
    };
    turned_product(a, d_o, d_v_head);
    turned_product(d_s, head_of(own.q, d_k), d_k_head);
    pack_columns(head_of(own.k, d_k), panels);
    const MatrixView<float> out = head_.scratch(tokens, d_k);
    for_blocks(tokens, [&](Index i, Index count) {
        part_product(d_s.row_block(i, count).column_block(0, keys_of(i, count, tokens)), panels,
                     tokens, 0, d_k, out.row_block(i, count));
    });
    copy_rows(out, d_q);
}

}  // namespace attn::train
