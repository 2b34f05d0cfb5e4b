#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/corpus/statistics.h"
#include "core/result.h"

namespace attn {

/// All of a result, a JSON object a line: what it is of, a line for each head, a line for each text that shows an extreme.
/// Equal results are equal bytes.
std::string corpus_lines(const CorpusResult& result);
/// `what` names the text in errors.
Result<CorpusResult> parse_corpus_lines(std::string_view text, std::string_view what);

/// A line for each measure of each head, sorted by the mean of the measure of that key, largest first, or by layer and head.
std::string corpus_csv(const CorpusResult& result, std::string_view sort);
/// Heads in that order; those of which it is defined nowhere come last.
std::vector<HeadPlace> corpus_order(const CorpusResult& result, std::string_view sort);

/// Whether a file is a result, by its name and what is in it.
bool is_corpus(const std::filesystem::path& path);
/// Of .npz or .jsonl.
Result<CorpusResult> read_corpus(const std::filesystem::path& path);
/// By the extension: .npz, which numpy reads (mean, std, min, max, min_text, max_text, texts [layers, heads, measures]) and which
/// has the lines too; .jsonl; else a table.
Result<void> write_corpus(const std::filesystem::path& path, const CorpusResult& result,
                          std::string_view sort);

}  // namespace attn
