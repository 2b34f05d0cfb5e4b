#include "app/platform/stack.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>

namespace attn {

Result<void> make_stack_usual() {
    constexpr rlim_t kUsual = rlim_t{8} << 20, kLeast = rlim_t{1} << 20;
    struct rlimit limit {};
    if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kUsual) return {};
    limit.rlim_cur = std::min(kUsual, limit.rlim_max);  // RLIM_INFINITY is the largest
    if (limit.rlim_cur < kLeast || ::setrlimit(RLIMIT_STACK, &limit) != 0)
        return failed(fmt::format(
            "the stack is limited to {} KiB; expected at least {}. Raise the limit: ulimit -s {}",
            limit.rlim_cur >> 10, kLeast >> 10, kUsual >> 10));
    pthread_attr_t threads;
    pthread_attr_init(&threads);
    pthread_attr_setstacksize(&threads, limit.rlim_cur);
    pthread_setattr_default_np(&threads);
    pthread_attr_destroy(&threads);
    return {};
}

}  // namespace attn
