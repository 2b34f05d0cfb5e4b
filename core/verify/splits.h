#pragma once

#include <string>
#include <vector>

#include "core/verify/serving.h"
#include "core/verify/subject.h"

namespace attn::verify {

/// The splits of a call's keys as a call of their own: batch entry s · B + b attends to the keys of split s alone, without sinks.
struct SplitCall {
    Subject subject;
    Results results;                         // context and logsumexp of each split
    std::vector<std::vector<Index>> starts;  // of each sequence, as Serving::splits
    std::string text;                        // how the keys are split
};
/// The splits begin at the starts of `serving`, else where most of the logsumexps fit, among the ways of common kernels.
/// Its queries and keys are those after QK-norm and RoPE. The call has no dropout. An error where the shapes do not fit, or the splits do not fit in memory.
Result<SplitCall> make_split_call(const Subject& subject, const SplitResults& parts,
                                  const Serving* serving);

}  // namespace attn::verify
