#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/backend.h"
#include "core/kernels/fused.h"
#include "core/kernels/reference.h"
#include "core/kernels/staged.h"

namespace attn {

std::span<const Backend* const> backends() {
    static const std::array<const Backend*, 3> all{&reference_backend(), &staged_backend(),
                                                   &fused_backend()};
    return all;
}

const Backend* find_backend(std::string_view name) {
    const auto all = backends();
    const auto found = std::find_if(
        all.begin(), all.end(), [name](const Backend* backend) { return backend->name() == name; });
    return found == all.end() ? nullptr : *found;
}

Result<const Backend*> choose_backend(std::string_view name) {
    const Backend* backend = find_backend(name == "auto" ? "staged" : name);
    if (backend == nullptr) {
        std::vector<std::string_view> names{"auto"};
        for (const Backend* known : backends()) names.push_back(known->name());
        return bad_input(fmt::format("there is no backend '{}': choose one of {}", name,
                                     fmt::join(names, ", ")));
    }
    if (const auto reason = backend->unavailable())
        return failed(fmt::format("backend {} cannot run here: {}", backend->name(), *reason));
    return backend;
}

}  // namespace attn
