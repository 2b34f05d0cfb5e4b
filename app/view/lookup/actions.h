#pragma once

#include <optional>
#include <string>

#include "app/view/common/action.h"
#include "app/view/state.h"

namespace attn::view {

struct ShowLookupPage {
    LookupPage page;
    static constexpr auto kMeta =
        meta("show_lookup_page", Kind::plain, field("page", &ShowLookupPage::page));
    friend void carry_out(AppState& state, const ShowLookupPage& action);
};

// The memory; undone. Points are kept within ± kPlaneEnd.

struct MoveLookupQuery {
    double x, y;
    static constexpr auto kMeta =
        meta("move_lookup_query", Kind::drag, field("x", &MoveLookupQuery::x),
             field("y", &MoveLookupQuery::y));
    friend void carry_out(AppState& state, const MoveLookupQuery& action);
};
struct MoveLookupKey {
    Index pair;
    double x, y;
    static constexpr auto kMeta =
        meta("move_lookup_key", Kind::drag, field("pair", &MoveLookupKey::pair),
             field("x", &MoveLookupKey::x), field("y", &MoveLookupKey::y));
    friend void carry_out(AppState& state, const MoveLookupKey& action);
};
struct MoveLookupValue {
    Index pair;
    double x, y;
    static constexpr auto kMeta =
        meta("move_lookup_value", Kind::drag, field("pair", &MoveLookupValue::pair),
             field("x", &MoveLookupValue::x), field("y", &MoveLookupValue::y));
    friend void carry_out(AppState& state, const MoveLookupValue& action);
};
/// A pair of a name that is free, its key and its value there; the one that is looked at then.
struct AddLookupPair {
    double x, y;
    static constexpr auto kMeta = meta("add_lookup_pair", Kind::edit, field("x", &AddLookupPair::x),
                                       field("y", &AddLookupPair::y));
    friend void carry_out(AppState& state, const AddLookupPair& action);
};
struct RemoveLookupPair {
    Index pair;
    static constexpr auto kMeta =
        meta("remove_lookup_pair", Kind::edit, field("pair", &RemoveLookupPair::pair));
    friend void carry_out(AppState& state, const RemoveLookupPair& action);
};
/// "" keeps the name.
struct NameLookupPair {
    Index pair;
    std::string key, value;
    static constexpr auto kMeta =
        meta("name_lookup_pair", Kind::edit, field("pair", &NameLookupPair::pair),
             field("key", &NameLookupPair::key), field("value", &NameLookupPair::value));
    friend void carry_out(AppState& state, const NameLookupPair& action);
};
struct SetLookupTemperature {
    double temperature;
    static constexpr auto kMeta = meta("set_lookup_temperature", Kind::drag,
                                       field("temperature", &SetLookupTemperature::temperature));
    friend void carry_out(AppState& state, const SetLookupTemperature& action);
};
/// By its key: see memory_presets().
struct LoadMemory {
    std::string key;
    static constexpr auto kMeta =
        meta("load_memory", Kind::edit, field("memory", &LoadMemory::key));
    friend void carry_out(AppState& state, const LoadMemory& action);
};
struct SelectLookupPair {
    Index pair;
    static constexpr auto kMeta =
        meta("select_lookup_pair", Kind::plain, field("pair", &SelectLookupPair::pair));
    friend void carry_out(AppState& state, const SelectLookupPair& action);
};
struct HoverLookupPair {
    std::optional<Index> pair;
    static constexpr auto kMeta = unwritten(Kind::moment);
    friend void carry_out(AppState& state, const HoverLookupPair& action);
};

// Capacity; undone.

struct SetCapacityWidth {
    Index width;
    static constexpr auto kMeta =
        meta("set_capacity_width", Kind::drag, field("width", &SetCapacityWidth::width));
    friend void carry_out(AppState& state, const SetCapacityWidth& action);
};
struct SetCapacityPairs {
    Index pairs;
    static constexpr auto kMeta =
        meta("set_capacity_pairs", Kind::drag, field("pairs", &SetCapacityPairs::pairs));
    friend void carry_out(AppState& state, const SetCapacityPairs& action);
};
struct SetCapacityTemperature {
    double temperature;
    static constexpr auto kMeta = meta("set_capacity_temperature", Kind::drag,
                                       field("temperature", &SetCapacityTemperature::temperature));
    friend void carry_out(AppState& state, const SetCapacityTemperature& action);
};
struct SetCapacitySeed {
    std::uint64_t seed;
    static constexpr auto kMeta =
        meta("set_capacity_seed", Kind::drag, field("seed", &SetCapacitySeed::seed));
    friend void carry_out(AppState& state, const SetCapacitySeed& action);
};
struct CapacityReady {
    CapacitySettings of;
    std::shared_ptr<const std::vector<CapacityPoint>> points{};
    double elapsed_ms = 0.0;
    static constexpr auto kMeta = unwritten(Kind::answer);
    friend void carry_out(AppState& state, const CapacityReady& action);
};

// The document's tokens: similarity, alignment, permutation; undone.

struct SetSimilarityOf {
    SimilarityOf of;
    static constexpr auto kMeta =
        meta("set_similarity_of", Kind::edit, field("of", &SetSimilarityOf::of));
    friend void carry_out(AppState& state, const SetSimilarityOf& action);
};
struct SetSimilarityMeasure {
    SimilarityMeasure measure;
    static constexpr auto kMeta =
        meta("set_similarity_measure", Kind::edit, field("by", &SetSimilarityMeasure::measure));
    friend void carry_out(AppState& state, const SetSimilarityMeasure& action);
};
struct SetSimilaritySoftmax {
    SimilaritySoftmax softmax;
    static constexpr auto kMeta = meta("set_similarity_softmax", Kind::edit,
                                       field("softmax", &SetSimilaritySoftmax::softmax));
    friend void carry_out(AppState& state, const SetSimilaritySoftmax& action);
};
struct SetSimilarityTemperature {
    double temperature;
    static constexpr auto kMeta =
        meta("set_similarity_temperature", Kind::drag,
             field("temperature", &SetSimilarityTemperature::temperature));
    friend void carry_out(AppState& state, const SetSimilarityTemperature& action);
};
/// A token of the document goes to that place of the order.
struct MoveToken {
    Index token;
    Index place;
    static constexpr auto kMeta = meta("move_token", Kind::drag, field("token", &MoveToken::token),
                                       field("place", &MoveToken::place));
    friend void carry_out(AppState& state, const MoveToken& action);
};
struct ShuffleTokens {
    std::uint64_t seed;
    static constexpr auto kMeta =
        meta("shuffle_tokens", Kind::edit, field("seed", &ShuffleTokens::seed));
    friend void carry_out(AppState& state, const ShuffleTokens& action);
};
/// As in the document, from its end, or by their words.
enum class TokenOrder : std::uint8_t { document, reversed, sorted };
struct OrderTokens {
    TokenOrder order;
    static constexpr auto kMeta =
        meta("order_tokens", Kind::edit, field("order", &OrderTokens::order));
    friend void carry_out(AppState& state, const OrderTokens& action);
};
struct SetPermutationPosition {
    PermutationPosition position;
    static constexpr auto kMeta = meta("set_permutation_position", Kind::edit,
                                       field("position", &SetPermutationPosition::position));
    friend void carry_out(AppState& state, const SetPermutationPosition& action);
};
/// Query and key of the document. Not undone.
struct SelectLookupCell {
    Index row;
    Index column;
    static constexpr auto kMeta =
        meta("select_lookup_cell", Kind::plain, field("row", &SelectLookupCell::row),
             field("column", &SelectLookupCell::column));
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
