#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/common/action.h"
#include "app/common/set_field.h"
#include "app/workspaces/tensors/state.h"

namespace attn::view {
struct Document;
}  // namespace attn::view

namespace attn {
struct RunControl;
}  // namespace attn

namespace attn::view {

// What of the arrays of the opened file is looked at, and how they are to be read.

/// Names that have these letters, whatever their case.
using FilterTensors = SetField<std::string, tensors_look, "filter", "filter_tensors", "text">;
struct SortTensors {
    TensorColumn column;
    bool descending;
    static constexpr auto kJournalNames = journal_names("sort_tensors", "column", "descending");
};
struct SelectTensor {
    std::string name;
    static constexpr auto kJournalNames = journal_names("select_tensor", "name");
};
/// To be read as a role of tensor_roles(); "-": not at all; "": as its name says. ReadTensors carries it out.
struct SetTensorRole {
    std::string name, role;
    static constexpr auto kJournalNames = journal_names("set_tensor_role", "name", "role");
};
/// Of Q, K and V: a key of head_axes_table(); "": as the file says. ReadTensors carries it out.
struct SetTensorAxes {
    std::string axes;
    static constexpr auto kJournalNames = journal_names("set_tensor_axes", "axes");
};
/// One of reading_options() that have a title; "": as the file says. ReadTensors carries it out.
struct SetTensorOption {
    std::string option, value;
    static constexpr auto kJournalNames = journal_names("set_tensor_option", "option", "value");
};
/// Opens the file again with the roles, axes and options that were chosen.
struct ReadTensors {
    static constexpr auto kJournalNames = journal_names("read_tensors");
};
/// One of the answers to the document's question, by the option that it sets: opens the file again with it.
struct AnswerTensors {
    std::string option, value;
    static constexpr auto kJournalNames = journal_names("answer_tensors", "option", "value");
};
/// The rows of the table that are on screen, from and past: only they are measured.
struct SeeTensors {
    Index first, past;
};
struct TensorsListed {
    std::shared_ptr<const TensorListing> listing{};
};
struct TensorMeasured {
    std::shared_ptr<const TensorListing> of{};  // a late answer for another file changes nothing
    std::string name;
    std::shared_ptr<const ArrayStats> stats{};
};

using TensorsActions =
    ActionList<ViewActions<FilterTensors, SortTensors, SelectTensor, SetTensorRole, SetTensorAxes,
                           SetTensorOption, ReadTensors, AnswerTensors>,
               TransientActions<SeeTensors, TensorsListed, TensorMeasured>>;
template <ListedIn<TensorsActions> A>
inline constexpr Meta kMetaOf<A> = TensorsActions::kMeta<A>;

/// The table of the arrays, or, where `name` is one, the numbers of that array.
struct TensorsRequest {
    std::shared_ptr<const Document> document;
    std::shared_ptr<const TensorListing> listing;  // null: it is wanted
    std::string name;
    bool operator==(const TensorsRequest&) const = default;
};
/// nullopt while the workspace is not shown, or all that it shows is known. One array at a time: the selected one first.
std::optional<TensorsRequest> requested_tensors(const AppState& state);
/// TensorsListed or TensorMeasured.
Action run(const TensorsRequest& request, const RunControl& control);

}  // namespace attn::view
