#pragma once

#include <string>

#include "app/common/action.h"

namespace attn::view {

/// Checks a file of results, of the inputs that are open or of its own, in the workspace that does (WorkspaceInfo::check);
/// "": the results of what is open.
struct CheckFile {
    std::string path;
    static constexpr Meta kMeta{"check_file", Kind::plain, fields<&CheckFile::path>};
    friend void carry_out(AppState& state, const CheckFile& action);
};

}  // namespace attn::view
