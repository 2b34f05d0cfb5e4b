#pragma once

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/io/arrays/array_file.h"

namespace attn::files {

/// An array's name in a file, and its name here.
struct OtherName {
    std::string there, here;
};

/// Renames, in this order: without the prefixes of wrappers ("_orig_mod." of torch.compile, "module." of DataParallel,
/// "language_model." of a model of several modalities); query, key, value and query_states … as Q, K, V in a file that has none
/// of Q, K, V, X and qkv; past_key and past_value as past_k and past_v; cu_seqlens_q as cu_seqlens where cu_seqlens_k is absent. Names in `fixed` stay, and a name whose new
/// name the file has already.
std::vector<OtherName> other_names(std::span<const std::string> names,
                                   const std::set<std::string>& fixed);

/// The same arrays with the names here.
Arrays renamed(Arrays file, const std::vector<OtherName>& names);

/// "in.npz: query, key, value are read as Q, K, V"; "" where nothing was renamed.
std::string renamed_note(const std::vector<OtherName>& names, const std::string& path);

}  // namespace attn::files
