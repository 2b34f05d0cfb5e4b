#pragma once

#include <filesystem>

#include "app/common/opener.h"
#include "app/common/state.h"
#include "app/common/workspace_list.h"
#include "core/forward.h"
#include "core/result.h"

namespace attn {
BackendList backends();
}

namespace attn::view {

class Fields;
struct AppState;
struct Document;

// What is read of a file that holds documents, each with the place that is looked at: a session, and what is pinned in it.

/// What a session takes from the program that opens it.
struct SessionContext {
    BackendList backends = attn::backends();
    WorkspaceList workspaces = view::workspaces();
    Opener open = {};                   // for documents that stand in a file of their own
    std::filesystem::path folder = {};  // of the session: where documents' files are looked for
};

/// The document under "document".
Result<Document> read_saved_document(Fields& fields, const SessionContext& context);
/// Nothing but that document, not computed.
AppState saved_state(Document document, const SessionContext& context);
/// Sequence and head; complains where the document has no such ones.
void read_place(Fields& fields, AppState& state);
/// The trace; by "auto" where the state's backend cannot.
Result<void> compute_saved(AppState& state);

/// A session while it is read. `read`: what was read so far, computed.
struct SessionReader {
    Fields& fields;
    AppState& read;
    const SessionContext& context;
};

}  // namespace attn::view
