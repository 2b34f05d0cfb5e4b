#include "cluster/numbers.h"

#include <mpi.h>

#include "cluster/world.h"

namespace attn::cluster {
namespace {

constexpr int kAsk = 1, kAnswer = 2;  // tags
constexpr int kMore = 1, kNoMore = 0;

}  // namespace

Index Numbers::deal() {
    while (skip_(next_)) ++next_;
    return next_++;
}

void Numbers::answer() {
    int wish = kMore;
    MPI_Status from;
    MPI_Recv(&wish, 1, MPI_INT, MPI_ANY_SOURCE, kAsk, MPI_COMM_WORLD, &from);
    if (wish == kNoMore) {
        ++finished_;
        return;
    }
    const Index number = deal();
    MPI_Send(&number, 1, MPI_INT64_T, from.MPI_SOURCE, kAnswer, MPI_COMM_WORLD);
}

Index Numbers::next() {
    if (is_first()) return deal();
    Index number = 0;
    MPI_Send(&kMore, 1, MPI_INT, 0, kAsk, MPI_COMM_WORLD);
    MPI_Recv(&number, 1, MPI_INT64_T, 0, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return number;
}

void Numbers::serve() {
    for (int asked = is_first() ? 1 : 0; asked != 0;) {
        MPI_Iprobe(MPI_ANY_SOURCE, kAsk, MPI_COMM_WORLD, &asked, MPI_STATUS_IGNORE);
        if (asked != 0) answer();
    }
}

void Numbers::finish() {
    if (!is_first()) MPI_Send(&kNoMore, 1, MPI_INT, 0, kAsk, MPI_COMM_WORLD);
    while (is_first() && finished_ + 1 < rank_count()) answer();
}

}  // namespace attn::cluster
