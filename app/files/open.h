#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "app/common/opener.h"
#include "app/common/workspace_list.h"
#include "core/forward.h"
#include "core/result.h"

namespace attn::view {
struct Document;
}  // namespace attn::view

namespace attn::files {

struct TensorFile;

/// Whether a file holds tensors and not a session: by its name, or by the first bytes of standard input.
bool holds_tensors(const std::string& path);

/// How options are given where a sentence proposes them: as "--layout joined", or in the Arrays workspace.
enum class OptionsBy : std::uint8_t {
    flags,
    window_flags,  // of a command whose --scale is the window's
    controls
};

/// Whatever a person opens: tensors (.npz) or a generated matrix become a document, a session brings everything, a
/// preset is a document, a model's folder one over a text. The model that was opened last is kept. What cannot be read is an error that names the file. For app/jobs and the command line.
view::Opener opener(BackendList backends, view::WorkspaceList workspaces = view::workspaces(),
                    OptionsBy by = OptionsBy::controls);

/// The document that a file's attention calls are, one a layer.
Result<view::Document> document_of(TensorFile file, const std::filesystem::path& path);

}  // namespace attn::files
