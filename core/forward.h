#pragma once

#include <cstdint>
#include <span>

namespace attn {

// Tensors, calls and backends by name, for headers that only pass them on: tensor.h, trace.h, call.h and backend.h have them.

template <class Scalar>
class TensorOf;
using Tensor = TensorOf<float>;
using TensorD = TensorOf<double>;
using Mask = TensorOf<std::uint8_t>;

template <class Scalar>
struct ParamsOf;
template <class Scalar>
struct InputsOf;
template <class Scalar>
struct TraceOf;
template <class Scalar>
struct UpstreamOf;
using Params = ParamsOf<float>;
using Inputs = InputsOf<float>;
using Trace = TraceOf<float>;
using Upstream = UpstreamOf<float>;
using ParamsD = ParamsOf<double>;
using InputsD = InputsOf<double>;
using TraceD = TraceOf<double>;
using UpstreamD = UpstreamOf<double>;

template <class Scalar>
class CallOf;
using Call = CallOf<float>;
using CallD = CallOf<double>;

class Backend;
using BackendList = std::span<const Backend* const>;

}  // namespace attn
