#pragma once

#include "app/common/document/swept.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/state.h"
#include "tests/view/view_test.h"

namespace attn::view {

// Stands for a model of two layers of two heads, and what a sweep over it gives.

/// Two layers of two heads: A − B is 3, and 1, 3.5, 1, 4 where a head is changed.
inline SweptModel swept_by_hand(const SweepModel& of) {
    SweptModel made{of, {}, {}, "d", "a"};
    made.sweep = {of.by, 3, 0, 3.0, 2, 2, 1, {}, 0.0, 0.0};
    const double logits[] = {1.0, 3.5, 1.0, 4.0}, kl[] = {0.5, 0.01, 0.25, 0.1};
    for (Index n = 0; n < 4; ++n) made.sweep.swept.push_back({{n / 2, n % 2}, 0, logits[n], kl[n]});
    if (of.by == Ablation::mean)
        for (SweptHead& head : made.sweep.swept) head.difference = 3.0, head.kl = 0.0;
    return made;
}

inline Result<Opened> open_swept(const OpenRequest& request, const RunControl&) {
    if (const auto* text = std::get_if<ModelText>(&request.what)) {
        auto made = fake_document(text->model);
        if (!made) return tl::unexpected(made.error());
        made->layers.assign(2, made->inputs);
        made->own_heads = 2;
        return Opened{std::make_shared<const Document>(*std::move(made)), nullptr, ""};
    }
    const auto* sweep = std::get_if<SweepModel>(&request.what);
    if (sweep == nullptr) return bad_input("no files here");
    if (sweep->text == "a b") return bad_input("this model gives no logits");
    Opened opened;
    opened.swept = std::make_shared<const SweptModel>(swept_by_hand(*sweep));
    return opened;
}

inline AppState swept_play(AppState state, const Actions& actions) {
    play(state, actions, open_swept);
    return state;
}
inline AppState swept_model(const std::string& text = "the cat sat down") {
    return swept_play(initial_state(),
                      {OpenFile{"fake", text}, DocumentReady{}, SetWorkspace{"heads"}});
}

}  // namespace attn::view
