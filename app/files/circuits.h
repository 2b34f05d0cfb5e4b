#pragma once

#include "app/files/model.h"

namespace attn {
struct RunControl;
}  // namespace attn

namespace attn::files {

/// What view::sweep_asked(options) says of the model, in its untouched run of the text, which is kept: every part changed in turn, each edge
/// cut in turn, or the circuit of one head. Where the tokens of a patch cannot be paired it has the fault, and the other text's tokens.
Result<std::shared_ptr<const view::SweptModel>> sweep_model(ModelCache& cache,
                                                            const view::SweepModel& wanted,
                                                            const std::string& options,
                                                            const RunControl& control);

}  // namespace attn::files
