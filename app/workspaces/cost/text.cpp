#include "app/workspaces/cost/text.h"

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/keys.h"
#include "core/shape.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

std::string shown_value(double value) {
    if (value != 0.0 && value < 1e-4) return significant(value, 2);
    return value >= 999.5 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

/// "32 heads × 8,192 queries × 8,192 keys".
std::string shape_text(const CostSizes& sizes) {
    const Index b = sizes[CostSize::batch];
    const Index h = sizes[CostSize::heads];
    const Index t = sizes[CostSize::tq];
    const std::string heads = fmt::format("{} {}", h, h == 1 ? "head" : "heads");
    return fmt::format("{}{} × {} {} × {} {}", b == 1 ? "" : fmt::format("{} × ", b), heads,
                       grouped(t), t == 1 ? "query" : "queries", grouped(sizes[CostSize::tk]),
                       sizes[CostSize::tk] == 1 ? "key" : "keys");
}

/// "51 % of this machine's 15.6 GiB", "2.1 times this machine's 15.6 GiB".
std::string share_description(double bytes, double memory) {
    const double share = bytes / memory;
    const std::string machine = "this machine’s " + cost_bytes(memory);
    if (share < 1.0) return fmt::format("{} of {}", percent_text(share), machine);
    return fmt::format("{} times {}", significant(share, 2), machine);
}

/// What 32 bits make of a count.
Index wrapped(Index count) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(count)));
}

std::string power_text(Index count) {
    constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    for (int power = 31; power < 63; ++power)
        if (count == Index{1} << power)
            return fmt::format(" = 2{}{}", kDigits[power / 10], kDigits[power % 10]);
    return {};
}

std::string index_description(const CostSizes& sizes) {
    CostFormula pairs{{1, {CostSize::batch, CostSize::heads, CostSize::tq, CostSize::tk}}};
    const Index count = count_of(pairs, sizes).value_or(0);
    constexpr Index kMost = std::numeric_limits<std::int32_t>::max();
    if (count <= kMost) return fmt::format("{} weight{}.", grouped(count), count == 1 ? "" : "s");
    return fmt::format("{}{} weights: a signed 32-bit count ends at 2³¹ − 1 and wraps to {}.",
                       grouped(count), power_text(count), grouped(wrapped(count)));
}

std::string cache_text(const CostSizes& sizes) {
    const Index shared = sizes[CostSize::heads] / sizes[CostSize::kv_heads];
    if (shared == 1) return {};
    return fmt::format(
        "{} query heads share each key/value head: the KV cache is {}, 1/{} of the multi-head "
        "cache.",
        shared, cost_bytes(estimate_of(stored_bytes(Holding::kv_cache), sizes)), shared);
}

/// The sum of products, each size as `word` has it.
std::string sum_text(const CostFormula& formula, const auto& word) {
    std::string text;
    for (const CostTerm& term : formula) {
        text += text.empty() ? "" : " + ";
        std::string product = term.factor == 1 ? "" : std::to_string(term.factor);
        for (const CostSize size : term.sizes)
            product += fmt::format("{}{}", product.empty() ? "" : "·", word(size));
        text += product;
    }
    return text.empty() ? "0" : text;
}

/// The largest of `units` that `value` has one of; from `most` on the next is taken, `step` times as large.
template <std::size_t N>
CostUnit unit_of(double value, double step, double most, const std::string_view (&units)[N]) {
    CostUnit unit{units[0], 1.0};
    for (std::size_t n = 1; n < N && value / unit.size >= most; ++n)
        unit = {units[n], unit.size * step};
    return unit;
}

/// Of each Holding.
constexpr const char* kStorageText[] = {
    "Every weight of every head is stored, as in Step and in a framework without a fused kernel.",
    "c queries at a time: the weights of each chunk overwrite the weights of the previous chunk. "
    "Each chunk reads all keys and values.",
    "The online softmax keeps a running maximum and sum: no weight is stored, and one logsumexp "
    "per row remains for the backward pass.",
    "Decoding stores the keys and values of all earlier tokens, one cache per layer. G instead of "
    "H key/value heads makes the cache H/G times smaller."};

std::string with_unit(double value, const CostUnit& unit) {
    return value == 0.0 ? "0" : fmt::format("{} {}", shown_value(value / unit.size), unit.name);
}

}  // namespace

CostUnit flop_unit(double most) {
    constexpr std::string_view kUnits[] = {"FLOP",  "kFLOP", "MFLOP", "GFLOP",
                                           "TFLOP", "PFLOP", "EFLOP"};
    return unit_of(most, 1000.0, 999.95, kUnits);
}

CostUnit bytes_unit(double most) {
    constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    return unit_of(most, 1024.0, 1023.5, kUnits);
}

std::string flop_text(double flop) { return with_unit(flop, flop_unit(flop)); }

std::string cost_bytes(double bytes) { return with_unit(bytes, bytes_unit(bytes)); }

std::string in_unit(double value, const CostUnit& unit) { return shown_value(value / unit.size); }

std::string formula_text(const CostFormula& formula) {
    return sum_text(formula, [](CostSize size) { return info(size).symbol; });
}

std::string numbers_text(const CostFormula& formula, const CostSizes& sizes) {
    return sum_text(formula, [&](CostSize size) {
        return count_of({{1, {size}}}, sizes).value_or(0);
    });
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

std::string cost_sentence(const CostControls& controls) {
    const double stored = estimate_of(stored_bytes(Holding::materialised), controls.sizes);
    const double fused = estimate_of(stored_bytes(Holding::fused), controls.sizes);
    return fmt::format("Storing the weights takes {}; the fused kernel keeps {}.",
                       cost_bytes(stored), cost_bytes(fused));
}

std::string cost_note(const CostControls& controls, double memory) {
    const CostSizes& sizes = controls.sizes;
    const double stored = estimate_of(stored_bytes(Holding::materialised), sizes);
    const bool square = sizes[CostSize::tq] == sizes[CostSize::tk];
    const Index keys = sizes[CostSize::tk];
    return fmt::format(
        "{} in one layer: {}. The weights take {}. {}{}", shape_text(sizes),
        square ? "twice the length takes four times the memory"
               : "twice the keys take twice the memory",
        share_description(stored, memory),
        keys == 1 ? "" : fmt::format("The fused kernel keeps 1/{} of that. ", grouped(keys)),
        index_description(sizes));
}

std::vector<std::string> cost_notes(const CostControls& controls) {
    const CostSizes& sizes = controls.sizes;
    const double products = estimate_of(product_flop(controls.pass, Holding::materialised), sizes);
    const double again = estimate_of(product_flop(controls.pass, Holding::fused), sizes);
    const std::string work =
        controls.pass == CostPass::forward
            ? fmt::format("The fused kernel does the same {} of products.", flop_text(products))
            : fmt::format(
                  "The fused kernel does {} instead of {}, because it recomputes the scores.",
                  flop_text(again), flop_text(products));
    std::vector<std::string> notes{work, cache_text(sizes),
                                   "GiB = 2³⁰ bytes, GFLOP = 10⁹ operations."};
    std::erase(notes, std::string());
    return notes;
}

std::string cost_text(CostItem item, CostPass pass) {
    if (const CostOperationInfo* const operation = operation_of(item))
        return std::string(operation->text);
    const bool forward = pass == CostPass::forward;
    switch (item) {
        case CostItem::q:
        case CostItem::k:
        case CostItem::v:
        case CostItem::output:
            return forward ? "A product with a parameter: 2 FLOP for each multiply-add."
                           : "Two products: the gradient of the input, and of the parameter.";
        case CostItem::scores:
            return forward ? "Q Kᵀ: d_k multiplications and additions for each pair."
                           : "d_Q = d_S K and d_K = d_Sᵀ Q.";
        case CostItem::scaled:
            return "One multiplication for each pair; the rest is memory traffic.";
        case CostItem::masked:
            return "No arithmetic: each pair is read, then written or replaced.";
        case CostItem::weights:
            return forward ? "Compare, subtract, exp, add, divide: 5 for each pair."
                           : "a ∘ (d_a − Σ d_a a): 4 for each pair.";
        case CostItem::context:
            return forward ? "A V: d_v multiplications and additions for each pair."
                           : "d_A = d_O Vᵀ and d_V = Aᵀ d_O.";
        case CostItem::total:
            return "The sum over the stages.";
        default:
            return kStorageText[static_cast<int>(item) - static_cast<int>(CostItem::materialised)];
    }
}

CostItem item_of(Stage stage) {
    using enum Stage;
    constexpr Stage kStages[] = {q, k, v, scores, scaled, masked, weights, context};  // else output
    return static_cast<CostItem>(std::ranges::find(kStages, stage) - std::begin(kStages));
}

CostItem item_of(CostOperation operation) {
    return static_cast<CostItem>(static_cast<int>(CostItem::softmax) + static_cast<int>(operation));
}

bool is_storage(CostItem item) {
    return item >= CostItem::materialised && item <= CostItem::kv_cache;
}

const CostOperationInfo* operation_of(CostItem item) {
    if (item < CostItem::softmax) return nullptr;
    return &cost_operations()[static_cast<std::size_t>(item) -
                              static_cast<std::size_t>(CostItem::softmax)];
}

CostItem item_of(Holding storage) {
    return static_cast<CostItem>(static_cast<int>(CostItem::materialised) +
                                 static_cast<int>(storage));
}

}  // namespace attn::view
