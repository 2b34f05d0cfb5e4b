#pragma once

#include <span>
#include <string>

#include "app/common/draw/frame.h"
#include "app/common/vocabulary.h"

namespace attn::ui {

/// The field for the text of the open model: TypeText as it changes, EndGesture at Enter. While the vocabulary has words
/// that the word at the caret may become, a list under the field offers them: Down and Up choose, Tab or a click completes,
/// Escape closes the list until the next word. Other keys go to the field.
void model_text_field(const char* id, const std::string& draft, float width,
                      std::span<const view::VocabularyClass> vocabulary, const Frame& frame,
                      Actions& out);

}  // namespace attn::ui
