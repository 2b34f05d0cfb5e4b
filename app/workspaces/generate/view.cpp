#include "app/workspaces/generate/view.h"

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "core/models/lens.h"
#include "core/models/model.h"

namespace attn::view {
namespace {

constexpr std::size_t kBars = 12;

/// One step without logits: while no model has read the text.
const Generated& nothing_written() {
    static const Generated none = [] {
        Generated made;
        made.names = std::make_shared<const std::vector<std::string>>();
        made.steps = {std::make_shared<const GeneratedStep>()};
        made.lenses.resize(1);
        return made;
    }();
    return none;
}

Sampling sampling_of(const GenerateControls& controls) {
    Sampling how;
    how.temperature = controls.greedy ? 0.0 : controls.temperature;
    if (controls.top_k > 0) how.top_k = controls.top_k;
    if (controls.top_p < 1.0) how.top_p = controls.top_p;
    how.seed = controls.seed;
    return how;
}

/// What was written of the open document's text; null: nothing yet.
const Generated* own_text(const AppState& state) {
    const ModelOrigin* const model = model_of(state.document());
    const Generated* const written = generate_look(state).written.get();
    if (model == nullptr || written == nullptr) return nullptr;
    const bool same = written->path == model->path && written->text == model->text &&
                      written->second_input == model->second_input;
    return same ? written : nullptr;
}

/// Of the open document's text and its tokens before that step; null: not there.
std::shared_ptr<const Branches> branches_of(const AppState& state, Index at) {
    const GenerateLook& look = generate_look(state);
    const Generated* const written = own_text(state);
    if (written == nullptr || look.branches == nullptr || look.branches_of->step != at)
        return nullptr;
    const GenerateText& text = look.branches_of->text;
    const bool same =
        text.path == written->path && text.text == written->text &&
        text.second_input == written->second_input &&
        std::ranges::equal(std::span(text.tokens).first(at), std::span(written->tokens).first(at));
    return same ? look.branches : nullptr;
}

/// softmax(z / T) of one token; 0 where the logits are not all finite.
double probability_of(std::span<const float> logits, Index token, double temperature) {
    const double most = std::ranges::max(logits);
    double sum = 0.0;
    for (const float logit : logits) sum += std::exp((logit - most) / temperature);
    return std::exp((logits[token] - most) / temperature) / sum;
}

void add_path(const Branch& branch, GenerateShown& shown) {
    const double temperature = path_temperature(shown.how);
    auto& path = shown.paths.emplace_back();
    for (std::size_t n = 0; n < branch.tokens.size(); ++n)
        path.push_back(probability_of(n == 0 ? shown.step->logits : branch.logits[n - 1],
                                      branch.tokens[n], temperature));
}

GenerateShown computed(const std::shared_ptr<const GeneratedStep>& step, const Sampling& how,
                       Index at, const std::shared_ptr<const Branches>& branches) {
    GenerateShown shown{step, how, at, {}, {}};
    auto candidates = candidates_of(step->logits, how);
    if (!candidates) {
        shown.fault = sentence(candidates.error().text());
        return shown;
    }
    shown.candidates = *std::move(candidates);
    shown.branches = branches;
    if (branches != nullptr)
        for (const Branch& branch : branches->all) add_path(branch, shown);
    shown.u = draw_of(how, static_cast<std::uint64_t>(at));
    shown.next = choose(shown.candidates, shown.u);
    return shown;
}

void add_chips(const AppState& state, GenerateView& view) {
    const Generated& written = written_of(state);
    for (const std::string& token : written.prompt)
        view.chips.push_back({shown_token(token), {}, false});
    const std::vector<Index> taken = taken_of(state);
    for (Index n = 0; n < std::ssize(taken); ++n) {
        const auto id = static_cast<std::size_t>(taken[n]);
        const bool named = id < written.names->size();
        view.chips.push_back(
            {named ? shown_token((*written.names)[id]) : fmt::format("#{}", id), n, n == view.at});
    }
    view.chips.push_back({"…", view.count, view.at == view.count});
}

/// What the bars leave out: summed, for what is left of 1 is rounding where it is 0.
std::string rest_text(const Candidates& candidates, const std::vector<std::size_t>& bars) {
    double before = 0.0, after = 0.0;
    for (std::size_t n = 0; n < candidates.all.size(); ++n) {
        if (std::ranges::binary_search(bars, n)) continue;
        before += candidates.all[n].before;
        after += candidates.all[n].after;
    }
    const auto others = std::ssize(candidates.all) - std::ssize(bars);
    if (others == 0) return {};
    return fmt::format("{} more: {} before temperature and truncation, {} after", grouped(others),
                       percent(before), percent(after));
}

void add_bars(const AppState& state, GenerateView& view) {
    const GenerateShown& shown = *shown_of(state);
    const std::size_t chosen = chosen_of(state), explained = explained_of(state);
    view.most = 0.0;
    for (const std::size_t place : bars_of(state)) {
        const Candidate& each = shown.candidates.all[place];
        GenerateBar bar;
        bar.token = each.id;
        bar.text = shown_token((*written_of(state).names)[each.id]);
        bar.before = each.before;
        bar.after = each.after;
        bar.before_text = percent(each.before);
        bar.after_text = percent(each.after);
        bar.retained = each.retained;
        bar.chosen = place == chosen;
        bar.explained = place == explained;
        view.most = std::max({view.most, each.before, each.after});
        view.bars.push_back(std::move(bar));
    }
    view.rest = rest_text(shown.candidates, bars_of(state));
}

void add_paths(const AppState& state, GenerateView& view) {
    const auto shown = shown_of(state);
    if (shown->branches == nullptr) return;
    const auto& names = *written_of(state).names;
    for (std::size_t n = 0; n < shown->paths.size(); ++n) {
        const std::vector<Index>& ids = shown->branches->all[n].tokens;
        GeneratePath path;
        path.probability = 1.0;
        for (std::size_t w = 0; w < ids.size(); ++w) {
            if (is_full(state, view.at + static_cast<Index>(w))) break;
            const double p = shown->paths[n][w];
            path.probability *= p;
            path.tokens.push_back(
                {shown_token(names[ids[w]]),
                 percent(p),
                 {view.at, {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(w) + 1}}});
        }
        path.text = percent(path.probability);
        if (!path.tokens.empty()) view.paths.push_back(std::move(path));
    }
    view.paths_title =
        fmt::format("most likely continuations at T = {}", number(path_temperature(shown->how)));
}

}  // namespace

bool writes_when_shown(const Document& document) {
    return document.groups.size() > 1 && document.groups[1] == "decoder" &&
           group_of(document) == document.groups.front();
}

std::string generate_missing_data(const AppState& state) {
    const Document& document = state.document();
    if (model_of(document) == nullptr) return "No language model is open";
    if (reads_image(document)) return document.title + " reads images";
    if (writes_when_shown(document))
        return fmt::format("The {} is shown, but the decoder generates", group_of(document));
    if (document.read_out.next.empty()) return document.title + " gives no next token";
    return {};
}

bool cannot_generate(const AppState& state) {
    return !generate_missing_data(state).empty() ||
           (own_text(state) == nullptr && !generate_look(state).fault.empty());
}

bool is_pending(const AppState& state) {
    return !cannot_generate(state) && own_text(state) == nullptr;
}

std::vector<Index> taken_of(const AppState& state) {
    const GenerateControls& controls = generate_controls(state);
    const ModelOrigin* const model = model_of(state.document());
    const bool same = model != nullptr && controls.model == state.document().name &&
                      controls.text == model->text && controls.second_input == model->second_input;
    return same && !cannot_generate(state) ? controls.tokens : std::vector<Index>();
}

const Generated& written_of(const AppState& state) {
    const Generated* const own = cannot_generate(state) ? nullptr : own_text(state);
    return own != nullptr ? *own : nothing_written();
}

Index steps_of(const AppState& state) {
    const std::vector<Index> taken = taken_of(state);
    const std::vector<Index>& read = written_of(state).tokens;
    return std::ranges::mismatch(taken, read).in1 - taken.begin() + 1;
}

Index step_of(const AppState& state) {
    const Index last = steps_of(state) - 1;
    return std::min(generate_look(state).step.value_or(last), last);
}

double path_temperature(const Sampling& how) { return how.greedy() ? 1.0 : how.temperature; }

std::shared_ptr<const GenerateShown> shown_of(const AppState& state) {
    const Index at = step_of(state);
    const auto& step = written_of(state).steps[at];
    const auto branches = branches_of(state, at);
    const Sampling how = sampling_of(generate_controls(state));
    const auto& there = generate_look(state).shown;
    if (there && there->step == step && there->how == how && there->at == at &&
        there->branches == branches)
        return there;
    return std::make_shared<const GenerateShown>(computed(step, how, at, branches));
}

std::size_t chosen_of(const AppState& state) {
    const auto shown = shown_of(state);
    const std::vector<Index> taken = taken_of(state);
    if (shown->at >= std::ssize(taken)) return shown->next;
    return shown->candidates.rank(taken[shown->at]);
}

std::size_t explained_of(const AppState& state) {
    const auto shown = shown_of(state);
    const auto& token = generate_look(state).token;
    const std::size_t place = token ? shown->candidates.rank(*token) : shown->candidates.all.size();
    return place < shown->candidates.all.size() ? place : chosen_of(state);
}

std::vector<std::size_t> bars_of(const AppState& state) {
    const std::size_t all = shown_of(state)->candidates.all.size();
    std::vector<std::size_t> places;
    for (std::size_t n = 0; n < std::min(kBars, all); ++n) places.push_back(n);
    for (const std::size_t place : {chosen_of(state), explained_of(state)})
        if (place < all && place >= places.size() && places.back() != place)
            places.push_back(place);
    std::ranges::sort(places);
    return places;
}

bool is_full(const AppState& state, Index taken) {
    const Generated& written = written_of(state);
    const Index whole = std::ssize(written.prompt) + taken;
    return taken >= kMostTaken || (written.most_tokens && whole >= *written.most_tokens);
}
bool is_full(const AppState& state) { return is_full(state, std::ssize(taken_of(state))); }

std::optional<TakeToken> next_of(const AppState& state) {
    const Index count = std::ssize(taken_of(state));
    const auto shown = shown_of(state);
    if (cannot_generate(state) || steps_of(state) <= count || shown->at != count ||
        is_full(state) || !shown->fault.empty() || own_text(state) == nullptr)
        return std::nullopt;
    return TakeToken{count, shown->candidates.all[shown->next].id};
}

std::string quoted_token(const AppState& state, Index token) {
    const auto& names = *written_of(state).names;
    const auto n = static_cast<std::size_t>(token);
    const bool named = n < names.size() && !is_pending(state);
    return named ? fmt::format("“{}”", shown_token(names[n])) : fmt::format("#{}", token);
}

GenerateView build_generate_view(const AppState& state) {
    GenerateView view;
    view.controls = generate_controls(state);
    view.cannot = cannot_generate(state);
    view.lens_on = generate_look(state).lens;
    view.playing = generate_look(state).playing;
    view.shows_decoder = writes_when_shown(state.document());
    if (view.cannot) {
        view.pending = missing_model_text(state);
        return view;
    }
    if (is_pending(state)) {
        view.pending = job_status_text(state, "generate", "The model reads the text…");
        return view;
    }
    view.at = step_of(state);
    view.count = std::ssize(taken_of(state));
    view.next = next_of(state);
    view.headline = generate_headline(state);
    view.muted = generate_muted(state);
    view.warns = !shown_of(state)->fault.empty();
    add_chips(state, view);
    if (!view.warns) add_paths(state, view);
    if (!view.warns) add_bars(state, view);
    add_strip(state, view);
    view.has_lens = written_of(state).no_lens.empty();
    if (view.lens_on && view.has_lens) add_lens(state, view);
    if (requested_generation(state))
        view.status = job_status_text(state, "generate", "the model reads…");
    return view;
}

}  // namespace attn::view
