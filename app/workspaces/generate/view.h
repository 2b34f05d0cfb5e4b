#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/forward.h"
#include "app/common/grid.h"
#include "app/workspaces/generate/actions.h"

namespace attn::view {

/// A text with several likely next tokens, so that temperature, top-k and branches show something: the text that stories opens over.
inline constexpr std::string_view kOpenText = "Anna saw a";

/// A token of the text so far, or the place of the next one.
struct GenerateChip {
    std::string text;
    std::optional<Index> step;  // that took it; nullopt: it is of the prompt
    bool shown = false;         // that step is looked at
};
/// A candidate, and what the model and the settings say of it.
struct GenerateBar {
    Index token = 0;
    std::string text;
    double before = 0.0, after = 0.0;  // softmax of the logits; what it is drawn with
    std::string before_text, after_text;
    bool retained = true;
    bool chosen = false;     // it was taken at this step, or is the next
    bool explained = false;  // the inspector has its arithmetic
};
/// A token of a continuation. A click continues the text up to it.
struct GeneratePathToken {
    std::string text;
    std::string probability;  // after the tokens before it
    TakePath take;
};
/// The text goes on with one of the likeliest tokens, and then with the likeliest each time.
struct GeneratePath {
    std::vector<GeneratePathToken> tokens;
    double probability = 0.0;  // the product of its tokens'
    std::string text;
};
/// What the model would say after a layer.
struct GenerateLensRow {
    std::string layer;  // "in", "0", "1", …
    std::string best, best_text;
    double probability = 0.0;  // of the token that the last layer says
    std::string text;
};
struct GenerateView {
    GenerateControls controls;
    bool lens_on = false, playing = false;
    bool cannot = false;  // no text can be generated; `pending` has the reason
    std::string pending;  // in the place of all else; "": something is shown
    std::string headline, muted;
    bool warns = false;
    std::vector<GenerateChip> chips;
    std::vector<GeneratePath> paths;
    std::string paths_title;
    std::vector<GenerateBar> bars;
    std::string rest;   // of the tokens that have no bar
    double most = 1.0;  // p of the longest bar
    std::optional<GridView> strip;
    std::optional<GridView> experts;  // of the layer that is shown, where it has some
    std::string cache, cache_formula;
    std::optional<double> cache_share;  // of the tokens that the model takes; nullopt: any number
    std::string lens_title;
    std::vector<GenerateLensRow> lens;
    Index layer = 0, layers = 1, head = 0, heads = 1;
    Index at = 0, count = 0;        // the step that is looked at; tokens that were taken
    std::optional<TakeToken> next;  // what a step forward takes; nullopt: nothing can be taken
    std::string status;
    bool shows_decoder = false;  // which would write where it is shown
    bool has_lens = true;
};
GenerateView build_generate_view(const AppState& state);
InspectorView generate_inspector(const AppState& state);

/// The candidates of one step under the present settings.
struct GenerateShown {
    std::shared_ptr<const GeneratedStep> step;
    Sampling how;
    Index at = 0;
    Candidates candidates;
    std::string fault;                           // why the values are missing; "": they are there
    std::size_t next = 0;                        // the place of the one that is drawn
    double u = 0.0;                              // by which it is drawn
    std::shared_ptr<const Branches> branches{};  // of this step; null: not there
    std::vector<std::vector<double>> paths{};    // of each the probability of every token
};
/// The temperature of the continuations: 1 where the next token is taken greedily.
double path_temperature(const Sampling& how);
/// Of the step that is looked at: those in the state, or computed now.
std::shared_ptr<const GenerateShown> shown_of(const AppState& state);

/// It has a decoder, and the encoder is shown.
bool writes_when_shown(const Document& document);
/// Why the open document's model cannot go on from its text; "": it can.
std::string generate_missing_data(const AppState& state);
/// What was taken after the text of the open document.
std::vector<Index> taken_of(const AppState& state);
/// The shown text: the open document as far as it is there, or one step without logits.
const Generated& written_of(const AppState& state);
/// No text can be generated from the open document.
bool cannot_generate(const AppState& state);
/// The model has still to read the open document's text.
bool is_pending(const AppState& state);
/// How many steps of `written_of` are those of the tokens that were taken.
Index steps_of(const AppState& state);
/// The step that is looked at.
Index step_of(const AppState& state);
/// The place of what was taken there among the candidates; at the newest step of the next.
std::size_t chosen_of(const AppState& state);
/// The place of the one that the inspector explains.
std::size_t explained_of(const AppState& state);
/// The text is as long as the model or the program lets it be.
bool is_full(const AppState& state);
/// It would be with so many tokens taken.
bool is_full(const AppState& state, Index taken);
/// What → does at the newest step; nullopt: it is not there yet, or the text is as long as it can be.
std::optional<TakeToken> next_of(const AppState& state);
/// “mat”
std::string quoted_token(const AppState& state, Index token);
/// The tokens whose bars are drawn, by their place.
std::vector<std::size_t> bars_of(const AppState& state);

// text.cpp
/// Why cannot_generate(), without a full stop.
std::string why_not_generated(const AppState& state);
/// The same as a sentence, with models to open where another one would do.
std::string missing_model_text(const AppState& state);
std::string generate_headline(const AppState& state);
std::string generate_muted(const AppState& state);
// strip.cpp
void add_strip(const AppState& state, GenerateView& view);
/// The token that the model read last before the step that is looked at: the step's logits are of its row.
std::string last_token(const AppState& state);
/// "3 takes 0.62, 1 0.38 of “sat”": of the token that was read last, in the layer that is shown; "": it has no experts.
std::string experts_text(const AppState& state);
void add_lens(const AppState& state, GenerateView& view);

/// See WorkspaceInfo::reasons.
std::vector<std::string> generate_reasons(const AppState& state);

}  // namespace attn::view
