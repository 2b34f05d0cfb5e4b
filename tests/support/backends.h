#pragma once

#include <vector>

#include "core/backend.h"

namespace attn::test {

/// The backends that keep a stage: a fused one has no scores or weights to look at.
inline std::vector<const Backend*> backends_keeping(Stage stage) {
    std::vector<const Backend*> keeping;
    for (const Backend* backend : backends())
        if (backend->stages()[index_of(stage)]) keeping.push_back(backend);
    return keeping;
}

}  // namespace attn::test
