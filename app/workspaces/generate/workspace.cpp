#include <fmt/format.h>

#include "app/common/assets.h"
#include "app/common/document/actions.h"
#include "app/common/document/commands.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/format.h"
#include "app/common/text.h"
#include "app/common/workspace.h"
#include "app/workspaces/generate/actions.h"
#include "app/workspaces/generate/view.h"
#include "core/models/lens.h"
#include "core/models/model.h"

namespace attn::view {
namespace {

constexpr double kSecondsPerToken = 0.35;

/// What → and ← go to; the newest has no number, so that it stays the newest.
ShowGenerated shown_at(const AppState& state, Index step) {
    const Index count = std::ssize(taken_of(state));
    if (step >= count) return {};
    return {std::max<Index>(step, 0)};
}

Action forward(const AppState& state) {
    const auto next = next_of(state);
    return next ? Action(*next) : shown_at(state, step_of(state) + 1);
}

/// The candidate so many bars below.
ExplainToken explained_beside(const AppState& state, Index by) {
    const std::vector<std::size_t> bars = bars_of(state);
    if (bars.empty()) return {};
    const Index at = std::ranges::find(bars, explained_of(state)) - bars.begin();
    const Index to = std::clamp<Index>(at + by, 0, std::ssize(bars) - 1);
    return {shown_of(state)->candidates.all[bars[to]].id};
}

void add_generate_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Next token"};
    const GenerateControls& now = generate_controls(state);
    const std::string missing_data = cannot_generate(state) ? why_not_generated(state) : "";
    const bool writes = !cannot_generate(state);
    const Index at = step_of(state), count = std::ssize(taken_of(state));
    add("Take the next token, or step forward", Key::right, forward(state),
        next_of(state) || at < count, missing_data);
    add("Step back", Key::left, shown_at(state, at - 1), at > 0);
    add("The first step", Key::home, shown_at(state, 0), at > 0);
    add("The newest step", Key::end, ShowGenerated{}, at < count);
    const bool plays = generate_look(state).playing;
    add(plays ? "Stop generating" : "Continue generating", Key::space, PlayGeneration{!plays},
        writes, missing_data);
    add("Select the candidate above", Key::up, explained_beside(state, -1));
    add("Select the candidate below", Key::down, explained_beside(state, 1));
    const auto& all = shown_of(state)->candidates.all;
    const std::size_t place = explained_of(state);
    if (place < all.size())
        add("Take this candidate", Key::enter, TakeToken{at, all[place].id},
            writes && !is_pending(state) && !is_full(state, at), missing_data);
    add("Delete the tokens from here on", Key::del, DropTokens{at}, at < count);
    add("Next seed", Key::r, SetSamplingSeed{now.seed + 1});
    add(now.greedy ? "Sample the next token" : "Take the most probable token: greedy", Key::none,
        SetGreedy{!now.greedy});
    const std::string& no_lens = written_of(state).no_lens;
    add("Logit lens: the prediction after each layer", Key::l, ShowLens{!generate_look(state).lens},
        writes && no_lens.empty(), writes ? no_lens : missing_data);
    add_document_commands(list, state);
}

void enter_generate(AppState& state) {
    if (cannot_generate(state)) return show_muted(state, missing_model_text(state));
    show_message(state, "→ takes the next token, Space generates, ← goes back.");
}

/// The trained model of stories, where what is open predicts nothing.
Actions generate_example(const AppState& state) {
    if (!cannot_generate(state) || !comes_with_program(state.document()) ||
        writes_when_shown(state.document()) || built_in_model("stories").empty())
        return {};
    return {OpenFile{"stories", std::string(kOpenText)}};
}

std::optional<Action> escape_generate(const AppState& state) {
    if (generate_look(state).playing) return PlayGeneration{false};
    if (generate_look(state).token) return ExplainToken{};
    return std::nullopt;
}

void follow_generate(AppState& state) {
    if (state.workspace != "generate") return;
    auto shown = shown_of(state);
    if (shown != generate_look(std::as_const(state)).shown)
        generate_look(state).shown = std::move(shown);
}

void clear_generate(AppState& state) {
    const bool lens = generate_look(state).lens;
    generate_look(state) = {};
    generate_look(state).lens = lens;
}

void tick_generate(AppState& state, double seconds) {
    if (generate_look(std::as_const(state)).playing) generate_look(state).clock_s += seconds;
}

/// What was taken last ends a text.
bool has_ended(const AppState& state) {
    const std::vector<Index> taken = taken_of(state);
    const auto& ends = written_of(state).ends;
    return !taken.empty() && std::ranges::find(ends, taken.back()) != ends.end();
}

Actions due_in_generate(const AppState& state) {
    const GenerateLook& look = generate_look(state);
    if (!look.playing || look.clock_s < kSecondsPerToken) return {};
    if (!failure_of(state, "generate").empty()) return {PlayGeneration{false}};
    if (requested_generation(state)) return {};
    const auto next = next_of(state);
    if (!next || has_ended(state)) return {PlayGeneration{false}};
    return {*next};
}

std::vector<Shot> generate_shots() {
    const OpenFile stories{"stories", std::string(kOpenText)};
    return {
        {"", {stories, DocumentReady{}}},
        {"warm", {stories, DocumentReady{}, SetSamplingTemperature{2.0}, SetTopK{7}, SetTopP{1.0}}},
        {"greedy", {stories, DocumentReady{}, SetGreedy{true}}},
        {"unopened", {}}};
}

/// The text of the open document and the tokens after it, of which one is changed.
GenerateControls with_tokens(const AppState& state, Index step) {
    GenerateControls to = generate_controls(state);
    to.tokens = taken_of(state);
    to.tokens.resize(step);
    to.model = state.document().name;
    to.text = text_of(state.document());
    to.second_input = model_of(state.document())->second_input;
    return to;
}

/// Why no token can be taken or dropped at a step; "": it can.
std::string step_fault(const AppState& state, Index step, Index last) {
    if (cannot_generate(state))
        return why_not_generated(state) +
               ": a token can be taken only where a model gives the next one.";
    if (step < 0 || step > last)
        return fmt::format("There is no step {}: it must be 0 to {}.", step, last);
    return {};
}

void look_at_step(AppState& state, std::optional<Index> step) {
    GenerateLook& look = generate_look(state);
    look.step = step;
    look.token.reset();
    look.clock_s = 0.0;
}

constexpr std::string_view kMouse[] = {
    "Click a candidate to take it at this step; later tokens are dropped.",
    "Click a token of the text to go to its step.",
    "Click a row of weights to go to its step.",
};
constexpr PersistedValue kValues[] = {persisted(generate_controls), persisted(generate_look)};
constexpr RequestKind kRequests[] = {request_kind<requested_generation>("generate"),
                                     request_kind<requested_branches>("branches")};

}  // namespace

void carry_out(AppState& state, const TakeToken& action) {
    const Index count = std::ssize(taken_of(state));
    if (const std::string why = step_fault(state, action.step, count); !why.empty())
        return warn(state, why);
    if (is_full(state, action.step)) return warn(state, "The text has reached its maximum length.");
    const Index all = std::ssize(*written_of(state).names);
    // a replay does not wait for the text: what the vocabulary does not have the model refuses
    if (action.token < 0 || (action.token >= all && !is_pending(state)))
        return warn(state, "There is no token {}: the vocabulary has {} tokens.", action.token,
                    grouped(all));
    GenerateControls to = with_tokens(state, action.step);
    to.tokens.push_back(action.token);
    edit_controls(state, to,
                  fmt::format("step {} takes {}", action.step, quoted_token(state, action.token)));
    look_at_step(state, std::nullopt);
}

void carry_out(AppState& state, const TakePath& action) {
    for (Index n = 0; n < std::ssize(action.tokens); ++n) {
        const Index count = std::ssize(taken_of(state));
        if (const std::string why = step_fault(state, action.step, count); !why.empty())
            return warn(state, why);
        if (is_full(state, action.step + n))
            return warn(state, "The text has reached its maximum length.");
        const Index all = std::ssize(*written_of(state).names);
        const Index token = action.tokens[n];
        if (token < 0 || (token >= all && !is_pending(state)))
            return warn(state, "There is no token {}: the vocabulary has {} tokens.", token,
                        grouped(all));
    }
    if (action.tokens.empty()) return warn(state, "A path has at least one token.");
    GenerateControls to = with_tokens(state, action.step);
    std::string text;
    for (const Index token : action.tokens) {
        to.tokens.push_back(token);
        text += (text.empty() ? "" : " ") + quoted_token(state, token);
    }
    edit_controls(state, to, fmt::format("step {} takes {}", action.step, text));
    look_at_step(state, std::nullopt);
}

void carry_out(AppState& state, const DropTokens& action) {
    const Index count = std::ssize(taken_of(state));
    if (const std::string why = step_fault(state, action.step, count); !why.empty())
        return warn(state, why);
    edit_controls(state, with_tokens(state, action.step),
                  fmt::format("{} deleted", counted(count - action.step, "token")));
    look_at_step(state, std::nullopt);
}

void carry_out(AppState& state, const ShowGenerated& action) {
    look_at_step(state,
                 action.step ? std::optional(std::max<Index>(*action.step, 0)) : std::nullopt);
}

void carry_out(AppState& state, const PlayGeneration& action) {
    if (action.on && cannot_generate(state)) return warn(state, step_fault(state, 0, 0));
    generate_look(state).playing = action.on;
    if (action.on) look_at_step(state, std::nullopt);
    if (!action.on && has_ended(state))
        show_message(state, "{} ends the text.", quoted_token(state, taken_of(state).back()));
}

void carry_out(AppState& state, const GenerationReady& action) {
    GenerateLook& look = generate_look(state);
    look.of = action.of;
    look.fault = action.fault;
    if (action.written) look.written = action.written;
    if (!action.fault.empty()) look.playing = false;
}

void carry_out(AppState& state, const BranchesReady& action) {
    generate_look(state).branches_of = action.request;
    generate_look(state).branches = action.branches;
}

std::optional<GenerateText> requested_generation(const AppState& state) {
    if (state.workspace != "generate" || !generate_missing_data(state).empty()) return std::nullopt;
    const GenerateLook& look = generate_look(state);
    const ModelOrigin& model = *model_of(state.document());
    GenerateText wanted{model.path, model.text, taken_of(state), {}, model.second_input};
    if (look.of == nullptr) return wanted;
    GenerateText had = *look.of;
    had.lens.reset();
    if (had != wanted) return wanted;
    const Index at = step_of(state);
    if (!look.lens || look.playing || !written_of(state).no_lens.empty() ||
        cannot_generate(state) || !look.fault.empty() || written_of(state).lenses[at])
        return std::nullopt;
    wanted.lens = at;
    return wanted;
}

std::optional<BranchesRequest> requested_branches(const AppState& state) {
    const GenerateLook& look = generate_look(state);
    if (state.workspace != "generate" || look.playing || !look.fault.empty() ||
        cannot_generate(state) || is_pending(state) || requested_generation(state))
        return std::nullopt;
    const ModelOrigin& model = *model_of(state.document());
    const Index step = step_of(state);
    std::vector<Index> before = taken_of(state);
    before.resize(std::min<Index>(std::ssize(before), step));
    BranchesRequest wanted{{model.path, model.text, std::move(before), {}, model.second_input},
                           step};
    if (look.branches_of != nullptr && *look.branches_of == wanted) return std::nullopt;
    return wanted;
}

Action run(const BranchesRequest& request, const Opener& open, const RunControl& control) {
    BranchesReady ready{std::make_shared<const BranchesRequest>(request)};
    if (!open) return ready;
    const auto opened = open({request.text, 0, "branches"}, control);
    if (opened && opened->generated) ready.branches = opened->generated->branches;
    return ready;
}

Action run(const GenerateText& request, const Opener& open, const RunControl& control) {
    GenerationReady ready{std::make_shared<const GenerateText>(request)};
    if (!open) {
        ready.fault = "Nothing here opens a model.";
        return ready;
    }
    auto opened = open({request}, control);
    if (opened)
        ready.written = opened->generated;
    else
        ready.fault = sentence(opened.error().text());
    return ready;
}

extern const WorkspaceInfo kGenerateWorkspace{
    .key = "generate",
    .also = "next-token",
    .title = "Next token",
    .tip =
        "Watch a language model generate text: the next-token probabilities, temperature, top-k, "
        "top-p, and the row of weights of each token.",
    .group = Group::model,
    .letter = Key::g,
    .actions = GenerateActions::kTypes,
    .values = kValues,
    .requests = kRequests,
    .enter = enter_generate,
    .leave =
        [](AppState& state) {
            if (generate_look(std::as_const(state)).playing) generate_look(state).playing = false;
        },
    .add_commands = add_generate_commands,
    .escape = escape_generate,
    .clear = [](AppState& state) { generate_look(state).token.reset(); },
    .clear_cache = clear_generate,
    .follow = follow_generate,
    .tick = tick_generate,
    .due = due_in_generate,
    .example = generate_example,
    .reasons = generate_reasons,
    .has_side = [](const AppState&) { return true; },
    .inspector = generate_inspector,
    .is_animating = [](const AppState& state) { return generate_look(state).playing; },
    .shots = generate_shots,
    .mouse = kMouse,
};

}  // namespace attn::view
