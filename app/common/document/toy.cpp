#include "app/common/document/toy.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/paint.h"
#include "app/common/format.h"
#include "app/common/tokens.h"
#include "core/positions.h"
#include "core/rng.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/stages.h"
#include "core/text.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostTitle = 80;  // code points

/// Two decimals: a person reads these numbers.
double rounded(double value) { return std::round(100.0 * value) / 100.0 + 0.0; }  // never −0

std::string check_size(std::string_view name, Index value, Index most) {
    if (value >= 1 && value <= most) return {};
    return fmt::format("{} is {}: it must be 1 to {}", name, value, most);
}

/// One entry of X.
float vector_value(std::uint64_t word_hash, Index position, Index column, bool sinusoid) {
    return static_cast<float>(word_value(word_hash, column) +
                              (sinusoid ? position_value(position, column) : 0.0));
}

/// Of every row of X or X_kv, one sequence after the other.
std::vector<std::string> all_tokens(const Document& document, Stage x) {
    if (x == Stage::x_kv) return document.tokens_kv;
    std::vector<std::string> tokens = document.tokens;
    tokens.insert(tokens.end(), document.tokens_next.begin(), document.tokens_next.end());
    return tokens;
}

/// Row `row` of all sequences' X, which has no heads.
std::span<float> x_row(Tensor& x, Index row) {
    return x.matrix(row / x.shape().t, 0).row(row % x.shape().t);
}
std::span<const float> x_row(const Tensor& x, Index row) {
    return x.matrix(row / x.shape().t, 0).row(row % x.shape().t);
}
Index rows_in(const Tensor& x) { return x.shape().b * x.shape().t; }

/// A parameter is `parts` blocks beside each other, or beneath each other where they are rows of the joined heads.
struct Blocks {
    Index parts, rows, columns;
    bool beneath = false;
    Index origin = 0;  // the column that others are counted from, so that each keeps its number

    Index row(Index h, Index r) const { return beneath ? h * rows + r : r; }
    Index column(Index h, Index c) const { return beneath ? c : h * columns + c; }
    bool has(Index h, Index r, Index c) const {
        return h < parts && r < rows && c >= 0 && c < columns;
    }
};

Blocks blocks_of(Param param, const ToyShape& shape) {
    if (param == Param::w_q) return {shape.heads, shape.d_model, shape.d_k};
    if (param == Param::w_k) return {shape.kv_heads, shape.d_model, shape.d_k};
    if (param == Param::w_v) return {shape.kv_heads, shape.d_model, shape.d_v};
    if (param == Param::w_o) return {shape.heads, shape.d_v, shape.d_model, true};
    if (param == Param::sinks) return {shape.heads, 1, 1};
    if (param == Param::b_score)
        return {shape.heads, 1, std::max<Index>(shape.queries + shape.keys - 1, 1), true,
                std::max<Index>(shape.queries - 1, 0)};
    return {1, param == Param::w_score_row ? 1 : shape.d_k, shape.d_k};  // of a score
}

/// `make(head, row, column)` for every entry, columns counted from the origin.
template <class Make>
Tensor param_of(const Blocks& size, Make make) {
    Tensor w({1, 1, size.beneath ? size.parts * size.rows : size.rows,
              size.beneath ? size.columns : size.parts * size.columns});
    for (const auto [h, r] : each_cell(size.parts, size.rows))
        for (Index c = 0; c < size.columns; ++c)
            w(0, 0, size.row(h, r), size.column(h, c)) = make(h, r, c - size.origin);
    return w;
}

/// Whether a toy of that shape has it, where it joins heads at all.
bool has_param(Param param, const ToyShape& shape) {
    const ParamInfo& row = info(param);
    if (row.use == ParamUse::sink) return shape.sinks;
    if (row.use == ParamUse::score) return std::ranges::count(info(shape.score).params, param) > 0;
    return !row.bias;
}

/// A parameter in other sizes; what was not there comes from the seed.
Tensor reshaped_param(const Document& document, Param param, const ToyShape& to) {
    const Tensor& old = document.inputs->params[param];
    const Blocks was = old.empty() ? Blocks{0, 0, 0} : blocks_of(param, toy_shape(document));
    return param_of(blocks_of(param, to), [&](Index h, Index r, Index c) {
        const Index at = c + was.origin;
        if (was.has(h, r, at)) return old(0, 0, was.row(h, r), was.column(h, at));
        return static_cast<float>(weight_value(document.seed, param, h, r, c));
    });
}

Params reshaped_params(const Document& document, const ToyShape& to) {
    const Params& old = document.inputs->params;
    Params params;
    for (const ParamInfo& row : param_table()) {
        const bool unmixed = row.use == ParamUse::output && old[row.param].empty();
        if (has_param(row.param, to) && !unmixed)
            params[row.param] = reshaped_param(document, row.param, to);
    }
    return params;
}

Tensor resized_vectors(const Document& document, Stage stage, Index d_model) {
    const Tensor& old = tensor_of(*document.inputs, stage);
    if (old.empty()) return {};
    Tensor x = vectors_of(document, stage, d_model);
    for (Index i = 0; i < rows_in(x); ++i)
        std::copy_n(x_row(old, i).begin(), std::min(d_model, old.shape().d), x_row(x, i).begin());
    return x;
}

/// The row of the old X that row `i` of the new sentences keeps; −1: none.
Index retained_row(const Document& old, const Document& made, Index i) {
    const Index length = std::ssize(made.tokens), old_length = std::ssize(old.tokens);
    const std::vector<std::string> items = all_tokens(old, Stage::x);
    const std::string word = all_tokens(made, Stage::x)[i];
    const Index same = i / length * old_length + i % length;
    if (i % length < old_length && same < std::ssize(items) && items[same] == word) return same;
    const auto found = std::ranges::find(items, word);
    if (found == items.end()) return -1;
    const Index row = found - items.begin();
    return is_computed(old, Stage::x, row) ? -1 : row;
}

Tensor retyped_vectors(const Document& old, const Document& made) {
    Tensor x = vectors_of(made, Stage::x, old.d_model);
    for (Index i = 0; i < rows_in(x); ++i)
        if (const Index row = retained_row(old, made, i); row >= 0)
            std::ranges::copy(x_row(old.inputs->x, row), x_row(x, i).begin());
    return x;
}

/// Whether the old sentence begins the new one.
bool is_grown(const std::vector<std::string>& old, const std::vector<std::string>& tokens) {
    return old.size() <= tokens.size() && std::equal(old.begin(), old.end(), tokens.begin());
}

/// "X from the words and their positions", "X given in 3 of 4 rows, …".
std::string vectors_note(const Document& document) {
    const Tensor& x = document.inputs->x;
    Index given = 0;
    for (Index i = 0; i < rows_in(x); ++i) given += !is_computed(document, Stage::x, i);
    const std::string from =
        document.sinusoid ? "from the words and their positions" : "from the words alone";
    if (given == 0) return "X " + from;
    if (given == rows_in(x)) return "X given";
    return fmt::format("X given in {} of {} rows, else {}", given, rows_in(x), from);
}

/// Whether a row or a column of two numbers or more is all the seed's: what a hand-set matrix did not have.
bool has_seeded_line(const Tensor& w, const Tensor& seeded) {
    if (w.empty() || !(w.shape() == seeded.shape())) return false;
    const auto a = w.matrix(0, 0), b = seeded.matrix(0, 0);
    for (Index r = 0; a.columns > 1 && r < a.rows; ++r)
        if (std::ranges::equal(a.row(r), b.row(r))) return true;
    const auto same_column = [&](Index c) {
        for (Index r = 0; r < a.rows; ++r)
            if (a(r, c) != b(r, c)) return false;
        return true;
    };
    for (Index c = 0; a.rows > 1 && c < a.columns; ++c)
        if (same_column(c)) return true;
    return false;
}

std::string weights_note(const Document& document) {
    const Params seeded = toy_weights(document.seed, toy_shape(document));
    if (!document.hand_set.empty()) {
        const bool grown = std::ranges::any_of(param_table(), [&](const ParamInfo& row) {
            return has_seeded_line(document.inputs->params[row.param], seeded[row.param]);
        });
        return fmt::format(
            "W from “{}”{}", document.hand_set,
            grown ? fmt::format(", further entries from seed {}", document.seed) : "");
    }
    bool edited = false;
    for (const ParamInfo& row : param_table()) {
        const Tensor& w = document.inputs->params[row.param];
        edited = edited || (!w.empty() && !(w == seeded[row.param]));
    }
    return fmt::format("W from seed {}{}", document.seed, edited ? ", edited" : "");
}

}  // namespace

double word_value(std::uint64_t word_hash, Index column) {
    return rounded(normal(word_hash, static_cast<std::uint64_t>(column)));
}

double position_value(Index position, Index column) {
    return sinusoid(position, column, kWaveWidth, 10000.0);
}

Tensor toy_vectors(const std::vector<std::string>& tokens, Index d_model, bool sinusoid,
                   Index batch) {
    const Index count = std::ssize(tokens) / batch;
    Tensor x({batch, 1, count, d_model});
    for (Index i = 0; i < rows_in(x); ++i) {
        const std::uint64_t word = hash_text(tokens[i]);
        for (Index c = 0; c < d_model; ++c)
            x_row(x, i)[c] = vector_value(word, i % count, c, sinusoid);
    }
    return x;
}

Tensor vectors_of(const Document& document, Stage x, Index d_model) {
    const Index batch = x == Stage::x && !document.tokens_next.empty() ? 2 : 1;
    return toy_vectors(all_tokens(document, x), d_model, document.sinusoid, batch);
}

bool is_computed(const Document& document, Stage stage, Index row) {
    const Tensor& x = tensor_of(*document.inputs, stage);
    const Index length = x.shape().t;
    const auto& tokens = stage == Stage::x ? tokens_of(document, row / length) : document.tokens_kv;
    const std::uint64_t word = hash_text(tokens[row % length]);
    for (Index c = 0; c < x.shape().d; ++c)
        if (x_row(x, row)[c] != vector_value(word, row % length, c, document.sinusoid))
            return false;
    return true;
}

void set_sinusoid(Document& document, bool on) {
    const Document before = document;
    Inputs inputs = *document.inputs;
    document.sinusoid = on;
    for (const Stage stage : {Stage::x, Stage::x_kv}) {
        Tensor& x = stage == Stage::x ? inputs.x : inputs.x_kv;
        if (x.empty()) continue;
        const Tensor recomputed = vectors_of(document, stage, x.shape().d);
        for (Index i = 0; i < rows_in(x); ++i)
            if (is_computed(before, stage, i))
                std::ranges::copy(x_row(recomputed, i), x_row(x, i).begin());
    }
    set_inputs(document, std::move(inputs));
    document.name = "custom";
    document.note = toy_note(document);
}

double weight_value(std::uint64_t seed, Param param, Index head, Index row, Index column) {
    const auto counter = [](Index n) { return static_cast<std::uint64_t>(n); };
    const double deviation = 1.0 / std::sqrt(2.0 * static_cast<double>(row) + 4.0);
    const std::uint64_t stream = mix(mix(mix(seed, index_of(param)), counter(head)), counter(row));
    return rounded(deviation * normal(stream, counter(column)));
}

ToyShape toy_shape(const Document& document) {
    const Params& params = document.inputs->params;
    const AttentionSpec& spec = document.spec;
    return {document.d_model,
            document.d_k,
            params[Param::w_v].shape().d / spec.kv_heads,
            document.heads,
            spec.kv_heads,
            spec.score,
            has_sinks(document),
            std::ssize(document.tokens),
            std::ssize(document.tokens_kv.empty() ? document.tokens : document.tokens_kv)};
}

Params toy_weights(std::uint64_t seed, const ToyShape& shape) {
    Params params;
    for (const ParamInfo& row : param_table())
        if (has_param(row.param, shape))
            params[row.param] =
                param_of(blocks_of(row.param, shape), [&](Index h, Index r, Index c) {
                    return static_cast<float>(weight_value(seed, row.param, h, r, c));
                });
    return params;
}

void reshape(Document& document, const ToyShape& to) {
    const ToyShape was = toy_shape(document);
    Inputs inputs = *document.inputs;
    inputs.x = resized_vectors(document, Stage::x, to.d_model);
    inputs.x_kv = resized_vectors(document, Stage::x_kv, to.d_model);
    inputs.params = reshaped_params(document, to);
    document.d_model = to.d_model;
    document.d_k = to.d_k;
    document.heads = document.spec.heads = to.heads;
    document.spec.kv_heads = to.kv_heads;
    document.spec.score = to.score;
    set_inputs(document, std::move(inputs));
    document.name = "custom";
    document.note = toy_note(document);
    ToyShape more = was;
    more.heads = to.heads;
    more.kv_heads = to.kv_heads;
    const bool own_keys = was.kv_heads == was.heads && to.kv_heads == to.heads;
    if (!(more == to) || !own_keys) document.head_names.clear();
    if (!document.head_names.empty()) document.head_names.resize(to.heads, "seeded");
}

Result<Document> retyped(const Document& old, std::string_view sentence) {
    AttentionSpec spec = old.spec;
    spec.mask.padding.clear();  // it counted the old words
    spec.mask.custom.reset();
    spec.mask.bias.reset();
    return make_document(sentence, old.d_model, old.d_k, old.heads, old.seed, spec)
        .and_then([&](Document made) -> Result<Document> {
            if (!old.tokens_kv.empty() && !made.tokens_next.empty())
                return bad_input(
                    "a sentence with cross-attention to another one cannot be a batch: leave out "
                    "||");
            return made;
        })
        .map([&](Document made) {
            made.sinusoid = old.sinusoid;
            Inputs inputs = *made.inputs;
            inputs.x = retyped_vectors(old, made);
            inputs.x_kv = old.inputs->x_kv;
            made.tokens_kv = old.tokens_kv;
            made.rope_before = old.rope_before;
            made.spec.kv_heads = old.spec.kv_heads;
            const Index queries = std::ssize(made.tokens);
            const Index keys = made.tokens_kv.empty() ? queries : std::ssize(made.tokens_kv);
            ToyShape shape = toy_shape(old);
            shape.queries = queries;
            shape.keys = keys;
            inputs.params = toy_weights(old.seed, shape);
            if (old.hand_set.empty() || is_grown(old.tokens, made.tokens)) {
                inputs.params = reshaped_params(old, shape);
                made.hand_set = old.hand_set;
            }
            made.spec.mask.custom = resized_paint(old.spec.mask.custom, queries, keys);
            made.painted = made.spec.mask.custom != nullptr;
            set_inputs(made, std::move(inputs));
            made.note = toy_note(made);
            return made;
        })
        .and_then([&](Document made) -> Result<Document> {
            const Index queries = std::ssize(made.tokens);
            const Index keys = made.tokens_kv.empty() ? queries : std::ssize(made.tokens_kv);
            const std::vector<BiasStroke> strokes = resized_strokes(old, queries, keys);
            if (strokes.empty()) return made;
            return with_size(std::move(made)).and_then([&](Document sized) {
                return with_strokes(std::move(sized), strokes);
            });
        });
}

std::string toy_note(const Document& document) {
    return fmt::format("toy weights, {}: {}, {}",
                       document.hand_set.empty() ? "not trained" : "hand-set",
                       vectors_note(document), weights_note(document));
}

std::string check_tokens(std::string_view name, const std::vector<std::string>& tokens) {
    if (static_cast<Index>(tokens.size()) <= kMaxTokens) return {};
    return fmt::format("{} has {} tokens; a toy sentence has at most {}", name, tokens.size(),
                       kMaxTokens);
}

Result<void> read_sentence(Document& document) {
    document.tokens = tokenize(document.sentence);
    document.tokens_next.clear();
    auto& first = document.tokens;
    auto& next = document.tokens_next;
    const auto between = std::ranges::find(first, kNextSentence);
    const bool two = between != first.end();
    if (two) next.assign(between + 1, first.end()), first.erase(between, first.end());
    if (std::ranges::find(next, kNextSentence) != next.end())
        return bad_input("a batch has at most two sentences: use || once between them");
    if (two && (first.empty() || next.empty()))
        return bad_input(fmt::format("|| separates two sentences, but there is no sentence {} it",
                                     first.empty() ? "before" : "after"));
    if (first.empty())
        return bad_input("the sentence is empty: type at least one word and press Enter");
    if (std::string wrong = check_tokens("the sentence", first.size() < next.size() ? next : first);
        !wrong.empty())
        return bad_input(std::move(wrong));
    if (!two) return {};
    if (document.spec.mask.padding.empty())
        document.spec.mask.padding = {std::ssize(first), std::ssize(next)};
    const std::size_t length = std::max(first.size(), next.size());
    first.resize(length, std::string(kPadToken));
    next.resize(length, std::string(kPadToken));
    return {};
}

std::string check_sizes(Index d_model, Index d_k, Index heads) {
    for (std::string wrong :
         {check_size("d_model", d_model, kMaxModelWidth), check_size("d_k", d_k, kMaxKeyWidth),
          check_size("heads", heads, kMaxHeads)})
        if (!wrong.empty()) return wrong;
    return {};
}

Result<Document> make_document(std::string_view sentence, Index d_model, Index d_k, Index heads,
                               std::uint64_t seed, const AttentionSpec& spec) {
    Document document;
    document.sentence = valid_utf8(sentence);
    document.spec = spec;
    if (auto read = read_sentence(document); !read) return tl::unexpected(read.error());
    if (std::string wrong = check_sizes(d_model, d_k, heads); !wrong.empty())
        return bad_input(std::move(wrong));

    document.name = "custom";
    document.title = shortened(document.sentence, kMostTitle);
    document.d_model = d_model;
    document.d_k = d_k;
    document.heads = heads;
    document.seed = seed;
    document.spec.heads = document.spec.kv_heads = heads;
    Inputs inputs;
    inputs.x = vectors_of(document, Stage::x, d_model);
    inputs.params = toy_weights(seed, {d_model, d_k, d_k, heads, heads, spec.score, false,
                                       std::ssize(document.tokens), std::ssize(document.tokens)});
    set_inputs(document, std::move(inputs));
    document.note = toy_note(document);
    return with_size(std::move(document));
}

}  // namespace attn::view
