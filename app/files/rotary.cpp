// RoPE's cosines and sines of arrays, and the positions that make them.

#include <algorithm>

#include <fmt/format.h>

#include "app/files/inputs.h"
#include "app/files/layers.h"
#include "core/call.h"
#include "core/spec_arrays.h"

namespace attn::files {
namespace {

/// Queries or keys of the call, and the arrays that turn them: "" for one that the file does not have.
struct RotarySide {
    Rotated side;
    Index rows;
    std::string cos, sin, positions;
    bool cache;  // a row of cos and sin is a position
};

std::string axes_text(std::initializer_list<Index> axes) {
    return to_string(std::vector<Index>(axes));
}

class RotaryReader {
  public:
    explicit RotaryReader(const RotaryArrays& arrays)
        : reader_(arrays.reader),
          listing_(arrays.listing),
          options_(arrays.options),
          size_(arrays.size) {}

    void read(AttentionSpec& spec, std::vector<Note>& notes) {
        const RotarySide q = find("q_", Rotated::queries, size_.tq);
        const RotarySide k = find("k_", Rotated::keys, size_.tk);
        check_sides(q, k);
        if (options_.log_temperature) return grow_queries(q, spec);
        if (!q.cos.empty()) return read_turns(q, k, spec, notes);
        if (q.positions.empty()) return check_unused_sections();
        if (!spec.rope) {
            notes.push_back(
                fmt::format("{}: {} changes nothing without rope", reader_.path(), q.positions));
            return;
        }
        Rope& rope = *spec.rope;
        const Index dims = rope.dims.value_or(size_.d_k);
        const RotarySections sections = sections_of(dims);
        const auto turns = [&](const RotarySide& side) {
            return made(side.positions,
                        turns_at(positions(side, std::max<Index>(std::ssize(sections.pairs), 1)),
                                 rope, dims, sections));
        };
        rope.tables = make_rotary_tables(turns(q), turns(k));
    }

  private:
    /// Of a layer without RoPE: a cosine is the factor of its query, and every sine is 0.
    void grow_queries(const RotarySide& q, AttentionSpec& spec) const {
        const auto wrong = [&](std::string_view why) {
            throw bad_input(fmt::format("{}: log-temperature is for layers without RoPE, and {}",
                                        reader_.path(), why));
        };
        if (spec.rope) wrong("rope is given; leave one out");
        if (!q.cos.empty()) wrong(fmt::format("{} is given; leave one out", q.cos));
        if (size_.d_k % 2 != 0)
            throw bad_input(
                fmt::format("{}: d_k is {} with log-temperature; expected an even number",
                            reader_.path(), size_.d_k));
        spec.rope.emplace().tables = std::make_shared<const RotaryTables>(log_temperature_tables(
            *options_.log_temperature, cache_rows(q, spec), size_.tk, size_.d_k));
    }

    std::string array(std::string_view role) const {
        std::string name = file_array(listing_, role);
        return reader_.has(name) ? name : "";
    }
    [[noreturn]] void refuse(const std::string& name, const std::string& problem) const {
        throw bad_input(fmt::format("{}: {} {}", reader_.path(), name, problem));
    }
    template <class Value>
    Value made(const std::string& name, Result<Value> result) const {
        if (!result)
            throw Failure(within(fmt::format("{}: {}", reader_.path(), name), result.error()));
        return *std::move(result);
    }

    RotarySide find(std::string_view prefix, Rotated side, Index rows) const {
        const auto own_or_shared = [&](std::string_view role) {
            std::string own = array(fmt::format("{}{}", prefix, role));
            return own.empty() ? array(role) : own;
        };
        RotarySide found{
            side, rows, own_or_shared("cos"), own_or_shared("sin"), own_or_shared("positions"),
            false};
        const std::string cos = array("cos_cache"), sin = array("sin_cache");
        if (!cos.empty() && !found.cos.empty())
            refuse(cos, fmt::format("and {} are given; give one", found.cos));
        if (found.cos.empty() && (!cos.empty() || !sin.empty())) {
            found.cos = cos, found.sin = sin;
            found.cache = !cos.empty() && reader_.axes_of(cos).size() == 2;
        }
        if (found.cos.empty() != found.sin.empty())
            refuse(found.cos + found.sin, fmt::format("is given without {}; give both",
                                                      found.cos.empty() ? "cos" : "sin"));
        if (found.cos.empty() || found.cache || found.positions.empty()) return found;
        const auto axes = reader_.axes_of(found.cos);
        if (axes.size() == 2 && axes.front() != rows)
            found.cache = true;
        else
            refuse(found.cos, fmt::format("has a row for each token, and {} is given too; call "
                                          "them cos_cache and sin_cache if a row is a position, or "
                                          "leave {} out",
                                          found.positions, found.positions));
        return found;
    }

    /// An array for both needs as many queries as keys, but for a cache, which has rows for all positions.
    void check_sides(const RotarySide& q, const RotarySide& k) const {
        const auto check = [&](const std::string& of_q, const std::string& of_k,
                               std::string_view role) {
            if (of_q.empty() != of_k.empty())
                refuse(of_q + of_k, fmt::format("is given without {}_{}; give both",
                                                of_q.empty() ? "q" : "k", role));
            if (of_q == of_k && !of_q.empty() && size_.tq != size_.tk)
                refuse(of_q, fmt::format("applies to both queries and keys, but there are {} and "
                                         "{}; give q_{} and k_{}",
                                         size_.tq, size_.tk, role, role));
        };
        check(q.positions, k.positions, "positions");
        if (!q.cache || !k.cache) check(q.cos, k.cos, "cos"), check(q.sin, k.sin, "sin");
    }

    void check_unused_sections() const {
        if (options_.rope_sections)
            throw bad_input(fmt::format(
                "{}: rope-sections is given without positions; expected the array positions, with "
                "a row for each section",
                reader_.path()));
    }

    RotarySections sections_of(Index dims) const {
        if (!options_.rope_sections) return {};
        RotarySections sections = *options_.rope_sections;
        if (!sections.own_frequencies) return sections;
        if (dims % 4 != 0)
            throw bad_input(fmt::format(
                "{}: rope-sections is 2d, and {} columns turn; expected a multiple of 4",
                reader_.path(), dims));
        sections.pairs = {dims / 4, dims / 4};
        return sections;
    }

    /// [1 or B, axes, rows, 1]
    TensorD positions(const RotarySide& side, Index axes) const {
        const NpyArray given = reader_.array(side.positions);
        std::vector<double> values;
        if (const auto* const doubles = std::get_if<std::vector<double>>(&given.values))
            values = *doubles;
        if (const auto* const floats = std::get_if<std::vector<float>>(&given.values))
            values.assign(floats->begin(), floats->end());
        std::vector<Index> extents = given.extents;
        if (axes == 1) extents.insert(extents.begin(), 1);
        if (extents.size() == 2) extents.insert(extents.begin() + 1, 1);
        const bool fits = extents.size() == 3 && extents[0] == axes &&
                          (extents[1] == 1 || extents[1] == size_.batch) &&
                          extents[2] == side.rows && !values.empty();
        if (!fits)
            refuse(side.positions,
                   fmt::format("is {} {}; expected integers or floats {} or {}, a position for "
                               "each token{}",
                               given.dtype, to_string(given.extents),
                               axes == 1 ? axes_text({side.rows}) : axes_text({axes, side.rows}),
                               axes == 1 ? axes_text({size_.batch, side.rows})
                                         : axes_text({axes, size_.batch, side.rows}),
                               axes == 1 ? "" : " and section"));
        TensorD each({extents[1], axes, side.rows, 1});
        for (Index s = 0; s < axes; ++s)
            for (Index b = 0; b < extents[1]; ++b)
                for (Index t = 0; t < side.rows; ++t)
                    each(b, s, t, 0) =
                        values[static_cast<std::size_t>((s * extents[1] + b) * side.rows + t)];
        return each;
    }
    /// Without the array: query i at i + query_offset, key j at j.
    TensorD cache_rows(const RotarySide& side, const AttentionSpec& spec) const {
        if (!side.positions.empty()) return positions(side, 1);
        const Index first = side.side == Rotated::queries ? query_offset(spec, size_) : 0;
        TensorD rows({1, 1, side.rows, 1});
        for (Index t = 0; t < side.rows; ++t) rows(0, 0, t, 0) = static_cast<double>(first + t);
        return rows;
    }

    /// [1 or B, S, rows, columns]
    Tensor table(const std::string& name, const RotarySide& side, bool sections) const {
        const auto extents = reader_.axes_of(name);
        constexpr std::string_view kLetters[] = {"Td", "BTd", "BHTd"};
        const std::size_t axes = extents.size();
        std::optional<Placement> place;
        if (axes >= 2 && axes <= 4)
            place = place_letters(extents, axes == 4 && sections ? "HBTd" : kLetters[axes - 2], 1);
        const bool fits = place && (place->shape.b == 1 || place->shape.b == size_.batch) &&
                          (place->shape.h == 1 || (sections && axes == 4)) &&
                          (side.cache ? place->shape.b == 1 : place->shape.t == side.rows);
        if (!fits)
            refuse(name,
                   fmt::format("is {}; expected [{}, n] or [{}, {}, n], n = d_k/2 for a number of "
                               "each column pair, or d_k",
                               to_string(extents),
                               side.cache ? "positions" : fmt::format("{}", side.rows), size_.batch,
                               side.rows));
        return gather(*place, reader_.numbers(name));
    }
    RotaryTurns turns_as_given(const RotarySide& side) const {
        const bool sections = options_.rope_sections && !side.cache;
        RotaryTurns turns{table(side.cos, side, sections), table(side.sin, side, sections)};
        if (turns.cos.shape() != turns.sin.shape())
            refuse(side.cos, fmt::format("is {}, but {} is {}; expected the same axes",
                                         to_string(turns.cos.shape()), side.sin,
                                         to_string(turns.sin.shape())));
        return turns;
    }

    /// Whether cos and sin have one column for each pair, or both of each.
    RotaryColumns columns_of(const std::string& name, const RotaryTurns& turns) const {
        const Index width = turns.cos.shape().d;
        const bool halves = has_columns(turns, RotaryColumns::halves);
        const bool neighbours = has_columns(turns, RotaryColumns::neighbours);
        const auto doubled =
            neighbours && (!halves || options_.rope_pairs == RopePairs::interleaved)
                ? RotaryColumns::neighbours
                : RotaryColumns::halves;
        const auto dims = options_.rope_dims;
        if (!dims && 2 * width <= size_.d_k && (halves || neighbours))
            throw Failure(Error{
                .problem = fmt::format("the columns of {} are equal in pairs, so {} or {} columns "
                                       "rotate",
                                       name, width, 2 * width),
                .code = ErrorCode::ambiguous,
                .where = reader_.path(),
                .remedies = {{.option = "rope-dims",
                              .value = fmt::format("{}", width),
                              .meaning = "it has both columns of each pair"},
                             {.option = "rope-dims",
                              .value = fmt::format("{}", 2 * width),
                              .meaning = "it has a number for each pair"}}});
        if (dims ? 2 * width == *dims : 2 * width <= size_.d_k) return RotaryColumns::pairs;
        if ((halves || neighbours) && width == dims.value_or(width) && width <= size_.d_k)
            return doubled;
        refuse(name, dims
                         ? fmt::format("has {} columns; expected {}, one for each pair of the {} "
                                       "columns that turn, or {} with both columns of a pair equal",
                                       width, *dims / 2, *dims, *dims)
                         : fmt::format("has {} columns for queries of width {}; expected at most "
                                       "{}, one for each column pair, or both columns of each "
                                       "pair equal",
                                       width, size_.d_k, size_.d_k / 2));
    }

    /// Which columns turn together: by the option, or as cos and sin write the columns of a pair.
    RopePairs pairs_of(const std::string& name, RotaryColumns columns) const {
        if (options_.rope_pairs) return *options_.rope_pairs;
        if (columns == RotaryColumns::halves) return RopePairs::half;
        if (columns == RotaryColumns::neighbours) return RopePairs::interleaved;
        throw Failure(Error{
            .problem = fmt::format("{} does not say which columns rotate together", name),
            .code = ErrorCode::ambiguous,
            .where = reader_.path(),
            .remedies = {
                {.option = "rope", .value = "half", .meaning = "columns c and c + d/2"},
                {.option = "rope", .value = "interleaved", .meaning = "columns 2c and 2c + 1"}}});
    }

    void check_idle_options(const std::string& name) const {
        if (!options_.rope_base && !options_.rope_scaling) return;
        throw bad_input(fmt::format("{}: {} is given with {}, which it replaces; give one",
                                    reader_.path(), name,
                                    options_.rope_base ? "rope-base" : "rope-scaling"));
    }

    void read_turns(const RotarySide& q, const RotarySide& k, AttentionSpec& spec,
                    std::vector<Note>& notes) {
        check_idle_options(q.cos);
        RotaryTurns of_q = turns_as_given(q);
        RotaryTurns of_k = k.cos == q.cos ? of_q : turns_as_given(k);
        const RotaryColumns columns = columns_of(q.cos, of_q);
        const RopePairs pairs = pairs_of(q.cos, columns);
        const auto finish = [&](const RotarySide& side, const RotaryTurns& given) {
            if (columns_of(side.cos, given) != columns || given.cos.shape().d != of_q.cos.shape().d)
                refuse(side.cos,
                       fmt::format("has other columns than {}; expected the same", q.cos));
            RotaryTurns turns = one_column_a_pair(given, columns);
            const Index width = turns.cos.shape().d;
            if (turns.cos.shape().h > 1) turns = of_sections(side, turns, 2 * width);
            return side.cache ? made(q.cos, turns_of_cache(turns, cache_rows(side, spec))) : turns;
        };
        const RotaryTurns turned_k = finish(k, of_k), turned_q = finish(q, of_q);
        if (options_.rope_sections && of_q.cos.shape().h == 1)
            refuse(q.cos, "has no sections, and rope-sections is given; leave it out");
        const Index dims = 2 * turned_q.cos.shape().d;
        Rope rope{.pairs = pairs, .dims = std::nullopt, .tables = {}};
        if (dims != size_.d_k) rope.dims = dims;
        rope.tables = make_rotary_tables(turned_q, turned_k);
        spec.rope = std::move(rope);
        if (columns != RotaryColumns::pairs)
            notes.push_back(fmt::format("{}: {} has both columns of each pair: {} columns rotate",
                                        reader_.path(), q.cos, dims));
    }
    RotaryTurns of_sections(const RotarySide& side, const RotaryTurns& turns, Index dims) const {
        const RotarySections sections = sections_of(dims);
        Index pairs = 0;
        for (const Index each : sections.pairs) pairs += each;
        if (pairs != dims / 2 || turns.cos.shape().h != std::ssize(sections.pairs))
            refuse(
                side.cos,
                fmt::format("has {} sections of {} column pairs; expected those of rope-sections",
                            turns.cos.shape().h, dims / 2));
        return turns_of_sections(turns, sections);
    }

    ArrayReader& reader_;
    const Listing& listing_;
    const CallOptions& options_;
    const Dimensions& size_;
};

}  // namespace

bool has_rotary(const ArrayReader& reader, const Listing& listing) {
    return std::ranges::any_of(
        std::initializer_list<std::string_view>{"cos", "sin", "q_cos", "q_sin", "k_cos", "k_sin",
                                                "cos_cache", "sin_cache"},
        [&](std::string_view role) { return reader.has(file_array(listing, role)); });
}

void read_rotary(const RotaryArrays& arrays, AttentionSpec& spec, std::vector<Note>& notes) {
    RotaryReader(arrays).read(spec, notes);
}

}  // namespace attn::files
