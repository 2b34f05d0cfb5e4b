#include "core/large/texel_rows.h"
#include "core/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn::large {
namespace {

/// Numbers of one texel while others are added to it.
struct Pool {
    double cells = 0.0;
    double sum = 0.0;  // of weights
    double log_sum = 0.0;
    Index allowed = 0;
    float max = -std::numeric_limits<float>::infinity();

    void add(const Texels& texels, std::size_t at, Index texel_cells) {
        const auto count = static_cast<double>(texel_cells);
        const Index pairs = texels.allowed.empty() ? texel_cells : texels.allowed[at];
        cells += count;
        sum += static_cast<double>(texels.mean[at]) * count;
        allowed += pairs;
        if (pairs == 0) return;
        log_sum += static_cast<double>(texels.log_mean[at]) * static_cast<double>(pairs);
        if (!(texels.max[at] <= max)) max = texels.max[at];
    }

    void store(Texels& out, std::size_t at) const {
        const double log_mean = allowed == 0 ? -std::numeric_limits<double>::infinity()
                                             : log_sum / static_cast<double>(allowed);
        const bool nan = std::isnan(sum);
        out.mean[at] = static_cast<float>(sum / cells);
        out.max[at] = nan ? out.mean[at] : max;
        out.log_mean[at] = nan ? out.mean[at] : static_cast<float>(log_mean);
        if (!out.allowed.empty()) out.allowed[at] = pair_count(allowed);
    }
};

Texels empty_texels(Index rows, Index columns, bool masked) {
    const auto count = static_cast<std::size_t>(rows * columns);
    Texels texels{rows, columns, {}, {}, {}, {}};
    texels.mean.resize(count);
    texels.max.resize(count);
    texels.log_mean.resize(count);
    if (masked) texels.allowed.resize(count);
    return texels;
}

template <class T>
void copy_part(const std::vector<T>& from, Index first, Index count, std::vector<T>& to,
               std::size_t at) {
    std::copy_n(from.begin() + first, count, to.begin() + static_cast<Index>(at));
}

}  // namespace

Texels join_rows(std::span<const RowPart> parts, const TexelAxis& keys, Index joined) {
    const Index columns = keys.texels();
    const bool masked =
        std::ranges::any_of(parts, [](const RowPart& p) { return !p.texels->allowed.empty(); });
    Texels out = empty_texels(1, divide_up(columns, joined), masked);
    for (Index c = 0; c < out.columns; ++c) {
        Pool pool;
        for (const RowPart& part : parts)
            for (Index from = c * joined; from < std::min((c + 1) * joined, columns); ++from)
                pool.add(*part.texels, part.texels->at(part.row, from),
                         part.height * keys.extent(from));
        pool.store(out, static_cast<std::size_t>(c));
    }
    return out;
}

Texels slice_rows(std::span<const TexelRow> rows, const SliceOf& slice) {
    const Index count = std::min(slice.count, slice.keys.texels() - slice.first);
    const bool masked =
        std::ranges::any_of(rows, [](const TexelRow& row) { return !row->allowed.empty(); });
    Texels out = empty_texels(static_cast<Index>(rows.size()), count, masked);
    for (Index r = 0; r < out.rows; ++r) {
        const Texels& row = *rows[r];
        const std::size_t at = out.at(r, 0);
        copy_part(row.mean, slice.first, count, out.mean, at);
        copy_part(row.max, slice.first, count, out.max, at);
        copy_part(row.log_mean, slice.first, count, out.log_mean, at);
        if (!row.allowed.empty())
            copy_part(row.allowed, slice.first, count, out.allowed, at);
        else if (masked)
            for (Index c = 0; c < count; ++c)
                out.allowed[at + static_cast<std::size_t>(c)] = pair_count(
                    slice.queries.extent(slice.first_row + r) * slice.keys.extent(slice.first + c));
    }
    return out;
}

std::size_t bytes_of(const Texels& texels) {
    return sizeof(Texels) +
           (texels.mean.size() + texels.max.size() + texels.log_mean.size()) * sizeof(float) +
           texels.allowed.size() * sizeof(std::uint32_t);
}

}  // namespace attn::large
