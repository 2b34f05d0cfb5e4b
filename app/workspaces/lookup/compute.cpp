#include "app/workspaces/lookup/compute.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "app/common/document/toy.h"
#include "app/workspaces/lookup/state.h"
#include "core/cast.h"
#include "core/engine.h"
#include "core/rng.h"

namespace attn::view {
namespace {

/// So many pairs of all heads are computed in double too while the window waits.
constexpr Index kMostExact = Index{1} << 17;

// ---- similarity

/// The matrix of one sequence and head as a tensor of its own.
Tensor copy_of(const Tensor& from, Index batch, Index head) {
    const auto matrix =
        from.matrix(std::min(batch, from.shape().b - 1), std::min(head, from.shape().h - 1));
    Tensor copy({1, 1, matrix.rows, matrix.columns});
    for (Index i = 0; i < matrix.rows; ++i)
        std::ranges::copy(matrix.row(i), copy.matrix(0, 0).row(i).begin());
    return copy;
}

struct Towers {
    Tensor q, k;
};

Result<Towers> towers_of(const AppState& state, SimilarityOf of) {
    const Document& document = state.document();
    if (is_empty(document)) return bad_input("there is no sentence yet: type one in Step (key 1)");
    if (const std::string why = stages_lack(document); !why.empty()) return bad_input(why);
    if (of == SimilarityOf::x) {
        const Inputs& in = *document.inputs;
        if (!in.projects()) return bad_input("this document gives Q and K, and no X to compare");
        const Tensor& other = in.x_kv.empty() ? in.x : in.x_kv;
        if (other.shape().d != in.x.shape().d)
            return bad_input(fmt::format("X is {} wide and X_kv {}: they have no dot product",
                                         in.x.shape().d, other.shape().d));
        return Towers{copy_of(in.x, state.batch, 0), copy_of(other, state.batch, 0)};
    }
    const Tensor& q = (*state.trace)[stage_or_source(Stage::q_rot, document.spec)];
    const Tensor& k = (*state.trace)[stage_or_source(Stage::k_rot, document.spec)];
    if (q.empty() || k.empty())
        return bad_input(
            fmt::format("the backend {} keeps no queries and keys", state.backend_used));
    return Towers{copy_of(q, state.batch, state.head_in(HeadAxis::query)),
                  copy_of(k, state.batch, state.head_in(HeadAxis::key_value))};
}

Tensor transposed(const Tensor& from) {
    const auto matrix = from.matrix(0, 0);
    Tensor to({1, 1, matrix.columns, matrix.rows});
    for (Index i = 0; i < matrix.rows; ++i)
        for (Index j = 0; j < matrix.columns; ++j) to(0, 0, j, i) = matrix(i, j);
    return to;
}

struct Compared {
    Tensor scores, rows;
};

/// One call without values: a column of ones stands in their place and its product is not kept.
Result<Compared> compared(const Tensor& q, const Tensor& k, Score score, double temperature) {
    Inputs inputs;
    inputs.q = q;
    inputs.k = k;
    inputs.v = Tensor({1, 1, k.shape().t, 1}, 1.0F);
    AttentionSpec spec;
    spec.score = score;
    spec.scale = ScaleKind::none;
    spec.temperature = temperature;
    StageSet keep;
    keep.set(index_of(Stage::scores)).set(index_of(Stage::weights));
    auto trace = attend(inputs, spec, "reference", keep);
    if (!trace) return tl::unexpected(trace.error());
    return Compared{std::move((*trace)[Stage::scores]), std::move((*trace)[Stage::weights])};
}

Result<void> fill_similarity(const AppState& state, SimilarityResult& result) {
    const auto towers = towers_of(state, result.of);
    if (!towers) return tl::unexpected(towers.error());
    for (const Score score : {Score::dot, Score::cosine}) {
        auto forward = compared(towers->q, towers->k, score, result.temperature);
        if (!forward) return tl::unexpected(forward.error());
        const auto backward = compared(towers->k, towers->q, score, result.temperature);
        if (!backward) return tl::unexpected(backward.error());
        const bool dot = score == Score::dot;
        (dot ? result.dot : result.cosine) = std::move(forward->scores);
        (dot ? result.dot_rows : result.cosine_rows) = std::move(forward->rows);
        (dot ? result.dot_columns : result.cosine_columns) = transposed(backward->rows);
    }
    return {};
}

bool is_current(const AppState& state, const SimilarityResult* result) {
    const LookupControls& controls = lookup_controls(state);
    return result != nullptr && result->document == state.shared_document() &&
           result->batch == state.batch && result->head == state.head &&
           result->of == controls.of && result->temperature == controls.similarity_temperature;
}

std::shared_ptr<const SimilarityResult> compute_similarity(const AppState& state) {
    SimilarityResult result;
    result.document = state.shared_document();
    result.batch = state.batch;
    result.head = state.head;
    result.of = lookup_controls(state).of;
    result.temperature = lookup_controls(state).similarity_temperature;
    if (auto done = fill_similarity(state, result); !done) result.fault = done.error().sentence;
    return std::make_shared<const SimilarityResult>(std::move(result));
}

// ---- permutation

using Order = std::vector<Index>;

Order identity(Index count) {
    Order order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), Index{0});
    return order;
}

Order inverse(const Order& order) {
    Order places(order.size());
    for (std::size_t place = 0; place < order.size(); ++place)
        places[static_cast<std::size_t>(order[place])] = static_cast<Index>(place);
    return places;
}

/// One sequence, with its rows in that order.
Tensor reordered(const Tensor& from, Index batch, const Order& order) {
    if (from.empty()) return {};
    const Shape& shape = from.shape();
    Tensor to({1, shape.h, shape.t, shape.d});
    for (Index h = 0; h < shape.h; ++h)
        for (Index place = 0; place < shape.t; ++place)
            std::ranges::copy(from.matrix(std::min(batch, shape.b - 1), h)
                                  .row(order[static_cast<std::size_t>(place)]),
                              to.matrix(0, h).row(place).begin());
    return to;
}

/// X without the positions that a toy's computed rows have.
Tensor words_alone(const Tensor& x, const std::vector<std::string>& tokens, bool toy) {
    Tensor words = x;
    if (!toy || x.empty() || std::ssize(tokens) != x.shape().t) return words;
    for (Index row = 0; row < x.shape().t; ++row) {
        if (!is_computed(x, tokens, row)) continue;
        const std::uint64_t hash = hash_text(tokens[static_cast<std::size_t>(row)]);
        for (Index c = 0; c < x.shape().d; ++c)
            words(0, 0, row, c) = static_cast<float>(word_value(hash, c));
    }
    return words;
}

void add_waves(Tensor& x) {
    for (Index place = 0; place < x.shape().t; ++place)
        for (Index c = 0; c < x.shape().d; ++c)
            x(0, 0, place, c) += static_cast<float>(position_value(place, c));
}

bool shuffles_keys_only(const Document& document) {
    return !document.tokens_kv.empty() || !document.inputs->x_kv.empty() ||
           document.size.tq != document.size.tk;
}

/// The document's tokens at the places of `order`, with what `position` adds there.
Inputs placed(const AppState& state, const Order& order, PermutationPosition position) {
    const Document& document = state.document();
    const Inputs& in = *document.inputs;
    const bool keys_only = shuffles_keys_only(document);
    const Order still = identity(document.size.tq);
    const Order& queries = keys_only ? still : order;
    const bool toy = is_toy(document);
    Inputs out;
    out.params = in.params;
    const auto& kv_tokens = document.tokens_kv.empty() ? document.tokens : document.tokens_kv;
    out.x = reordered(words_alone(in.x, document.tokens, toy), state.batch, queries);
    out.x_kv = reordered(words_alone(in.x_kv, kv_tokens, toy), state.batch, order);
    out.q = reordered(in.q, state.batch, queries);
    out.k = reordered(in.k, state.batch, order);
    out.v = reordered(in.v, state.batch, order);
    if (position != PermutationPosition::sinusoidal) return out;
    if (!out.x.empty()) add_waves(out.x);
    if (!out.x_kv.empty()) add_waves(out.x_kv);
    return out;
}

/// The document's attention without anything that depends on places, but for `position`.
AttentionSpec placeless(const AttentionSpec& of, PermutationPosition position) {
    AttentionSpec spec = of;
    spec.rope.reset();
    spec.alibi = false;
    spec.query_offset.reset();
    spec.mask = {};
    spec.training = false;
    if (position == PermutationPosition::rope) spec.rope = of.rope.value_or(Rope{});
    if (position == PermutationPosition::alibi) spec.alibi = true;
    if (position == PermutationPosition::causal) spec.mask.causal = CausalAlign::top_left;
    return spec;
}

/// What one order gives, of the head shown.
template <class Scalar>
struct Placed {
    TensorOf<Scalar> weights, context;
};
template <class Scalar>
Placed<Scalar> head_of(const TraceOf<Scalar>& trace, Index head) {
    const auto one = [&](const TensorOf<Scalar>& from) {
        const auto matrix = from.matrix(0, std::min(head, from.shape().h - 1));
        TensorOf<Scalar> to({1, 1, matrix.rows, matrix.columns});
        for (Index i = 0; i < matrix.rows; ++i)
            std::ranges::copy(matrix.row(i), to.matrix(0, 0).row(i).begin());
        return to;
    };
    return {one(trace[Stage::weights]), one(trace[Stage::context])};
}

/// Rows and columns as in the document.
template <class Scalar>
TensorOf<Scalar> put_back(const TensorOf<Scalar>& from, const Order& rows, const Order& columns) {
    TensorOf<Scalar> to(from.shape());
    for (Index i = 0; i < from.shape().t; ++i)
        for (Index j = 0; j < from.shape().d; ++j)
            to(0, 0, i, j) =
                from(0, 0, rows[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)]);
    return to;
}

struct Largest {
    double value = 0.0;
    Index row = 0, column = 0;
};
/// max |a − b|; NaN where one of them is.
template <class Scalar>
Largest largest_difference(const TensorOf<Scalar>& a, const TensorOf<Scalar>& b) {
    Largest most;
    for (Index i = 0; i < a.shape().t; ++i)
        for (Index j = 0; j < a.shape().d; ++j) {
            const double by = std::abs(double{a(0, 0, i, j)} - double{b(0, 0, i, j)});
            if (!(by <= most.value)) most = {by, i, j};
            if (std::isnan(by)) return most;
        }
    return most;
}

/// Where the tokens stand: queries and keys.
struct Places {
    Order rows, columns, context;
};
Places places_of(const PermutationResult& result, const Dimensions& size) {
    const Order back = inverse(result.order);
    return {result.keys_only ? identity(size.tq) : back, back, identity(size.d_v)};
}

Result<void> fill_exact(PermutationResult& result, const Inputs& before, const Inputs& after,
                        const AttentionSpec& spec, const Places& places) {
    const auto first = attend_exact(cast<double>(before), spec);
    if (!first) return tl::unexpected(first.error());
    const auto second = attend_exact(cast<double>(after), spec);
    if (!second) return tl::unexpected(second.error());
    const auto a = head_of(*first, result.head);
    const auto b = head_of(*second, result.head);
    result.largest_float64 =
        largest_difference(a.weights, put_back(b.weights, places.rows, places.columns)).value;
    return {};
}

Result<void> fill_permutation(const AppState& state, PermutationResult& result) {
    const Document& document = state.document();
    if (is_empty(document)) return bad_input("there is no sentence yet: type one in Step (key 1)");
    if (const std::string why = stages_lack(document); !why.empty()) return bad_input(why);
    if (result.position == PermutationPosition::sinusoidal && !document.inputs->projects())
        return bad_input("this document gives Q, K and V, and no X that waves could be added to");
    const Dimensions& size = document.size;
    const AttentionSpec spec = placeless(document.spec, result.position);
    const Inputs first = placed(state, identity(size.tk), result.position);
    const Inputs second = placed(state, result.order, result.position);
    StageSet keep;
    keep.set(index_of(Stage::weights)).set(index_of(Stage::context));
    const auto call = validate(first, spec);
    if (!call) return tl::unexpected(call.error());
    const auto backend = choose_backend(kAuto, *call, keep);
    if (!backend) return tl::unexpected(backend.error());
    const auto before = attend(first, spec, **backend, keep);
    if (!before) return tl::unexpected(before.error());
    const auto after = attend(second, spec, **backend, keep);
    if (!after) return tl::unexpected(after.error());
    result.backend = (*backend)->name();
    const Places places = places_of(result, size);
    auto a = head_of(*before, result.head);
    auto b = head_of(*after, result.head);
    result.before = std::move(a.weights);
    result.after = put_back(b.weights, places.rows, places.columns);
    result.raw = std::move(b.weights);
    const Largest most = largest_difference(result.before, result.after);
    result.largest = most.value;
    result.row = most.row;
    result.column = most.column;
    result.output_largest =
        largest_difference(a.context, put_back(b.context, places.rows, places.context)).value;
    result.output_size = largest_difference(a.context, Tensor(a.context.shape())).value;
    result.largest_float64 = std::numeric_limits<double>::quiet_NaN();
    if (size.heads * size.tq * size.tk > kMostExact) return {};
    return fill_exact(result, first, second, spec, places);
}

bool is_current(const AppState& state, const PermutationResult* result) {
    return result != nullptr && result->document == state.shared_document() &&
           result->batch == state.batch && result->head == state.head &&
           result->order == token_order(state) &&
           result->position == lookup_controls(state).position;
}

std::shared_ptr<const PermutationResult> compute_permutation(const AppState& state) {
    PermutationResult result;
    result.document = state.shared_document();
    result.batch = state.batch;
    result.head = state.head;
    result.order = token_order(state);
    result.position = lookup_controls(state).position;
    result.keys_only = shuffles_keys_only(state.document());
    if (auto done = fill_permutation(state, result); !done) result.fault = done.error().sentence;
    return std::make_shared<const PermutationResult>(std::move(result));
}

}  // namespace

Memory memory_of(const LookupControls& controls, bool keys_as_values) {
    Memory memory;
    memory.d_k = memory.d_v = 2;
    for (const LookupPair& pair : controls.pairs) {
        memory.keys.insert(memory.keys.end(), pair.k.begin(), pair.k.end());
        const PlanePoint& value = keys_as_values ? pair.k : pair.v;
        memory.values.insert(memory.values.end(), value.begin(), value.end());
    }
    return memory;
}

MemoryRead memory_read(const LookupControls& controls) {
    return read_memory(memory_of(controls), controls.query, controls.temperature).value();
}

const Tensor& SimilarityResult::shown(SimilarityMeasure measure, SimilaritySoftmax softmax) const {
    const bool dots = measure == SimilarityMeasure::dot;
    switch (softmax) {
        case SimilaritySoftmax::rows:
            return dots ? dot_rows : cosine_rows;
        case SimilaritySoftmax::columns:
            return dots ? dot_columns : cosine_columns;
        case SimilaritySoftmax::none:
            break;
    }
    return scores(measure);
}

std::vector<Index> capacity_widths() {
    std::vector<Index> widths;
    for (Index d_k = kFewestCapacityWidth; d_k <= kMostCapacityWidth; d_k *= 2)
        widths.push_back(d_k);
    return widths;
}

Index nearest_capacity_width(double d_k) {
    if (!(d_k > 0.0)) return kFewestCapacityWidth;
    const double power = std::clamp(std::round(std::log2(d_k)), 1.0, 9.0);
    return Index{1} << static_cast<Index>(power);
}

Index next_capacity_width(Index d_k, int steps) {
    const Index here = nearest_capacity_width(static_cast<double>(d_k));
    return std::clamp(steps > 0 ? here * 2 : here / 2, kFewestCapacityWidth, kMostCapacityWidth);
}

std::vector<Index> token_order(const AppState& state) {
    const Index count = state.document().size.tk;
    const Order& order = lookup_controls(state).order;
    return std::ssize(order) == count ? order : identity(count);
}

void follow_lookup(AppState& state) {
    if (state.workspace != "lookup") return;
    LookupLook& look = lookup_look(state);
    const bool pairs = look.page == LookupPage::similarity || look.page == LookupPage::alignment;
    if (pairs && !is_current(state, look.similarity.get()))
        look.similarity = compute_similarity(state);
    if (look.page == LookupPage::permutation && !is_current(state, look.permutation.get()))
        look.permutation = compute_permutation(state);
}

}  // namespace attn::view
