#include "core/large/stored_strips.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/call.h"
#include "core/io/npz.h"
#include "core/large/pyramid.h"
#include "core/large/texel_rows.h"
#include "core/large/weight_source.h"
#include "core/spec_arrays.h"

namespace attn::large {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * kOdd;
    return hash ^ (hash >> 29U);
}

std::uint64_t mixed(std::uint64_t hash, const void* data, std::size_t bytes) {
    const char* from = static_cast<const char*>(data);
    for (; bytes >= sizeof(std::uint64_t); bytes -= sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, from, sizeof word);
        hash = mixed(hash, word);
        from += sizeof word;
    }
    std::uint64_t rest = bytes + 1;
    std::memcpy(&rest, from, bytes);
    return mixed(hash, rest);
}

/// What makes weights of the operands, as a text.
std::string rule_text(const WeightSource& source) {
    const AttentionSpec& spec = source.spec;
    const MaskSpec& mask = spec.mask;
    const Dimensions& size = source.size;
    const auto or_none = [](std::optional<Index> value) { return value.value_or(-1); };
    return fmt::format(
        "{} {} {} {} {} {} {}|{} {} {} {} {} {}|{} {} {} {} {} {}|{}|{}", size.batch, size.heads,
        size.kv_heads, size.tq, size.tk, size.d_k, size.query_offset, score_factor(spec, size.d_k),
        spec.softcap.value_or(0.0), spec.alibi, static_cast<int>(spec.empty_rows),
        mask.custom != nullptr, mask.bias == nullptr ? 0 : 1 + spec.bias_before_softcap,
        mask.causal ? static_cast<int>(*mask.causal) : -1, or_none(mask.window),
        or_none(mask.window_left), or_none(mask.window_right), mask.global_tokens,
        or_none(mask.block), fmt::join(mask.padding, ","), fmt::join(source.sinks, ","));
}

std::uint64_t fingerprint(const WeightSource& source) {
    const std::string text = rule_text(source);
    std::uint64_t hash = mixed(kOdd, text.data(), text.size());
    for (const Tensor* operand : {source.q.get(), source.k.get()})
        hash = mixed(hash, operand->data(), operand->values().size_bytes());
    if (const Mask* mask = source.spec.mask.custom.get())
        hash = mixed(hash, mask->data(), mask->values().size_bytes());
    if (const PairBias* bias = source.spec.mask.bias.get()) {
        const std::string shape = to_string(bias->values.shape());
        hash = mixed(hash, shape.data(), shape.size());
        hash = mixed(hash, bias->values.data(), bias->values.values().size_bytes());
    }
    return hash;
}

NpzEntry entry(const char* name, const Texels& texels, std::span<const float> values) {
    return {name, {texels.rows, texels.columns}, values};
}

/// Moves an array of this many numbers out of the file.
bool take(Npz& file, const char* name, std::size_t count, std::vector<float>& to) {
    const auto found = file.arrays.find(name);
    if (found == file.arrays.end()) return false;
    auto* values = std::get_if<std::vector<float>>(&found->second.values);
    if (values == nullptr || values->size() != count) return false;
    to = std::move(*values);
    return true;
}

/// Half of a count's digits.
bool is_half(float value) { return value >= 0.0F && value < 65536.0F; }

/// No texel has more pairs than the cells of a block of that side.
bool take_counts(Npz& file, Index side, std::size_t count, std::vector<std::uint32_t>& to) {
    std::vector<float> low;
    std::vector<float> high;
    if (!take(file, "allowed_low", count, low) || !take(file, "allowed_high", count, high))
        return false;
    if (!std::ranges::all_of(low, is_half) || !std::ranges::all_of(high, is_half)) return false;
    to.resize(count);
    std::ranges::transform(high, low, to.begin(), [](float a, float b) {
        return (static_cast<std::uint32_t>(a) << 16U) + static_cast<std::uint32_t>(b);
    });
    return std::ranges::all_of(to, [&](std::uint32_t n) { return n <= pair_count(side * side); });
}

/// Weights are 0 to 1, or NaN; the largest of none is −inf.
bool are_weights(const Texels& texels) {
    constexpr float kMost = 1.0F + 1e-4F;  // a mean is rounded
    const auto valid = [](float weight) { return !(weight < 0.0F || weight > kMost); };
    const auto valid_or_none = [&](float weight) {
        return valid(weight) || weight == -std::numeric_limits<float>::infinity();
    };
    return std::ranges::all_of(texels.mean, valid) &&
           std::ranges::all_of(texels.max, valid_or_none) &&
           std::ranges::none_of(texels.log_mean, [](float mean) { return mean > 0.0F; });
}

}  // namespace

fs::path strips_folder(const fs::path& folder, const WeightSource& source) {
    return folder / "map" / fmt::format("{:016x}", fingerprint(source));
}

fs::path find_strips(const fs::path& folder, const WeightSource& source) {
    std::error_code none;
    if (!fs::is_directory(folder / "map", none)) return {};
    fs::path strips = strips_folder(folder, source);
    return fs::is_directory(strips, none) ? strips : fs::path();
}

fs::path strip_file(const fs::path& strips, Head head, Index strip) {
    return strips / fmt::format("b{}-h{}-{:06}.npz", head.b, head.h, strip);
}

Result<void> write_strip(const fs::path& file, const PooledRows& pooled) {
    const Texels& texels = pooled.texels;
    std::vector<NpzEntry> entries{
        {"logsumexp", {static_cast<Index>(pooled.logsumexp.size())}, pooled.logsumexp},
        entry("mean", texels, texels.mean),
        entry("max", texels, texels.max),
        entry("log_mean", texels, texels.log_mean)};
    std::vector<float> low;
    std::vector<float> high;
    for (const std::uint32_t pairs : texels.allowed) {
        low.push_back(static_cast<float>(pairs & 0xFFFFU));
        high.push_back(static_cast<float>(pairs >> 16U));
    }
    if (!low.empty()) {
        entries.push_back(entry("allowed_low", texels, low));
        entries.push_back(entry("allowed_high", texels, high));
    }
    return write_npz(file, entries);
}

bool read_strip(const fs::path& file, const Pyramid& pyramid, Index strip,
                const WeightSource& source, PooledRows& out) {
    std::error_code none;
    if (!fs::exists(file, none)) return false;
    auto read = read_npz(file);
    if (!read) return false;
    const KeyRange rows = pyramid.strip_rows(strip);
    Texels& texels = out.texels;
    texels.rows = divide_up(rows.end - rows.begin, pyramid.block_side());
    texels.columns = divide_up(source.size.tk, pyramid.block_side());
    const auto count = static_cast<std::size_t>(texels.rows * texels.columns);
    texels.allowed.clear();
    return take(*read, "logsumexp", static_cast<std::size_t>(rows.end - rows.begin),
                out.logsumexp) &&
           take(*read, "mean", count, texels.mean) && take(*read, "max", count, texels.max) &&
           take(*read, "log_mean", count, texels.log_mean) && are_weights(texels) &&
           (!source.spec.mask.any() ||
            take_counts(*read, pyramid.block_side(), count, texels.allowed));
}

}  // namespace attn::large
