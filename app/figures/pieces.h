#pragma once

#include "app/common/painter.h"

namespace attn::figures {

/// The pixels that a part of a picture lies on, and what of them it is.
struct Piece {
    view::Image image;
    view::Part part;
};

/// A file holds of a picture what it shows: one picture may stand for a thousand heads, each a part of it.
class Pieces {
  public:
    /// The picture is painted once as long as its parts follow each other.
    Piece take(const view::Picture& picture, const view::Part& part);

  private:
    std::uint64_t key_ = 0;
    view::Image whole_;  // empty: nothing was painted yet
};

}  // namespace attn::figures
