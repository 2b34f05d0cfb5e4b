#pragma once

#include <optional>
#include <string_view>

#include "app/common/action.h"
#include "app/common/slots.h"

namespace attn::view {

struct AppState;

// Attention is a part of a transformer: Step shows its stages, Whole model the parts before and after them.

enum class ModelPlace : std::uint8_t { input, output };  // of attention
template <>
inline constexpr std::string_view kNamesOf<ModelPlace>[] = {"input", "output"};

/// A request of another workspace; Whole model shows it.
struct ModelPlaceLook {
    // transient
    std::optional<ModelPlace> place;
    std::optional<Index> query;  // of the shown pair; nullopt: as Whole model had it
};
inline constexpr Look<ModelPlaceLook> model_place_look;

/// Shows in Whole model where attention's input comes from, or what follows its output. Layer and head are the shared ones.
struct ShowModelPlace {
    ModelPlace place;
    static constexpr auto kJournalNames = journal_names("show_model_place", "place");
};

using ModelPlaceActions = ActionList<ViewActions<ShowModelPlace>>;
template <ListedIn<ModelPlaceActions> A>
inline constexpr Meta kMetaOf<A> = ModelPlaceActions::kMeta<A>;

/// Whole model can show the document.
bool has_model_place(const AppState& state);

}  // namespace attn::view
