// n tokens, d_k width, D width of a subspace; i query row, j key column. e a unit vector ("code").
//
//   S[i,j] = q_i · k_j / √d_k = Σ over structures of A · e(i) · e'(j) + noise
//
// Each structure has a subspace of d_k of its own, in this order:
//   position   5/16 of d_k e(i) turns from one random code to the next every few dozen tokens, so that
//                          e(i)·e(j) is 1 on the diagonal and about ±1/√D away from it
//   documents  3/16 of d_k one random code a document
//   tokens     rest        e(i): the code of tokens i−1, i; e'(j): of tokens j−2, j−1. Only repeated
//                          stretches have them: query i meets the key after the first occurrence
//   sink       1           the same for every query; of the keys only token 0 has it
//   needle     1           one query and one key have it; no noise either
// The strengths A follow from n, so that every structure keeps its share of a row's softmax. They are
// rounded: whatever the last bit of a logarithm is here, Q and K are the same.

#include "core/large/planted.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/large/planted_layout.h"
#include "core/large/planted_spec.h"
#include "core/normals.h"
#include "core/rng.h"
#include "core/rounding.h"
#include "core/threads.h"
#include "core/trace.h"

namespace attn::large {
namespace {

constexpr Index kMostWidth = 256;
constexpr float kNoise = 0.5F;  // of each entry of Q and K
constexpr Index kTaskRows = 1024;

// Strengths are logits, before softmax.
constexpr double kDocumentStrength = 3.0;
constexpr double kSinkShare = 0.15;       // of a row
constexpr double kInductionShare = 0.08;  // of a repeated query's row
constexpr double kNeedleShare = 0.8;      // of its row
constexpr double kBandTokens = 36.0;      // that share the band's weight

/// Columns of Q and K that belong to one structure.
struct Subspace {
    Index first = 0;
    Index width = 0;
};

struct Subspaces {
    Subspace position, documents, tokens;
    Index sink = 0;
    Index needle = 0;
};

Subspaces divide(Index d_k) {
    const Index position = d_k * 5 / 16;
    const Index documents = d_k * 3 / 16;
    const Index shared = d_k - 2;
    return {{0, position},
            {position, documents},
            {position + documents, shared - position - documents},
            shared,
            shared + 1};
}

using Code = std::array<float, kMostWidth>;

/// Random unit vector `number` of a stream, of `width` entries.
Code unit_code(std::uint64_t stream, std::uint64_t number, Index width) {
    constexpr Index kBlock = kNormalBlock;
    Code code{};
    NormalBlock block;
    float squares = 0.0F;
    for (Index c = 0; c < width; ++c) {
        const auto at = static_cast<std::size_t>(c % kBlock);
        if (at == 0)
            fill_normal_block(mix(stream, number), static_cast<std::uint64_t>(c / kBlock), block);
        code[c] = block[at];
        squares += block[at] * block[at];
    }
    const float inverse = 1.0F / std::sqrt(squares);
    for (float& entry : code) entry *= inverse;
    return code;
}

double rounded(double strength) { return std::round(strength * 8.0) / 8.0; }

/// The strength whose diagonal outweighs, in all, what a document of n / 10 tokens has: away from the
/// diagonal A e(i)·e(j) is about normal with variance A² / D, which e^S turns into a factor e^(A² / 2D).
double band_strength(Index n, Index width) {
    const auto d = static_cast<double>(width);
    const double gain = std::log(static_cast<double>(n) / (10.0 * kBandTokens));
    const double square = d * d - 2.0 * d * gain;
    return rounded(std::max(2.5, d - std::sqrt(std::max(square, 0.0))));
}

/// Makes Q and K in place.
class Planter {
  public:
    Planter(const PlantedSpec& spec, const PlantedLayout& layout, const RunControl& control)
        : spec_(spec),
          layout_(layout),
          control_(control),
          spaces_(divide(spec.d_k)),
          knot_tokens_(std::min<Index>(64, spec.tokens / 32)),
          q_(Shape{1, 1, spec.tokens, spec.d_k}),
          k_(Shape{1, 1, spec.tokens, spec.d_k}) {}

    /// False when stopped.
    bool plant() {
        if (!each_task([this](Index first, Index end) { plant_ground(first, end); })) return false;
        const double ground = typical_logsumexp();
        if (spec_.sink) plant_sink(ground + std::log(kSinkShare / (1.0 - kSinkShare)));
        if (!plant_repeats(ground + std::log(kInductionShare))) return false;
        if (layout_.needle) plant_needle(*layout_.needle);
        return !control_.stop.stop_requested();
    }

    Tensor q() && { return std::move(q_); }
    Tensor k() && { return std::move(k_); }

  private:
    template <class Body>
    bool each_task(const Body& body) {
        const Index tasks = divide_up(spec_.tokens, kTaskRows);
        return parallel_for(tasks, control_, [&](Index task, int) {
            body(task * kTaskRows, std::min((task + 1) * kTaskRows, spec_.tokens));
        });
    }

    std::uint64_t stream(std::string_view purpose) const {
        return mix(spec_.seed, hash_text(purpose));
    }

    /// Each of two equal vectors along a code: q·k / √d_k = strength.
    float side(double strength) const {
        return static_cast<float>(std::sqrt(strength * std::sqrt(static_cast<double>(spec_.d_k))));
    }

    void add(Tensor& tensor, Index token, Subspace space, const Code& code, float length) {
        const std::span<float> row = tensor.matrix(0, 0).row(token);
        for (Index c = 0; c < space.width; ++c) row[space.first + c] += length * code[c];
    }

    /// Noise, band and documents of some tokens.
    void plant_ground(Index first, Index end) {
        fill_noise(q_, stream("noise of q"), first, end);
        fill_noise(k_, stream("noise of k"), first, end);
        if (spec_.band) plant_band(first, end);
        if (spec_.documents) plant_documents(first, end);
    }

    void fill_noise(Tensor& tensor, std::uint64_t seed, Index first, Index end) {
        constexpr Index kBlock = kNormalBlock;
        NormalBlock block;
        for (Index at = first * spec_.d_k; at < end * spec_.d_k; ++at) {
            const Index lane = at % kBlock;
            if (lane == 0 || at == first * spec_.d_k)
                fill_normal_block(seed, static_cast<std::uint64_t>(at / kBlock), block);
            tensor.data()[at] = at % spec_.d_k == spaces_.needle ? 0.0F : kNoise * block[lane];
        }
    }

    void plant_band(Index first, Index end) {
        const float length = side(band_strength(spec_.tokens, spaces_.position.width));
        const std::uint64_t seed = stream("position");
        const auto knot = [&](Index n) {
            return unit_code(seed, static_cast<std::uint64_t>(n), spaces_.position.width);
        };
        for (Index i = first; i < end;) {
            const Index n = i / knot_tokens_;
            const Code from = knot(n);
            const Code to = knot(n + 1);
            for (; i < std::min((n + 1) * knot_tokens_, end); ++i) {
                const Code code = between(from, to, i - n * knot_tokens_);
                add(q_, i, spaces_.position, code, length);
                add(k_, i, spaces_.position, code, length);
            }
        }
    }

    /// The unit vector `step` tokens on the way from one knot to the next.
    Code between(const Code& from, const Code& to, Index step) const {
        const float t = (static_cast<float>(step) + 0.5F) / static_cast<float>(knot_tokens_);
        Code code{};
        float squares = 0.0F;
        for (std::size_t c = 0; c < static_cast<std::size_t>(spaces_.position.width); ++c) {
            code[c] = (1.0F - t) * from[c] + t * to[c];
            squares += code[c] * code[c];
        }
        const float inverse = 1.0F / std::sqrt(squares);
        for (float& entry : code) entry *= inverse;
        return code;
    }

    void plant_documents(Index first, Index end) {
        const std::vector<Index>& starts = layout_.document_starts;
        const float length = side(kDocumentStrength);
        for (Index i = first; i < end;) {
            const auto next = std::ranges::upper_bound(starts, i);
            const Index stop = next == starts.end() ? end : std::min(*next, end);
            const Code code = unit_code(stream("document codes"),
                                        static_cast<std::uint64_t>(next - starts.begin()),
                                        spaces_.documents.width);
            for (; i < stop; ++i) {
                add(q_, i, spaces_.documents, code, length);
                add(k_, i, spaces_.documents, code, length);
            }
        }
    }

    /// ln Σ e^S of a row so far.
    double logsumexp(Index i) const {
        const std::span<const float> q = q_.matrix(0, 0).row(i);
        std::vector<double> scores(spec_.tokens);
        for (Index j = 0; j < spec_.tokens; ++j) scores[j] = score(q, k_.matrix(0, 0).row(j));
        const double most = std::ranges::max(scores);
        double sum = 0.0;
        for (const double s : scores) sum += std::exp(s - most);
        return most + std::log(sum);
    }

    double score(std::span<const float> q, std::span<const float> k) const {
        constexpr std::size_t kParts = 4;  // sums side by side are what makes it quick
        std::array<float, kParts> parts{};
        const std::size_t whole = q.size() / kParts * kParts;
        for (std::size_t c = 0; c < whole; c += kParts)
            for (std::size_t part = 0; part < kParts; ++part)
                parts[part] += q[c + part] * k[c + part];
        for (std::size_t c = whole; c < q.size(); ++c) parts[0] += q[c] * k[c];
        const float sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
        return static_cast<double>(sum) / std::sqrt(static_cast<double>(spec_.d_k));
    }

    /// The middle one of a few rows.
    double typical_logsumexp() const {
        std::array<double, 5> rows{};
        parallel_for(static_cast<Index>(rows.size()), control_, [&](Index n, int) {
            const Index i = (2 * n + 1) * spec_.tokens / 10;
            rows[n] = rounded(logsumexp(i));
        });
        std::ranges::sort(rows);
        return rows[rows.size() / 2];
    }

    void plant_sink(double strength) {
        const float length = side(rounded(strength));
        for (Index i = 0; i < spec_.tokens; ++i) q_(0, 0, i, spaces_.sink) += length;
        for (Index j = 1; j < spec_.tokens; ++j) k_(0, 0, j, spaces_.sink) = 0.0F;
        k_(0, 0, 0, spaces_.sink) = length;
    }

    Code pair_code(Index token) const {
        const auto id = [&](Index i) { return layout_.token_ids[i]; };
        const std::uint64_t pair = std::uint64_t{id(token - 1)} << 32 | id(token);
        return unit_code(stream("token codes"), pair, spaces_.tokens.width);
    }

    /// Query i carries the code of tokens i − 1, i; key j that of j − 2, j − 1. False when stopped.
    bool plant_repeats(double strength) {
        const float length = side(rounded(strength));
        std::vector<char> written(static_cast<std::size_t>(spec_.tokens), 0);
        for (const Repeat& repeat : layout_.repeats) {
            if (control_.stop.stop_requested()) return false;
            for (Index step = 2; step < repeat.length; ++step) {
                const Code code = pair_code(repeat.source + step - 1);
                const Index key = repeat.source + step;
                if (!std::exchange(written[key], char{1}))
                    add(k_, key, spaces_.tokens, code, length);
                add(q_, repeat.target + step - 1, spaces_.tokens, code, length);
            }
        }
        return true;
    }

    void plant_needle(Cell cell) {
        const double others = logsumexp(cell.row);
        const float length =
            side(rounded(others + std::log(kNeedleShare / (1.0 - kNeedleShare)) -
                         score(q_.matrix(0, 0).row(cell.row), k_.matrix(0, 0).row(cell.column))));
        q_(0, 0, cell.row, spaces_.needle) = length;
        k_(0, 0, cell.column, spaces_.needle) = length;
    }

    const PlantedSpec& spec_;
    const PlantedLayout& layout_;
    const RunControl& control_;
    Subspaces spaces_;
    Index knot_tokens_;
    Tensor q_;
    Tensor k_;
};

WeightSource source_of(const PlantedSpec& spec, const std::shared_ptr<const Inputs>& inputs) {
    WeightSource source;
    source.q = std::shared_ptr<const Tensor>(inputs, &inputs->q);
    source.k = std::shared_ptr<const Tensor>(inputs, &inputs->k);
    if (spec.causal) source.spec.mask.causal = CausalAlign::top_left;
    source.size.batch = source.size.heads = source.size.kv_heads = 1;
    source.size.tq = source.size.tk = spec.tokens;
    source.size.d_k = spec.d_k;
    return source;
}

}  // namespace

Result<void> check_planted(const PlantedSpec& spec) {
    if (spec.tokens < kLeastPlanted || spec.tokens > kMostPlanted)
        return bad_input(fmt::format("tokens is {}: the generator makes {} to {}", spec.tokens,
                                     kLeastPlanted, kMostPlanted));
    if (spec.d_k < kLeastPlantedWidth || spec.d_k > kMostWidth)
        return bad_input(fmt::format("d_k is {}: the generator makes {} to {}", spec.d_k,
                                     kLeastPlantedWidth, kMostWidth));
    return {};
}

Result<MapInput> plant(const PlantedSpec& spec, const RunControl& control) {
    if (auto valid = check_planted(spec); !valid) return tl::unexpected(valid.error());
    PlantedLayout layout = lay_out(spec);
    Planter planter(spec, layout, control);
    if (!planter.plant()) return failed("making the queries and keys was stopped");
    const auto made = std::make_shared<Inputs>();
    made->q = std::move(planter).q();
    made->k = std::move(planter).k();
    MapInput input{source_of(spec, made), {}, {}, layout.needle, made};
    input.token_ids = std::move(layout.token_ids);
    if (spec.documents) input.document_starts = std::move(layout.document_starts);
    return input;
}

}  // namespace attn::large
