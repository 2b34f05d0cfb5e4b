#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/files/options.h"
#include "core/sizes.h"

namespace attn::files {

// The names of a file's arrays. Those of a call stand once under plain names ("Q"), or once a layer
// ("l0.Q", "l1.Q", ...); those of the file ("mask", "tokens", "options") are the same for every layer.

/// What a file holds, by its names alone.
struct Listing {
    std::vector<Index> layers;        // ascending; {0} where the names are plain
    bool numbered = false;            // the names of layers begin with l<N>.
    std::vector<std::string> unused;  // names that mean nothing here
    bool packed = false;              // Q, K and V are one array `qkv`
    bool hooks = false;               // Q, K and V are TransformerLens's, tokens first
    bool rotated = false;             // Q and K are those after RoPE
    bool options = false;             // the file says the options of its call
    bool projected = false;           // Q, K and V are outputs of projections, heads side by side
    std::map<std::string, std::string> substitutes;  // "l0.Q": the name that stands for it, "l0.q"
    std::map<std::string, std::string> file_names;   // "mask": its name in the file, "attn_mask"
    std::map<std::string, std::string> roles;        // of every array that is used: "l0.q" -> "Q"
    std::set<std::string, std::less<>> transposed;   // names that are read as a role with .T
    bool given_roles = false;                        // a person said what some are
    bool call = false;                               // Q and K, X or a packed array are among them
    std::vector<std::string> computed;  // results of a trace that came with such inputs
};
/// A file without Q, K, V and X may have a packed `qkv`, the stages q, k, v or x of a trace, or TransformerLens's
/// blocks.<N>.attn.hook_q, hook_k and hook_v (after RoPE hook_rot_q and hook_rot_k), or the outputs of projections as nnsight
/// names them, model.layers.<N>.self_attn.q_proj.output: they stand for them.
/// Refuses a call under plain names beside numbered ones. `path` names the file in the error.
/// `roles`: name of an array -> what it is read as whatever its name, "-" for nothing.
Listing list_layers(std::span<const std::string> names, const std::string& path,
                    const std::map<std::string, std::string>& roles = {});

/// "l3.Q", or "Q" where the names are plain; or what stands for it.
std::string layer_name(const Listing& listing, Index layer, std::string_view array);

/// "in.npz: q, k and v are read as Q, K and V ..."; "" where nothing stands for another.
/// `layout`: the axes that the options say; not set: the names' own.
std::string substitute_note(const Listing& listing, const std::string& path,
                            std::optional<HeadAxes> layout = {});

/// "in.npz: q.weight is read transposed ..."; "" where nothing is.
std::string transposed_note(const Listing& listing, const std::string& path);

/// "mask", its name in the file, or the array that was given that role.
std::string file_array(const Listing& listing, std::string_view role);

/// mask, bias, tokens, tokens_kv or options: of every layer.
bool is_file_array(std::string_view name);

/// "Q" of "l3.Q".
std::string_view array_part(std::string_view name);

/// "in.npz: array 'foo' is not used; known arrays are ..."; "" when every array is used.
std::string unused_note(const Listing& listing, const std::string& path);

/// The layer of read_call() when none is named: the only one, which must be the only one.
inline constexpr Index kOnlyLayer = -2;
inline constexpr Index kFirstLayer = -1;
/// A number, kFirstLayer or kOnlyLayer as the layer that it means here.
Index find_layer(const Listing& listing, Index layer, const std::string& path);

}  // namespace attn::files
