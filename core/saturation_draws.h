#pragma once

#include <array>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/normals.h"
#include "core/saturation.h"

namespace attn {

/// q·k of one draw of the sampled model for growing d_k: the prefix sums of q_c k_jc, one for each
/// key j. Component c adds to lane c mod 8, so that a sum does not depend on the widths at which it
/// was read. Products are exact in double: the same bits on every machine.
class GrowingScores {
  public:
    GrowingScores(const SaturationSettings& settings, Index trial);

    /// The scores of the first d_k components; d_k must not shrink from call to call. nullopt when
    /// stopped.
    std::optional<std::vector<double>> grow_to(Index d_k, const std::stop_token& stop);

  private:
    using Lanes = std::array<double, 8>;

    void add_components(Index end);
    static void add_products(const NormalBlock& q, const NormalBlock& k, std::size_t first,
                             std::size_t last, Lanes& sum);

    std::uint64_t draw_;
    std::vector<Lanes> sums_;
    Index width_ = 0;
};

}  // namespace attn
