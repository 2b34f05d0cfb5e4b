#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "core/tensor.h"

namespace attn::cluster {

/// MPI while it lives: one rank a process, one thread a rank.
class World {
  public:
    World(int* count, char*** text);
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;
};

int rank();
int rank_count();
inline bool is_first() { return rank() == 0; }

/// "attnscope-mpi: rank 3 on node7: sentence" on standard error, and the end of every rank with this status.
[[noreturn]] void end_every_rank(const Error& error);

/// Rank 0's value for every rank.
void share(std::string& text);
void share(void* data, std::size_t bytes);
template <class T>
void share(std::vector<T>& values) {
    auto count = static_cast<Index>(values.size());
    share(&count, sizeof count);
    values.resize(static_cast<std::size_t>(count));
    share(values.data(), values.size() * sizeof(T));
}
/// Every rank has the shape and numbers of rank 0.
template <class T>
void share(TensorOf<T>& tensor) {
    Shape shape = tensor.shape();
    share(&shape, sizeof shape);
    if (tensor.shape() != shape) tensor = TensorOf<T>::uninitialised(shape);
    if (shape.count() > 0) share(tensor.data(), tensor.values().size_bytes());
}

/// Waits for every rank.
void meet();
/// Fails on every rank where hosts compute with other instructions than rank 0: their last bits would tell who computed what.
Result<void> check_one_kind_of_host();

/// A text, or numbers, from one rank to another, in order.
void send(const std::string& text, int to);
std::string receive_text(int from);
void send(std::span<const float> values, int to);
void receive(std::span<float> values, int from);

}  // namespace attn::cluster
