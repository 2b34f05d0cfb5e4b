#pragma once

#include <string>
#include <string_view>

#include "app/common/document/origin.h"

namespace attn::view {

struct AppState;
struct Document;

/// A model's document over the text that was typed takes the place of the one over the text before: an edit. Layer, head,
/// options and targets stay where the new one has them; changed numbers do not. One step while typing goes on.
void take_typed(AppState& state, const Document& read);

/// What the model is to read next: what was asked for and is not there yet, or what is open. nullptr: no model is open.
const ModelOrigin* wanted_model(const AppState& state);
/// Asks for the model's document over it, as an edit of the one that is open.
void ask_model(AppState& state, ModelOrigin wanted);

/// What is shown of a model of two stacks, and what its second stack reads.
struct GroupsView {
    std::vector<std::string> names;  // empty: it is one stack
    int current = 0;
    std::string label;          // of what the second reads, "decoder" or "images"
    std::string second_input;   // as it was typed last
    bool reads_text = true;     // what is shown is made of the text
    bool reads_beside = false;  // and of that
};
GroupsView groups_view(const AppState& state);
/// The model reads an image among the tokens of a text.
bool reads_among_text(const Document& document);

/// What the model says under its interventions, with the numbers of both runs; "" where there are none.
std::string without_text(const Document& document);

/// Where a model that reads each token as a word shows its answer: the head of the last layer in which that token attends most
/// to the tokens that its answer names; to any token, if the text has none of these. `head` itself, if its largest weight is on one
/// of them.
struct AnswerPlace {
    Index layer = 0, head = 0, query = 0, key = 0;
};
/// nullopt: the model gives no such answer.
std::optional<AnswerPlace> answer_place(const Document& document, std::optional<Index> head = {});

/// A text that the model offers beside the present one, and what it changes: "tired → wide". Empty: it offers none.
struct OfferedText {
    std::string text, change;
};
OfferedText offered_text(const Document& document);

/// What a model's logits are of: "class" of an image, else "next token".
std::string_view read_out_noun(const Document& document);
/// "the model's next token: ▁mat 12.3 %, ▁floor 8.1 %", "the model's cosine similarity to “The cat”: 0.831"; "" where it
/// gives neither.
std::string read_out_text(const Document& document);

}  // namespace attn::view
