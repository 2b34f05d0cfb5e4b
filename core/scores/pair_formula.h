#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/stage.h"

namespace attn {

/// The score of one pair as an expression of its query q and key k, both vectors. Explanations walk this tree.
struct PairFormula {
    enum class Op : std::uint8_t {
        // vectors
        q,
        k,
        row,           // a parameter with one row
        times_matrix,  // of a vector: x W
        tanh,
        // numbers
        number,
        of_distance,  // the entry of a parameter for the head and the distance j − i
        dot,
        norm,
        squared_norm,
        ln,
        product,
        quotient,  // 0 where the divisor is 0: ScoreInfo::undefined
        // of two vectors or two numbers
        sum,
        difference
    };
    Op op = Op::number;
    std::vector<PairFormula> args = {};
    Param param = Param::w_score;  // of row, times_matrix, of_distance
    double value = 0.0;            // of number
};

namespace score {

using Op = PairFormula::Op;

inline PairFormula node(Op op, std::vector<PairFormula> args) { return {op, std::move(args)}; }
inline PairFormula q() { return {Op::q}; }
inline PairFormula k() { return {Op::k}; }
inline PairFormula row(Param param) { return {Op::row, {}, param}; }
inline PairFormula of_distance(Param param) { return {Op::of_distance, {}, param}; }
inline PairFormula number(double value) { return {Op::number, {}, {}, value}; }
inline PairFormula tanh(PairFormula x) { return node(Op::tanh, {std::move(x)}); }
inline PairFormula norm(PairFormula x) { return node(Op::norm, {std::move(x)}); }
inline PairFormula squared_norm(PairFormula x) { return node(Op::squared_norm, {std::move(x)}); }
inline PairFormula ln(PairFormula x) { return node(Op::ln, {std::move(x)}); }
inline PairFormula dot(PairFormula a, PairFormula b) {
    return node(Op::dot, {std::move(a), std::move(b)});
}

}  // namespace score

inline PairFormula operator+(PairFormula a, PairFormula b) {
    return {PairFormula::Op::sum, {std::move(a), std::move(b)}};
}
inline PairFormula operator-(PairFormula a, PairFormula b) {
    return {PairFormula::Op::difference, {std::move(a), std::move(b)}};
}
inline PairFormula operator-(PairFormula a) { return score::number(0.0) - std::move(a); }
inline PairFormula operator*(PairFormula a, PairFormula b) {
    return {PairFormula::Op::product, {std::move(a), std::move(b)}};
}
/// x W
inline PairFormula operator*(PairFormula x, Param weight) {
    return {PairFormula::Op::times_matrix, {std::move(x)}, weight};
}
inline PairFormula operator/(PairFormula a, PairFormula b) {
    return {PairFormula::Op::quotient, {std::move(a), std::move(b)}};
}

}  // namespace attn
