#pragma once

#include <algorithm>

#include "core/tensor.h"
#include "core/trace.h"

namespace attn {

/// A tensor to be read as floats for a while: widened 16-bit values live as long as this object.
class InFloats {
  public:
    explicit InFloats(const Tensor& tensor)
        : own_(tensor.narrow() ? tensor : Tensor()), tensor_(tensor.narrow() ? own_ : tensor) {}
    InFloats(const InFloats&) = delete;
    InFloats& operator=(const InFloats&) = delete;
    const Tensor& operator*() const { return tensor_; }
    const Tensor* operator->() const { return &tensor_; }

  private:
    const Tensor own_;
    const Tensor& tensor_;
};

/// Rounds or widens every entry.
template <class To, class From>
TensorOf<To> cast(const TensorOf<From>& whole) {
    const TensorOf<From> own = whole.narrow() ? whole : TensorOf<From>();
    const TensorOf<From>& from = whole.narrow() ? own : whole;
    auto to = TensorOf<To>::uninitialised(from.shape());
    std::transform(from.values().begin(), from.values().end(), to.values().begin(),
                   [](From value) { return static_cast<To>(value); });
    return to;
}

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
