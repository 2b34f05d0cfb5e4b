#pragma once

#include <string>

#include "app/common/action.h"

namespace attn::view {

/// Checks a file of results, of the inputs that are open or of its own, in the workspace that does (WorkspaceInfo::check);
/// "": the results of what is open.
struct CheckFile {
    std::string path;
    static constexpr auto kJournalNames = journal_names("check_file", "path");
};
using CheckActions = ActionList<ViewActions<CheckFile>>;
template <ListedIn<CheckActions> A>
inline constexpr Meta kMetaOf<A> = CheckActions::kMeta<A>;

}  // namespace attn::view
