#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/generated.h"
#include "app/common/document/opened.h"
#include "app/common/document/toy.h"
#include "app/common/state.h"
#include "core/models/lens.h"
#include "core/models/read_out.h"
#include "core/rng.h"
#include "core/run_control.h"

namespace attn::test {

// A language model that is called fake: 30 words, two layers of two heads, logits and weights that a hash of the tokens
// before gives. Words 3 and 4 are always as likely as each other.

inline constexpr Index kFakeText = 30, kFakeLayers = 2, kFakeHeads = 2, kFakeMost = 12;

inline std::shared_ptr<const view::GeneratedStep> fake_step(const std::vector<Index>& tokens,
                                                            std::size_t count, Index keys) {
    std::uint64_t seed = 7;
    for (std::size_t n = 0; n < count; ++n) seed = mix(seed, static_cast<std::uint64_t>(tokens[n]));
    const auto draw = [&](std::uint64_t n) {
        return static_cast<float>(mix(seed, n) % 4096) / 512.0F;
    };
    view::GeneratedStep step;
    for (Index id = 0; id < kFakeText; ++id)
        step.logits.push_back(draw(static_cast<std::uint64_t>(id)) - 4.0F);
    step.logits[4] = step.logits[3];
    for (Index layer = 0; layer < kFakeLayers; ++layer) {
        Tensor weights(Shape{1, kFakeHeads, 1, keys});
        for (Index head = 0; head < kFakeHeads; ++head) {
            const auto row = weights.matrix(0, head).row(0);
            float sum = 0.0F;
            for (std::size_t n = 0; n < row.size(); ++n)
                sum += row[n] =
                    1.0F + draw(1000 + static_cast<std::uint64_t>(layer * 64 + head) + n);
            for (float& weight : row) weight /= sum;
        }
        step.weights.push_back(std::move(weights));
    }
    return std::make_shared<const view::GeneratedStep>(std::move(step));
}

inline std::shared_ptr<const Lens> fake_lens(const view::GeneratedStep& step) {
    Lens lens;
    lens.token = std::ranges::max_element(step.logits) - step.logits.begin();
    for (Index layer = -1; layer < kFakeLayers; ++layer) {
        LensLayer each;
        each.layer = layer;
        each.probability = 0.1 * static_cast<double>(layer + 2);
        each.best = {{layer < 0 ? 0 : lens.token, layer < 0 ? 0.5 : each.probability}};
        lens.layers.push_back(std::move(each));
    }
    return std::make_shared<const Lens>(std::move(lens));
}

/// Continues with the next numbers of the vocabulary, each from logits of its own.
inline std::shared_ptr<const view::Branches> fake_branches(const view::GeneratedStep& from,
                                                           Index step) {
    auto made = std::make_shared<view::Branches>();
    made->step = step;
    for (const TokenShare& first : likeliest(from.logits, view::kBranches)) {
        view::Branch branch{{first.id}, {}};
        for (Index n = 1; n < 4; ++n) {
            const auto next = fake_step(branch.tokens, branch.tokens.size(), 3);
            branch.logits.push_back(next->logits);
            branch.tokens.push_back(likeliest(next->logits, 1).front().id);
        }
        made->all.push_back(std::move(branch));
    }
    return made;
}

inline Result<view::Opened> fake_writer(const view::OpenRequest& request, const RunControl&) {
    const auto* const wanted = std::get_if<view::GenerateText>(&request.what);
    if (wanted == nullptr) return bad_input("no files here");
    view::Generated made;
    made.path = wanted->path;
    made.text = wanted->text;
    made.tokens = wanted->tokens;
    made.prompt = {"the", "cat", "sat"};
    std::vector<std::string> names;
    for (Index id = 0; id < kFakeText; ++id) names.push_back(fmt::format("w{}", id));
    made.names = std::make_shared<const std::vector<std::string>>(std::move(names));
    made.most_tokens = kFakeMost;
    made.layers = kFakeLayers;
    made.specs.resize(kFakeLayers);
    for (AttentionSpec& spec : made.specs) spec.heads = spec.kv_heads = kFakeHeads;
    made.kv_heads = kFakeHeads;
    made.bytes_of_token = 8 * kFakeLayers * kFakeHeads * 4;
    for (const Index token : wanted->tokens)
        if (token < 0 || token >= kFakeText) return bad_input("the embedding has no such token");
    for (std::size_t n = 0; n <= wanted->tokens.size(); ++n)
        made.steps.push_back(fake_step(wanted->tokens, n, 3 + static_cast<Index>(n)));
    made.lenses.resize(made.steps.size());
    if (wanted->lens) made.lenses[*wanted->lens] = fake_lens(*made.steps[*wanted->lens]);
    if (!request.options.empty())
        made.branches = fake_branches(*made.steps.back(), std::ssize(wanted->tokens));
    view::Opened opened;
    opened.generated = std::make_shared<const view::Generated>(std::move(made));
    return opened;
}

/// Its document over "the cat sat", in Generate; nothing is written yet.
inline view::AppState fake_writing(const view::ModelChanges& changes = {}) {
    view::Document document = view::make_document("the cat sat", 8, 4, 2, 1, {}).value();
    document.origin = view::ModelOrigin{"fake", "the cat sat", "", changes};
    document.sentence.clear();
    document.name = document.title = "fake";
    document.layers = {document.inputs, document.inputs};
    document.read_out.next = {{"w1", 0.5}};
    view::AppState state = view::state_of(std::move(document)).value();
    view::apply(state, view::SetWorkspace{"generate"});
    return state;
}

}  // namespace attn::test
