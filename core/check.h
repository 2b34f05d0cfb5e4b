#pragma once

namespace attn {

/// Stops the program: a bug, never a user's mistake. Written to stderr, then abort().
[[noreturn]] void check_failed(const char* condition, const char* why, const char* file, int line);

}  // namespace attn

/// An invariant that only a bug can break. `why` is a sentence for the developer who reads the crash.
#define ATTN_CHECK(condition, why) \
    ((condition) ? (void)0 : ::attn::check_failed(#condition, why, __FILE__, __LINE__))
