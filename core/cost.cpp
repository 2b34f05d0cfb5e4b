#include "core/cost.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace attn {
namespace {

using enum CostSize;
using Sizes = std::vector<CostSize>;

constexpr Index kMostTokens = Index{1} << 24;
constexpr std::array<CostSizeInfo, kCostSizeCount> kSizes{{
    {"batch", "B", "sequences", 1, 1 << 16},
    {"heads", "H", "heads", 1, 4096},
    {"kv_heads", "G", "key/value heads", 1, 4096},
    {"tq", "Tq", "queries", 1, kMostTokens},
    {"tk", "Tk", "keys", 1, kMostTokens},
    {"d_model", "E", "d_model", 0, 1 << 20},
    {"d_k", "d_k", "width of queries and keys", 1, 1 << 16},
    {"d_v", "d_v", "width of values", 1, 1 << 16},
    {"d_out", "O", "width of the output, 0 without W_O", 0, 1 << 20},
    {"chunk", "c", "queries of a chunk", 1, kMostTokens},
    {"element_bytes", "s", "bytes of a number", 1, 8},
    {"layers", "L", "layers", 1, 4096},
    {"latent", "d_c", "width of a latent of MLA", 1, 1 << 16},
    {"rope_columns", "d_r", "columns of MLA that carry RoPE, beside d_k", 0, 1 << 16},
    {"states", "N", "states of a column", 1, 1 << 16},
}};

/// The tensors, in numbers.
const Sizes kX{batch, tq, d_model};
const Sizes kXKeys{batch, tk, d_model};
const Sizes kQ{batch, heads, tq, d_k};
const Sizes kK{batch, kv_heads, tk, d_k};
const Sizes kV{batch, kv_heads, tk, d_v};
const Sizes kPairs{batch, heads, tq, tk};
const Sizes kContext{batch, heads, tq, d_v};
const Sizes kWQ{d_model, heads, d_k};
const Sizes kWK{d_model, kv_heads, d_k};
const Sizes kWV{d_model, kv_heads, d_v};
const Sizes kWO{heads, d_v, d_out};
const Sizes kY{batch, tq, d_out};

Sizes joined(Sizes sizes, const Sizes& more) {
    sizes.insert(sizes.end(), more.begin(), more.end());
    return sizes;
}

CostFormula bytes(std::initializer_list<Sizes> tensors) {
    CostFormula formula;
    for (const Sizes& tensor : tensors) formula.push_back({1, joined(tensor, {element_bytes})});
    return formula;
}

StageCost projection(Stage stage, const Sizes& x, const Sizes& w, const Sizes& result,
                     CostSize rows, CostPass pass) {
    const CostTerm product{2, joined({batch, rows}, w)};
    if (pass == CostPass::forward)
        return {stage, {product}, bytes({x, w}), bytes({result}), bytes({result})};
    return {stage, {product, product}, bytes({result, x, w}), bytes({x, w}), bytes({w})};
}

/// One operation for each pair of query and key: `factor` FLOP.
StageCost of_pairs(Stage stage, Index factor, CostPass pass) {
    CostFormula flop;
    if (factor > 0) flop.push_back({factor, kPairs});
    const bool stored = stage == Stage::weights && pass == CostPass::forward;
    const bool two = stage == Stage::weights && pass == CostPass::backward;
    return {stage, flop, two ? bytes({kPairs, kPairs}) : bytes({kPairs}), bytes({kPairs}),
            stored ? bytes({kPairs}) : CostFormula{}};
}

StageCost scores(CostPass pass) {
    const CostTerm product{2, joined(kPairs, {d_k})};
    if (pass == CostPass::forward)
        return {Stage::scores, {product}, bytes({kQ, kK}), bytes({kPairs}), {}};
    return {Stage::scores, {product, product}, bytes({kPairs, kQ, kK}), bytes({kQ, kK}), {}};
}

StageCost context(CostPass pass) {
    const CostTerm product{2, joined(kPairs, {d_v})};
    if (pass == CostPass::forward)
        return {
            Stage::context, {product}, bytes({kPairs, kV}), bytes({kContext}), bytes({kContext})};
    return {
        Stage::context, {product, product}, bytes({kContext, kPairs, kV}), bytes({kPairs, kV}), {}};
}

StageCost output(CostPass pass) {
    const CostTerm product{2, joined({batch, tq}, kWO)};
    if (pass == CostPass::forward)
        return {Stage::output, {product}, bytes({kContext, kWO}), bytes({kY}), {}};
    return {Stage::output,
            {product, product},
            bytes({kY, kContext, kWO}),
            bytes({kContext, kWO}),
            bytes({kWO})};
}

Index at(const CostSizes& sizes, CostSize size) {
    return size == chunk ? std::min(sizes[chunk], sizes[tq]) : sizes[size];
}

Result<void> check_counts(const CostSizes& sizes) {
    for (const CostPass pass : {CostPass::forward, CostPass::backward}) {
        CostFormula all;
        for (const StageCost& cost : stage_costs(pass, sizes))
            for (const CostFormula* part : {&cost.flop, &cost.read, &cost.written, &cost.stored})
                all.insert(all.end(), part->begin(), part->end());
        if (!count_of(all, sizes))
            return bad_input("the sizes are too large together: a count is above 2⁶³ − 1");
    }
    for (std::size_t n = 0; n < kHoldingCount; ++n)
        if (!count_of(stored_bytes(static_cast<Holding>(n)), sizes))
            return bad_input(
                "the sizes are too large together: more than 2⁶³ − 1 bytes are stored");
    return {};
}

}  // namespace

const CostSizeInfo& info(CostSize size) { return kSizes[static_cast<std::size_t>(size)]; }

std::optional<Index> count_of(const CostFormula& formula, const CostSizes& sizes) {
    Index sum = 0;
    for (const CostTerm& term : formula) {
        Index product = term.factor;
        for (const CostSize size : term.sizes)
            if (__builtin_mul_overflow(product, at(sizes, size), &product)) return std::nullopt;
        if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
    }
    return sum;
}

double estimate_of(const CostFormula& formula, const CostSizes& sizes) {
    double sum = 0.0;
    for (const CostTerm& term : formula) {
        auto product = static_cast<double>(term.factor);
        for (const CostSize size : term.sizes) product *= static_cast<double>(at(sizes, size));
        sum += product;
    }
    return sum;
}

std::vector<StageCost> stage_costs(CostPass pass, const CostSizes& sizes) {
    // softmax forward: compare, subtract, exp, add, divide; backward a ∘ (d_a − Σ d_a a): 2 for the sum, 2 for the rest
    const Index softmax = pass == CostPass::forward ? 5 : 4;
    std::vector<StageCost> all;
    if (sizes[d_model] > 0)
        all = {projection(Stage::q, kX, kWQ, kQ, tq, pass),
               projection(Stage::k, kXKeys, kWK, kK, tk, pass),
               projection(Stage::v, kXKeys, kWV, kV, tk, pass)};
    for (StageCost cost :
         {scores(pass), of_pairs(Stage::scaled, 1, pass), of_pairs(Stage::masked, 0, pass),
          of_pairs(Stage::weights, softmax, pass), context(pass)})
        all.push_back(std::move(cost));
    if (sizes[d_out] > 0) all.push_back(output(pass));
    return all;
}

CostFormula stored_bytes(Holding storage) {
    switch (storage) {
        case Holding::materialised:
            return bytes({kPairs});
        case Holding::chunked:
            return bytes({{batch, heads, chunk, tk}});
        case Holding::fused:
            return bytes({{batch, heads, tq}});
        case Holding::kv_cache:
            return bytes({{layers, batch, kv_heads, tk, d_k}, {layers, batch, kv_heads, tk, d_v}});
    }
    return {};
}

CostFormula held_bytes(Holding storage) {
    CostFormula held = stored_bytes(storage);
    if (storage != Holding::kv_cache)
        for (CostTerm& term : bytes({kQ, kK, kV, kContext})) held.push_back(std::move(term));
    return held;
}

CostFormula product_flop(CostPass pass, Holding storage) {
    const Sizes by_k = joined(kPairs, {d_k});
    const Sizes by_v = joined(kPairs, {d_v});
    if (pass == CostPass::forward) return {{2, by_k}, {2, by_v}};
    if (storage == Holding::materialised) return {{4, by_k}, {4, by_v}};
    return {{6, by_k}, {4, by_v}};
}

Result<void> check_cost(const CostSizes& sizes) {
    for (std::size_t n = 0; n < kCostSizeCount; ++n) {
        const CostSizeInfo& of = kSizes[n];
        const Index value = sizes.values[n];
        if (value < of.least || value > of.most)
            return bad_input(fmt::format("{} ({}) is {}: it must be {} to {}", of.symbol, of.text,
                                         value, of.least, of.most));
    }
    if (sizes[heads] % sizes[kv_heads] != 0)
        return bad_input(fmt::format("{} heads cannot share {} key/value heads: G must divide H",
                                     sizes[heads], sizes[kv_heads]));
    return check_counts(sizes);
}

CostSizes with_tokens(CostSizes sizes, Index tokens) {
    if (sizes[tq] == sizes[tk]) sizes[tq] = tokens;
    sizes[tk] = tokens;
    return sizes;
}

std::optional<Index> tokens_within(Holding storage, CostSizes sizes, double bytes, Index most) {
    const CostFormula formula = held_bytes(storage);
    const auto fits = [&](Index tokens) {
        return estimate_of(formula, with_tokens(sizes, tokens)) <= bytes;
    };
    if (!fits(1)) return std::nullopt;
    Index low = 1;
    Index high = most;
    while (low < high) {
        const Index middle = low + (high - low + 1) / 2;
        if (fits(middle))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

}  // namespace attn
