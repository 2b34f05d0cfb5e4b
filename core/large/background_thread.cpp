#include "core/large/background_thread.h"

#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace attn::large {

void lower_priority() {
#ifdef __linux__
    // Linux keeps a nice value for each thread; about a tenth of the share of a normal one.
    constexpr int kNice = 10;
    setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice);
#endif
}

}  // namespace attn::large
