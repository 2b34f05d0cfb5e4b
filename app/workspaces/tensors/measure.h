#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/common/document/document.h"
#include "core/io/array_stats.h"

namespace attn::view {

/// One array as its file's header names it; nothing of its numbers.
struct TensorRow {
    std::string name;
    std::string dtype;
    std::vector<Index> extents;
    double bytes = 0.0;
};
/// Every array of what is open, in the file's order.
struct TensorListing {
    std::shared_ptr<const Document> document;
    std::string fault;  // why there is none; "": there is one
    std::vector<TensorRow> rows;
    const TensorRow* find(const std::string& name) const;
};

inline constexpr double kMostUnasked =
    64.0 * (1 << 20);  // bytes; a larger array is measured when it is selected

}  // namespace attn::view
