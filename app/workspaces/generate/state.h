#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/slots.h"
#include "core/models/sampling.h"

namespace attn::view {

struct Branches;
struct BranchesRequest;
struct GenerateShown;
struct GenerateText;
struct Generated;

inline constexpr double kLeastSamplingTemperature = 0.01, kMostSamplingTemperature = 100.0,
                        kLeastTopP = 0.001;
inline constexpr Index kMostTopK = 1000, kMostTaken = 512;

/// How Next token chooses, and what was taken so far; undone with the document.
struct GenerateControls {
    bool greedy = false;
    double temperature = 0.8;
    Index top_k = 40;  // 0: all
    double top_p = 0.95;
    std::uint64_t seed = 1;
    std::string model, text, second_input;  // what the tokens go on from: of another there are none
    std::vector<Index> tokens;              // that were taken, by their number in the vocabulary
    bool operator==(const GenerateControls&) const = default;
};

inline void describe(Visitor& visit, GenerateControls& controls) {
    visit("greedy", controls.greedy,
          {.text = "greedy",
           .tip = "Takes the most probable token instead of sampling\nThe other settings then have "
                  "no effect."});
    visit(
        "temperature", controls.temperature,
        {.text = "T",
         .tip =
             "Temperature T divides the logits before softmax\nBelow 1: sharper. Above 1: flatter.",
         .low = kLeastSamplingTemperature,
         .high = kMostSamplingTemperature});
    visit("top_k", controls.top_k,
          {.text = "top-k",
           .tip = "Keeps only this many of the most probable tokens; 0: all",
           .low = 0,
           .high = static_cast<double>(kMostTopK)});
    visit(
        "top_p", controls.top_p,
        {.text = "top-p",
         .tip =
             "Then keeps the smallest set of most probable tokens whose p sum to at least this; 1: "
             "all\nUses p after temperature.",
         .low = kLeastTopP,
         .high = 1.0});
    visit("seed", controls.seed,
          {.text = "seed",
           .tip = "Seed of the random number u of each step\nThe same seed gives the same tokens. "
                  "Key R: the next seed."});
    visit("model", controls.model);
    visit("text", controls.text);
    visit("beside", controls.second_input);
    visit("tokens", controls.tokens);
    if (!visit.reads()) return;
    if (!(controls.temperature > 0.0) || !(controls.top_p > 0.0))
        visit.complain(": temperature and top-p are above 0");
    if (std::ssize(controls.tokens) > kMostTaken)
        return visit.complain(": at most " + std::to_string(kMostTaken) +
                              " tokens are taken after a text");
    for (const Index token : controls.tokens)
        if (token < 0) return visit.complain(": a token has a number from 0 on");
}

/// What Next token looks at. Not undone.
struct GenerateLook {
    std::optional<Index> step;   // nullopt: the newest, whose token is still to be taken
    std::optional<Index> token;  // the one that is explained; nullopt: the taken one, or the next
    bool lens = false;

    // of the moment: in no session and no journal
    bool playing = false;
    double clock_s = 0.0;                      // since the last token was taken while playing
    std::shared_ptr<const GenerateText> of;    // the last request
    std::shared_ptr<const Generated> written;  // what came of it; null: nothing
    std::shared_ptr<const BranchesRequest> branches_of;  // the last request for continuations
    std::shared_ptr<const Branches> branches;            // its result; null: none
    std::string fault;                                   // why not all of it is there; "": it is
    std::shared_ptr<const GenerateShown> shown;          // of the step that is looked at
};
inline void describe(Visitor& visit, GenerateLook& look) {
    visit("step", look.step, About{.low = 0});
    visit("token", look.token);
    visit("lens", look.lens,
          {.text = "logit lens",
           .tip = "The model's prediction after each layer\nThe final norm and the unembedding, "
                  "applied to the residual there. Key: L"});
}

inline constexpr Controls<GenerateControls> generate_controls;
inline constexpr Look<GenerateLook> generate_look;

}  // namespace attn::view
