#pragma once

#include "core/trace.h"

namespace attn {

/// Every tensor of a set of parameters, inputs or a trace, rounded or widened.
template <class To, class From>
ParamsOf<To> cast(const ParamsOf<From>& from) {
    ParamsOf<To> to;
    for (std::size_t p = 0; p < kParamCount; ++p) to.tensors[p] = cast<To>(from.tensors[p]);
    return to;
}

template <class To, class From>
InputsOf<To> cast(const InputsOf<From>& from) {
    return {cast<To>(from.x), cast<To>(from.x_kv), cast<To>(from.q),
            cast<To>(from.k), cast<To>(from.v),    cast<To>(from.params)};
}

template <class To, class From>
TraceOf<To> cast(const TraceOf<From>& from) {
    TraceOf<To> to;
    for (std::size_t s = 0; s < kStageCount; ++s) to.stages[s] = cast<To>(from.stages[s]);
    to.logsumexp = cast<To>(from.logsumexp);
    to.row_max = cast<To>(from.row_max);
    to.row_log2_sum = cast<To>(from.row_log2_sum);
    to.params = cast<To>(from.params);
    to.bias = cast<To>(from.bias);
    return to;
}

}  // namespace attn
