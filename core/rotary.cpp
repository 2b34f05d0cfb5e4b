// p position, c column pair, s section.

#include "core/rotary.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "core/entries.h"
#include "core/spec.h"
#include "core/spec_arrays.h"
#include "core/text.h"

namespace attn {
namespace {

/// Beyond it a double has no digits left for the fraction of a turn.
constexpr double kFarthestPosition = 0x1.0p40;

/// Radians a position, and the section, of each column pair.
struct PairTurn {
    double frequency;
    Index section;
};

/// The section of each column pair.
std::vector<Index> section_of_pairs(const RotarySections& sections) {
    std::vector<Index> section;
    for (std::size_t s = 0; s < sections.pairs.size(); ++s)
        section.insert(section.end(), static_cast<std::size_t>(sections.pairs[s]),
                       sections.interleaved ? 0 : static_cast<Index>(s));
    if (!sections.interleaved) return section;
    const Index count = std::ssize(sections.pairs);
    for (Index s = 1; s < count; ++s) {
        const Index end = std::min(count * sections.pairs[static_cast<std::size_t>(s)],
                                   Index{std::ssize(section)});
        for (Index c = s; c < end; c += count) section[static_cast<std::size_t>(c)] = s;
    }
    return section;
}

std::vector<PairTurn> rules_of_pairs(const Rope& rope, Index dims, const RotarySections& sections) {
    std::vector<PairTurn> rules;
    if (sections.pairs.empty())
        for (Index c = 0; c < dims / 2; ++c) rules.push_back({rope_frequency(rope, c, dims), 0});
    if (sections.own_frequencies) {
        for (std::size_t s = 0; s < sections.pairs.size(); ++s)
            for (Index c = 0; c < sections.pairs[s]; ++c)
                rules.push_back(
                    {rope_frequency(rope, c, 2 * sections.pairs[s]), static_cast<Index>(s)});
        return rules;
    }
    for (const Index section : section_of_pairs(sections))
        rules.push_back({rope_frequency(rope, std::ssize(rules), dims), section});
    return rules;
}

const Tensor& cos_of(const RotaryTables& tables, Rotated side) {
    return side == Rotated::queries ? tables.q_cos : tables.k_cos;
}
const Tensor& sin_of(const RotaryTables& tables, Rotated side) {
    return side == Rotated::queries ? tables.q_sin : tables.k_sin;
}

Tensor batch_entry(const Tensor& table, Index b) {
    const Shape shape = table.shape();
    if (shape.b == 1) return table;
    const auto entry = table.values().subspan(static_cast<std::size_t>(b * shape.t * shape.d),
                                              static_cast<std::size_t>(shape.t * shape.d));
    return Tensor({1, 1, shape.t, shape.d}, {entry.begin(), entry.end()});
}

/// The other column of a pair, and the number of columns between the first ones of two pairs.
struct Doubled {
    Index other, step;
};
Doubled doubled_columns(Index columns, RotaryColumns how) {
    if (how == RotaryColumns::halves) return {columns / 2, 1};
    return how == RotaryColumns::neighbours ? Doubled{1, 2} : Doubled{0, 1};
}

}  // namespace

RotaryTurn rotary_turn(const Rope& rope, const Dimensions& size, Rotated side, RotaryPlace at) {
    if (rope.tables) {
        const Tensor& cos = cos_of(*rope.tables, side);
        const Index b = cos.shape().b == 1 ? 0 : at.b;
        return {cos(b, 0, at.t, at.c), sin_of(*rope.tables, side)(b, 0, at.t, at.c)};
    }
    const Index p = at.t + (side == Rotated::queries ? size.query_offset : 0);
    const double angle =
        static_cast<double>(p) * rope_frequency(rope, at.c, rope.dims.value_or(size.d_k));
    return {std::cos(angle), std::sin(angle)};
}

Rope rope_of_batch(Rope rope, Index b) {
    if (!rope.tables) return rope;
    const RotaryTables& all = *rope.tables;
    rope.tables = make_rotary_tables({batch_entry(all.q_cos, b), batch_entry(all.q_sin, b)},
                                     {batch_entry(all.k_cos, b), batch_entry(all.k_sin, b)});
    return rope;
}

std::shared_ptr<const RotaryTables> make_rotary_tables(RotaryTurns queries, RotaryTurns keys) {
    return std::make_shared<const RotaryTables>(RotaryTables{
        std::move(queries.cos), std::move(queries.sin), std::move(keys.cos), std::move(keys.sin)});
}

Result<RotaryTurns> turns_at(const TensorD& positions, const Rope& rope, Index dims,
                             const RotarySections& sections) {
    const Shape shape = positions.shape();
    const auto rules = rules_of_pairs(rope, dims, sections);
    if (std::ssize(rules) != dims / 2)
        return bad_input(
            fmt::format("the sections of RoPE have {} together; expected {}, half of "
                        "the {} columns that turn",
                        counted(std::ssize(rules), "column pair"), dims / 2, dims));
    const Index axes = std::max<Index>(std::ssize(sections.pairs), 1);
    if (shape.h != axes)
        return bad_input(fmt::format("a token has {}; expected {}, one for each section of RoPE",
                                     counted(shape.h, "position"), axes));
    for (const double p : positions.values())
        if (!(std::abs(p) <= kFarthestPosition))
            return bad_input(
                fmt::format("a position is {}; expected a number from -2^40 to 2^40", p));
    RotaryTurns turns{Tensor({shape.b, 1, shape.t, dims / 2}),
                      Tensor({shape.b, 1, shape.t, dims / 2})};
    for_each_entry(turns.cos.shape(), [&](Index b, Index, Index t, Index c) {
        const PairTurn& rule = rules[static_cast<std::size_t>(c)];
        const double angle = positions(b, rule.section, t, 0) * rule.frequency;
        turns.cos(b, 0, t, c) = static_cast<float>(std::cos(angle));
        turns.sin(b, 0, t, c) = static_cast<float>(std::sin(angle));
    });
    return turns;
}

Result<RotaryTurns> turns_of_cache(const RotaryTurns& cache, const TensorD& positions) {
    const Shape shape = positions.shape();
    const Index rows = cache.cos.shape().t, pairs = cache.cos.shape().d;
    RotaryTurns turns{Tensor({shape.b, 1, shape.t, pairs}), Tensor({shape.b, 1, shape.t, pairs})};
    for (Index b = 0; b < shape.b; ++b)
        for (Index t = 0; t < shape.t; ++t) {
            const double p = positions(b, 0, t, 0);
            if (!(p >= 0.0 && p < static_cast<double>(rows) && p == std::floor(p)))
                return bad_input(fmt::format(
                    "a position is {}; expected a whole number from 0 to {}, a row of the cache", p,
                    rows - 1));
            const auto row = static_cast<Index>(p);
            std::ranges::copy(cache.cos.matrix(0, 0).row(row),
                              turns.cos.matrix(b, 0).row(t).begin());
            std::ranges::copy(cache.sin.matrix(0, 0).row(row),
                              turns.sin.matrix(b, 0).row(t).begin());
        }
    return turns;
}

RotaryTables log_temperature_tables(const LogTemperature& temperature, const TensorD& positions,
                                    Index keys, Index dims) {
    const Shape shape = positions.shape();
    const Shape of_queries{shape.b, 1, shape.t, dims / 2}, of_keys{1, 1, keys, dims / 2};
    RotaryTables tables{Tensor(of_queries), Tensor(of_queries), Tensor(of_keys, 1.0F),
                        Tensor(of_keys)};
    for_each_entry(of_queries, [&](Index b, Index, Index t, Index c) {
        const double steps = std::floor((positions(b, 0, t, 0) + 1.0) / temperature.floor);
        tables.q_cos(b, 0, t, c) = static_cast<float>(1.0 + temperature.scale * std::log1p(steps));
    });
    return tables;
}

bool has_columns(const RotaryTurns& turns, RotaryColumns columns) {
    if (columns == RotaryColumns::pairs) return true;
    const Index width = turns.cos.shape().d;
    if (width % 2 != 0) return false;
    const auto [other, step] = doubled_columns(width, columns);
    for (const Tensor* table : {&turns.cos, &turns.sin}) {
        const std::span<const float> values = table->values();
        for (std::size_t row = 0; row < values.size(); row += static_cast<std::size_t>(width))
            for (Index c = 0; c < width / 2; ++c) {
                const std::size_t first = row + static_cast<std::size_t>(c * step);
                if (values[first] != values[first + static_cast<std::size_t>(other)]) return false;
            }
    }
    return true;
}

RotaryTurns one_column_a_pair(const RotaryTurns& turns, RotaryColumns columns) {
    if (columns == RotaryColumns::pairs) return turns;
    const Shape all = turns.cos.shape();
    const Shape shape{all.b, all.h, all.t, all.d / 2};
    const Index step = doubled_columns(all.d, columns).step;
    RotaryTurns pairs{Tensor(shape), Tensor(shape)};
    for_each_entry(shape, [&](Index b, Index s, Index t, Index c) {
        pairs.cos(b, s, t, c) = turns.cos(b, s, t, c * step);
        pairs.sin(b, s, t, c) = turns.sin(b, s, t, c * step);
    });
    return pairs;
}

RotaryTurns turns_of_sections(const RotaryTurns& turns, const RotarySections& sections) {
    const Shape all = turns.cos.shape();
    const Shape shape{all.b, 1, all.t, all.d};
    const std::vector<Index> section = section_of_pairs(sections);
    ATTN_CHECK(std::ssize(section) == all.d && std::ssize(sections.pairs) == all.h,
               "every pair has a section of its own");
    RotaryTurns own{Tensor(shape), Tensor(shape)};
    for_each_entry(shape, [&](Index b, Index, Index t, Index c) {
        own.cos(b, 0, t, c) = turns.cos(b, section[static_cast<std::size_t>(c)], t, c);
        own.sin(b, 0, t, c) = turns.sin(b, section[static_cast<std::size_t>(c)], t, c);
    });
    return own;
}

}  // namespace attn
