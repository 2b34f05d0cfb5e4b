#include <algorithm>
#include <array>

#include "core/backend.h"
#include "core/kernels/reference.h"
#include "core/kernels/staged.h"

namespace attn {

std::span<const Backend* const> backends() {
    static const std::array<const Backend*, 2> all{&reference_backend(), &staged_backend()};
    return all;
}

const Backend* find_backend(std::string_view name) {
    const auto all = backends();
    const auto found = std::find_if(
        all.begin(), all.end(), [name](const Backend* backend) { return backend->name() == name; });
    return found == all.end() ? nullptr : *found;
}

}  // namespace attn
