// Bugs of a tiled kernel, planted in code that is none of the hypotheses': seen, and named rightly. Right kernels of every
// format, tile and order: clean.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/numerics.h"
#include "core/rng.h"
#include "core/verify/report.h"
#include "tests/support/random.h"
#include "tests/verify/flash.h"

using namespace attn;
using namespace attn::test;
using namespace attn::verify;

namespace {

/// A bug, the call in which it shows, and the row of the table that names it.
struct BugCase {
    Bug bug;
    std::string_view text;
    std::string_view key;
    bool causal = false;
    Index tq = 75;
    Index batch = 1;
};

constexpr BugCase kBugs[] = {
    {Bug::first_tile_skipped, "first tile of keys skipped", "tile_skipped"},
    {Bug::diagonal_tile_skipped, "diagonal tiles skipped", "tile_skipped", true},
    {Bug::last_tile_skipped, "last tile of keys skipped", "tile_skipped", true},
    {Bug::query_tile_not_written, "tile of queries not written", "tile_skipped"},
    {Bug::tail_dropped, "tail keys dropped", "tail"},
    {Bug::tail_counts_zeros, "tail counts zeros", "tail"},
    {Bug::tail_counts_twice, "tail overlaps, counts twice", "tail"},
    {Bug::tail_reads_next_head, "tail reads on into the next head", "tail"},
    {Bug::tail_values_a_row_early, "tail of V a row early", "tail"},
    {Bug::mask_ignored, "mask ignored", "mask_dropped", true},
    {Bug::mask_one_too_many, "causal, one key too many", "causal_alignment", true},
    {Bug::mask_one_too_few, "causal, one key too few", "causal_alignment", true, 40},
    {Bug::mask_top_left, "top-left for bottom-right", "causal_alignment", true, 40},
    {Bug::diagonal_tile_unmasked, "diagonal tiles unmasked", "mask_tile", true},
    {Bug::causal_unasked, "causal, though not asked", "causal_unasked"},
    {Bug::accumulator_not_rescaled, "accumulator not rescaled", "not_rescaled"},
    {Bug::sum_not_rescaled, "running sum not rescaled", "not_rescaled"},
    {Bug::nothing_rescaled, "nothing rescaled", "not_rescaled"},
    {Bug::rescaled_backwards, "rescaled by exp(new − old)", "not_rescaled"},
    {Bug::maximum_stale, "stale maximum", "stale_maximum"},
    {Bug::not_normalised, "not divided by the sum", "normaliser"},
    {Bug::normalised_by_last_tile, "divided by the last tile's sum", "normaliser"},
    {Bug::logsumexp_in_log2, "logsumexp in log2", "base_2"},
    {Bug::logsumexp_unscaled_maximum, "logsumexp of the unscaled maximum", "logsumexp"},
    {Bug::exp2_without_log2e, "exp2 without log2 e", "base_2"},
    {Bug::short_accumulator, "fp16 accumulator", "low_precision"},
    {Bug::query_tile_late, "tiles of queries one late", "query_tile"},
    {Bug::last_query_tile_clamped, "last tile of queries clamped", "query_tile"},
    {Bug::scale_forgotten, "scale forgotten", "scale"},
    {Bug::scale_twice, "scale twice, 1/d", "scale"},
    {Bug::scale_of_the_model, "scale of d_model", "scale"},
    {Bug::group_tiled, "key/value heads tiled", "gqa_tiled"},
    {Bug::group_next, "K and V of the next group", "key_group"},
    {Bug::group_next_values, "V of the next group", "value_group"},
    {Bug::batch_first, "K and V of batch entry 0", "batch", false, 75, 2},
    {Bug::heads_reversed, "heads stored in reverse", "heads_permuted"},
    {Bug::layout, "[B,T,H,d] read as [B,H,T,d]", "layout", false, 8},
};

/// Rows and columns of tiles, and their order.
struct Tiling {
    Index bq, bk;
    bool backwards;
};
constexpr Tiling kForwards{32, 16, false}, kBackwards{16, 32, true};

FloatFormat format_of(Number number) {
    return number == Number::fp16 ? FloatFormat::fp16 : FloatFormat::bf16;
}

Flash flash_of(const BugCase& one, Number number, const Tiling& tiling) {
    Flash flash;
    flash.bq = tiling.bq, flash.bk = tiling.bk, flash.backwards = tiling.backwards;
    const Index keys = one.bug == Bug::layout ? one.tq : 75;
    const Index groups = one.bug == Bug::layout ? 4 : 2;
    flash.q = normal_tensor<float>({one.batch, 4, one.tq, 16}, 11);
    flash.k = normal_tensor<float>({one.batch, groups, keys, 16}, 12);
    flash.v = normal_tensor<float>({one.batch, groups, keys, 16}, 13);
    for (Tensor* const tensor : {&flash.q, &flash.k, &flash.v})
        for (float& value : tensor->values()) value = to_number(number, value);
    if (one.causal) flash.reach = keys - one.tq;
    flash.number = number;
    flash.bug = one.bug;
    return flash;
}

/// What diff says of inputs and the results of a kernel beside them in one file.
DiffReport report_of(const Flash& flash, std::optional<CausalAlign> causal) {
    Side side;
    side.path = "kernel";
    side.inputs.q = flash.q, side.inputs.k = flash.k, side.inputs.v = flash.v;
    side.input_names = InputNames::call;
    side.has_values = true;
    side.spec.mask.causal = causal;
    FlashOut out = run_flash(flash);
    side.results[Stage::context] = std::move(out.context);
    side.results.logsumexp = std::move(out.logsumexp);
    side.keys = {"context"};
    if (!side.results.logsumexp.empty()) side.keys.emplace_back("logsumexp");
    if (flash.number != Number::fp32) side.formats.emplace("context", format_of(flash.number));
    std::vector<Side> sides;
    sides.push_back(std::move(side));
    return compare_sides(std::move(sides), std::nullopt).value();
}

struct Count {
    Index seen = 0, right = 0, alone = 0, wrong = 0;
};

/// One line of the table; counts.
std::string line_of(const BugCase& one, Number number, const Tiling& tiling, Count& count) {
    const auto causal = one.causal ? std::optional(CausalAlign::bottom_right) : std::nullopt;
    const DiffReport report = report_of(flash_of(one, number, tiling), causal);
    if (report.equal) return "not seen";
    ++count.seen;
    const Examined& examined = report.examined.front();
    std::vector<std::string_view> named;
    for (const std::size_t n : examined.diagnosis->named)
        named.push_back(examined.diagnosis->outcomes[n].fault->key);
    const bool right = std::ranges::count(named, one.key) > 0;
    count.right += right;
    count.alone += right && named.size() == 1;
    count.wrong += !named.empty() && !right;
    std::string text = fmt::format("{}", fmt::join(named, ", "));
    if (named.size() == 1)
        text += ": " + examined.diagnosis->outcomes[examined.diagnosis->named.front()].variant;
    return named.empty() ? "seen, not named" : text;
}

Count count_bugs(Number number, const Tiling& tiling, std::string_view name) {
    Count count;
    std::string table;
    for (const BugCase& one : kBugs)
        table += fmt::format("{:<36} {:<17} {}\n", one.text, one.key,
                             line_of(one, number, tiling, count));
    MESSAGE(name << ": " << count.seen << " of " << std::size(kBugs) << " bugs seen, "
                 << count.right << " named rightly, " << count.alone << " of them alone, "
                 << count.wrong << " wrongly\n"
                 << table);
    return count;
}

/// Sizes, tiles, order, mask and format of a right kernel, from the seed alone.
Flash right_kernel(std::uint64_t seed) {
    std::uint64_t next = 0;
    const auto dice = [&](Index from, Index to) {
        return from +
               static_cast<Index>(uniform(seed, next++) * static_cast<double>(to - from + 1));
    };
    constexpr Index kTileSides[] = {8, 16, 32, 64};
    Flash flash;
    const Index b = dice(1, 2), g = dice(1, 2), h = g * dice(1, 2), tq = dice(1, 140);
    const Index tk = dice(0, 1) == 0 ? tq : tq + dice(0, 40), d = 8 * dice(1, 6);
    const double size = dice(0, 4) == 0 ? 2.0 : 1.0;
    flash.q = normal_tensor<float>({b, h, tq, d}, 3 * seed, size);
    flash.k = normal_tensor<float>({b, g, tk, d}, 3 * seed + 1, size);
    flash.v = normal_tensor<float>({b, g, tk, 8 * dice(1, 4)}, 3 * seed + 2);
    flash.bq = kTileSides[dice(0, 3)], flash.bk = kTileSides[dice(0, 3)];
    flash.backwards = dice(0, 1) == 1;
    if (dice(0, 1) == 1) flash.reach = tk - tq;
    flash.number = static_cast<Number>(dice(0, 2));
    flash.eager_scores = dice(0, 3) == 0;
    if (dice(0, 1) == 1)  // inputs that are saved in the format; else the kernel rounds them
        for (Tensor* const tensor : {&flash.q, &flash.k, &flash.v})
            for (float& value : tensor->values()) value = to_number(flash.number, value);
    return flash;
}

}  // namespace

TEST_CASE("bugs of a tiled kernel in float32 are seen and named, none wrongly") {
    for (const Tiling& tiling : {kForwards, kBackwards}) {
        const Count count = count_bugs(Number::fp32, tiling, "float32");
        CHECK(count.seen == std::ssize(kBugs));
        CHECK(count.right == std::ssize(kBugs));
        CHECK(count.wrong == 0);
    }
}

TEST_CASE("bugs that no row of the table knows are seen, and nothing is named") {
    constexpr BugCase kUnknown[] = {
        {Bug::column_left_out, "the last column of Q · K left out", ""},
        {Bug::values_swizzled, "columns of V in pairs swapped", ""},
        {Bug::weights_squared, "weights squared in the accumulator", "", true},
        {Bug::maximum_subtracted_twice, "output times exp(−m)", ""},
        {Bug::every_other_key_twice, "every other key counted twice", ""},
        {Bug::queries_negated, "Q negated", ""},
        {Bug::keys_in_pairs, "even rows of K read twice", ""},
        {Bug::values_reversed_in_tiles, "rows of V reversed in each tile", ""},
        {Bug::weights_clipped, "weights clipped at 1/2", ""},
    };
    for (const Tiling& tiling : {kForwards, kBackwards}) {
        Count count;
        for (const BugCase& one : kUnknown) {
            CAPTURE(one.text);
            CHECK(line_of(one, Number::fp32, tiling, count) == "seen, not named");
        }
    }
}

TEST_CASE("bugs of a tiled kernel in float16 are named within its tolerance, none wrongly") {
    const Count count = count_bugs(Number::fp16, kForwards, "float16");
    CHECK(count.seen == std::ssize(kBugs));
    CHECK(count.right == std::ssize(kBugs) - 1);  // an fp16 accumulator is as fp16 as the rest
    CHECK(count.wrong == 0);
}

TEST_CASE("200 right kernels of every format, tile and order are clean") {
    Index clean = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        const Flash flash = right_kernel(seed);
        const auto causal = flash.reach ? std::optional(CausalAlign::bottom_right) : std::nullopt;
        const DiffReport report = report_of(flash, causal);
        clean += report.equal;
        CHECK(report.verdict.text() == "equal within tolerance: 2 arrays");
    }
    MESSAGE(clean << " of 200 right kernels are clean");
    CHECK(clean == 200);
}
