#include "core/large/planted_layout.h"

#include <algorithm>

#include "core/dimensions.h"
#include "core/large/planted_spec.h"
#include "core/result.h"
#include "core/rng.h"

namespace attn::large {
namespace {

constexpr std::uint64_t kVocabulary = 32768;
constexpr Index kDocuments = 11;
// Repeated stretches lie in every third of sixteen equal slots, and each repeats a slot before it that no
// other repeats.
constexpr Index kSlots = 16;
constexpr Index kFirstRepeat = 3;

/// The numbers of one purpose, apart from those of the others.
class Draw {
  public:
    Draw(std::uint64_t seed, std::string_view purpose) : seed_(mix(seed, hash_text(purpose))) {}
    double next() { return uniform(seed_, counter_++); }
    /// begin <= x < end
    Index within(Index begin, Index end) {
        return begin + static_cast<Index>(next() * static_cast<double>(end - begin));
    }

  private:
    std::uint64_t seed_;
    std::uint64_t counter_ = 0;
};

/// Lengths that differ up to elevenfold.
std::vector<Index> document_starts(Index tokens, Draw draw) {
    std::vector<double> ends;
    double total = 0.0;
    for (Index d = 0; d < kDocuments; ++d) {
        const double u = draw.next();
        total += 0.25 + 2.5 * u * u;
        ends.push_back(total);
    }
    std::vector<Index> starts{0};
    for (Index d = 0; d + 1 < kDocuments; ++d)
        starts.push_back(static_cast<Index>(ends[d] / total * static_cast<double>(tokens)));
    return starts;
}

std::vector<Repeat> repeats(Index tokens, Draw draw) {
    const Index slot = tokens / kSlots;
    std::vector<Repeat> repeats;
    std::vector<Index> sources{0};
    for (Index target = kFirstRepeat; target < kSlots; target += 3) {
        sources.push_back(target - 2);
        const auto source = sources.begin() + draw.within(0, static_cast<Index>(sources.size()));
        const Index length = draw.within(slot * 3 / 5, slot);
        const Index spare = slot - length;
        repeats.push_back({*source * slot + draw.within(0, spare),
                           target * slot + draw.within(0, spare), length});
        sources.erase(source);
    }
    return repeats;
}

std::vector<std::uint32_t> token_ids(const PlantedSpec& spec, const std::vector<Repeat>& repeats) {
    const std::uint64_t seed = mix(spec.seed, hash_text("tokens"));
    std::vector<std::uint32_t> ids(spec.tokens);
    for (std::size_t i = 0; i < ids.size(); ++i)
        ids[i] = static_cast<std::uint32_t>(mix(seed, i) % kVocabulary);
    for (const Repeat& repeat : repeats)
        std::copy_n(ids.begin() + repeat.source, repeat.length, ids.begin() + repeat.target);
    return ids;
}

Cell needle(Index tokens, Draw draw) {
    return {draw.within(tokens * 3 / 5, tokens * 9 / 10), draw.within(tokens / 10, tokens * 2 / 5)};
}

}  // namespace

PlantedLayout lay_out(const PlantedSpec& spec) {
    PlantedLayout layout;
    if (spec.induction) layout.repeats = repeats(spec.tokens, Draw(spec.seed, "repeats"));
    layout.token_ids = token_ids(spec, layout.repeats);
    layout.document_starts = {0};
    if (spec.documents)
        layout.document_starts = document_starts(spec.tokens, Draw(spec.seed, "documents"));
    if (spec.needle) layout.needle = needle(spec.tokens, Draw(spec.seed, "needle"));
    return layout;
}

}  // namespace attn::large
