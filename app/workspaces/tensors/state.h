#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "app/common/names.h"
#include "app/common/slots.h"
#include "core/sizes.h"

namespace attn {
struct ArrayStats;
}

namespace attn::view {

struct TensorListing;

/// Columns of the table, in their order.
enum class TensorColumn : std::uint8_t {
    order,  // as the file has them
    name,
    dtype,
    shape,
    bytes,
    low,
    mean,
    high,
    nans,
    infs,
    role
};
template <>
inline constexpr std::string_view kNamesOf<TensorColumn>[] = {
    "order", "name", "dtype", "shape", "bytes", "low", "mean", "high", "nans", "infs", "role"};

/// What Arrays looks at. Not undone.
struct TensorsLook {
    std::string filter;  // names that have these letters
    TensorColumn sort = TensorColumn::order;
    bool descending = false;
    std::string selected;  // name of an array; "": none was selected
    /// How arrays are to be read, chosen and not yet carried out: name -> role, "-" for none.
    std::map<std::string, std::string> roles;
    std::string axes;                            // of Q, K and V: "", or a key of head_axes_table()
    std::map<std::string, std::string> options;  // of reading_options() with a title, by key

    // of the moment: in no session and no journal
    std::pair<Index, Index> seen{0, 24};           // rows of the table on screen, from and past
    std::shared_ptr<const TensorListing> listing;  // null: not listed yet
    /// What is shown where the listing has no selected array. A listing arrives at any time, so it must not change
    /// `selected`, which sessions keep: a replay would depend on it.
    std::string default_array;
    std::map<std::string, std::shared_ptr<const ArrayStats>> stats;
};
void describe(Visitor& visit, TensorsLook& look);

inline constexpr Look<TensorsLook> tensors_look;

}  // namespace attn::view
