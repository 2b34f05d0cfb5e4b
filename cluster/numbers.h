#pragma once

#include <functional>

#include "core/sizes.h"

namespace attn::cluster {

/// 0, 1, 2, …, each for one rank, dealt by rank 0 to whoever asks next: who computes fast gets more of them. Where they end
/// each rank finds out by itself.
class Numbers {
  public:
    /// `skip`: of rank 0, whose numbers nobody is to have.
    explicit Numbers(std::function<bool(Index)> skip) : skip_(std::move(skip)) {}
    Index next();
    /// Of rank 0, which computes too: answers who asks, and waits for none. Of others nothing.
    void serve();
    /// This rank asks no more. Rank 0 answers until none does.
    void finish();

  private:
    Index deal();
    void answer();

    std::function<bool(Index)> skip_;
    Index next_ = 0;
    int finished_ = 0;
};

}  // namespace attn::cluster
