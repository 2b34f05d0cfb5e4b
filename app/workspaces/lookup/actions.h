#pragma once

#include <optional>
#include <string>

#include "app/common/action.h"
#include "app/common/names.h"
#include "app/common/set_field.h"
#include "app/workspaces/lookup/state.h"

namespace attn {
struct RunControl;
}  // namespace attn

namespace attn::view {

struct ShowLookupPage {
    LookupPage page;
    static constexpr auto kJournalNames = journal_names("show_lookup_page", "page");
};

// The memory; undone. Points are kept within ± kPlaneEnd.

struct MoveLookupQuery {
    double x, y;
    static constexpr auto kJournalNames = journal_names("move_lookup_query", "x", "y");
};
struct MoveLookupKey {
    Index pair;
    double x, y;
    static constexpr auto kJournalNames = journal_names("move_lookup_key", "pair", "x", "y");
};
struct MoveLookupValue {
    Index pair;
    double x, y;
    static constexpr auto kJournalNames = journal_names("move_lookup_value", "pair", "x", "y");
};
/// Adds a pair with an unused name, with its key and value at this point, and selects it.
struct AddLookupPair {
    double x, y;
    static constexpr auto kJournalNames = journal_names("add_lookup_pair", "x", "y");
};
struct RemoveLookupPair {
    Index pair;
    static constexpr auto kJournalNames = journal_names("remove_lookup_pair", "pair");
};
/// "" keeps the name.
struct NameLookupPair {
    Index pair;
    std::string key, value;
    static constexpr auto kJournalNames = journal_names("name_lookup_pair", "pair", "key", "value");
};
using SetLookupTemperature =
    SetField<double, lookup_controls, "temperature", "set_lookup_temperature">;
/// By its key: see memory_presets().
struct LoadMemory {
    std::string memory;
    static constexpr auto kJournalNames = journal_names("load_memory", "memory");
};
struct SelectLookupPair {
    Index pair;
    static constexpr auto kJournalNames = journal_names("select_lookup_pair", "pair");
};
struct HoverLookupPair {
    std::optional<Index> pair;
};

// Capacity; undone.

using SetCapacityWidth = SetField<Index, lookup_controls, "width", "set_capacity_width">;
using SetCapacityPairs = SetField<Index, lookup_controls, "stored", "set_capacity_pairs", "pairs">;
using SetCapacityTemperature = SetField<double, lookup_controls, "capacity_temperature",
                                        "set_capacity_temperature", "temperature">;
using SetCapacitySeed = SetField<std::uint64_t, lookup_controls, "seed", "set_capacity_seed">;
struct CapacityReady {
    CapacitySettings of;
    std::shared_ptr<const std::vector<CapacityPoint>> points{};
    double elapsed_ms = 0.0;
};

// The document's tokens: similarity, alignment, permutation; undone.

using SetSimilarityOf = SetField<SimilarityOf, lookup_controls, "of", "set_similarity_of">;
using SetSimilarityMeasure =
    SetField<SimilarityMeasure, lookup_controls, "measure", "set_similarity_measure", "by">;
using SetSimilaritySoftmax =
    SetField<SimilaritySoftmax, lookup_controls, "softmax", "set_similarity_softmax">;
using SetSimilarityTemperature = SetField<double, lookup_controls, "similarity_temperature",
                                          "set_similarity_temperature", "temperature">;
/// A token of the document goes to that place of the order.
struct MoveToken {
    Index token, place;
    static constexpr auto kJournalNames = journal_names("move_token", "token", "place");
};
struct ShuffleTokens {
    std::uint64_t seed;
    static constexpr auto kJournalNames = journal_names("shuffle_tokens", "seed");
};
/// As in the document, from its end, or by their words.
enum class TokenOrder : std::uint8_t { document, reversed, sorted };
template <>
inline constexpr std::string_view kNamesOf<TokenOrder>[] = {"document", "reversed", "sorted"};
struct OrderTokens {
    TokenOrder order;
    static constexpr auto kJournalNames = journal_names("order_tokens", "order");
};
using SetPermutationPosition =
    SetField<PermutationPosition, lookup_controls, "position", "set_permutation_position">;
/// Query and key of the document. Not undone.
struct SelectLookupCell {
    Index row, column;
    static constexpr auto kJournalNames = journal_names("select_lookup_cell", "row", "column");
};

using LookupActions =
    ActionList<ViewActions<ShowLookupPage, SelectLookupPair, SelectLookupCell>,
               EditActions<AddLookupPair, RemoveLookupPair, NameLookupPair, LoadMemory,
                           SetSimilarityOf, SetSimilarityMeasure, SetSimilaritySoftmax,
                           ShuffleTokens, OrderTokens, SetPermutationPosition>,
               DragActions<MoveLookupQuery, MoveLookupKey, MoveLookupValue, SetLookupTemperature,
                           SetCapacityWidth, SetCapacityPairs, SetCapacityTemperature,
                           SetCapacitySeed, SetSimilarityTemperature, MoveToken>,
               Answers<CapacityReady>, TransientActions<HoverLookupPair>>;
template <ListedIn<LookupActions> A>
inline constexpr Meta kMetaOf<A> = LookupActions::kMeta<A>;

/// Interference over d_k.
struct CapacityRequest {
    CapacitySettings of;
    bool operator==(const CapacityRequest&) const = default;
};
/// nullopt while the page is not shown, or its curves are up to date.
std::optional<CapacityRequest> requested_capacity(const AppState& state);
/// CapacityReady.
Action run(const CapacityRequest& request, const RunControl& control);

}  // namespace attn::view
