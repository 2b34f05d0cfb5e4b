#pragma once

#include <optional>
#include <string>

#include "app/common/set_field.h"
#include "app/workspaces/lookup/state.h"

namespace attn::view {

struct ShowLookupPage {
    LookupPage page;
    static constexpr Meta kMeta{"show_lookup_page", Kind::plain};
    friend void describe(Visitor& visit, ShowLookupPage& action) {
        visit("page", action.page, kLookupPageNames);
    }
    friend void carry_out(AppState& state, const ShowLookupPage& action);
};

// The memory; undone. Points are kept within ± kPlaneEnd.

struct MoveLookupQuery {
    double x, y;
    static constexpr Meta kMeta{"move_lookup_query", Kind::drag,
                                fields<&MoveLookupQuery::x, &MoveLookupQuery::y>};
    friend void carry_out(AppState& state, const MoveLookupQuery& action);
};
struct MoveLookupKey {
    Index pair;
    double x, y;
    static constexpr Meta kMeta{"move_lookup_key", Kind::drag,
                                fields<&MoveLookupKey::pair, &MoveLookupKey::x, &MoveLookupKey::y>};
    friend void carry_out(AppState& state, const MoveLookupKey& action);
};
struct MoveLookupValue {
    Index pair;
    double x, y;
    static constexpr Meta kMeta{
        "move_lookup_value", Kind::drag,
        fields<&MoveLookupValue::pair, &MoveLookupValue::x, &MoveLookupValue::y>};
    friend void carry_out(AppState& state, const MoveLookupValue& action);
};
/// A pair of a name that is free, its key and its value there; the one that is looked at then.
struct AddLookupPair {
    double x, y;
    static constexpr Meta kMeta{"add_lookup_pair", Kind::edit,
                                fields<&AddLookupPair::x, &AddLookupPair::y>};
    friend void carry_out(AppState& state, const AddLookupPair& action);
};
struct RemoveLookupPair {
    Index pair;
    static constexpr Meta kMeta{"remove_lookup_pair", Kind::edit, fields<&RemoveLookupPair::pair>};
    friend void carry_out(AppState& state, const RemoveLookupPair& action);
};
/// "" keeps the name.
struct NameLookupPair {
    Index pair;
    std::string key, value;
    static constexpr Meta kMeta{
        "name_lookup_pair", Kind::edit,
        fields<&NameLookupPair::pair, &NameLookupPair::key, &NameLookupPair::value>};
    friend void carry_out(AppState& state, const NameLookupPair& action);
};
using SetLookupTemperature =
    SetField<double, lookup_controls, "temperature", "set_lookup_temperature", Kind::drag>;
/// By its key: see memory_presets().
struct LoadMemory {
    std::string key;
    static constexpr Meta kMeta{"load_memory", Kind::edit};
    friend void describe(Visitor& visit, LoadMemory& action) { visit("memory", action.key); }
    friend void carry_out(AppState& state, const LoadMemory& action);
};
struct SelectLookupPair {
    Index pair;
    static constexpr Meta kMeta{"select_lookup_pair", Kind::plain, fields<&SelectLookupPair::pair>};
    friend void carry_out(AppState& state, const SelectLookupPair& action);
};
struct HoverLookupPair {
    std::optional<Index> pair;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const HoverLookupPair& action);
};

// Capacity; undone.

using SetCapacityWidth =
    SetField<Index, lookup_controls, "width", "set_capacity_width", Kind::drag>;
using SetCapacityPairs =
    SetField<Index, lookup_controls, "stored", "set_capacity_pairs", Kind::drag, "pairs">;
using SetCapacityTemperature = SetField<double, lookup_controls, "capacity_temperature",
                                        "set_capacity_temperature", Kind::drag, "temperature">;
using SetCapacitySeed =
    SetField<std::uint64_t, lookup_controls, "seed", "set_capacity_seed", Kind::drag>;
struct CapacityReady {
    CapacitySettings of;
    std::shared_ptr<const std::vector<CapacityPoint>> points{};
    double elapsed_ms = 0.0;
    static constexpr Meta kMeta{"", Kind::answer};
    friend void carry_out(AppState& state, const CapacityReady& action);
};

// The document's tokens: similarity, alignment, permutation; undone.

using SetSimilarityOf =
    SetField<SimilarityOf, lookup_controls, "of", "set_similarity_of", Kind::edit>;
using SetSimilarityMeasure = SetField<SimilarityMeasure, lookup_controls, "measure",
                                      "set_similarity_measure", Kind::edit, "by">;
using SetSimilaritySoftmax =
    SetField<SimilaritySoftmax, lookup_controls, "softmax", "set_similarity_softmax", Kind::edit>;
using SetSimilarityTemperature = SetField<double, lookup_controls, "similarity_temperature",
                                          "set_similarity_temperature", Kind::drag, "temperature">;
/// A token of the document goes to that place of the order.
struct MoveToken {
    Index token;
    Index place;
    static constexpr Meta kMeta{"move_token", Kind::drag,
                                fields<&MoveToken::token, &MoveToken::place>};
    friend void carry_out(AppState& state, const MoveToken& action);
};
struct ShuffleTokens {
    std::uint64_t seed;
    static constexpr Meta kMeta{"shuffle_tokens", Kind::edit, fields<&ShuffleTokens::seed>};
    friend void carry_out(AppState& state, const ShuffleTokens& action);
};
/// As in the document, from its end, or by their words.
enum class TokenOrder : std::uint8_t { document, reversed, sorted };
inline constexpr std::string_view kTokenOrderNames[] = {"document", "reversed", "sorted"};
struct OrderTokens {
    TokenOrder order;
    static constexpr Meta kMeta{"order_tokens", Kind::edit};
    friend void describe(Visitor& visit, OrderTokens& action) {
        visit("order", action.order, kTokenOrderNames);
    }
    friend void carry_out(AppState& state, const OrderTokens& action);
};
using SetPermutationPosition = SetField<PermutationPosition, lookup_controls, "position",
                                        "set_permutation_position", Kind::edit>;
/// Query and key of the document. Not undone.
struct SelectLookupCell {
    Index row;
    Index column;
    static constexpr Meta kMeta{"select_lookup_cell", Kind::plain,
                                fields<&SelectLookupCell::row, &SelectLookupCell::column>};
    friend void carry_out(AppState& state, const SelectLookupCell& action);
};

using LookupActions =
    ActionList<ShowLookupPage, MoveLookupQuery, MoveLookupKey, MoveLookupValue, AddLookupPair,
               RemoveLookupPair, NameLookupPair, SetLookupTemperature, LoadMemory, SelectLookupPair,
               HoverLookupPair, SetCapacityWidth, SetCapacityPairs, SetCapacityTemperature,
               SetCapacitySeed, CapacityReady, SetSimilarityOf, SetSimilarityMeasure,
               SetSimilaritySoftmax, SetSimilarityTemperature, MoveToken, ShuffleTokens,
               OrderTokens, SetPermutationPosition, SelectLookupCell>;

}  // namespace attn::view
