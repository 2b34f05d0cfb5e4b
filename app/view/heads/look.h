#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "core/large/planted.h"

namespace attn::view {

struct HeadsResult;
struct Document;

/// One head of one layer.
struct HeadPlace {
    Index layer = 0;
    Index head = 0;
    bool operator==(const HeadPlace&) const = default;
};

/// What the Heads workspace looks at. The head that it shows is the document's layer and the shared head. Not undone.
struct HeadsLook {
    std::string sort;        // key of a measure; "": by layer and head
    bool own_range = false;  // each head's colours end at its own largest weight
    std::array<std::optional<HeadPlace>, 2> pinned;  // A and B; B only with A
    large::Cell pair;                                // query and key

    // of the moment: in no session and no journal
    std::optional<HeadPlace> hovered;
    std::optional<large::Cell> hovered_pair;
    std::shared_ptr<const HeadsResult> result;  // see follow_heads(); null: not shown yet
    std::shared_ptr<const Document> result_of;  // what it is current for
};

}  // namespace attn::view
