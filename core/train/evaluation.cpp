#include "core/train/evaluation.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "core/stages.h"
#include "core/train/held_out.h"
#include "core/train/pass.h"

namespace attn::train {
namespace {

/// Of one head of a layer: how many aligned answers its largest weight lies on.
struct Alignment {
    std::vector<Index> right;  // [H]
    Index counted = 0;
};

double share_of(Index part, Index whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

/// The largest weight over heads that row `position` gives to `keys` together.
double largest_weight(const Pass& pass, Index layer, Index position,
                      const std::vector<Index>& keys) {
    double largest = 0.0;
    for (Index h = 0; h < pass.plan().spec.heads; ++h) {
        const auto row = pass.worker().layer(layer).weights[h].view().row(position);
        double sum = 0.0;
        for (const Index key : keys) sum += static_cast<double>(row[key]);
        largest = std::max(largest, sum);
    }
    return largest;
}

class Evaluator {
  public:
    Evaluator(const Spec& spec, const State& moment, std::optional<Index> texts)
        : spec_(spec), require_(spec.language->requirements()), pass_(spec, moment) {
        made_.texts = texts.value_or(require_.texts);
        alignment_.right.resize(spec.heads);
    }

    Result<Evaluation> run(std::stop_token stop) {
        const Sequences sequences(spec_);
        for (Index n = 0; n < made_.texts; ++n) {
            if (stop.stop_requested()) return failed("the evaluation was stopped");
            add(sequences.held_out(static_cast<std::uint64_t>(n)));
        }
        made_.answers_right = share_of(right_, made_.answers);
        made_.whole_texts = share_of(whole_, made_.texts);
        made_.figures = {
            {"answers right", made_.answers_right, require_.answers},
            {"texts with every answer right", made_.whole_texts, require_.whole_texts}};
        if (require_.attention)
            made_.figures.push_back(
                {fmt::format("answers with a weight of {} or more on their word, layer {}",
                             require_.attention->weight, require_.attention->layer),
                 share_of(attended_, attendable_), require_.attention->share});
        if (require_.alignment) add_alignment();
        for (const RequiredText& each : require_.examples) add_example(sequences, each);
        return std::move(made_);
    }

  private:
    void add(const HeldOut& text) {
        const auto& [tokens, targets] = text.example;
        pass_.read(text.example);
        const MatrixView<const float> logits = pass_.logits();
        bool whole = true;
        for (const HeldOutAnswer& answer : text.answers) {
            align(answer);
            if (!answer.counts) continue;
            const auto row = logits.row(answer.position);
            const auto largest = std::ranges::max_element(row) - row.begin();
            const bool right = largest == targets[answer.position];
            ++made_.answers;
            right_ += right ? 1 : 0;
            whole = whole && right;
            if (!require_.attention || answer.keys.empty()) continue;
            ++attendable_;
            attended_ += largest_weight(pass_, require_.attention->layer, answer.position,
                                        answer.keys) >= require_.attention->weight
                             ? 1
                             : 0;
        }
        whole_ += whole ? 1 : 0;
    }

    void align(const HeldOutAnswer& answer) {
        if (!require_.alignment || answer.keys.empty()) return;
        const auto& kinds = require_.alignment->kinds;
        if (!kinds.empty() && std::ranges::find(kinds, answer.kind) == kinds.end()) return;
        ++alignment_.counted;
        for (Index h = 0; h < spec_.heads; ++h) {
            const auto row = pass_.worker()
                                 .layer(require_.alignment->layer)
                                 .weights[h]
                                 .view()
                                 .row(answer.position);
            const Index largest = std::ranges::max_element(row) - row.begin();
            const bool on_key = std::ranges::find(answer.keys, largest) != answer.keys.end();
            alignment_.right[h] += on_key ? 1 : 0;
        }
    }
    void add_alignment() {
        const auto best = std::ranges::max_element(alignment_.right) - alignment_.right.begin();
        made_.figures.push_back(
            {fmt::format("content words whose source word has the largest weight, head {}.{}",
                         require_.alignment->layer, best),
             share_of(alignment_.right[best], alignment_.counted), require_.alignment->share});
    }

    void add_example(const Sequences& sequences, const RequiredText& each) {
        const Example example = *sequences.typed(each.text);
        const Language& language = *spec_.language.value;
        const Index word = *language.token_of(each.word), answer = *language.token_of(each.answer);
        const Index position = std::ranges::find(example.tokens, word) - example.tokens.begin();
        std::vector<Index> keys;
        for (std::size_t j = 0; j < example.tokens.size(); ++j)
            if (example.tokens[j] == answer) keys.push_back(static_cast<Index>(j));
        pass_.read(example);
        const auto row = pass_.logits().row(position);
        double sum = 0.0;
        const float largest = *std::ranges::max_element(row);
        for (const float logit : row) sum += std::exp(static_cast<double>(logit) - largest);
        made_.figures.push_back(
            {fmt::format("\"{}\": probability of '{}' at '{}'", each.text, each.answer, each.word),
             std::exp(static_cast<double>(row[answer]) - largest) / sum, 0.5});
        made_.figures.push_back({fmt::format("\"{}\": weight from '{}' to '{}', layer {}",
                                             each.text, each.word, each.answer, each.layer),
                                 largest_weight(pass_, each.layer, position, keys), each.weight});
    }

    const Spec& spec_;
    const Requirements& require_;
    Pass pass_;
    Evaluation made_;
    Alignment alignment_;
    Index right_ = 0, whole_ = 0, attended_ = 0, attendable_ = 0;
};

}  // namespace

bool Evaluation::holds() const { return std::ranges::all_of(figures, &Figure::holds); }

Result<Evaluation> evaluate(const Spec& spec, const State& moment, std::stop_token stop,
                            std::optional<Index> texts) {
    ATTN_CHECK(info(spec.task).takes_language, "a task with a language has held-out texts");
    return Evaluator(spec, moment, texts).run(std::move(stop));
}

bool is_held_out_step(Index step) {
    const Index spacing = std::max<Index>(std::bit_floor(static_cast<std::uint64_t>(step)) / 8, 4);
    return step % spacing == 0;
}

}  // namespace attn::train
