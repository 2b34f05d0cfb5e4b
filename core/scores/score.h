#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "core/forward.h"
#include "core/stage.h"

namespace attn {

enum class Score : std::uint8_t;  // spec.h
struct AttentionSpec;

// THE table of score functions. A score is an operand transform (rotate, normalise, multiply by a matrix), then a
// product of what came of it, the dot product unless the function has one of its own. A score is a name in
// ATTN_SCORES of spec.h and one file beside this one, with its row and its functions (operands.h).

/// FLOPs of scores alone: multiply-adds, 2 each, and the rest, one each exp, division or sum.
struct ScoreCost {
    double products = 0.0;
    double elementwise = 0.0;
};
/// Rows of Q and of K of all heads, the pairs that the mask allows, and the width of a row.
struct ScoreSizes {
    double pairs = 0.0, queries = 0.0, keys = 0.0, d_k = 0.0;

    /// 2 d_k a pair.
    double dot_products() const { return 2.0 * pairs * d_k; }
};
/// The largest norms of a row of q and of k, and the parameters of the score.
struct ScoreNorms {
    double q = 0.0, k = 0.0;
    const ParamsD& params;

    /// ‖q‖‖k‖, but not near 0.
    double product() const { return std::max(q * k, 1e-3); }
};

struct PairFormula;  // pair_formula.h

struct ScoreInfo {
    Score score = {};                     // with its key as ATTN_SCORES has them
    std::string_view key = {};            // by which it is chosen
    std::string_view title;               // a heading
    std::string_view name;                // in a sentence
    std::string_view tex;                 // scores[i,j], in the subset that tex.h reads
    std::string_view text;                // one plain sentence
    std::string_view source;              // where the mathematics comes from
    std::span<const Param> params = {};   // their shapes follow from their axes
    std::string_view gradient_q_tex;      // ∂L/∂q_i
    std::string_view gradient_k_tex;      // ∂L/∂k_j
    PairFormula (*formula)() = nullptr;   // tex of one pair, as a tree
    std::string_view slope_q = {};        // one sentence of ∂score/∂q; none: it is k
    std::string_view slope_k = {};        // of ∂score/∂k; none: it is q
    std::string_view undefined = {};      // one sentence: where its formula divides by 0
    std::string_view operands = {};       // of a dot product: what makes q′ and k′ of q and k
    std::string_view more_operands = {};  // the same after other changes of q and k
    /// Python that sets `scores` [B,H,Tq,Tk] of q, k and the parameters. {np} is numpy or torch, {keep} the arguments that sum over
    /// the last axis and leave it, {queries} and {keys} their numbers, {last} the last query.
    std::string_view code;
    ScoreCost (*cost)(const ScoreSizes&) = nullptr;
    /// Error of a score ÷ error of the dot product q·k.
    double (*growth)(const ScoreNorms&) = nullptr;
};

std::span<const ScoreInfo> score_table();
const ScoreInfo& info(Score score);
/// Whether its product is the dot product of the operands: any kernel can take it.
bool is_dot(Score score);

/// What a call may have beyond softmax of scaled dot products under a mask.
struct Feature {
    std::string_view key;    // of its field, or of the score
    std::string_view title;  // a heading
};
/// Those that this call has, less the options in `but`.
std::vector<Feature> features(const AttentionSpec& spec, const Params& params,
                              std::initializer_list<std::string_view> but = {});

}  // namespace attn
