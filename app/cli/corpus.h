#pragma once

#include <string>

#include "app/cli/cli.h"
#include "app/files/corpus.h"

namespace attn::cli {

/// `heads` over a file of texts.
struct CorpusOptions {
    std::string texts, batch, part, save_every;
    bool stream = false;
};
void add_corpus_options(CLI::App& app, CorpusOptions& options);

/// What the options ask for, with -o; all of them checked. Throws.
files::CorpusJob corpus_job(const std::string& model, const CorpusOptions& options,
                            const std::string& sort, const std::string& output);
/// The table where `output` is "", CSV where it is "-", else the file; and what was left out.
void put_out(const CorpusResult& result, const std::string& sort, const std::string& output,
             Streams io);

/// Every head of the model in that folder over the texts, as the table or into `output`. Throws.
int measure_corpus(const std::string& model, const CorpusOptions& options, const std::string& sort,
                   const std::string& output, Streams io);

}  // namespace attn::cli
