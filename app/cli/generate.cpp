// attnscope generate: tokens after a text, one by one against a cache of K and V.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/command.h"
#include "app/cli/model_text.h"
#include "app/cli/subcommands.h"
#include "app/cli/trace_parts.h"
#include "app/common/document/opened.h"
#include "app/common/format.h"
#include "app/common/or_throw.h"
#include "app/files/axes.h"
#include "app/files/outputs.h"
#include "app/files/standard.h"
#include "app/files/text.h"
#include "core/io/file.h"
#include "core/models/generate.h"
#include "core/models/sampling.h"
#include "core/stopwatch.h"

namespace attn::cli {
namespace {

using nlohmann::ordered_json;
constexpr std::string_view kGenerateName = "attnscope generate";
constexpr int kUsualTokens = 20;
constexpr int kMostTokens = 1 << 20;

struct GenerateOptions {
    ModelText model;
    std::string tokens, temperature, top_k, top_p, seed, candidates, output;
    bool json = false;
};

constexpr std::string_view kGenerateFooter =
    "p = softmax(z / temperature) for the logits z of the next token. top-k keeps the K largest; "
    "of these, top-p keeps the\nfewest whose p sums to P or more. Each p is then divided by "
    "their sum. Of equal logits the lower number comes first.\n"
    "The same options give the same tokens.\n\n"
    "out.npz has l<N>.weights [1,H,T,T] for the T tokens that the model read (all except the "
    "last), tokens, token_ids,\nthe residual of each layer, generated (numbers), and the logits "
    "[1,steps,vocabulary] of each choice.\n\n"
    "Examples:\n"
    "  attnscope generate ~/models/gpt2 --text \"The cat sat\" --temperature 0\n"
    "  attnscope generate ~/models/gpt2 --text \"The cat sat\" --top-p 0.9 --seed 3 --candidates "
    "5\n"
    "  attnscope generate ~/models/gpt2 --text \"The cat sat\" --tokens 40 -o out.npz && attnscope "
    "out.npz\n";

void declare_generate(CLI::App& app, GenerateOptions& options) {
    add_model_text_or_image(app, options.model);
    add_value(app, "--decoder", options.model.decoder, "TEXT",
              "text that the decoder of a T5 has written so far, to continue");
    add_number(app, "--tokens", options.tokens, "N", files::whole_numbers(1, kMostTokens),
               fmt::format("number of tokens; default {}", kUsualTokens));
    add_number(app, "--temperature", options.temperature, "X", files::real_numbers(0, 1e18),
               "divisor of the logits; default 1; 0 takes the largest logit");
    add_number(app, "--top-k", options.top_k, "K", files::whole_numbers(1, 1LL << 31),
               "keep only the K largest logits");
    add_number(app, "--top-p", options.top_p, "P", files::real_numbers(0, 1),
               "keep only the fewest most likely tokens whose p sums to P or more");
    add_number(app, "--seed", options.seed, "N", files::whole_numbers(0, files::kMostSeed),
               "seed of the sampling; default 0");
    add_number(app, "--candidates", options.candidates, "N", files::whole_numbers(1, kMostTokens),
               "print a line for each token with the N most likely and p before and after");
    app.add_flag("--json", options.json, "every step as JSON");
    add_value(
        app, "-o,--output", options.output, "OUT.npz",
        "file for the weights of every head and the logits of every step; - for standard output");
    app.footer(std::string(kGenerateFooter));
}

Sampling sampling_of(const GenerateOptions& options) {
    Sampling how;
    how.temperature = parse_number_of("--temperature", options.temperature, how.temperature);
    if (!options.top_k.empty()) how.top_k = files::parse_whole_number({"--top-k", options.top_k});
    if (!options.top_p.empty()) how.top_p = parse_number_of("--top-p", options.top_p, 1.0);
    if (!options.seed.empty()) {
        how.seed = files::number_in<std::uint64_t>(options.seed).value_or(0);
    }
    if (const auto valid = check_sampling(how); !valid)
        throw bad_input("--" + valid.error().text());
    for (const auto& [name, value] : {std::pair{"--top-k", options.top_k},
                                      {"--top-p", options.top_p},
                                      {"--seed", options.seed}})
        if (how.greedy() && !value.empty())
            throw bad_input(
                fmt::format("{} is {}, but --temperature 0 takes the largest logit; leave it out",
                            name, value));
    return how;
}

/// A token that was chosen, and among which.
struct Chosen {
    Index position = 0;
    std::size_t rank = 0;
    Candidate token;
    std::vector<Candidate> best;  // as many as are shown
    Index retained = 0;
    double ms = 0.0;  // that reading the token before it and choosing took
};

ordered_json candidate_json(const Model& model, const Candidate& each) {
    return {{"id", each.id},         {"token", model.shown(each.id)}, {"logit", each.logit},
            {"before", each.before}, {"after", each.after},           {"kept", each.retained}};
}

/// Chooses tokens and reads them, and hands each one on as it comes.
class Writer {
  public:
    Writer(const GenerateOptions& options, const OpenedText& text, Streams io)
        : options_(options),
          model_(*text.model),
          how_(sampling_of(options)),
          count_(options.tokens.empty() ? kUsualTokens
                                        : parse_count("--tokens", options.tokens, kMostTokens)),
          shown_(options.candidates.empty()
                     ? 0
                     : parse_count("--candidates", options.candidates, kMostTokens)),
          generation_(or_throw(
              Generation::of(text.model, *find_backend("staged"),
                             options.output.empty() ? StageSet{} : only_stage(Stage::weights)))),
          out_(files::is_standard(options.output) || writes_in_place(options.output) ? io.err
                                                                                     : io.out),
          io_(io) {}

    void write(const std::vector<ModelToken>& prompt) {
        if (shown_ == 0 && !options_.json)
            out_ << (model_.reads_across() ? options_.model.decoder
                                           : options_.model.text.value_or(""))
                 << std::flush;
        Stopwatch watch;
        GenerationStep step = or_throw(generation_.read(prompt));
        prompt_ms_ = watch.ms();
        for (int n = 0; n < count_; ++n) {
            if (n > 0) {
                watch = {};
                step = or_throw(generation_.read(chosen_.back().token.id));
            }
            choose_from(step, n);
            chosen_.back().ms = watch.ms();
            if (!options_.json) out_ << line_of(chosen_.back()) << std::flush;
            if (!options_.output.empty()) steps_.push_back(std::move(step));
            if (generation_.most_tokens() == std::ssize(generation_.tokens()) || has_ended()) break;
        }
        finish(std::ssize(prompt));
    }

  private:
    bool has_ended() const {
        return std::ranges::find(model_.config().end_tokens, chosen_.back().token.id) !=
               model_.config().end_tokens.end();
    }

    void choose_from(const GenerationStep& step, int n) {
        const auto candidates = or_throw(candidates_of(step.logits(), how_));
        const std::size_t place = choose(candidates, draw_of(how_, static_cast<std::uint64_t>(n)));
        const auto best = std::min(static_cast<std::size_t>(shown_), candidates.all.size());
        chosen_.push_back(
            {std::ssize(generation_.tokens()),
             place,
             candidates.all[place],
             {candidates.all.begin(), candidates.all.begin() + static_cast<std::ptrdiff_t>(best)},
             candidates.retained,
             0.0});
    }

    std::string line_of(const Chosen& chosen) const {
        if (shown_ == 0) return model_.text_of(chosen.token.id);
        const auto text = [&](const Candidate& each) {
            return fmt::format("{} {} -> {}", model_.shown(each.id), view::percent(each.before),
                               view::percent(each.after));
        };
        std::string line = fmt::format("{:>5}  {}, {} kept:", chosen.position, text(chosen.token),
                                       chosen.retained);
        for (const Candidate& each : chosen.best)
            line += fmt::format("{} {}", &each == chosen.best.data() ? "" : ",", text(each));
        return line + '\n';
    }

    void finish(Index prompt) {
        if (options_.json)
            out_ << json().dump(1, ' ', false, ordered_json::error_handler_t::replace) << '\n';
        else if (shown_ == 0)
            out_ << '\n';
        if (!options_.output.empty()) write_steps();
        double ms = 0.0;
        for (const Chosen& each : chosen_) ms += &each == chosen_.data() ? 0.0 : each.ms;
        const auto more = std::ssize(chosen_) - 1;
        io_.err << fmt::format(
            "{}: {} read in {:.0f} ms, then {} chosen{}; cache {} bytes of {}{}\n", kGenerateName,
            view::counted(prompt, "token"), prompt_ms_, chosen_.size(),
            more > 0 ? fmt::format(", {:.1f} a second", 1e3 * static_cast<double>(more) / ms) : "",
            generation_.cache_bytes(), view::counted(std::ssize(generation_.tokens()), "token"),
            model_.reads_across() ? " and the encoder's" : "");
        if (has_ended())
            write_note(
                fmt::format("{} ends the text", token_description(model_, chosen_.back().token.id)),
                kGenerateName, io_);
        else if (std::ssize(chosen_) < count_)
            write_note(fmt::format("--tokens is {}, but the model reads at most {}: the text ends "
                                   "there",
                                   count_, view::counted(*generation_.most_tokens(), "token")),
                       kGenerateName, io_);
    }

    ordered_json json() const {
        ordered_json all{{"prompt", ordered_json::array()},
                         {"temperature", how_.temperature},
                         {"top_k", how_.top_k ? ordered_json(*how_.top_k) : ordered_json()},
                         {"top_p", how_.top_p ? ordered_json(*how_.top_p) : ordered_json()},
                         {"seed", how_.seed}};
        const auto prompt = static_cast<std::size_t>(chosen_.front().position);
        for (std::size_t n = 0; n < prompt; ++n)
            all["prompt"].push_back(
                {{"id", generation_.tokens()[n].id}, {"token", generation_.tokens()[n].text}});
        all["steps"] = ordered_json::array();
        for (const Chosen& each : chosen_) {
            ordered_json step{{"position", each.position}};
            step.update(candidate_json(model_, each.token));
            step["rank"] = each.rank;
            step["kept_tokens"] = each.retained;
            step["ms"] = each.ms;
            step["candidates"] = ordered_json::array();
            for (const Candidate& one : each.best)
                step["candidates"].push_back(candidate_json(model_, one));
            all["steps"].push_back(std::move(step));
        }
        std::string text;
        for (const Chosen& each : chosen_) text += model_.text_of(each.token.id);
        all["text"] = std::move(text);
        all["cache_bytes"] = generation_.cache_bytes();
        return all;
    }

    void write_steps() const {
        const auto tokens = std::ssize(generation_.tokens());
        const auto steps = std::ssize(steps_);
        const auto layers = steps_.front().rows.layers.size();
        std::vector<Tensor> retained;  // whose numbers the entries have
        std::vector<NpzEntry> entries;
        retained.reserve(2 * layers + 1);
        for (std::size_t n = 0; n < layers; ++n) {
            const Tensor& weights = retained.emplace_back(weights_of(n, tokens));
            entries.push_back({fmt::format("l{}.weights", n),
                               {1, weights.shape().h, tokens, tokens},
                               weights.values()});
            const Tensor& residual = retained.emplace_back(residual_of(n, tokens));
            entries.push_back({fmt::format("l{}.residual", n),
                               {1, tokens, residual.shape().d},
                               residual.values()});
        }
        const Index vocabulary = std::ssize(steps_.front().logits());
        Tensor& logits = retained.emplace_back(Tensor::uninitialised({1, 1, steps, vocabulary}));
        for (Index n = 0; n < steps; ++n)
            std::ranges::copy(steps_[n].logits(), logits.matrix(0, 0).row(n).begin());
        std::vector<std::string> arguments;
        std::vector<float> ids, generated;
        for (const ModelToken& token : generation_.tokens()) {
            arguments.push_back(token.text);
            ids.push_back(static_cast<float>(token.id));
        }
        for (const Chosen& each : chosen_) generated.push_back(static_cast<float>(each.token.id));
        entries.push_back({"tokens", {}, {}, std::move(arguments)});
        entries.push_back({"token_ids", {tokens}, ids});
        entries.push_back({"generated", {steps}, generated});
        entries.push_back({"logits", {1, steps, vocabulary}, logits.values()});
        write_entries(options_.output, entries, io_);
    }

    /// Rows of all tokens, those that were read last where one was read twice.
    Tensor weights_of(std::size_t layer, Index tokens) const {
        Tensor all({1, model_.config().heads, tokens, tokens});
        for (const GenerationStep& step : steps_) {
            const Tensor& rows = step.rows.layers[layer].trace[Stage::weights];
            for (Index h = 0; h < rows.shape().h; ++h)
                for (Index i = 0; i < rows.shape().t; ++i)
                    std::ranges::copy(rows.matrix(0, h).row(i),
                                      all.matrix(0, h).row(step.first + i).begin());
        }
        return all;
    }

    Tensor residual_of(std::size_t layer, Index tokens) const {
        Tensor all({1, 1, tokens, model_.config().width});
        for (const GenerationStep& step : steps_) {
            const Tensor& rows = step.rows.layers[layer].residual;
            std::ranges::copy(rows.values(), all.matrix(0, 0).row(step.first).begin());
        }
        return all;
    }

    const GenerateOptions& options_;
    const Model& model_;
    Sampling how_;
    int count_, shown_;
    Generation generation_;
    std::ostream& out_;
    Streams io_;
    std::vector<Chosen> chosen_;
    std::vector<GenerationStep> steps_;  // where they are written
    double prompt_ms_ = 0.0;
};

int generate(GenerateOptions& options, Streams io) {
    or_throw(files::check_extension({"-o", options.output}, ".npz"));
    const files::NamedFile outputs[] = {{"-o", options.output}};
    or_throw(files::check_outputs(files::files_of({"MODEL", options.model.folder}), outputs));
    sampling_of(options);
    const OpenedText text = open_text(options.model, kGenerateName, io);
    Writer(options, text, io).write(text.tokens);
    return kSuccess;
}

}  // namespace

int run_generate(Args args, Streams io) {
    return run_command(
        "Continues a text token by token. Each new token needs one query row against the cached "
        "keys and values.",
        kGenerateName, args, io, declare_generate, generate);
}

}  // namespace attn::cli
