#pragma once

#include <cstdint>

#include "app/common/actions.h"

namespace attn::test {

/// Actions that a journal can hold, drawn among all of them, with edge values in every field. The same seed gives the
/// same ones on every machine.
view::Actions random_journal(std::uint64_t seed);

}  // namespace attn::test
