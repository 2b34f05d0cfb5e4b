#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace attn {

/// The most that the tokenization of one text may cost: each step makes at most 16 times the text and 1 MiB of it, and all of them take
/// at most 4 s for each MiB that was begun. A tokenizer comes from a file that may be made to exceed any machine: 62 steps that
/// double the text fit in 2 KiB. Beyond a limit a Failure is thrown that names the tokenizer, the step and the limit; Stopped
/// where the caller's StopScope was stopped.
class TextBudget {
  public:
    /// `tokenizer` names its file in errors. It must outlive the budget.
    TextBudget(std::string_view tokenizer, std::size_t text_bytes);

    /// Names the next step: "the normalizer 'Replace'".
    void begin(std::string_view step) { step_ = step; }
    /// Of the result of the step, before or after it is made.
    void check_size(std::size_t bytes) const {
        if (bytes > most_bytes_) refuse_size();
    }
    /// A step of `work` nanoseconds, roughly: the clock is read once in a while.
    void spend(std::size_t work) {
        work_ += work;
        if (work_ >= kWorkBetweenChecks) check_time();
    }
    /// The step cannot be finished, for another reason.
    [[noreturn]] void refuse(std::string_view why) const;

    static constexpr std::size_t kMostGrowth = 16, kMostAdded = std::size_t{1} << 20;
    static constexpr double kSecondsOfMiB = 4.0;

  private:
    static constexpr std::size_t kWorkBetweenChecks = std::size_t{1} << 17;
    void check_time();
    [[noreturn]] void refuse_size() const;

    std::string_view tokenizer_, step_;
    std::size_t text_bytes_, most_bytes_, work_ = 0;
    double most_seconds_;
    std::chrono::steady_clock::time_point begun_;
};

}  // namespace attn
