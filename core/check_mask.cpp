#include "core/check_mask.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/dimensions.h"
#include "core/masks.h"
#include "core/spec.h"
#include "core/spec_arrays.h"

namespace attn {
namespace {

std::string fault_of_rules(const MaskSpec& mask) {
    const std::pair<const char*, Index> counts[] = {{"window", mask.window.value_or(0)},
                                                    {"window_left", mask.window_left.value_or(0)},
                                                    {"window_right", mask.window_right.value_or(0)},
                                                    {"global_tokens", mask.global_tokens}};
    for (const auto& [name, count] : counts)
        if (count < 0) return fmt::format("{} is {}: it must be at least 0", name, count);
    if (mask.global_tokens > 0 && !mask.windowed())
        return fmt::format(
            "global_tokens is {} without a window: expected window, window_left or window_right, "
            "which it widens",
            mask.global_tokens);
    if (mask.block.value_or(1) < 1)
        return fmt::format("block is {}: it must be at least 1", *mask.block);
    return {};
}

std::string fault_of_padding(const std::vector<Index>& padding, const Dimensions& size) {
    if (!padding.empty() && std::ssize(padding) != size.batch)
        return fmt::format(
            "padding has {} length(s) but the batch has {}: give one per batch entry",
            padding.size(), size.batch);
    for (std::size_t b = 0; b < padding.size(); ++b)
        if (padding[b] < 0 || padding[b] > size.tk)
            return fmt::format("padding of batch entry {} is {}: it must be 0 to Tk = {}", b,
                               padding[b], size.tk);
    return {};
}

}  // namespace

Result<void> check_mask(const MaskSpec& mask, const Dimensions& size) {
    for (const std::string& fault : {fault_of_rules(mask), fault_of_padding(mask.padding, size)})
        if (!fault.empty()) return bad_input(fault);
    if (mask.custom)
        if (auto fits = check_broadcast(mask.custom->shape(), size); !fits) return fits;
    return mask.bias ? check_broadcast(mask.bias->values.shape(), size, "bias") : Result<void>{};
}

}  // namespace attn
