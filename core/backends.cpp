#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/call.h"
#include "core/engine.h"
#include "core/kernels/fused.h"
#include "core/kernels/reference.h"
#include "core/kernels/staged.h"
#include "core/text.h"

namespace attn {
namespace {

/// What "auto" stands for: the rule of choose_backend(). A list without fused leaves all to staged.
std::string_view automatic(const Dimensions& size, StageSet keep, BackendList among) {
    const bool small = size.batch * size.heads * size.tq * size.tk <= kMostStagedPairs;
    const bool stages = (keep & pair_stages()).any() && (small || keep != all_stages());
    return stages || find_backend("fused", among) == nullptr ? "staged" : "fused";
}

}  // namespace

BackendList backends() {
    static const std::array<const Backend*, 3> all{&reference_backend(), &staged_backend(),
                                                   &fused_backend()};
    return all;
}

const Backend* find_backend(std::string_view name, BackendList among) {
    const auto found = std::ranges::find(among, name, &Backend::name);
    return found == among.end() ? nullptr : *found;
}

Result<const Backend*> choose_backend(std::string_view name, const Dimensions& size, StageSet keep,
                                      BackendList among) {
    const Backend* backend =
        find_backend(name == "auto" ? automatic(size, keep, among) : name, among);
    if (backend == nullptr) {
        std::vector<std::string_view> names{"auto"};
        for (const Backend* known : among) names.push_back(known->name());
        return bad_input(fmt::format("there is no backend '{}': choose one of {}", shortened(name),
                                     fmt::join(names, ", ")));
    }
    if (const auto reason = backend->unavailable())
        return failed(fmt::format("backend {} cannot run here: {}", backend->name(), *reason));
    return backend;
}

Result<const Backend*> choose_backend(std::string_view name, const Call& call, StageSet keep,
                                      BackendList among) {
    return choose_backend(name, call.size(), keep, among).map([&](const Backend* chosen) {
        const bool refused = name == "auto" && chosen->supports(call);
        return refused ? find_backend("staged", among) : chosen;
    });
}

Failure no_backward(const Backend& backend, BackendList among) {
    std::vector<std::string_view> names;
    for (const Backend* other : among)
        if (other->has_backward()) names.push_back(other->name());
    return bad_input(fmt::format("backend {} computes no gradients: choose one of {}",
                                 backend.name(), fmt::join(names, ", ")));
}

}  // namespace attn
