#pragma once

#include <pthread.h>

#include <cstddef>
#include <stdexcept>

namespace attn::test {

/// While it lives the system starts no thread: none has room for its stack. glibc alone.
class NoThreads {
  public:
    NoThreads() {
        pthread_attr_t huge;
        if (pthread_getattr_default_np(&usual_) != 0) throw std::runtime_error("pthread");
        huge = usual_;
        if (pthread_attr_setstacksize(&huge, std::size_t{1} << 47U) != 0 ||
            pthread_setattr_default_np(&huge) != 0)
            throw std::runtime_error("pthread");
    }
    ~NoThreads() {
        pthread_setattr_default_np(&usual_);
        pthread_attr_destroy(&usual_);
    }
    NoThreads(const NoThreads&) = delete;
    NoThreads& operator=(const NoThreads&) = delete;

  private:
    pthread_attr_t usual_;
};

}  // namespace attn::test
