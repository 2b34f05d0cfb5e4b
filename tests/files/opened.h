#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/common/document/actions.h"
#include "app/common/document/opened.h"
#include "app/common/state.h"
#include "app/files/open.h"
#include "core/backend.h"
#include "core/io/npz.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

namespace attn::files {

inline Result<view::Opened> open(const std::filesystem::path& path,
                                 const std::string& options = {}) {
    return opener(backends())({path.string(), 0, options}, {});
}

/// The window's state once a file was opened.
inline view::AppState opened_state(const std::filesystem::path& path,
                                   const std::string& options = {}) {
    const auto opened = std::make_shared<const view::Opened>(must(open(path, options)));
    view::AppState state = view::initial_state();
    view::apply(state, view::OpenFile{path.string(), {}, options});
    view::apply(state, view::DocumentReady{path.string(), "", opened});
    return state;
}

/// A .npz of arrays of one shape and the same numbers.
inline void write_alike(const std::filesystem::path& path, const std::vector<std::string>& names,
                        const std::vector<Index>& extents, const std::vector<float>& values) {
    std::vector<NpzEntry> entries;
    for (const std::string& name : names) entries.push_back({name, extents, values});
    REQUIRE(write_npz(path, entries));
}

}  // namespace attn::files
