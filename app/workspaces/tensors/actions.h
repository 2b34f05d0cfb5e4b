#pragma once

#include <memory>
#include <string>

#include "app/common/set_field.h"
#include "app/workspaces/tensors/state.h"

namespace attn::view {

// What of the arrays of the opened file is looked at, and how they are to be read.

/// Names that have these letters, whatever their case.
using FilterTensors =
    SetField<std::string, tensors_look, "filter", "filter_tensors", Kind::plain, "text">;
struct SortTensors {
    TensorColumn column;
    bool descending;
    static constexpr Meta kMeta{"sort_tensors", Kind::plain};
    friend void describe(Visitor& visit, SortTensors& action) {
        visit("column", action.column, kTensorColumnNames);
        visit("descending", action.descending);
    }
    friend void carry_out(AppState& state, const SortTensors& action);
};
struct SelectTensor {
    std::string name;
    static constexpr Meta kMeta{"select_tensor", Kind::plain, fields<&SelectTensor::name>};
    friend void carry_out(AppState& state, const SelectTensor& action);
};
/// To be read as a role of tensor_roles(); "-": not at all; "": as its name says. ReadTensors carries it out.
struct SetTensorRole {
    std::string name;
    std::string role;
    static constexpr Meta kMeta{"set_tensor_role", Kind::plain,
                                fields<&SetTensorRole::name, &SetTensorRole::role>};
    friend void carry_out(AppState& state, const SetTensorRole& action);
};
/// Of Q, K and V: heads-first, tokens-first, joined; "": as the file says. ReadTensors carries it out.
struct SetTensorAxes {
    std::string axes;
    static constexpr Meta kMeta{"set_tensor_axes", Kind::plain, fields<&SetTensorAxes::axes>};
    friend void carry_out(AppState& state, const SetTensorAxes& action);
};
/// One of reading_options() that have a title; "": as the file says. ReadTensors carries it out.
struct SetTensorOption {
    std::string option;
    std::string value;
    static constexpr Meta kMeta{"set_tensor_option", Kind::plain,
                                fields<&SetTensorOption::option, &SetTensorOption::value>};
    friend void carry_out(AppState& state, const SetTensorOption& action);
};
/// Opens the file again with the roles, axes and options that were chosen.
struct ReadTensors {
    static constexpr Meta kMeta{"read_tensors", Kind::plain};
    friend void carry_out(AppState& state, const ReadTensors& action);
};
/// One of the answers to the document's question, by the option that it sets: opens the file again with it.
struct AnswerTensors {
    std::string option;
    std::string value;
    static constexpr Meta kMeta{"answer_tensors", Kind::plain,
                                fields<&AnswerTensors::option, &AnswerTensors::value>};
    friend void carry_out(AppState& state, const AnswerTensors& action);
};
/// The rows of the table that are on screen, from and past: only they are measured.
struct SeeTensors {
    Index first;
    Index past;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const SeeTensors& action);
};
struct TensorsListed {
    std::shared_ptr<const TensorListing> listing{};
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const TensorsListed& action);
};
struct TensorMeasured {
    std::shared_ptr<const TensorListing> of{};  // a late answer for another file changes nothing
    std::string name;
    std::shared_ptr<const ArrayStats> stats{};
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const TensorMeasured& action);
};

using TensorsActions = ActionList<FilterTensors, SortTensors, SelectTensor, SetTensorRole,
                                  SetTensorAxes, SetTensorOption, ReadTensors, AnswerTensors,
                                  SeeTensors, TensorsListed, TensorMeasured>;

}  // namespace attn::view
