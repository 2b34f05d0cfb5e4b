#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/files/inputs.h"
#include "core/bias.h"
#include "core/call.h"
#include "core/entries.h"
#include "core/key_sets.h"
#include "core/masks.h"
#include "core/memory.h"
#include "core/spec_arrays.h"

namespace attn::files {
namespace {

/// Numbers by which programs forbid a pair instead of −∞: the lowest of float32, float16 and bfloat16, and −10⁴ as Hugging Face's
/// BERT and GPT-2 wrote. −∞ first.
constexpr std::array kForbiddingNumbers{kForbidding, std::numeric_limits<float>::lowest(),
                                        -65504.0F, -0x1.FEp127F, -1e4F};

/// The three readings of a float array called mask.
enum class MaskReading { mask, zeros_and_ones, bias };

MaskReading reading_of(std::span<const float> values) {
    bool forbids = false, ones = false, other = false;
    for (const float value : values) {
        if (value == 0.0F) continue;
        const bool forbidding = std::ranges::count(kForbiddingNumbers, value) > 0;
        forbids = forbids || forbidding;
        ones = ones || value == 1.0F;
        other = other || !(forbidding || value == 1.0F);
    }
    if (other || (ones && forbids)) return MaskReading::bias;
    return ones ? MaskReading::zeros_and_ones : MaskReading::mask;
}

/// "-inf", "-10000 and -inf"
std::string forbidding_text(std::span<const float> values) {
    std::string text;
    for (const float number : kForbiddingNumbers)
        if (std::ranges::count(values, number) > 0)
            text += fmt::format("{}{}", text.empty() ? "" : " and ", number);
    return text;
}

bool is_float(std::string_view dtype) { return dtype.starts_with("float") || dtype == "bfloat16"; }

/// A float mask: see MaskReading.
void read_float_mask(ArrayReader& reader, const std::string& name, const Dimensions& size,
                     MaskSpec& mask, std::vector<Note>& notes) {
    Tensor values = pairs_of(reader, name, "mask", size);
    const std::span<const float> numbers = std::as_const(values).values();
    const std::string what = fmt::format("{}: {} {}", reader.path(), name, reader.dtype_of(name));
    switch (reading_of(numbers)) {
        case MaskReading::zeros_and_ones:
            throw bad_input(fmt::format(
                "{} has only 0 and 1, which is ambiguous: save it as bool if 1 means that a query "
                "may attend, or as the array bias if the numbers are added to the scores",
                what));
        case MaskReading::mask: {
            Mask allowed(values.shape());
            std::ranges::transform(numbers, allowed.values().begin(),
                                   [](float value) { return value == 0.0F ? 1 : 0; });
            const std::string forbids = forbidding_text(numbers);
            notes.push_back(forbids.empty()
                                ? fmt::format("{} has only 0 and is read as a mask that allows "
                                              "every pair",
                                              what)
                                : fmt::format("{} has only 0 and {} and is read as a mask: {} "
                                              "forbids a pair",
                                              what, forbids, forbids));
            mask.custom = std::make_shared<const Mask>(std::move(allowed));
            return;
        }
        case MaskReading::bias:
            if (mask.bias)
                throw bad_input(fmt::format(
                    "{} has numbers that are added to the scores, and so does bias; give only one",
                    what));
            notes.push_back(fmt::format(
                "{} has numbers other than 0 and -inf and is read as a bias: it is added to the "
                "scores",
                what));
            mask.bias = make_bias(std::move(values));
    }
}

}  // namespace

Tensor pairs_of(ArrayReader& reader, const std::string& name, std::string_view role,
                const Dimensions& size) {
    const auto extents = reader.axes_of(name);
    const Result<Shape> shape = four_axes(role, extents, size);
    if (!shape) throw Failure(within(reader.path(), shape.error()));
    if (auto fits = check_broadcast(*shape, size, role); !fits)
        throw Failure(within(reader.path(), fits.error()));
    return Tensor::shared(*shape, reader.numbers(name));
}

void read_mask(ArrayReader& reader, const std::string& name, const Dimensions& size, MaskSpec& mask,
               std::vector<Note>& notes) {
    if (!reader.has(name)) return;
    if (is_float(reader.dtype_of(name))) return read_float_mask(reader, name, size, mask, notes);
    NpyArray array = reader.array(name);
    auto* const values = std::get_if<std::vector<std::uint8_t>>(&array.values);
    if (!values)
        throw bad_input(
            fmt::format("{}: {} is {}; expected bool or uint8, true where a query may attend, or "
                        "floats that are added to the scores",
                        reader.path(), name, array.dtype));
    Result<Mask> read = mask_from_file(array.extents, std::move(*values), size);
    if (!read) throw Failure(within(reader.path(), read.error()));
    mask.custom = std::make_shared<const Mask>(*std::move(read));
}

void read_bias(ArrayReader& reader, const std::string& name, const Dimensions& size,
               MaskSpec& mask) {
    if (!reader.has(name)) return;
    mask.bias = make_bias(pairs_of(reader, name, "bias", size));
}

void add_pair_conditions(const ArrayReader& reader, std::span<const PairCondition> conditions,
                         const Dimensions& size, AttentionSpec& spec) {
    for (const PairCondition& each : conditions) {
        or_throw(check_fits_in_memory(
            static_cast<double>(size.tq) * static_cast<double>(size.tk),
            fmt::format("{}: the pairs that {} allows", reader.path(), each.option),
            "attend over fewer tokens", size));
        const Index offset = query_offset(spec, size);
        Mask allowed(Shape{1, 1, size.tq, size.tk});
        for (Index i = 0; i < size.tq; ++i)
            for (Index j = 0; j < size.tk; ++j)
                allowed(0, 0, i, j) = each.allows(spec.mask, i + offset, j) ? 1 : 0;
        spec.mask.custom = std::make_shared<const Mask>(
            spec.mask.custom ? both_allow(*spec.mask.custom, allowed) : std::move(allowed));
    }
}

void read_segments(ArrayReader& reader, const std::string& name, const Dimensions& size,
                   MaskSpec& mask, std::vector<Note>& notes) {
    if (!reader.has(name)) return;
    const std::string what = fmt::format("{}: {}", reader.path(), name);
    if (mask.custom)
        throw bad_input(fmt::format("{} and a mask or cu_seqlens are given; give one", what));
    const NpyArray array = reader.array(name);
    const auto* const ids = std::get_if<std::vector<double>>(&array.values);
    const std::vector<Index>& axes = array.extents;
    const bool fits = ids && !axes.empty() && axes.size() <= 2 && axes.back() == size.tq &&
                      (axes.size() == 1 || axes.front() == 1 || axes.front() == size.batch);
    if (!fits || size.tq != size.tk)
        throw bad_input(fmt::format(
            "{} is {} {}; expected int32 or int64 [{}] or [{}, {}], a number for each token, and "
            "as many queries as keys ({} and {})",
            what, array.dtype, to_string(axes), size.tq, size.batch, size.tq, size.tq, size.tk));
    const Index batch = axes.size() == 1 ? 1 : axes.front();
    or_throw(check_fits_in_memory(
        static_cast<double>(batch) * static_cast<double>(size.tq * size.tk),
        fmt::format("the pairs that {} allows", what), "attend over fewer tokens", size));
    Mask allowed(Shape{batch, 1, size.tq, size.tk});
    for (Index b = 0; b < batch; ++b) {
        const auto own = std::span(*ids).subspan(static_cast<std::size_t>(b * size.tq),
                                                 static_cast<std::size_t>(size.tq));
        for (Index i = 0; i < size.tq; ++i)
            std::ranges::transform(own, allowed.matrix(b, 0).row(i).begin(),
                                   [&](double id) -> std::uint8_t {
                                       return id == own[static_cast<std::size_t>(i)] ? 1 : 0;
                                   });
    }
    mask.custom = std::make_shared<const Mask>(std::move(allowed));
    notes.push_back(fmt::format("{}: a query sees the keys of its own number", what));
}

void read_valid_keys(const ArrayReader& reader, const std::string& name, const Dimensions& size,
                     AttentionSpec& spec, std::vector<Note>& notes) {
    if (!reader.has(name)) return;
    const std::string what = fmt::format("{}: {}", reader.path(), name);
    if (!spec.mask.padding.empty())
        throw bad_input(fmt::format("{} and padding are given; give one", what));
    const NpyArray array = reader.array(name);
    const auto* const counts = std::get_if<std::vector<double>>(&array.values);
    const auto fits = [&](double count) {
        return count >= 0.0 && count <= static_cast<double>(size.tk) && count == std::floor(count);
    };
    if (!counts || array.extents != std::vector<Index>{size.batch} ||
        !std::ranges::all_of(*counts, fits))
        throw bad_input(fmt::format(
            "{} is {} {}{}; expected int32 or int64 [{}], a number of keys from 0 to {} for each "
            "batch entry",
            what, array.dtype, to_string(array.extents),
            counts && counts->size() <= 8 ? fmt::format(" {}", *counts) : "", size.batch, size.tk));
    spec.mask.padding.assign(counts->begin(), counts->end());
    const auto is_whole = [&](Index count) { return count == size.tk; };
    if (spec.mask.causal != CausalAlign::bottom_right || spec.query_offset ||
        std::ranges::all_of(spec.mask.padding, is_whole))
        return;
    if (spec.mask.windowed() || spec.mask.block || spec.alibi || spec.rope)
        throw bad_input(fmt::format(
            "{} and causal=bottom-right put the queries of each batch entry at positions of their "
            "own, which windows, blocks, alibi and rope do not follow; expected none of these",
            what));
    const Shape own = spec.mask.custom ? spec.mask.custom->shape() : Shape{1, 1, 1, 1};
    const Shape shape{size.batch, own.h, size.tq, size.tk};
    or_throw(check_fits_in_memory(static_cast<double>(shape.count()),
                                  fmt::format("the pairs that {} allows", what),
                                  "attend over fewer tokens", size));
    Mask allowed(shape);
    for_each_row(shape, [&](Index b, Index h, Index i) {
        const Index last = i + spec.mask.padding[static_cast<std::size_t>(b)] - size.tq;
        for (Index j = 0; j <= std::min(last, size.tk - 1); ++j) {
            const auto given = spec.mask.custom ? broadcast_row(*spec.mask.custom, b, h, i)
                                                : std::span<const std::uint8_t>();
            allowed(b, h, i, j) =
                given.empty() ? 1 : given[given.size() == 1 ? 0 : static_cast<std::size_t>(j)];
        }
    });
    spec.mask.custom = std::make_shared<const Mask>(std::move(allowed));
    spec.mask.causal.reset();
    notes.push_back(
        fmt::format("{}: causal=bottom-right ends at the last valid key of each batch entry, as "
                    "the mask gives it",
                    what));
}

void read_slopes(ArrayReader& reader, const std::string& name, const Dimensions& size,
                 AttentionSpec& spec, std::vector<Note>& notes) {
    if (!reader.has(name)) return;
    const std::string what = fmt::format("{}: {}", reader.path(), name);
    if (spec.mask.bias || spec.alibi)
        throw bad_input(
            fmt::format("{} and {} are given; give one", what, spec.alibi ? "alibi" : "a bias"));
    const auto axes = reader.axes_of(name);
    const Index batch = axes.size() == 2 ? axes.front() : 1;
    if (axes.empty() || axes.size() > 2 || axes.back() != size.heads ||
        (batch != 1 && batch != size.batch))
        throw bad_input(fmt::format("{} is {}; expected a slope for each head, [{}] or [{}, {}]",
                                    what, to_string(axes), size.heads, size.batch, size.heads));
    const auto slopes = reader.numbers(name);
    or_throw(check_fits_in_memory(sizeof(float) * static_cast<double>(batch * size.heads) *
                                      static_cast<double>(size.tq * size.tk),
                                  fmt::format("the bias of {}", what), "attend over fewer tokens",
                                  size));
    const Index offset = spec.query_offset.value_or(size.tk - size.tq);
    Tensor bias(Shape{batch, size.heads, size.tq, size.tk});
    for (Index n = 0; n < batch * size.heads; ++n)
        for (Index i = 0; i < size.tq; ++i)
            for (Index j = 0; j < size.tk; ++j)
                bias.matrix(n / size.heads, n % size.heads)(i, j) =
                    -slopes[static_cast<std::size_t>(n)] *
                    static_cast<float>(std::abs(i + offset - j));
    spec.mask.bias = make_bias(std::move(bias));
    const std::string query =
        offset == 0 ? "i" : fmt::format("i {} {}", offset < 0 ? "−" : "+", std::abs(offset));
    notes.push_back(fmt::format("{}: −slope · |{} − j| is added to the scores", what, query));
}

void read_log_gates(ArrayReader& reader, const std::string& name, const Dimensions& size,
                    AttentionSpec& spec, std::vector<Note>& notes) {
    if (!reader.has(name)) return;
    const std::string what = fmt::format("{}: {}", reader.path(), name);
    if (spec.mask.bias) throw bad_input(fmt::format("{} and a bias are given; give one", what));
    if (!spec.mask.causal)
        throw bad_input(fmt::format(
            "{} is given without causal; expected causal as well: gates of the tokens between a "
            "key and a later query add up",
            what));
    const auto axes = reader.axes_of(name);
    const Index batch = axes.size() == 3 ? axes.front() : 1;
    const Index heads = axes.size() > 1 ? axes[axes.size() - 2] : 1;
    if (axes.empty() || axes.size() > 3 || axes.back() != size.tk ||
        (heads != 1 && heads != size.heads) || (batch != 1 && batch != size.batch))
        throw bad_input(fmt::format(
            "{} is {}; expected the log of a gate for each token, [{}], [{}, {}] or [{}, {}, {}]",
            what, to_string(axes), size.tk, size.heads, size.tk, size.batch, size.heads, size.tk));
    const auto numbers = reader.numbers(name);
    const auto above = std::ranges::find_if(numbers, [](float gate) { return gate > 0.0F; });
    if (above != numbers.end())
        throw bad_input(fmt::format("{} has {}; expected logs of gates between 0 and 1, at most 0",
                                    what, *above));
    or_throw(check_fits_in_memory(sizeof(float) * static_cast<double>(batch * heads) *
                                      static_cast<double>(size.tq) * static_cast<double>(size.tk),
                                  fmt::format("the bias of {}", what), "attend over fewer tokens",
                                  size));
    const Tensor gates(Shape{batch, heads, 1, size.tk}, {numbers.begin(), numbers.end()});
    spec.mask.bias = make_bias(forgetting_bias(gates, size.tq, query_offset(spec, size)));
    notes.push_back(fmt::format(
        "{}: the logs of the gates after key j up to the query are added to its score", what));
}

}  // namespace attn::files
