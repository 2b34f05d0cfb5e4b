#pragma once

#include "app/common/draw/workspace.h"

namespace attn::view {
struct AnswerLook;
}  // namespace attn::view

namespace attn::ui {

/// The question and its answer, in a band from the top of `space`; see view::shown_answer(). Returns where it ends: the top
/// where nothing is answered.
float draw_answer(const view::AnswerLook* answer, const Box& space, const Frame& frame);

}  // namespace attn::ui
