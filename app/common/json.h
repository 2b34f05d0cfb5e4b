#pragma once

#include <string_view>

#include "app/common/cell.h"
#include "app/common/fields.h"
#include "core/stages.h"

namespace attn::view {

/// A stage by its key.
void read_stage(Fields& fields, std::string_view key, Stage& stage);

}  // namespace attn::view
