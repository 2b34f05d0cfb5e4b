#pragma once

#include <string>
#include <vector>

#include "app/common/state.h"

namespace attn::view {

struct FolderEntry {
    std::string name;
    bool is_folder = false;
    bool is_model = false;  // a folder that is opened as a whole
    double bytes = 0.0;     // of a file
    bool operator==(const FolderEntry&) const = default;
};
/// The folder that a typed path points to, with its entries.
struct Folder {
    std::string path;  // as typed, with the / that ends it; "": where the program was started
    std::string fault;
    std::vector<FolderEntry> entries;  // by name, those of the system's hidden ones left out
    bool operator==(const Folder&) const = default;
};
/// The folder of a path, read; at most 10,000 entries.
Folder read_folder(const std::string& path);

/// Whether a prompt asks for a path among those that lie there. Those for texts and for a figure, which shows its preview, do not.
bool lists_paths(PromptKind kind);

/// An entry that a prompt offers for the path that is typed so far.
struct PathRow {
    std::string path;  // that it stands for
    std::string name, remark;
    bool enters = false;  // a folder whose entries are listed next
};
/// Folders, then files that the prompt can take; those whose names begin with what is typed first, then those that have it.
std::vector<PathRow> path_rows(const Folder& folder, const Prompt& prompt);

}  // namespace attn::view
