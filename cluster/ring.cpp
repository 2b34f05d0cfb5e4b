#include "cluster/ring.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include <mpi.h>

#include "cluster/world.h"
#include "core/rounding.h"
#include "core/stopwatch.h"

namespace attn::cluster {
namespace {

// A rank that waits leaves its processor to those that share it.
constexpr std::chrono::microseconds kNap{50};
constexpr Index kTags = 1024;  // of pieces in turn: an owned one may overtake
constexpr int kUnit = 1024;    // floats of what is counted: MPI counts in int

}  // namespace

/// The pieces used_ … posted − 1 of the order are on their way here, or here; each stands in slot n % kRingSlots.
struct Ring::Slots {
    struct Slot {
        std::vector<float> numbers;
        MPI_Request coming = MPI_REQUEST_NULL;
        MPI_Request going = MPI_REQUEST_NULL;
        bool here = false;
    };
    std::array<Slot, kRingSlots> slots;
    MPI_Datatype unit = MPI_DATATYPE_NULL;
    int units = 0;  // of a piece, the last one filled up
    Index posted = 0;
    Index used = 0;

    explicit Slots(std::size_t floats)
        : units(static_cast<int>(divide_up(static_cast<Index>(floats), Index{kUnit}))) {
        MPI_Type_contiguous(kUnit, MPI_FLOAT, &unit);
        MPI_Type_commit(&unit);
        for (Slot& slot : slots)
            slot.numbers.resize(static_cast<std::size_t>(units) * std::size_t{kUnit});
    }
    ~Slots() { MPI_Type_free(&unit); }
    Slots(const Slots&) = delete;
    Slots& operator=(const Slots&) = delete;

    Slot& at(Index n) { return slots[static_cast<std::size_t>(n % kRingSlots)]; }
};

Ring::Ring(RingPieces pieces)
    : pieces_(std::move(pieces)), slots_(std::make_unique<Slots>(pieces_.floats)) {}

Ring::~Ring() = default;

void Ring::pass_on() {
    const int next = (rank() + 1) % rank_count();
    const int before = (rank() + rank_count() - 1) % rank_count();
    const MPI_Datatype unit = slots_->unit;
    const int units = slots_->units;
    const auto owner = [&](Index n) {
        return pieces_.owner(pieces_.order[static_cast<std::size_t>(n)]);
    };
    const auto tag = [](Index n) { return static_cast<int>(1 + n % kTags); };
    const auto send_on = [&](Index n, Slots::Slot& slot) {
        slot.here = true;
        if (next != owner(n))
            MPI_Isend(slot.numbers.data(), units, unit, next, tag(n), MPI_COMM_WORLD, &slot.going);
    };
    for (Index n = slots_->used; n < slots_->posted; ++n) {
        Slots::Slot& slot = slots_->at(n);
        if (slot.here) continue;
        int came = 0;
        MPI_Test(&slot.coming, &came, MPI_STATUS_IGNORE);
        if (came != 0) send_on(n, slot);
    }
    const Index last =
        std::min<Index>(slots_->used + kRingSlots, static_cast<Index>(pieces_.order.size()));
    for (Index& n = slots_->posted; n < last; ++n) {
        Slots::Slot& slot = slots_->at(n);
        int gone = 0;
        MPI_Test(&slot.going, &gone, MPI_STATUS_IGNORE);
        if (gone == 0) return;
        slot.here = false;
        if (owner(n) == rank()) {
            pieces_.load(pieces_.order[static_cast<std::size_t>(n)],
                         std::span(slot.numbers).first(pieces_.floats));
            send_on(n, slot);
        } else {
            MPI_Irecv(slot.numbers.data(), units, unit, before, tag(n), MPI_COMM_WORLD,
                      &slot.coming);
        }
    }
}

void Ring::each(const std::function<void(Index piece, std::span<const float> numbers)>& use) {
    for (const Index piece : pieces_.order) {
        const Stopwatch watch;
        pass_on();
        Slots::Slot& slot = slots_->at(slots_->used);
        while (!slot.here || slots_->posted <= slots_->used) {
            std::this_thread::sleep_for(kNap);
            pass_on();
        }
        waited_ += watch.seconds();
        use(piece, std::span(slot.numbers).first(pieces_.floats));
        ++slots_->used;
    }
    for (auto& slot : slots_->slots) MPI_Wait(&slot.going, MPI_STATUS_IGNORE);
}

}  // namespace attn::cluster
