#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/document/document.h"
#include "app/common/document/stored.h"
#include "app/common/format.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/generate/view.h"
#include "core/text.h"
#include "core/trace.h"

namespace attn::view {
namespace {

/// Chance decides: more than one token is kept.
bool is_drawn(const GenerateShown& shown) {
    return !shown.how.greedy() && shown.candidates.retained > 1;
}

/// Others as likely as the one that greedy takes.
Index ties_of(const Candidates& candidates) {
    const double most = candidates.all.front().logit;
    return std::ranges::count(candidates.all, most, &Candidate::logit) - 1;
}

/// "“cat” comes next, drawn at random: its probability is 12 %; the most likely token, “dog”, has 34 %."
std::string next_text(const AppState& state, const GenerateShown& shown) {
    const std::vector<Candidate>& all = shown.candidates.all;
    const Candidate& best = all.front();
    const Candidate& next = all[shown.next];
    const std::string comes =
        fmt::format("{} {} next{}: its probability is {}", quoted_token(state, next.id),
                    is_full(state) ? "would come" : "comes",
                    is_drawn(shown) ? ", drawn at random" : "", percent_text(next.before));
    const std::string ties = as_much_text(ties_of(shown.candidates));
    if (next.logit == best.logit)
        return fmt::format("{}, the largest of {}{}.", comes, counted(std::ssize(all), "token"),
                           ties);
    return fmt::format("{}; the most likely token, {}, has {}{}.", comes,
                       quoted_token(state, best.id), percent_text(best.before), ties);
}

std::string taken_text(const AppState& state, const GenerateShown& shown) {
    const std::size_t place = chosen_of(state);
    if (place >= shown.candidates.all.size())
        return fmt::format("The token of step {} is not in the vocabulary.", shown.at);
    const Candidate& taken = shown.candidates.all[place];
    const std::string by = taken.retained ? percent_text(taken.after) + " with these settings"
                                          : "excluded by these settings";
    return fmt::format("Step {} took {}: probability {}, {}.", shown.at,
                       quoted_token(state, taken.id), percent_text(taken.before), by);
}

/// "Residual stream of “a” → 66 logits → softmax with T = 0.80 → one of 3 kept tokens at random."
std::string chain_text(const AppState& state, const GenerateShown& shown) {
    const Index all = std::ssize(shown.candidates.all), retained = shown.candidates.retained;
    std::string chain = fmt::format("Residual stream of “{}” → {} → softmax", last_token(state),
                                    counted(all, "logit"));
    if (shown.how.greedy())
        return chain + " → the largest. T, top-k, top-p and seed have no effect.";
    chain += fmt::format(" with T = {}", number(shown.how.temperature));
    if (retained == 1) return chain + " → the one token that is kept.";
    return fmt::format("{} → one of {} tokens at random.", chain,
                       retained == all ? grouped(all) : grouped(retained) + " kept");
}

/// Whether some layer's options are others than the model has.
bool has_other_options(const Document& document, const std::vector<AttentionSpec>& own) {
    const Index layers = std::min(std::ssize(own), std::ssize(document.layers));
    Document here = document, there = document;  // once a frame, not once a layer
    for (Index layer = 0; layer < layers; ++layer) {
        here.spec = spec_of(document, layer);
        there.spec = own[layer];
        here.inputs = there.inputs = document.layers[layer];
        if (!weighs_alike(here, there) || here.spec.active_dropout() != there.spec.active_dropout())
            return true;
    }
    return false;
}

/// What was done to the open document and the model that writes knows nothing of.
std::vector<std::string_view> left_out(const AppState& state) {
    const Document& document = state.document();
    std::vector<std::string_view> left;
    if (!model_of(document)->changes.empty()) left.emplace_back("the interventions");
    if (!document.edits.empty()) left.emplace_back("the edited numbers");
    if (has_other_options(document, written_of(state).specs))
        left.emplace_back("the changed options");
    return left;
}

}  // namespace

std::string why_not_generated(const AppState& state) {
    std::string why = generate_missing_data(state);
    if (why.empty()) why = generate_look(state).fault;
    if (why.ends_with('.')) why.pop_back();
    return why;
}

std::string missing_model_text(const AppState& state) {
    std::string text = sentence(why_not_generated(state));
    if (!generate_missing_data(state).empty() && !writes_when_shown(state.document()))
        text += " Open stories, or the folder of a model that predicts the next token.";
    return text;
}

std::string generate_headline(const AppState& state) {
    const auto shown = shown_of(state);
    if (!shown->fault.empty()) return shown->fault;
    return shown->at < std::ssize(taken_of(state)) ? taken_text(state, *shown)
                                                   : next_text(state, *shown);
}

std::string generate_muted(const AppState& state) {
    const GenerateLook& look = generate_look(state);
    if (!look.fault.empty()) return look.fault;
    std::string text = shown_of(state)->fault.empty() ? chain_text(state, *shown_of(state)) : "";
    if (is_full(state)) text = "The text has reached its maximum length. " + text;
    if (const auto left = left_out(state); !left.empty())
        text = fmt::format("Generation ignores {}. {}", fmt::join(left, " and "), text);
    if (!state.document().groups.empty())
        text += fmt::format(" The encoder has read “{}”.",
                            shortened(text_of(state.document()), kMostShown));
    return text;
}

}  // namespace attn::view
