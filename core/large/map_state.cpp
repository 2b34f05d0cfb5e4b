#include "core/large/map_state.h"

#include <algorithm>
#include <cmath>

#include "core/large/stored_strips.h"

namespace attn::large {
namespace {

double pairs_of(const WeightSource& source, Head head, KeyRange rows) {
    const MaskSpec& mask = source.spec.mask;
    if (!mask.any()) return static_cast<double>((rows.end - rows.begin) * source.size.tk);
    Index count = 0;
    for (Index i = rows.begin; i < rows.end; ++i) {
        count += key_runs(mask, source.size, head.b, i).count();
    }
    return static_cast<double>(count);
}

}  // namespace

HeadState::HeadState(const WeightSource& source, Head head_, const MapLimits& limits)
    : head(head_),
      pyramid(source, limits.pyramid_bytes),
      plan(plan_preview(source, pyramid.base_level(), 1)),
      sampled(plan.rows.size()),
      strips(static_cast<std::size_t>(pyramid.strip_count()), Strip::missing) {
    for (const Index row : plan.rows) preview_pairs += pairs_of(source, head, {row, row + 1});
}

Index HeadState::chunk_count() const {
    const Index rows = strip_rows(1);
    return (static_cast<Index>(plan.rows.size()) + rows - 1) / rows;
}

KeyRange HeadState::chunk_rows(Index chunk) const {
    const Index rows = strip_rows(1);
    return {chunk * rows, std::min((chunk + 1) * rows, static_cast<Index>(plan.rows.size()))};
}

Index HeadState::strips_done_in(KeyRange range) const {
    return std::count(strips.begin() + range.begin, strips.begin() + range.end, Strip::done);
}

KeyRange HeadState::strips_of(const TileId& id, const Dimensions& size) const {
    return pyramid.strips_of(cells_of(id, size).rows);
}

std::vector<KeyRange> HeadState::known_rows() const {
    std::vector<KeyRange> runs;
    for (Index s = 0; s < pyramid.strip_count(); ++s) {
        if (strips[s] != Strip::done) continue;
        const KeyRange rows = pyramid.strip_rows(s);
        if (!runs.empty() && runs.back().end == rows.begin)
            runs.back().end = rows.end;
        else
            runs.push_back(rows);
    }
    return runs;
}

bool HeadState::is_exact(const TileId& id, const Dimensions& size) const {
    const KeyRange range = strips_of(id, size);
    return strips_done_in(range) == range.end - range.begin;
}

void HeadState::keep_census(const WeightSource& source, Census&& found) {
    census = std::move(found);
    nan = {};
    rows_unknown = std::ranges::count(census->rows, RowFate::unknown);
    for (Index s = 0; s < pyramid.strip_count(); ++s)
        if (strips[s] == Strip::done) {
            const KeyRange rows = pyramid.strip_rows(s);
            for (Index i = rows.begin; i < rows.end; ++i) resolve_fate(source, i);
        }
    for (Index i = 0; i < source.size.tq; ++i)
        add_nan_row(source, head, i, census->rows[i], 0, source.size.tk, nan);
    ++nan_version;
}

std::vector<double> HeadState::count_pairs(const WeightSource& source,
                                           const std::filesystem::path& strips_read) const {
    std::error_code none;
    std::vector<double> counted;
    for (Index s = 0; s < pyramid.strip_count(); ++s) {
        const bool read =
            !strips_read.empty() && std::filesystem::exists(strip_file(strips_read, head, s), none);
        counted.push_back(read ? 0.0 : pairs_of(source, head, pyramid.strip_rows(s)));
    }
    return counted;
}

void HeadState::resolve_fates(const WeightSource& source, KeyRange rows) {
    if (!census) return;
    for (Index i = rows.begin; i < rows.end; ++i) {
        if (!resolve_fate(source, i)) continue;
        ++nan_version;
        add_nan_row(source, head, i, census->rows[i], 0, source.size.tk, nan);
    }
}

bool HeadState::resolve_fate(const WeightSource& source, Index row) {
    RowFate& fate = census->rows[row];
    if (fate == RowFate::nan || fate == RowFate::nan_everywhere) return false;
    const float logsumexp = pyramid.logsumexp({row, row + 1})[0];
    if (fate == RowFate::finite && std::isfinite(logsumexp)) return false;
    if (fate == RowFate::unknown) {
        --rows_unknown;
        ++nan_version;
    }
    fate = fate_of(source, head, row, logsumexp);
    return fate != RowFate::finite;
}

double MapState::pass_seconds(double now) const {
    return head->pass_seconds + (head->strips_running > 0 ? now - head->pass_resumed : 0.0);
}

double MapState::speed(double now) const {
    constexpr double kEnoughSeconds = 0.05;
    const double seconds = pass_seconds(now);
    if (head->pass_pairs > 0.0 && seconds > kEnoughSeconds)
        return gflop(head->pass_pairs) / seconds;
    return head->preview_gflops;
}

}  // namespace attn::large
