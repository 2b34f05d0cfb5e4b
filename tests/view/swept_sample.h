#pragma once

#include <algorithm>

#include "app/common/document/swept.h"
#include "app/workspaces/heads/state.h"
#include "tests/view/view_test.h"

namespace attn::view {

// Stands for a model of two layers of two heads, and what a sweep over it gives.

/// Two layers of two heads: A − B is 3, and 1, 3.5, 1, 4 where a head is changed. Of other parts a position takes the place of a
/// head; of a patch the second one is not paired.
inline SweptModel swept_by_hand(const SweepModel& of, const SweepAsked& asked) {
    SweptModel made{of, {}, {}, "d", "a"};
    const bool heads = asked.part == SweepPart::heads;
    made.sweep = {of.ablation,   3,  0,   0,   3.0,       2, heads ? 2 : 1,
                  heads ? 1 : 2, {}, 0.0, 0.0, asked.part};
    made.options = options_of(asked);
    const double logits[] = {1.0, 3.5, 1.0, 4.0}, kl[] = {0.5, 0.01, 0.25, 0.1};
    for (Index n = 0; n < 4; ++n)
        made.sweep.swept.push_back(
            {{n / 2, heads ? n % 2 : 0}, heads ? 0 : n % 2, logits[n], kl[n]});
    if (of.ablation == Ablation::mean)
        for (SweptHead& head : made.sweep.swept) head.difference = 3.0, head.kl = 0.0;
    if (of.ablation != Ablation::patch) return made;
    made.others = {"the", "old", "dog"};
    made.sweep.alignment = {0, -1};
    for (SweptHead& head : made.sweep.swept)
        if (head.position == 1) head.difference = head.kl = std::nan("");
    return made;
}

/// [1, 1, rows, columns]: step · (n + 1), the sign of every third other.
inline Tensor circuit_numbers(Index rows, Index columns, float step) {
    Tensor made({1, 1, rows, columns});
    for (Index n = 0; n < made.count(); ++n)
        made.data()[n] = step * static_cast<float>(n + 1) * (n % 3 == 2 ? -1.0F : 1.0F);
    return made;
}
inline TokenProduct product_by_hand(Index tokens, Index others, float step) {
    TokenProduct made{circuit_numbers(tokens, 2, step),
                      circuit_numbers(others, 2, 1.0F),
                      0.5,
                      {},
                      Tensor({1, 1, tokens, others})};
    for (Index j = 0; j < others; ++j) made.others.push_back(j);
    for (const auto [i, j] : each_cell(tokens, others))
        made.values(0, 0, i, j) = 0.5F * (made.left(0, 0, i, 0) * made.right(0, 0, j, 0) +
                                          made.left(0, 0, i, 1) * made.right(0, 0, j, 1));
    return made;
}
/// Of a head with two columns over so many tokens.
inline std::shared_ptr<const ModelCircuit> circuit_by_hand(const SweepAsked& asked, Index tokens) {
    ModelCircuit made{*asked.circuit, {{4.0, 3.0}, {2.0, 0.0}, 0.25}, {}, {}, {}, {}, {}};
    for (HeadPlace at; at.layer < made.at.layer; ++at.layer)
        for (at.head = 0; at.head < 2; ++at.head)
            made.composed.push_back({at, 0.1, at.head == 0 ? 0.4 : 0.2, 0.3, 5.0});
    const Index others = asked.nearest ? 3 : tokens;
    made.over = {product_by_hand(tokens, others, 0.25F), product_by_hand(tokens, others, -0.5F)};
    for (Index n = 0; n < others; ++n) {
        made.read.push_back("r" + std::to_string(n));
        made.written.push_back("w" + std::to_string(n));
    }
    return std::make_shared<const ModelCircuit>(std::move(made));
}

/// Every edge of two layers of two heads. Between heads: −2, −0.5, 0, 1; the last key has the largest weight, ties in L1 H1.
inline std::shared_ptr<const ModelEdges> edges_by_hand(Index tokens) {
    ModelEdges edges;
    edges.made = {Ablation::zero, 3, 0, tokens - 1, 3.0, 2, 2, {}};
    const auto add = [&](const ModelNode& sender, const ModelNode& receiver, double change) {
        edges.made.edges.push_back({sender, receiver, change});
        if (receiver.kind == NodeKind::head)
            edges.made.edges.back().parts = {change / 2, 0.0, 0.25};
    };
    std::vector<ModelNode> stream{{}};
    for (Index layer = 0; layer < 2; ++layer) {
        for (Index h = 0; h < 2; ++h)
            for (const ModelNode& sender : stream)
                add(sender, {NodeKind::head, {layer, h}},
                    sender.kind == NodeKind::head
                        ? (sender.at.head == h ? -2.0 : -0.5) * static_cast<double>(1 - h) +
                              static_cast<double>(sender.at.head * h)
                        : -0.75);
        for (Index h = 0; h < 2; ++h) stream.push_back({NodeKind::head, {layer, h}});
        for (const ModelNode& sender : stream) add(sender, {NodeKind::mlp, {layer, 0}}, 0.125);
        stream.push_back({NodeKind::mlp, {layer, 0}});
    }
    for (const ModelNode& sender : stream) add(sender, {NodeKind::logits, {}}, -1.0);
    for (Index n = 0; n < 4; ++n)
        edges.weights.push_back({{n / 2, n % 2}, tokens - 1, n == 3 ? 0.5 : 0.75, n == 3 ? 1 : 0});
    for (Index n = 0; n < tokens; ++n) edges.tokens.push_back("t" + std::to_string(n));
    return std::make_shared<const ModelEdges>(std::move(edges));
}

inline Result<Opened> open_swept(const OpenRequest& request, const RunControl&) {
    if (const auto* text = std::get_if<ModelText>(&request.what)) {
        auto made = fake_document(text->model);
        if (!made) return tl::unexpected(made.error());
        made->layers.assign(2, made->inputs);
        made->own_heads = 2;
        return Opened{std::make_shared<const Document>(*std::move(made)), nullptr, {}};
    }
    const auto* sweep = std::get_if<SweepModel>(&request.what);
    if (sweep == nullptr) return bad_input("no files here");
    if (sweep->text == "a b") return bad_input("this model gives no logits");
    Opened opened;
    const SweepAsked asked = sweep_asked(request.options);
    SweptModel made = swept_by_hand(*sweep, asked);
    if (asked.circuit)
        made.circuit = circuit_by_hand(asked, std::ranges::count(sweep->text, ' ') + 1);
    if (asked.edges) made.edges = edges_by_hand(std::ranges::count(sweep->text, ' ') + 1);
    opened.swept = std::make_shared<const SweptModel>(std::move(made));
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
