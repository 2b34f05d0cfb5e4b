#include "app/platform/stack.h"

namespace attn {

/// The linker gives the first thread 8 MiB; the others have what macOS gives them, which no program can change for all.
Result<void> make_stack_usual() { return {}; }

}  // namespace attn
