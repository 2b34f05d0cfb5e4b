#pragma once

#include <string>

#include "app/common/document/opened.h"
#include "core/models/sweep.h"

namespace attn::view {

/// What came of a sweep over the heads of a model.
struct SweptModel {
    SweepModel of;
    std::string fault;  // why there is none; "": there is one
    HeadSweep sweep;
    std::string a, b;  // its two tokens
};

}  // namespace attn::view
