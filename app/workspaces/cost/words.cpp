#include "app/workspaces/cost/words.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "app/common/format.h"

namespace attn::view {
namespace {

double at(const CostFormula& formula, const CostSizes& sizes) {
    return estimate_of(formula, sizes);
}

std::string shown_value(double value) {
    return value >= 999.5 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

/// "32 heads × 8,192 queries × 8,192 keys".
std::string shape_words(const CostSizes& sizes) {
    const Index b = sizes[CostSize::batch];
    const Index h = sizes[CostSize::heads];
    const Index t = sizes[CostSize::tq];
    const std::string heads = fmt::format("{} {}", h, h == 1 ? "head" : "heads");
    return fmt::format("{}{} × {} {} × {} {}", b == 1 ? "" : fmt::format("{} × ", b), heads,
                       grouped(t), t == 1 ? "query" : "queries", grouped(sizes[CostSize::tk]),
                       sizes[CostSize::tk] == 1 ? "key" : "keys");
}

/// "51 % of this machine's 15.6 GiB", "2.1 times this machine's 15.6 GiB".
std::string share_words(double bytes, double memory) {
    const double share = bytes / memory;
    const std::string machine = "this machine’s " + cost_bytes(memory);
    if (share < 0.001) return "under 0.1 % of " + machine;
    if (share < 1.0) return fmt::format("{} of {}", percent(share), machine);
    return fmt::format("{} times {}", significant(share, 2), machine);
}

/// What 32 bits make of a count.
Index wrapped(Index count) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(count)));
}

std::string power_words(Index count) {
    for (int power = 31; power < 63; ++power)
        if (count == Index{1} << power) {
            constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴",
                                                    "⁵", "⁶", "⁷", "⁸", "⁹"};
            return fmt::format(" = 2{}{}", kDigits[power / 10], kDigits[power % 10]);
        }
    return {};
}

std::string index_words(const CostSizes& sizes) {
    CostFormula pairs{{1, {CostSize::batch, CostSize::heads, CostSize::tq, CostSize::tk}}};
    const Index count = count_of(pairs, sizes).value_or(0);
    constexpr Index kMost = std::numeric_limits<std::int32_t>::max();
    if (count <= kMost) return fmt::format("{} weights.", grouped(count));
    return fmt::format(
        "{}{} weights: a signed 32-bit count ends at 2³¹ − 1 and wraps to {}, so that sizes and "
        "indices "
        "need 64 bits.",
        grouped(count), power_words(count), grouped(wrapped(count)));
}

std::string cache_words(const CostSizes& sizes) {
    const Index shared = sizes[CostSize::heads] / sizes[CostSize::kv_heads];
    if (shared == 1) return {};
    return fmt::format(
        " {} query heads share each key/value head: the KV cache is {}, ÷ {} of "
        "multi-head.",
        shared, cost_bytes(at(stored_bytes(Holding::kv_cache), sizes)), shared);
}

}  // namespace

std::string flop_words(double flop) {
    constexpr std::string_view kUnits[] = {"FLOP",  "kFLOP", "MFLOP", "GFLOP",
                                           "TFLOP", "PFLOP", "EFLOP"};
    if (flop == 0.0) return "0";
    std::size_t unit = 0;
    for (; flop >= 999.95 && unit + 1 < std::size(kUnits); ++unit) flop /= 1000.0;
    return fmt::format("{} {}", shown_value(flop), kUnits[unit]);
}

std::string cost_bytes(double bytes) {
    constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes == 0.0) return "0";
    std::size_t unit = 0;
    for (; bytes >= 1023.5 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024.0;
    return fmt::format("{} {}", shown_value(bytes), kUnits[unit]);
}

std::string formula_words(const CostFormula& formula) {
    std::string words;
    for (const CostTerm& term : formula) {
        words += words.empty() ? "" : " + ";
        std::string product = term.factor == 1 ? "" : std::to_string(term.factor);
        for (const CostSize size : term.sizes)
            product += fmt::format("{}{}", product.empty() ? "" : "·", info(size).symbol);
        words += product;
    }
    return words.empty() ? "0" : words;
}

std::string numbers_words(const CostFormula& formula, const CostSizes& sizes) {
    std::string words;
    for (const CostTerm& term : formula) {
        words += words.empty() ? "" : " + ";
        std::string product = term.factor == 1 ? "" : std::to_string(term.factor);
        for (const CostSize size : term.sizes) {
            const auto value = count_of({{1, {size}}}, sizes);
            product += fmt::format("{}{}", product.empty() ? "" : "·", value.value_or(0));
        }
        words += product;
    }
    return words.empty() ? "0" : words;
}

std::string formula_tex(const CostFormula& formula) {
    std::string tex;
    for (const CostTerm& term : formula) {
        tex += tex.empty() ? "" : " + ";
        if (term.factor != 1) tex += std::to_string(term.factor) + R"( \, )";
        for (std::size_t n = 0; n < term.sizes.size(); ++n) {
            const std::string_view symbol = info(term.sizes[n]).symbol;
            tex += n == 0 ? "" : R"( \, )";
            tex += symbol == "Tq" ? "T_q" : symbol == "Tk" ? "T_k" : std::string(symbol);
        }
    }
    return tex.empty() ? "0" : tex;
}

HeadSharing sharing_of(const CostSizes& sizes) {
    if (sizes[CostSize::kv_heads] == sizes[CostSize::heads]) return HeadSharing::multi_head;
    return sizes[CostSize::kv_heads] == 1 ? HeadSharing::multi_query : HeadSharing::grouped;
}

std::string cost_sentence(const CostControls& controls, double memory) {
    const CostSizes& sizes = controls.sizes;
    const double stored = at(stored_bytes(Holding::materialised), sizes);
    const double fused = at(stored_bytes(Holding::fused), sizes);
    const double products = at(product_flop(controls.pass, Holding::materialised), sizes);
    const double again = at(product_flop(controls.pass, Holding::fused), sizes);
    const std::string work =
        controls.pass == CostPass::forward
            ? fmt::format("does the same {} of products", flop_words(products))
            : fmt::format("does {} instead of {}, for it computes the scores again",
                          flop_words(again), flop_words(products));
    return fmt::format(
        "{}: storing the weights takes {}, {}; fused keeps {} in their place, {}, and {}.",
        shape_words(sizes), cost_bytes(stored), share_words(stored, memory), cost_bytes(fused),
        sizes[CostSize::tk] == 1 ? "as much" : grouped(sizes[CostSize::tk]) + " times less", work);
}

std::string cost_note(const CostControls& controls) {
    return index_words(controls.sizes) + cache_words(controls.sizes) +
           " GiB = 2³⁰ bytes, GFLOP = 10⁹ operations.";
}

CostItem item_of(Stage stage) {
    switch (stage) {
        case Stage::q:
            return CostItem::q;
        case Stage::k:
            return CostItem::k;
        case Stage::v:
            return CostItem::v;
        case Stage::scores:
            return CostItem::scores;
        case Stage::scaled:
            return CostItem::scaled;
        case Stage::masked:
            return CostItem::masked;
        case Stage::weights:
            return CostItem::weights;
        case Stage::context:
            return CostItem::context;
        default:
            return CostItem::output;
    }
}

CostItem item_of(Holding storage) {
    return static_cast<CostItem>(static_cast<int>(CostItem::materialised) +
                                 static_cast<int>(storage));
}

}  // namespace attn::view
