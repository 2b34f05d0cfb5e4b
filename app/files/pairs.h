#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/files/arrays.h"
#include "app/files/options.h"
#include "app/files/tensors.h"

namespace attn::files {

/// Scores or weights that stand in a file without the queries and keys that make them: by the names of Hugging Face's
/// output_attentions, of TransformerLens and of a trace, or by the roles of the options.
struct PairsListing {
    Stage stage = Stage::weights;
    std::vector<Index> layers;       // ascending; {0} where the name is plain
    std::vector<std::string> names;  // of each layer
};
/// nullopt: there are none, or more of other programs' kinds than one: the first of the table is taken. Raw `scores` are
/// none: their scale is not in the file.
std::optional<PairsListing> list_pairs(std::span<const std::string> names,
                                       const std::map<std::string, std::string>& roles);

/// [Tq,Tk], [H,Tq,Tk] or [B,H,Tq,Tk] each; one plain array may be [L,B,H,Tq,Tk].
Result<void> read_pairs(ArrayReader& reader, const PairsListing& listing, TensorFile& file);

}  // namespace attn::files
