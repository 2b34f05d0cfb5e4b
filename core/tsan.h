#pragma once

// Synchronisation inside library code that the thread sanitizer cannot see, reported to it by hand: all that
// was done before tsan_release(at) happened before all that is done after tsan_acquire(at). Nothing in any other build.

// GCC's own word first: Eigen defines __has_feature(x) as 0 where a compiler lacks it.
#if defined(__SANITIZE_THREAD__)
#define ATTN_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ATTN_TSAN
#endif
#endif

#ifdef ATTN_TSAN
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace attn {

inline void tsan_acquire([[maybe_unused]] char* at) {
#ifdef ATTN_TSAN
    __tsan_acquire(at);
#endif
}

inline void tsan_release([[maybe_unused]] char* at) {
#ifdef ATTN_TSAN
    __tsan_release(at);
#endif
}

}  // namespace attn
