#include "cluster/kept.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/common/or_throw.h"
#include "app/files/options.h"
#include "cluster/parts.h"
#include "core/io/npz.h"
#include "core/rng.h"

namespace attn::cluster {
namespace {

namespace fs = std::filesystem;

std::uint64_t hash_of(const auto& tensor) {
    const Shape shape = tensor.shape();
    const auto values = tensor.values();
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    return hash_text(
        fmt::format("{} {} {} {} {}", shape.b, shape.h, shape.t, shape.d, hash_text(bytes)));
}

std::string array(std::size_t n) { return fmt::format("a{}", n); }

}  // namespace

SavedBlocks::SavedBlocks(const fs::path& parts, std::string_view pass, const AttentionSpec& spec,
                         const std::vector<const Tensor*>& of) {
    if (parts.empty()) return;
    std::uint64_t hash = hash_text(files::options_to_json(spec));
    for (const Tensor* tensor : of) hash = mix(hash, hash_of(*tensor));
    if (spec.mask.custom) hash = mix(hash, hash_of(*spec.mask.custom));
    folder_ = parts / fmt::format("{}-{:016x}", pass, hash);
    make_folder(folder_);
}

fs::path SavedBlocks::file(Index block) const { return folder_ / fmt::format("{:06}.npz", block); }

bool SavedBlocks::read(Index block, std::vector<Tensor>& tensors) {
    std::error_code none;
    if (folder_.empty() || !fs::exists(file(block), none)) return false;
    const auto read = read_npz(file(block));
    for (std::size_t n = 0; read && n < tensors.size(); ++n) {
        const auto found = read->arrays.find(array(n));
        if (found == read->arrays.end()) return false;
        const auto* values = std::get_if<std::vector<float>>(&found->second.values);
        if (values == nullptr || values->size() != tensors[n].values().size()) return false;
        std::ranges::copy(*values, tensors[n].values().begin());
    }
    if (read) ++count_;
    return read.has_value();
}

void SavedBlocks::write(Index block, const std::vector<Tensor>& tensors) const {
    if (folder_.empty()) return;
    std::vector<NpzEntry> entries;
    for (const Tensor& tensor : tensors)
        entries.push_back({array(entries.size()), {tensor.count()}, tensor.values()});
    or_throw(write_npz(file(block), entries));
}

}  // namespace attn::cluster
