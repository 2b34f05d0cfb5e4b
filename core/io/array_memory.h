#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/sizes.h"

namespace attn {

struct NpyHeader;

/// Before an array is allocated: its values, twice where they are put into C order, and the float32 tensor that is made of
/// them, beside `held` bytes of what was read before, must be less than this machine has.
Result<void> check_array_memory(std::string_view what, const NpyHeader& header, double held);
/// The same of texts, each with a string of its own; more than kMaxTexts, or texts of two axes, are refused.
Result<void> check_text_memory(std::string_view what, const NpyHeader& header, double held);
/// The same where its numbers are taken as they are in the file.
Result<void> check_stored_memory(std::string_view what, const NpyHeader& header, double held);

/// "f.npz: Q, float32 [2, 3], 24 bytes".
std::string with_sizes(std::string_view what, std::string_view dtype,
                       const std::vector<Index>& extents, std::uint64_t bytes);

/// `read`, with a sentence where the memory ends; `what`() is then asked what was read.
template <class What, class Read>
auto within_memory(const What& what, Read read) -> decltype(read()) {
    try {
        return read();
    } catch (const std::bad_alloc&) {
        return failed(fmt::format("there is not enough memory to read {}", what()));
    } catch (const std::length_error&) {
        return failed(fmt::format("there is not enough memory to read {}", what()));
    }
}

}  // namespace attn
