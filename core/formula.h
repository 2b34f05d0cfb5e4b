#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/sizes.h"

namespace attn {

/// A matrix of formula.h in double, row-major; a number is 1 × 1.
struct SmallMatrix {
    Index rows = 1, columns = 1;
    std::vector<double> entries{0.0};

    double operator()(Index i, Index j) const { return entries[i * columns + j]; }
    bool is_number() const { return entries.size() == 1; }
    bool operator==(const SmallMatrix&) const = default;
};
using NamedMatrices = std::map<std::string, SmallMatrix, std::less<>>;

/// The value of an expression over named matrices, in double.
///
///   softmax(causal(Q @ K' / sqrt(d)))[1, 0]
///
/// + − * / ^ and < > <= >= == (1 or 0) go entry by entry; a side of one row, column or entry is repeated. @ is the product of
/// matrices, ' the transpose, A[i] a row and A[i, j] an entry, from 0; [1, 2; 3, 4] a matrix. Lowest to highest: comparison, + −, * / @, sign, ^, ' [ ].
/// Names inf and nan, and what formula_functions() lists: softmax by softmax_row() with NaN for an empty row, entropy by
/// row_metrics(), jacobian by softmax_jacobian(), alibi(head, heads) by alibi_slope().
/// An error quotes the formula and names the place that cannot be read, or which shapes do not fit.
Result<SmallMatrix> evaluate_formula(std::string_view text, const NamedMatrices& names);

/// "abs, alibi, argmax, …".
std::string formula_functions();

}  // namespace attn
