#include "core/models/text_budget.h"

#include <fmt/format.h>

#include "core/models/token_ids.h"
#include "core/result.h"
#include "core/stop.h"
#include "core/text.h"

namespace attn {

TextBudget::TextBudget(std::string_view tokenizer, std::size_t text_bytes)
    : tokenizer_(tokenizer),
      text_bytes_(text_bytes),
      most_bytes_(kMostGrowth * text_bytes + kMostAdded),
      most_seconds_(kSecondsOfMiB * static_cast<double>(1 + text_bytes / kMostAdded)),
      begun_(std::chrono::steady_clock::now()) {}

void TextBudget::check_time() {
    work_ = 0;
    end_if_stopped();
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun_;
    if (passed.count() > most_seconds_) refuse(fmt::format("takes more than {} s", most_seconds_));
}

void TextBudget::refuse_size() const {
    refuse(fmt::format("makes more than {} bytes", most_bytes_));
}

void TextBudget::refuse(std::string_view why) const {
    throw bad_input(
        fmt::format("{}: {} {} of a text of {}; expected at most {} times the text and 1 MiB, in "
                    "{} s",
                    tokenizer_, step_, why, counted(text_bytes_, "byte"), kMostGrowth,
                    most_seconds_),
        {{.option = {},
          .advice = fmt::format("Write the numbers of the tokens as the text: {} 15496 995",
                                kTokenIds)}});
}

}  // namespace attn
