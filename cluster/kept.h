#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "core/spec.h"
#include "core/tensor.h"

namespace attn::cluster {

/// Blocks that a pass has made, in files of rank 0, so that the same command goes on where a run ended. Each appears whole
/// or not at all.
class SavedBlocks {
  public:
    /// Keeps nothing.
    SavedBlocks() = default;
    /// In a folder of `parts` whose name is made of every bit of `of` and of what is computed with it. "": keeps nothing.
    SavedBlocks(const std::filesystem::path& parts, std::string_view pass,
                const AttentionSpec& spec, const std::vector<const Tensor*>& of);

    /// Fills tensors of the block's shapes. False where it is not there, is damaged or has other sizes.
    bool read(Index block, std::vector<Tensor>& tensors);
    void write(Index block, const std::vector<Tensor>& tensors) const;

    /// So many were read.
    Index count() const { return count_; }

  private:
    std::filesystem::path file(Index block) const;

    std::filesystem::path folder_;
    Index count_ = 0;
};

}  // namespace attn::cluster
