#include "app/cli/trace_model.h"

#include <chrono>

#include <fmt/format.h>

#include "app/cli/trace_output.h"
#include "app/files/standard.h"
#include "core/models/model.h"
#include "core/models/read_out.h"

namespace attn::cli {
namespace {

constexpr std::size_t kNextTokens = 5;

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string_view read_out_name(const Model& model) {
    return model.config().family->read_out == ReadOut::sentence ? "embedding" : "logits";
}

std::vector<NpzEntry> entries_of(const Model& model, const ModelRun& run, StageSet keep,
                                 const std::vector<float>& ids) {
    std::vector<NpzEntry> entries;
    for (std::size_t n = 0; n < run.layers.size(); ++n) {
        const ModelLayer& layer = run.layers[n];
        for (NpzEntry& entry : stage_entries(layer.trace, keep)) {
            entry.name = fmt::format("l{}.{}", n, entry.name);
            entries.push_back(std::move(entry));
        }
        const Shape shape = layer.residual.shape();
        entries.push_back(
            {fmt::format("l{}.residual", n), {1, shape.t, shape.d}, layer.residual.values()});
    }
    std::vector<std::string> words;
    for (const ModelToken& token : run.tokens) words.push_back(token.text);
    entries.push_back({"tokens", {}, {}, std::move(words)});
    entries.push_back({"token_ids", {std::ssize(ids)}, ids});
    if (const Shape shape = run.read_out.shape(); !run.read_out.empty())
        entries.push_back({std::string(read_out_name(model)),
                           shape.t == 1 && read_out_name(model) == "embedding"
                               ? std::vector<Index>{shape.d}
                               : std::vector<Index>{1, shape.t, shape.d},
                           run.read_out.values()});
    return entries;
}

/// The likeliest next tokens, or nothing.
std::string next_words(const Model& model, const ModelRun& run) {
    if (model.config().family->read_out != ReadOut::next_token || !model.tokenizer()) return {};
    const auto row = run.read_out.matrix(0, 0).row(run.read_out.shape().t - 1);
    std::string words;
    for (const TokenShare& share : likeliest(row, kNextTokens))
        words += fmt::format("{} {} {:.1f} %", words.empty() ? "" : ",",
                             model.tokenizer()->shown(share.id), 100.0 * share.probability);
    return fmt::format("  next token:{}\n", words);
}

std::string summary(const ModelTrace& request, const Model& model, const ModelRun& run,
                    double open_ms, double run_ms) {
    const ModelConfig& config = model.config();
    std::string text = fmt::format("{} -> {}\n", request.folder, request.output);
    text += fmt::format("{}: {} layers, {} heads, width {}; {} tokens\n", config.family->words,
                        config.layers, config.heads, config.width, run.tokens.size());
    text += fmt::format("opened in {:.0f} ms, computed in {:.1f} ms\n ", open_ms, run_ms);
    for (const ModelToken& token : run.tokens) text += " " + token.text;
    return text + "\n" + next_words(model, run);
}

}  // namespace

Result<void> trace_model(const ModelTrace& request, Streams io) {
    const Clock::time_point start = Clock::now();
    const Result<Model> model = Model::open(request.folder);
    if (!model) return tl::unexpected(model.error());
    const double open_ms = ms_since(start);
    auto tokens = model->tokens_of(request.text);
    if (!tokens) return tl::unexpected(tokens.error());
    const std::string name = request.backend == "auto" ? "staged" : request.backend;
    const Backend* backend = find_backend(name, io.backends);
    if (backend == nullptr) {
        const auto missing = choose_backend(name, Dimensions{}, request.keep, io.backends);
        return tl::unexpected(missing.error());
    }
    const Clock::time_point turn = Clock::now();
    const Result<ModelRun> run = model->run(*std::move(tokens), *backend, request.keep);
    if (!run) return tl::unexpected(run.error());
    const double run_ms = ms_since(turn);
    std::vector<float> ids;
    for (const ModelToken& token : run->tokens) ids.push_back(static_cast<float>(token.id));
    const std::vector<NpzEntry> entries = entries_of(*model, *run, request.keep, ids);
    const bool standard = files::is_standard(request.output);
    Result<void> written =
        standard ? npz_bytes(entries, "standard output").map([&](const std::string& bytes) {
            io.out << bytes;
        })
                 : write_npz(request.output, entries);
    if (!written) return written;
    for (const std::string& note : model->notes())
        io.err << "attnscope trace: note: " << note << '\n';
    (standard ? io.err : io.out) << summary(request, *model, *run, open_ms, run_ms);
    return {};
}

}  // namespace attn::cli
