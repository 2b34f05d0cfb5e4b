#pragma once

#include <ctime>

namespace attn::test {

/// Processor time of this program since it was made: other programs do not lengthen it.
class ProcessorTime {
  public:
    double seconds() const {
        return static_cast<double>(std::clock() - start_) / static_cast<double>(CLOCKS_PER_SEC);
    }

  private:
    std::clock_t start_ = std::clock();
};

}  // namespace attn::test
