#include "core/large/pyramid.h"
#include "core/large/weight_source.h"
#include "core/rounding.h"
#include "core/stages.h"

#include <algorithm>
#include <array>

namespace attn::large {
namespace {

constexpr int kFinestBlocks = 5;  // 32 × 32

std::size_t pyramid_bytes(const Dimensions& size, int base, int top, bool masked) {
    std::size_t bytes = 0;
    for (int level = base; level <= top; ++level) {
        const TexelAxis rows{Index{1} << level, size.tq};
        const TexelAxis columns{Index{1} << level, size.tk};
        bytes += static_cast<std::size_t>(rows.texels() * columns.texels()) * (masked ? 16U : 12U);
    }
    return bytes;
}

int finest_that_fits(const WeightSource& source, int top, std::size_t budget_bytes) {
    int base = std::min(kFinestBlocks, std::max(top - 1, 0));
    while (base < top &&
           pyramid_bytes(source.size, base, top, source.spec.mask.any()) > budget_bytes)
        ++base;
    return base;
}

}  // namespace

Pyramid::Pyramid(const WeightSource& source, std::size_t budget_bytes)
    : tq_(source.size.tq),
      tk_(source.size.tk),
      top_level_(level_count(source.size) - 1),
      base_level_(finest_that_fits(source, top_level_, budget_bytes)),
      strip_height_(attn::large::strip_rows(block_side())),
      strip_count_(divide_up(tq_, strip_height_)),
      logsumexp_(static_cast<std::size_t>(tq_)) {
    for (int level = base_level_; level <= top_level_; ++level) {
        const auto rows = static_cast<std::size_t>(queries(level).texels());
        levels_.push_back({std::vector<TexelRow>(rows), std::vector<char>(rows, 0)});
    }
}

KeyRange Pyramid::strip_rows(Index strip) const {
    return {strip * strip_height_, std::min((strip + 1) * strip_height_, tq_)};
}

KeyRange Pyramid::strips_of(KeyRange rows) const {
    return {rows.begin / strip_height_, divide_up(rows.end, strip_height_)};
}

void Pyramid::add_strip(Index strip, PooledRows&& pooled) {
    const KeyRange rows = strip_rows(strip);
    std::ranges::copy(pooled.logsumexp, logsumexp_.begin() + rows.begin);
    const Index first = rows.begin / block_side();
    for (Index r = 0; r < pooled.texels.rows; ++r) {
        const RowPart part{&pooled.texels, r, queries(base_level_).extent(first + r)};
        add_row(base_level_, first + r, join_rows({&part, 1}, keys(base_level_), 1));
    }
    for (Index r = 0; r < pooled.texels.rows; ++r)
        for (int level = base_level_ + 1; level <= top_level_; ++level) {
            const Index row = (first + r) >> (level - base_level_);
            if (!take(level, row)) break;
            add_row(level, row, fold(level, row));
        }
}

void Pyramid::add_row(int level, Index row, Texels&& texels) {
    const std::size_t more = bytes_of(texels);
    auto shared = std::make_shared<const Texels>(std::move(texels));
    const std::lock_guard lock(mutex_);
    bytes_ += more;
    at(level).rows[row] = std::move(shared);
}

bool Pyramid::take(int level, Index row) {
    const std::lock_guard lock(mutex_);
    char& taken = at(level).taken[row];
    const std::vector<TexelRow>& below = at(level - 1).rows;
    const auto child = static_cast<std::size_t>(2 * row);
    if (taken != 0 || !below[child]) return false;
    if (child + 1 < below.size() && !below[child + 1]) return false;
    taken = 1;
    return true;
}

Texels Pyramid::fold(int level, Index row) const {
    const TexelAxis below = queries(level - 1);
    const TexelRow upper = this->row(level - 1, 2 * row);
    const TexelRow lower =
        2 * row + 1 < below.texels() ? this->row(level - 1, 2 * row + 1) : TexelRow{};
    const std::array<RowPart, 2> parts{
        RowPart{upper.get(), 0, below.extent(2 * row)},
        RowPart{lower.get(), 0, lower ? below.extent(2 * row + 1) : 0}};
    return join_rows({parts.data(), lower ? 2U : 1U}, keys(level - 1), 2);
}

TexelRow Pyramid::row(int level, Index row) const {
    const std::lock_guard lock(mutex_);
    return at(level).rows[row];
}

std::span<const float> Pyramid::logsumexp(KeyRange rows) const {
    return {logsumexp_.data() + rows.begin, static_cast<std::size_t>(rows.end - rows.begin)};
}

std::size_t Pyramid::bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
}

}  // namespace attn::large
