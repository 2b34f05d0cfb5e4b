#pragma once

#include "core/forward.h"
#include "core/result.h"

namespace attn {
class Backend;
}  // namespace attn

namespace attn::bench {

struct Workload;

/// How far a backend's results are from the reference in double, relative to the largest number of each tensor:
///   error = max |computed − exact| / max |exact|,
/// forward over context, backward over d_Q, d_K and d_V, whichever is worst. At most 8 query rows of each head are
/// compared: the reference attends with those alone. Backward starts from a d_context that is 0 in all other rows, so
/// that d_K and d_V come from those alone too, and every row of them is compared.
Result<double> error_of(const Backend& backend, const Workload& work, const Inputs& inputs);

}  // namespace attn::bench
