#include "cluster/world.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <mpi.h>

#include "core/dimensions.h"
#include "core/kernels/fused_forward.h"
#include "core/kernels/peak.h"
#include "core/rng.h"
#include "core/text.h"

namespace attn::cluster {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of a message: MPI counts in int

std::string host() {
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    MPI_Get_processor_name(name, &length);
    return {name, static_cast<std::size_t>(length)};
}

/// body(data, bytes) for pieces that MPI can count.
template <class Data, class Body>
void in_pieces(Data* data, std::size_t bytes, const Body& body) {
    for (std::size_t at = 0; at < bytes; at += kMostBytes)
        body(data + at, static_cast<int>(std::min(kMostBytes, bytes - at)));
}

void send_bytes(const char* data, std::size_t bytes, int to) {
    in_pieces(data, bytes, [&](const char* piece, int count) {
        MPI_Send(piece, count, MPI_BYTE, to, 0, MPI_COMM_WORLD);
    });
}

void receive_bytes(char* data, std::size_t bytes, int from) {
    in_pieces(data, bytes, [&](char* piece, int count) {
        MPI_Recv(piece, count, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
}

/// Its instructions, and a number made of what its mathematical library gives: a library has code for some instructions.
std::string kind_of_host() {
    auto bits = static_cast<std::uint64_t>(query_group_lanes());
    for (int n = 1; n <= 4096; ++n) {
        const double x = n / 128.0;
        const auto narrow = static_cast<float>(x);
        for (const double value : {std::exp(-x), std::log(x), std::sin(x), std::pow(10.0, -x),
                                   double{std::exp(-narrow)}, double{std::tanh(narrow)}})
            bits = mix(bits, std::bit_cast<std::uint64_t>(value));
    }
    return fmt::format("{} ({:016x})", simd_target(), bits);
}

}  // namespace

World::World(int* count, char*** text) { MPI_Init(count, text); }
World::~World() { MPI_Finalize(); }

int rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int rank_count() {
    int count = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    return count;
}

void end_every_rank(const Error& error) {
    const std::string line =
        fmt::format("attnscope-mpi: rank {} on {}: {}\n", rank(), host(), error.text());
    std::fputs(printable(line).c_str(), stderr);
    std::fflush(stderr);
    const int status = error.kind == ErrorKind::input ? 2 : 1;
    MPI_Abort(MPI_COMM_WORLD, status);
    std::exit(status);
}

void share(void* data, std::size_t bytes) {
    in_pieces(static_cast<char*>(data), bytes,
              [](char* piece, int count) { MPI_Bcast(piece, count, MPI_BYTE, 0, MPI_COMM_WORLD); });
}

void share(std::string& text) {
    std::vector<char> bytes(text.begin(), text.end());
    share(bytes);
    text.assign(bytes.begin(), bytes.end());
}

void meet() { MPI_Barrier(MPI_COMM_WORLD); }

Result<void> check_one_kind_of_host() {
    const std::string own = kind_of_host();
    std::string first = own;
    share(first);
    const int differs = own == first ? rank_count() : rank();
    int other = differs;  // the first rank that does
    MPI_Allreduce(&differs, &other, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (other == rank_count()) return {};
    if (rank() == other) send(own, 0);
    std::string found = is_first() ? receive_text(other) : own;
    share(found);
    return bad_input(fmt::format(
        "rank {} computes with {}, rank 0 with {}; expected hosts of one kind, for the same "
        "numbers whoever computes them",
        other, found, first));
}

void send(std::span<const float> values, int to) {
    send_bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes(), to);
}

void receive(std::span<float> values, int from) {
    receive_bytes(reinterpret_cast<char*>(values.data()), values.size_bytes(), from);
}

void send(const std::string& text, int to) {
    const auto count = static_cast<Index>(text.size());
    MPI_Send(&count, 1, MPI_INT64_T, to, 0, MPI_COMM_WORLD);
    send_bytes(text.data(), text.size(), to);
}

std::string receive_text(int from) {
    Index count = 0;
    MPI_Recv(&count, 1, MPI_INT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::string text(static_cast<std::size_t>(count), '\0');
    receive_bytes(text.data(), text.size(), from);
    return text;
}

}  // namespace attn::cluster
