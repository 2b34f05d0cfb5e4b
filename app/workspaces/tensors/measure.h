#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/sizes.h"

namespace attn::view {

struct Document;

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
    std::string fault;  // why the result is missing; "": it is there one
    std::vector<TensorRow> rows;
    double bytes = 0.0;  // of all rows
    /// Bytes; a larger array is measured when it is selected. So few of a large file that its table is there at once.
    double most_unasked() const { return bytes > double{1 << 30} ? 1 << 20 : 64 << 20; }
    const TensorRow* find(const std::string& name) const;
};

}  // namespace attn::view
