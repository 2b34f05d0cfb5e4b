#include "app/view/document/edits.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/view/common/format.h"
#include "app/view/common/sheet.h"
#include "app/view/common/words.h"
#include "app/view/workspaces.h"
#include "core/text.h"

namespace attn::view {
namespace {

// A change of the largest weight that two decimals do not show.
constexpr double kSameWeight = 0.005;

/// Drops the oldest steps where there are too many, or where their tensors take too much.
void trim(AppState& state) {
    double bytes = 0.0;
    const Document* last = nullptr;
    std::size_t kept = 0;
    for (auto edit = state.history.rbegin(); edit != state.history.rend(); ++edit, ++kept) {
        const bool same = last != nullptr && last->layers == edit->document->layers;
        bytes += same ? 0.0 : bytes_of(*edit->document);
        last = edit->document.get();
        if (kept > 0 && (kept >= kMaxHistory || bytes > kMaxHistoryBytes)) break;
    }
    state.history.erase(state.history.begin(),
                        state.history.end() - static_cast<std::ptrdiff_t>(kept));
    state.now = state.history.size() - 1;
}

void push(AppState& state, Edit edit) {
    if (state.gesture && state.gesture->joins) {
        state.history[state.now] = std::move(edit);
        return;
    }
    state.history.resize(state.now + 1);
    state.history.push_back(std::move(edit));
    trim(state);
}

/// max A of one head; NaN when a weight is NaN or there is none.
double largest_weight(const Trace& trace, Index batch, Index head) {
    const Tensor& weights = trace[Stage::weights];
    if (weights.empty()) return std::nan("");
    const auto a = weights.matrix(std::min(batch, weights.shape().b - 1),
                                  std::min(head, weights.shape().h - 1));
    double largest = 0.0;
    for (Index i = 0; i < a.rows; ++i)
        for (const float weight : a.row(i)) {
            if (std::isnan(weight)) return weight;
            largest = std::max(largest, static_cast<double>(weight));
        }
    return largest;
}

}  // namespace

bool edit_document(AppState& state, Document document, const std::string& words) {
    const SaturationControls controls = state.saturation();  // a copy: the history moves
    return edit_document(state, std::move(document), words, controls);
}

bool edit_document(AppState& state, Document document, const std::string& words,
                   const SaturationControls& controls) {
    auto sized = with_size(std::move(document));
    if (!sized) {
        say(state, sized.error());
        return false;
    }
    const auto history = state.history;
    const std::size_t now = state.now;
    const auto before = state.trace;
    push(state, {std::make_shared<const Document>(*std::move(sized)), controls, words});
    if (auto done = compute(state); !done) {
        state.history = history;
        state.now = now;
        say(state, done.error());
        return false;
    }
    state.step.editing.reset();
    settle(state);
    const std::string effect = effect_words(state, *before);
    say(state, sentence(effect.empty() ? words : fmt::format("{}; {}", words, effect)));
    return true;
}

void edit_saturation(AppState& state, SaturationControls controls, const std::string& words) {
    if (controls == state.saturation()) return;
    push(state, {state.history[state.now].document, std::move(controls), words});
    say(state, sentence(words));
}

void travel(AppState& state, std::size_t to, const std::string& words) {
    const std::size_t from = state.now;
    const bool same = state.history[from].document == state.history[to].document;
    state.now = to;
    if (auto done = same ? Result<void>{} : compute(state); !done) {
        state.now = from;
        return say(state, done.error());
    }
    state.step.editing.reset();
    if (!same) state.step.sentence_draft = state.document().sentence;
    settle(state);
    say(state, words);
}

void settle(AppState& state) {
    const Dimensions& size = state.document().size;
    state.head = std::clamp(state.head, Index{0}, std::max<Index>(size.heads, 1) - 1);
    state.batch = std::clamp(state.batch, Index{0}, std::max<Index>(size.batch, 1) - 1);
    for (const WorkspaceInfo* workspace : state.workspaces) workspace->settle(state);
}

void forget(AppState& state) {
    state.batch = state.head = 0;
    for (const WorkspaceInfo* workspace : state.workspaces) workspace->forget(state);
    settle(state);
}

void say(AppState& state, std::string words, Severity severity) {
    if (severity != Severity::info) words = sentence(std::move(words));
    state.message = {shortened(words, kMostMessage), severity};
}

void say(AppState& state, const Error& error) { say(state, error.sentence, Severity::error); }

void warn_of_backend(AppState& state) {
    if (state.backend_failure.empty()) return;
    say(state,
        fmt::format("{}; computed by {} instead", std::exchange(state.backend_failure, {}),
                    state.backend_used),
        Severity::warning);
}

std::string effect_words(const AppState& state, const Trace& before) {
    const double was = largest_weight(before, state.batch, state.head);
    const double is = largest_weight(*state.trace, state.batch, state.head);
    if (std::isnan(is) && !(*state.trace)[Stage::weights].empty())
        return "some weights are NaN: a NaN or ∞ reached softmax";
    if (std::isnan(was) || std::isnan(is)) return {};
    const char* change = "weights hardly change";
    if (is > was + kSameWeight) change = "weights sharper";
    if (is < was - kSameWeight) change = "weights softer";
    return fmt::format("{}: largest weight {} → {}", change, cell_number(was, 2),
                       cell_number(is, 2));
}

}  // namespace attn::view
