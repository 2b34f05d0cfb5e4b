#pragma once

#include "core/result.h"

namespace attn {

/// A thread has as much stack as the program had at its start, which `ulimit -s` may have made too little: then it and each
/// thread get what is usual. For main(), before there is a second thread.
Result<void> make_stack_usual();

}  // namespace attn
