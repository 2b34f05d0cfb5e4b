#include "tests/support/cases.h"

#include <fmt/format.h>

#include "core/cast.h"
#include "core/engine.h"
#include "core/rotary.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "tests/support/inputs.h"

namespace attn::test {
namespace {

// B batch, H query heads, Hkv key/value heads, Tq queries, Tk keys.
struct Extents {
    Index b = 1, h = 1, hkv = 1, tq = 4, tk = 4, d_k = 3, d_v = 3;
};

std::string text(const Extents& n) {
    return fmt::format("B={} H={} Hkv={} Tq={} Tk={} d_k={} d_v={}", n.b, n.h, n.hkv, n.tq, n.tk,
                       n.d_k, n.d_v);
}

class Maker {
  public:
    explicit Maker(std::vector<Case>& cases) : cases_(cases) {}

    /// Q, K, V given; the upstream gradient is at context.
    Case& given(std::string_view what, const Extents& n) {
        Case& made = start(what, n);
        made.inputs.q = next({n.b, n.h, n.tq, n.d_k});
        made.inputs.k = next({n.b, n.hkv, n.tk, n.d_k});
        made.inputs.v = next({n.b, n.hkv, n.tk, n.d_v});
        made.upstream = {Stage::context, next({n.b, n.h, n.tq, n.d_v})};
        return made;
    }

    /// X (and X_kv when Tq ≠ Tk) with every weight and bias; the upstream gradient is at output.
    Case& projected(std::string_view what, const Extents& n) {
        constexpr Index d_model = 5;
        constexpr Index d_out = 4;
        Case& made = start(what, n);
        made.inputs.x = next({n.b, 1, n.tq, d_model});
        const bool cross = n.tq != n.tk;
        if (cross) made.inputs.x_kv = next({n.b, 1, n.tk, d_model + 1});
        const Index d_source = cross ? d_model + 1 : d_model;
        weight(made, Param::w_q, Param::b_q, d_model, n.h * n.d_k);
        weight(made, Param::w_k, Param::b_k, d_source, n.hkv * n.d_k);
        weight(made, Param::w_v, Param::b_v, d_source, n.hkv * n.d_v);
        weight(made, Param::w_o, Param::b_o, n.h * n.d_v, d_out);
        made.upstream = {Stage::output, next({n.b, 1, n.tq, d_out})};
        return made;
    }

    /// A score function with its parameters.
    Case& scored(Score score, const Extents& n) {
        constexpr Index hidden = 5;
        Case& made = given(info(score).key, n);
        made.spec.score = score;
        for (const Param param : info(score).params) {
            if (param == Param::b_score) {
                made.inputs.params[param] = next({1, 1, n.h, n.tq + n.tk - 1});
                continue;
            }
            const bool row = param == Param::w_score_row;
            const Index columns = score == Score::additive ? hidden : n.d_k;
            made.inputs.params[param] = next({1, 1, row ? 1 : n.d_k, columns});
        }
        return made;
    }

    Case& with_sinks(std::string_view what, const Extents& n) {
        Case& made = given(what, n);
        made.inputs.params[Param::sinks] = next({1, 1, 1, n.h});
        return made;
    }

    Case& normed(std::string_view what, const Extents& n) {
        Case& made = given(what, n);
        for (const Param param : {Param::q_norm_weight, Param::k_norm_weight})
            made.inputs.params[param] = next({1, 1, 1, n.d_k});
        return made;
    }

  private:
    Case& start(std::string_view what, const Extents& n) {
        Case& made = cases_.emplace_back();
        made.name = fmt::format("{} {} seed={}", what, text(n), seed_ + 1);
        made.spec.heads = n.h;
        made.spec.kv_heads = n.hkv;
        return made;
    }

    Tensor next(const Shape& shape) { return normal_tensor<float>(shape, ++seed_); }

    void weight(Case& made, Param weight, Param bias, Index rows, Index columns) {
        made.inputs.params[weight] = normal_tensor<float>({1, 1, rows, columns}, ++seed_, 0.5);
        made.inputs.params[bias] = next({1, 1, 1, columns});
    }

    std::vector<Case>& cases_;
    std::uint64_t seed_ = 0;
};

/// [B,H,Tq,Tk] where about 2 of 3 pairs are allowed and row 1 of every head is empty.
std::shared_ptr<const Mask> ragged_mask(const Shape& shape) {
    Mask mask(shape);
    std::uint64_t counter = 0;
    for (std::uint8_t& pair : mask.values()) pair = uniform(7, counter++) < 0.67 ? 1 : 0;
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h)
            for (Index j = 0; shape.t > 1 && j < shape.d; ++j) mask(b, h, 1, j) = 0;
    return std::make_shared<const Mask>(std::move(mask));
}

void add_masks(Maker& make, const Extents& n) {
    make.given("causal top-left", n).spec.mask.causal = CausalAlign::top_left;
    make.given("causal bottom-right", n).spec.mask.causal = CausalAlign::bottom_right;
    make.given("window", n).spec.mask.window = 1;
    make.given("block", n).spec.mask.block = 3;
    make.given("custom", n).spec.mask.custom = ragged_mask({n.b, n.h, n.tq, n.tk});
    make.given("custom broadcast", n).spec.mask.custom = ragged_mask({1, 1, n.tq, n.tk});
    MaskSpec& padding = make.given("padding", n).spec.mask;
    for (Index b = 0; b < n.b; ++b) padding.padding.push_back(n.tk - 1 - b);
    Case& all = make.given("every mask, NaN rows", n);
    all.spec.empty_rows = EmptyRows::nan;
    all.spec.mask.causal = CausalAlign::top_left;
    all.spec.mask.window = 2;
    all.spec.mask.custom = ragged_mask({1, n.h, n.tq, n.tk});
}

void add_options(Maker& make, const Extents& n) {
    make.given("plain", n);
    make.given("unscaled", n).spec.scale = ScaleKind::none;
    AttentionSpec& spec = make.given("negative scale, temperature", n).spec;
    spec.scale = ScaleKind::value;
    spec.scale_value = -0.3;
    spec.temperature = 0.5;
    AttentionSpec& drop = make.given("dropout", n).spec;
    drop.dropout = 0.3;
    drop.seed = 11;
    AttentionSpec& causal = make.given("dropout, causal", n).spec;
    causal.dropout = 0.5;
    causal.mask.causal = CausalAlign::bottom_right;
}

void add_projections(Maker& make, const Extents& cross) {
    make.projected("cross, W_O, biases", cross);
    Extents n = cross;
    n.tk = n.tq;
    make.projected("self, W_O, biases", n);
    AttentionSpec& spec = make.projected("self, causal, dropout", n).spec;
    spec.mask.causal = CausalAlign::top_left;
    spec.dropout = 0.25;
    Case& joined = make.projected("self, no W_O, no biases", n);
    for (const Param param : {Param::w_o, Param::b_o, Param::b_q, Param::b_k, Param::b_v})
        joined.inputs.params[param] = {};
    joined.upstream = {Stage::output, {}};
    make.projected("upstream at context", n).upstream = {Stage::context, {}};
}

void add_scores(Maker& make, const Extents& n) {
    for (const ScoreInfo& score : score_table()) {
        make.scored(score.score, n).spec.temperature = 0.7;
        make.scored(score.score, n).spec.mask.causal = CausalAlign::bottom_right;
        Case& custom = make.scored(score.score, n);
        custom.spec.mask.custom = ragged_mask({n.b, n.h, n.tq, n.tk});
        custom.spec.rope = Rope{};
    }
}

void add_positions(Maker& make, const Extents& n) {
    make.given("rope half", n).spec.rope = Rope{};
    AttentionSpec& part = make.given("rope interleaved, part, offset", n).spec;
    part.rope = Rope{RopePairs::interleaved, 500.0, 2};
    part.query_offset = 3;
    make.given("alibi", n).spec.alibi = true;
    AttentionSpec& alibi = make.given("alibi, causal, offset", n).spec;
    alibi.alibi = true;
    alibi.mask.causal = CausalAlign::top_left;
    alibi.query_offset = 2;
    make.given("softcap", n).spec.softcap = 1.5;
    AttentionSpec& both = make.given("softcap, alibi, dropout", n).spec;
    both.softcap = 0.8;
    both.alibi = true;
    both.dropout = 0.3;
}

/// QK-norm alone, with weights, and before RoPE; rows of zeros too.
void add_norms(Maker& make, const Extents& n) {
    make.given("qk norm", n).spec.qk_norm = 1e-6;
    Case& weighted = make.normed("qk norm with weights, rope, causal", n);
    weighted.spec.qk_norm = 0.1;
    weighted.spec.rope = Rope{.dims = n.d_k - n.d_k % 2, .tables = {}};
    weighted.spec.mask.causal = CausalAlign::bottom_right;
    Case& of_keys = make.normed("qk norm with weights of keys, dropout", n);
    of_keys.inputs.params[Param::q_norm_weight] = {};
    of_keys.spec.qk_norm = 1e-6;
    of_keys.spec.dropout = 0.3;
    Case& projected = make.projected("qk norm of projections, custom", n);
    projected.spec.qk_norm = 1e-3;
    projected.spec.mask.custom = ragged_mask({n.b, n.h, n.tq, n.tk});
}

void add_scaled_operands(Maker& make, const Extents& n) {
    make.given("queries and keys scaled", n).spec.scale = ScaleKind::q_and_k;
    AttentionSpec& turned = make.given("queries and keys turned, then scaled", n).spec;
    turned.scale = ScaleKind::q_and_k;
    turned.temperature = 0.5;
    turned.rope = Rope{};
    turned.mask.causal = CausalAlign::bottom_right;
}

/// RoPE by any cosines and sines: of each batch entry, and shared by all.
void add_tables(Maker& make, const Extents& n) {
    const auto turns = [](const Shape& shape, std::uint64_t seed) {
        return RotaryTurns{normal_tensor<float>(shape, seed),
                           normal_tensor<float>(shape, seed + 1)};
    };
    const Index dims = n.d_k - n.d_k % 2;
    Rope& own = make.given("rope by tables", n).spec.rope.emplace();
    own.dims = dims;
    own.tables = make_rotary_tables(turns({n.b, 1, n.tq, dims / 2}, 71),
                                    turns({n.b, 1, n.tk, dims / 2}, 73));
    AttentionSpec& shared = make.given("rope by shared tables, causal", n).spec;
    shared.rope = Rope{.pairs = RopePairs::interleaved, .dims = 2, .tables = {}};
    shared.rope->tables =
        make_rotary_tables(turns({1, 1, n.tq, 1}, 75), turns({1, 1, n.tk, 1}, 77));
    shared.mask.causal = CausalAlign::bottom_right;
}

void add_windows(Maker& make, const Extents& n) {
    AttentionSpec& sides = make.given("window sides", n).spec;
    sides.mask.window_left = 2;
    sides.mask.window_right = 0;
    AttentionSpec& global = make.given("global tokens", n).spec;
    global.mask.window = 1;
    global.mask.global_tokens = 2;
    AttentionSpec& causal = make.given("global tokens, causal, alibi", n).spec;
    causal.mask.window_left = 1;
    causal.mask.global_tokens = 1;
    causal.mask.causal = CausalAlign::bottom_right;
    causal.alibi = true;
}

void add_sinks(Maker& make, const Extents& n) {
    make.with_sinks("sinks", n);
    // A row whose keys are all forbidden gives its whole weight to the sink.
    make.with_sinks("sinks, empty rows", n).spec.mask.custom = ragged_mask({n.b, n.h, n.tq, n.tk});
    Case& all = make.with_sinks("everything at once", n);
    all.spec.rope = Rope{};
    all.spec.softcap = 2.0;
    all.spec.alibi = true;
    all.spec.mask.causal = CausalAlign::bottom_right;
    all.spec.mask.window_left = 3;
    all.spec.mask.global_tokens = 1;
    all.spec.dropout = 0.2;
}

/// Those that each of the functions adds, for every size; a Case keeps its address while one is added.
std::vector<Case> cases_of(Sizes sizes, const std::vector<Extents>& odd,
                           std::initializer_list<void (*)(Maker&, const Extents&)> adders) {
    std::vector<Case> cases;
    cases.reserve(160);
    Maker make(cases);
    for (const Extents& n :
         sizes == Sizes::small ? std::vector<Extents>{{2, 2, 1, 3, 4, 2, 3}} : odd)
        for (const auto add : adders) add(make, n);
    return cases;
}

/// The rules of positions, each by its name.
struct PositionRule {
    const char* name;
    void (*set)(AttentionSpec&, Index tokens);
    bool counts_by_position = true;
};
constexpr PositionRule kPositionRules[] = {
    {"causal", [](AttentionSpec& spec, Index) { spec.mask.causal = CausalAlign::top_left; }},
    {"window", [](AttentionSpec& spec, Index) { spec.mask.window = 2; }},
    {"window sides",
     [](AttentionSpec& spec, Index) { spec.mask.window_left = 3, spec.mask.window_right = 1; }},
    {"global tokens",
     [](AttentionSpec& spec, Index) { spec.mask.window = 1, spec.mask.global_tokens = 2; }},
    {"block", [](AttentionSpec& spec, Index) { spec.mask.block = 4; }},
    {"block, causal",
     [](AttentionSpec& spec, Index) {
         spec.mask.block = 4;
         spec.mask.causal = CausalAlign::top_left;
     }},
    {"padding", [](AttentionSpec& spec, Index tokens) { spec.mask.padding = {tokens - 2}; }, false},
    {"mask given",
     [](AttentionSpec& spec, Index tokens) {
         spec.mask.custom = ragged_mask({1, 2, tokens, tokens});
     },
     false},
    {"alibi, window", [](AttentionSpec& spec, Index) { spec.alibi = true, spec.mask.window = 6; }},
    {"rope half", [](AttentionSpec& spec, Index) { spec.rope = Rope{}; }},
    {"rope interleaved, part",
     [](AttentionSpec& spec, Index) {
         spec.rope = Rope{RopePairs::interleaved, 500.0, 4};
     }},
    {"all together",
     [](AttentionSpec& spec, Index tokens) {
         spec.rope = Rope{};
         spec.alibi = true;
         spec.softcap = 2.0;
         spec.mask.causal = CausalAlign::top_left;
         spec.mask.window_left = 6;
         spec.mask.global_tokens = 1;
         spec.mask.block = 6;
         spec.mask.padding = {tokens - 1};
     }},
};

/// Queries first … first + count − 1 of the call alone. Where they end with the keys, a causal mask is bottom-right, which
/// says the offset.
Case part_of(const Case& square, Index first, Index count) {
    Case part = square;
    const Index tokens = square.inputs.k.shape().t;
    const bool at_end = first + count == tokens && square.spec.mask.causal;
    part.name += at_end ? ", bottom-right" : ", by offset";
    if (at_end)
        part.spec.mask.causal = CausalAlign::bottom_right;
    else
        part.spec.query_offset = first;
    part.inputs.q = rows_from(square.inputs.q, first, count);
    part.upstream.gradient = rows_from(square.upstream.gradient, first, count);
    if (!square.spec.mask.custom) return part;
    const Mask& whole = *square.spec.mask.custom;
    Mask rows({1, whole.shape().h, count, tokens});
    for (Index h = 0; h < whole.shape().h; ++h)
        for (Index i = 0; i < count; ++i)
            std::ranges::copy(whole.matrix(0, h).row(first + i), rows.matrix(0, h).row(i).begin());
    part.spec.mask.custom = std::make_shared<const Mask>(std::move(rows));
    return part;
}

}  // namespace

std::vector<ShiftedCase> shifted_cases() {
    std::vector<ShiftedCase> cases;
    struct {
        Index tokens, first, count;
    } constexpr kSizes[] = {{10, 9, 1}, {13, 5, 3}, {131, 64, 40}, {131, 90, 41}};
    for (const auto& [tokens, first, count] : kSizes)
        for (const PositionRule& rule : kPositionRules) {
            Case square =
                normal_case(fmt::format("{} of {} tokens, from {}", rule.name, tokens, first),
                            {1, 2, tokens, 8}, {1, 1, tokens, 8}, 5);
            rule.set(square.spec, tokens);
            for (Index h = 0; h < 2; ++h)  // what is no part of it sends nothing back
                for (Index i = 0; i < tokens; ++i)
                    if (i < first || i >= first + count)
                        std::ranges::fill(square.upstream.gradient.matrix(0, h).row(i), 0.0F);
            Case part = part_of(square, first, count);
            cases.push_back({std::move(square), std::move(part), first, rule.counts_by_position});
        }
    return cases;
}

Case normal_case(std::string name, const Shape& q, const Shape& k, Index d_v) {
    return {std::move(name),
            normal_inputs(q, k, {k.b, k.h, k.t, d_v}),
            {},
            {Stage::context, normal_tensor<float>({q.b, q.h, q.t, d_v}, 4)}};
}

ExactCase exact_of(const Case& one) {
    ExactCase exact{cast<double>(one.inputs),
                    {one.upstream.stage, cast<double>(one.upstream.gradient)},
                    {},
                    {}};
    exact.forward = attend_exact(exact.inputs, one.spec).value();
    exact.d = attend_exact_backward(exact.inputs, one.spec, exact.forward, exact.upstream).value();
    return exact;
}

std::vector<Case> kind_cases(Sizes sizes) {
    return cases_of(sizes,
                    {{1, 2, 2, 7, 7, 6, 5},
                     {2, 6, 2, 13, 9, 8, 3},
                     {1, 4, 1, 9, 33, 16, 31},
                     {1, 2, 1, 131, 137, 22, 19}},
                    {add_scores, add_positions, add_norms, add_scaled_operands, add_windows,
                     add_sinks, add_tables});
}

std::vector<Case> engine_cases(Sizes sizes) {
    return cases_of(sizes,
                    {{1, 1, 1, 1, 1, 1, 1},
                     {1, 2, 2, 7, 7, 5, 5},
                     {2, 6, 2, 13, 9, 8, 3},
                     {1, 4, 1, 9, 33, 17, 31},
                     {3, 3, 3, 67, 65, 37, 41}},
                    {add_options, add_masks, add_projections});
}

}  // namespace attn::test
