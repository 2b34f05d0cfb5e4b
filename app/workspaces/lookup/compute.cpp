#include "app/workspaces/lookup/compute.h"

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/toy.h"
#include "app/common/state.h"
#include "core/rotary.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

ResultOf now_of(const AppState& state) {
    return {state.shared_document(), state.batch, state.head};
}

/// Why nothing of the document can be computed; "": it can.
std::string document_fault(const Document& document) {
    if (is_empty(document)) return "there is no sentence yet: type one in Step (1 S)";
    return stages_lack(document);
}

/// A result with its numbers, or with its fault.
template <class Made, class Into>
std::shared_ptr<const Into> finished(Into result, const Result<Made>& made) {
    if (made)
        static_cast<Made&>(result) = *made;
    else
        result.fault = made.error().text();
    return std::make_shared<const Into>(std::move(result));
}

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
    if (const std::string why = document_fault(document); !why.empty()) return bad_input(why);
    if (of == SimilarityOf::x) {
        const Inputs& in = *document.inputs;
        if (!in.projects()) return bad_input("this document has Q and K, but no X to compare");
        const Tensor& other = in.x_kv.empty() ? in.x : in.x_kv;
        if (other.shape().d != in.x.shape().d)
            return bad_input(fmt::format("X is {} wide and X_kv {}: they have no dot product",
                                         in.x.shape().d, other.shape().d));
        return Towers{copy_of(in.x, state.batch, 0), copy_of(other, state.batch, 0)};
    }
    const Score score = document.spec.score;
    if (score != Score::dot && score != Score::cosine)
        return bad_input(
            fmt::format("neither dot product nor cosine ranks keys as the score “{}” does: Step "
                        "shows these scores for up to 64 tokens (1 S)",
                        info(score).title));
    const Tensor& q = (*state.trace)[stage_or_source(Stage::q_rot, document.spec)];
    const Tensor& k = (*state.trace)[stage_or_source(Stage::k_rot, document.spec)];
    if (q.empty() || k.empty())
        return bad_input(
            fmt::format("the backend {} does not store queries and keys", state.backend_used));
    return Towers{copy_of(q, state.batch, state.head_in(HeadAxis::query)),
                  copy_of(k, state.batch, state.head_in(HeadAxis::key_value))};
}

bool is_current(const AppState& state, const SimilarityResult* result) {
    const LookupControls& controls = lookup_controls(state);
    return result != nullptr && *result == now_of(state) && result->of == controls.of &&
           result->temperature == controls.similarity_temperature;
}

std::shared_ptr<const SimilarityResult> compute_similarity(const AppState& state) {
    SimilarityResult result;
    static_cast<ResultOf&>(result) = now_of(state);
    result.of = lookup_controls(state).of;
    result.temperature = lookup_controls(state).similarity_temperature;
    result.scaled =
        result.of == SimilarityOf::qk && state.document().spec.scale == ScaleKind::q_and_k;
    const ScaleKind scale = result.scaled ? ScaleKind::q_and_k : ScaleKind::none;
    const auto done = towers_of(state, result.of).and_then([&](const Towers& towers) {
        return similarity_of(towers.q, towers.k, result.temperature, scale);
    });
    return finished(std::move(result), done);
}

// ---- permutation

/// X without the positions that a toy's computed rows have.
Tensor words_alone(const Document& document, Stage stage) {
    if (!is_toy(document)) return tensor_of(*document.inputs, stage);
    Document alone = document;
    set_sinusoid(alone, false);
    return tensor_of(*alone.inputs, stage);
}

void add_waves(Tensor& x) {
    for (const auto [place, c] : each_cell(x.shape().t, x.shape().d))
        x(0, 0, place, c) += static_cast<float>(position_value(place, c));
}

bool shuffles_keys_only(const Document& document) {
    return !document.tokens_kv.empty() || !document.inputs->x_kv.empty() ||
           document.size.tq != document.size.tk;
}

/// The document's tokens at the places of `order`, with what `position` adds there.
Inputs placed(const AppState& state, const TokenPlaces& order, PermutationPosition position) {
    const Document& document = state.document();
    const Inputs& in = *document.inputs;
    const bool keys_only = shuffles_keys_only(document);
    const TokenPlaces still = first_places(document.size.tq);
    const TokenPlaces& queries = keys_only ? still : order;
    Inputs out;
    out.params = in.params;
    out.params[Param::b_score] = {};  // of places
    out.x = reordered(words_alone(document, Stage::x), state.batch, queries);
    out.x_kv = reordered(words_alone(document, Stage::x_kv), state.batch, order);
    out.q = reordered(in.q, state.batch, queries);
    out.k = reordered(in.k, state.batch, order);
    out.v = reordered(in.v, state.batch, order);
    if (position != PermutationPosition::sinusoidal) return out;
    if (!out.x.empty()) add_waves(out.x);
    if (!out.x_kv.empty()) add_waves(out.x_kv);
    return out;
}

/// The document's attention without anything that depends on places, but for `position`.
AttentionSpec placed_spec(const AttentionSpec& of, PermutationPosition position, Index batch) {
    AttentionSpec spec = placeless(of);
    if (position == PermutationPosition::rope)
        spec.rope = rope_of_batch(of.rope.value_or(Rope{}), batch);
    if (position == PermutationPosition::alibi) spec.alibi = true;
    if (position == PermutationPosition::causal) spec.mask.causal = CausalAlign::top_left;
    return spec;
}

Result<PermutedCall> permuted_call(const AppState& state, PermutationPosition position) {
    const Document& document = state.document();
    if (const std::string why = document_fault(document); !why.empty()) return bad_input(why);
    if (position == PermutationPosition::sinusoidal && !document.inputs->projects())
        return bad_input("this document has Q, K and V, but no X to add waves to");
    const std::vector<Index> order = token_order(state);
    return PermutedCall{placed(state, first_places(document.size.tk), position),
                        placed(state, order, position),
                        placed_spec(document.spec, position, state.batch),
                        order,
                        shuffles_keys_only(document),
                        state.head};
}

bool is_current(const AppState& state, const PermutationResult* result) {
    return result != nullptr && *result == now_of(state) && result->order == token_order(state) &&
           result->position == lookup_controls(state).position;
}

std::shared_ptr<const PermutationResult> compute_permutation(const AppState& state) {
    PermutationResult result;
    static_cast<ResultOf&>(result) = now_of(state);
    result.order = token_order(state);
    result.position = lookup_controls(state).position;
    result.keys_only = shuffles_keys_only(state.document());
    const auto done = permuted_call(state, result.position).and_then(permutation_of);
    return finished(std::move(result), done);
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
    if (softmax == SimilaritySoftmax::none) return scores(measure);
    if (softmax == SimilaritySoftmax::rows) return dots ? dot_rows : cosine_rows;
    return dots ? dot_columns : cosine_columns;
}

std::vector<Index> token_order(const AppState& state) {
    const Index count = state.document().size.tk;
    const TokenPlaces& order = lookup_controls(state).order;
    return std::ssize(order) == count ? order : first_places(count);
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
