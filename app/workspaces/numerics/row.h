#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace attn::view {

struct AppState;

// The row that softmax is given.

/// The row of the present document that Step looks at, of the sequence and head shown: what softmax is given there, masked
/// keys −∞, and with sinks the head's after all keys. An error says why there is none.
Result<std::vector<double>> document_logits(const AppState& state);
/// "row “sat” of head 0": what the above is.
std::string document_row_text(const AppState& state);
/// The row shown: the document's where that is chosen and there, else the typed one.
std::vector<double> shown_logits(const AppState& state);
/// "" where the row is as chosen; else why the document has none.
std::string row_missing_data(const AppState& state);

/// 1 to kMostNumericsKeys of any numbers. The error says what is wrong.
Result<void> check_logits(const std::vector<double>& logits);

/// Rows to learn from.
struct LessonRow {
    std::string_view text;
    std::vector<double> logits;
};
std::span<const LessonRow> lesson_rows();

}  // namespace attn::view
