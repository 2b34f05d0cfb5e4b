#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/sizes.h"

namespace attn::cluster {

/// Pieces of a tensor that pass every rank while all compute, as in ring attention (Liu et al. 2023, arXiv:2310.01889): each goes
/// from its owner to the next rank and on, until it has been everywhere. Unlike there, every rank takes them in the same order,
/// whoever owns them, so that sums over them are the same numbers on any number of ranks; and a mask loads all ranks evenly.
struct RingPieces {
    std::vector<Index> order;  // of all pieces that any rank needs, the same on every rank
    std::size_t floats = 0;    // of each
    std::function<int(Index piece)> owner;
    /// On its owner: fills it.
    std::function<void(Index piece, std::span<float> to)> load;
};

/// Ranks hold so many pieces that they have not used yet: those on their way.
inline constexpr Index kRingSlots = 8;

class Ring {
  public:
    explicit Ring(RingPieces pieces);
    ~Ring();
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    /// use(piece, numbers) in order; the numbers are there until it returns.
    void each(const std::function<void(Index piece, std::span<const float> numbers)>& use);
    /// Takes and passes on what has come: to be called often within a long use().
    void pass_on();

    /// Of each(), how long this rank waited for pieces.
    double seconds_waited() const { return waited_; }

  private:
    struct Slots;
    RingPieces pieces_;
    std::unique_ptr<Slots> slots_;
    double waited_ = 0.0;
};

}  // namespace attn::cluster
