#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/describe.h"
#include "app/common/names.h"
#include "app/common/slots.h"
#include "core/lookup.h"

namespace attn::view {

/// Two numbers of the selected matrix's rows and columns that are compared.
enum class SimilarityOf : std::uint8_t { qk, x };
inline constexpr std::string_view kSimilarityOfNames[] = {"qk", "x"};
enum class SimilarityMeasure : std::uint8_t { dot, cosine };
inline constexpr std::string_view kSimilarityMeasureNames[] = {"dot", "cosine"};
enum class SimilaritySoftmax : std::uint8_t { none, rows, columns };
inline constexpr std::string_view kSimilaritySoftmaxNames[] = {"none", "rows", "columns"};
/// Positional encoding.
enum class PermutationPosition : std::uint8_t { none, sinusoidal, rope, alibi, causal };
inline constexpr std::string_view kPermutationPositionNames[] = {"none", "sinusoidal", "rope",
                                                                 "alibi", "causal"};

/// One entry of the dictionary: two points of two planes, with a name each.
struct LookupPair {
    std::string key, value;
    PlanePoint k{}, v{};
    bool operator==(const LookupPair&) const = default;
};

/// Points lie within ± this in both directions.
inline constexpr double kPlaneEnd = 4.0;
inline constexpr std::size_t kMostLookupPairs = 12;
inline constexpr double kColdest = 0.01;
inline constexpr double kHottest = 100.0;

/// A memory to begin with.
struct MemoryPreset {
    std::string key, text;
    std::vector<LookupPair> pairs;
    PlanePoint query{};
    double temperature = 1.0;
};
/// The first one is that of a first launch.
const std::vector<MemoryPreset>& memory_presets();

/// Settings of the Lookup workspace; undone with the document.
struct LookupControls {
    // memory
    std::vector<LookupPair> pairs = memory_presets().front().pairs;
    PlanePoint query = memory_presets().front().query;
    double temperature = memory_presets().front().temperature;
    // capacity
    Index width = 16;
    CapacitySettings capacity;
    // similarity and alignment
    SimilarityOf of = SimilarityOf::qk;
    SimilarityMeasure measure = SimilarityMeasure::dot;
    SimilaritySoftmax softmax = SimilaritySoftmax::none;
    double similarity_temperature = 1.0;
    // permutation
    std::vector<Index>
        order;  // order[place] = token of the document; of another length: as they are
    PermutationPosition position = PermutationPosition::none;
    bool operator==(const LookupControls&) const = default;
};

/// The whole point nearest to (1, 1) without a key or a value near by.
PlanePoint free_place(const LookupControls& controls);

void describe(Visitor& visit, LookupPair& pair);
void describe(Visitor& visit, LookupControls& controls);

enum class LookupPage : std::uint8_t { memory, capacity, similarity, alignment, permutation };
template <>
inline constexpr std::string_view kNamesOf<LookupPage>[] = {"memory", "capacity", "similarity",
                                                            "alignment", "permutation"};
inline constexpr std::size_t kLookupPageCount = 5;

struct SimilarityResult;
struct PermutationResult;

/// What is looked at.
struct LookupLook {
    LookupPage page = LookupPage::memory;
    Index pair = 0;             // of the memory
    Index row = 0, column = 0;  // of a matrix: query and key of the document
    // of the moment
    std::optional<Index> hovered;                          // pair under the pointer
    std::shared_ptr<const SimilarityResult> similarity;    // null: not computed
    std::shared_ptr<const PermutationResult> permutation;  // null: not computed
};

/// Interference over d_k, from a job.
struct CapacityCurves {
    std::shared_ptr<const std::vector<CapacityPoint>>
        points;           // null until the first ones are ready
    CapacitySettings of;  // the settings of the curves
    double elapsed_ms = 0.0;
};

void describe(Visitor& visit, LookupLook& look);

inline constexpr Controls<LookupControls> lookup_controls;
inline constexpr Look<LookupLook> lookup_look;
inline constexpr Look<CapacityCurves> capacity_curves;

}  // namespace attn::view
