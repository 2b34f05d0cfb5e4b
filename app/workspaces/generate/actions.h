#pragma once

#include <memory>
#include <optional>

#include "app/common/action.h"
#include "app/common/document/generated.h"
#include "app/common/document/opened.h"
#include "app/common/opener.h"
#include "app/common/set_field.h"
#include "app/workspaces/generate/state.h"

namespace attn {
struct RunControl;
}  // namespace attn

namespace attn::view {

// How the next token is chosen, which are taken, and which step is looked at.

using SetGreedy = SetField<bool, generate_controls, "greedy", "set_greedy">;
using SetSamplingTemperature =
    SetField<double, generate_controls, "temperature", "set_sampling_temperature">;
using SetTopK = SetField<Index, generate_controls, "top_k", "set_top_k">;
using SetTopP = SetField<double, generate_controls, "top_p", "set_top_p">;
using SetSamplingSeed = SetField<std::uint64_t, generate_controls, "seed", "set_sampling_seed">;
/// At that step; what was taken from there on is dropped.
struct TakeToken {
    Index step, token;
    static constexpr auto kJournalNames = journal_names("take_token", "step", "token");
};
/// Tokens one after the other from that step on, in place of the later ones.
struct TakePath {
    Index step;
    std::vector<Index> tokens;
    static constexpr auto kJournalNames = journal_names("take_path", "step", "tokens");
};
/// From that step on.
struct DropTokens {
    Index step;
    static constexpr auto kJournalNames = journal_names("drop_tokens", "step");
};
/// nullopt: the newest.
struct ShowGenerated {
    std::optional<Index> step;
    static constexpr auto kJournalNames = journal_names("show_generated", "step");
};
/// The one that is explained.
using ExplainToken = Put<generate_look, &GenerateLook::token, "explain_token", "token">;
using ShowLens = SetField<bool, generate_look, "lens", "show_lens", "on">;
/// Takes one token after the other.
struct PlayGeneration {
    bool on;
    static constexpr auto kJournalNames = journal_names("play_generation", "on");
};
/// The likeliest continuations of a text from one step on.
struct BranchesRequest {
    GenerateText text;
    Index step = 0;
    bool operator==(const BranchesRequest&) const = default;
};
struct BranchesReady {
    std::shared_ptr<const BranchesRequest> request{};
    std::shared_ptr<const Branches> branches{};  // null: the model gives none
};
struct GenerationReady {
    std::shared_ptr<const GenerateText> of{};
    std::shared_ptr<const Generated> written{};  // null: `fault` says why
    std::string fault{};
};

using GenerateActions =
    ActionList<ViewActions<ShowGenerated, ExplainToken, ShowLens, PlayGeneration>,
               EditActions<SetGreedy, TakeToken, TakePath, DropTokens>,
               DragActions<SetSamplingTemperature, SetTopK, SetTopP, SetSamplingSeed>,
               Answers<GenerationReady, BranchesReady>>;
template <ListedIn<GenerateActions> A>
inline constexpr Meta kMetaOf<A> = GenerateActions::kMeta<A>;

/// nullopt while Next token is not shown, or what it shows is there.
std::optional<GenerateText> requested_generation(const AppState& state);
/// The same of the step that is looked at, while no tokens are generated one after the other.
std::optional<BranchesRequest> requested_branches(const AppState& state);
/// BranchesReady.
Action run(const BranchesRequest& request, const Opener& open, const RunControl& control);
/// GenerationReady.
Action run(const GenerateText& request, const Opener& open, const RunControl& control);

}  // namespace attn::view
