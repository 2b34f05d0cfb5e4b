#include "app/files/layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <initializer_list>

#include "app/files/text.h"
#include "core/stages.h"
#include "core/text.h"

namespace attn::files {
namespace {

constexpr std::size_t kMostNamedInNote = 8;  // in a note

std::vector<std::string_view> call_arrays() {
    std::vector<std::string_view> names{"Q", "K", "V", "X", "X_kv"};
    for (const ParamInfo& param : param_table()) names.push_back(param.npz);
    names.insert(names.end(), {"q_nope", "q_rope", "c_kv", "k_rope", "W_UK", "W_UV"});  // latents
    names.insert(names.end(), {"past_k", "past_v", "dO", "dY"});
    return names;
}

constexpr std::string_view kPacked = "qkv";
constexpr std::string_view kFileArrays[] = {"mask",
                                            "bias",
                                            "tokens",
                                            "tokens_kv",
                                            "options",
                                            "cu_seqlens",
                                            "segment_ids",
                                            "alibi_slopes",
                                            "log_f",
                                            "nonpad_kv_seqlen",
                                            "cos",
                                            "sin",
                                            "q_cos",
                                            "q_sin",
                                            "k_cos",
                                            "k_sin",
                                            "cos_cache",
                                            "sin_cache",
                                            "positions",
                                            "q_positions",
                                            "k_positions",
                                            "selected",
                                            "kv_num_blocks",
                                            "kv_indices",
                                            "full_kv_num_blocks",
                                            "full_kv_indices",
                                            "Q_BLOCK_SIZE",
                                            "KV_BLOCK_SIZE",
                                            "indexer_scores",
                                            "image",
                                            "image_tokens",
                                            "image_queries",
                                            "image_grid"};
/// Names of other programs for arrays of the file.
constexpr std::pair<std::string_view, std::string_view> kFileNames[] = {
    {"attn_mask", "mask"},  {"attn_bias", "bias"},         {"attention_bias", "bias"},
    {"alibi_bias", "bias"}, {"position_ids", "positions"},
};

/// What other programs call what has another name or place here.
constexpr struct {
    std::string_view name, remedy;
} kOtherNames[] = {
    {"attention_mask", "call it mask, true = may attend"},
    {"key_padding_mask", "give the valid keys of each batch entry as the option padding"},
    {"bias_K", "call it b_K"},
    {"bias_Q", "call it b_Q"},
    {"bias_V", "call it b_V"},
    {"is_causal", "give the option causal"},
};

bool same_letters(std::string_view a, std::string_view b) {
    return std::ranges::equal(
        a, b, {}, [](unsigned char c) { return std::tolower(c); },
        [](unsigned char c) { return std::tolower(c); });
}

/// "attn_mask: call it mask, true = may attend"; "" where nothing is known of the name.
std::string remedy_for(std::string_view name) {
    for (const auto& other : kOtherNames)
        if (same_letters(other.name, name)) return fmt::format("{}: {}", name, other.remedy);
    for (const std::string_view known : call_arrays())
        if (same_letters(known, name)) return fmt::format("{}: call it {}", name, known);
    for (const OperationInfo& operation : operation_table())
        for (const OperationParam& param : operation.params)
            if (param.npz == name)
                return fmt::format("{}: a parameter of operation {}, which trace computes", name,
                                   operation.key);
    for (const AttentionOption& option : attention_options())
        if (option.name == name) return fmt::format("{} is an option, not an array", name);
    return {};
}

/// "'a', 'b' and 3 more"
std::string quoted(const std::vector<std::string>& names) {
    const std::size_t named = std::min(names.size(), kMostNamedInNote);
    const std::string more =
        named == names.size() ? "" : fmt::format(" and {} more", names.size() - named);
    return fmt::format(
        "'{}'{}",
        fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named), "', '"), more);
}

std::string remedies_for(const std::vector<std::string>& unused) {
    std::string remedies;
    for (const std::string& name : unused)
        if (const std::string remedy = remedy_for(name); !remedy.empty()) remedies += "; " + remedy;
    return remedies;
}

/// The parts of "l3.Q", or of "blocks.3.attn.hook_q" as TransformerLens names it.
struct LayerName {
    Index layer;
    std::string_view array;
};

std::optional<LayerName> parse_layer_name(std::string_view name, std::string_view before,
                                          std::string_view between) {
    if (!name.starts_with(before)) return std::nullopt;
    const std::string_view rest = name.substr(before.size());
    const std::size_t dot = rest.find(between);
    if (dot == rest.npos || dot < 1 || (rest[0] == '0' && dot > 1)) return std::nullopt;
    const auto layer = number_in<Index>(rest.substr(0, dot));
    if (!layer || *layer < 0) return std::nullopt;
    return LayerName{*layer, rest.substr(dot + between.size())};
}

/// Of nnsight: what a module of Hugging Face's models gave.
constexpr std::string_view kOutput = ".output";
constexpr std::pair<std::string_view, std::string_view> kModules[] = {
    {"model.layers.", ".self_attn."},
    {"layers.", ".self_attn."},
    {"transformer.h.", ".attn."},
    {"h.", ".attn."},
    {"bert.encoder.layer.", ".attention.self."},
    {"encoder.layer.", ".attention.self."},
};
/// [T, H·d] or [B, T, H·d], before RoPE.
constexpr std::pair<std::string_view, std::string_view> kProjections[] = {
    {"q_proj.output", "Q"}, {"k_proj.output", "K"}, {"v_proj.output", "V"},   {"query.output", "Q"},
    {"key.output", "K"},    {"value.output", "V"},  {"c_attn.output", "qkv"},
};

std::optional<LayerName> parse_layer_name(std::string_view name) {
    const auto ours = parse_layer_name(name, "l", ".");
    if (ours) return ours;
    if (name.ends_with(kOutput))
        for (const auto& [before, between] : kModules)
            if (auto part = parse_layer_name(name, before, between)) return part;
    return parse_layer_name(name, "blocks.", ".attn.");
}

/// What stands for the inputs of a call in a file that has none of them by name.
constexpr struct {
    std::string_view name, means;
} kSubstitutes[] = {
    {"qkv", kPacked}, {"QKV", kPacked}, {"q", "Q"},       {"k", "K"},
    {"v", "V"},       {"x", "X"},       {"x_kv", "X_kv"},
};
/// Of a trace that has no q and k.
constexpr std::pair<std::string_view, std::string_view> kRotated[] = {{"q_rot", "Q"},
                                                                      {"k_rot", "K"}};
/// Of TransformerLens: [B, T, H, d], q and k before and after RoPE.
constexpr std::string_view kHook = "hook_";
constexpr struct {
    std::string_view name, rotated, means;
} kHooks[] = {{"hook_q", "hook_rot_q", "Q"}, {"hook_k", "hook_rot_k", "K"}, {"hook_v", {}, "V"}};

/// "W_Q" of "W_Q.T".
std::string_view untransposed(std::string_view role) {
    return role.ends_with(".T") ? role.substr(0, role.size() - 2) : role;
}

/// What names mean in a file: most themselves.
using Meanings = std::map<std::string_view, std::string_view>;

Meanings meanings_in(std::span<const std::string> names) {
    const auto has = [&](std::initializer_list<std::string_view> wanted) {
        return std::ranges::any_of(names, [&](const std::string& name) {
            return std::ranges::count(wanted, array_part(name)) > 0;
        });
    };
    Meanings meanings;
    for (const std::string_view name : call_arrays()) meanings.emplace(name, name);
    if (has({"Q", "K", "V", "X"})) return meanings;
    const bool packed = has({"qkv", "QKV"});
    const bool rotated = !packed && !has({"q", "k"}) && has({"q_rot", "k_rot"});
    const bool heads = !packed && (rotated || has({"q", "k", "v"}));
    for (const auto& [name, means] : kSubstitutes) {
        const bool of_heads = means == "Q" || means == "K" || means == "V";
        const bool of_tokens = means == "X" || means == "X_kv";
        if (means == kPacked ? packed : of_heads ? heads : of_tokens && !packed && !heads)
            meanings.emplace(name, means);
    }
    if (rotated) meanings.insert(std::begin(kRotated), std::end(kRotated));
    if (packed || heads) return meanings;
    if (has({"q_proj.output", "query.output", "c_attn.output"}))
        meanings.insert(std::begin(kProjections), std::end(kProjections));
    if (!has({"hook_q", "hook_k", "hook_v", "hook_rot_q", "hook_rot_k"})) return meanings;
    const bool turned = has({"hook_rot_q", "hook_rot_k"});
    for (const auto& hook : kHooks)
        meanings.emplace(turned && !hook.rotated.empty() ? hook.rotated : hook.name, hook.means);
    return meanings;
}

/// A stage of a trace, or the gradient of a stage or parameter.
bool is_result_name(std::string_view name) {
    std::string_view key = array_part(name);
    const bool gradient = key.starts_with("d_");
    if (gradient) key.remove_prefix(2);
    const auto is_key = [&](const ParamInfo& param) { return same_letters(param.npz, key); };
    return key == "logsumexp" || key.starts_with(kHook) || find_stage(key).has_value() ||
           (gradient && (key == "bias" || std::ranges::any_of(param_table(), is_key)));
}

/// What stands beside the stages q, k, v of a trace is no array that somebody forgot.
void part_results(Listing& listing) {
    if (listing.substitutes.empty() || listing.packed) return;
    const auto rest = std::ranges::stable_partition(
        listing.unused, [](const std::string& name) { return !is_result_name(name); });
    listing.computed.assign(rest.begin(), rest.end());
    listing.unused.erase(rest.begin(), rest.end());
}

/// Reads arrays under the names of other programs, where the file has no array under our name.
void adopt_file_names(std::span<const std::string> names, Listing& listing) {
    for (const auto& [name, means] : kFileNames) {
        const auto unused = std::ranges::find(listing.unused, name);
        const std::string role(means);
        if (unused == listing.unused.end() || std::ranges::count(names, means) > 0 ||
            listing.substitutes.contains(role) || listing.file_names.contains(role))
            continue;
        listing.file_names.emplace(role, name);
        listing.roles.emplace(name, means);
        listing.unused.erase(unused);
    }
}

std::vector<std::string> description_of(std::span<const Index> layers) {
    std::vector<std::string> items;
    for (const Index layer : layers) items.push_back(std::to_string(layer));
    return items;
}

}  // namespace

Listing list_layers(std::span<const std::string> names, const std::string& path,
                    const std::map<std::string, std::string>& roles) {
    Listing listing;
    std::vector<std::string> named;  // whose names tell what they are
    for (const std::string& name : names)
        if (!roles.contains(name)) named.push_back(name);
    for (const auto& [name, role] : roles) {
        if (std::ranges::count(names, name) == 0)
            throw bad_input(fmt::format("{} has no array {} to be read as {}", path, name, role));
        named.emplace_back(
            untransposed(role));  // so that nothing else stands in for what was given
    }
    Meanings meanings = meanings_in(named);
    if (std::ranges::any_of(roles,
                            [](const auto& each) { return array_part(each.second) == kPacked; }))
        meanings.emplace(kPacked, kPacked);
    const std::string* plain = nullptr;
    const std::string* numbered = nullptr;
    for (const std::string& name : names) {
        const auto part = parse_layer_name(name);
        if (const auto role = roles.find(name); role != roles.end()) {
            const std::string_view array = array_part(role->second);
            const std::string_view as = untransposed(array);
            if (as.size() != array.size()) listing.transposed.insert(name);
            if (as == "-") {
                listing.unused.push_back(name);
                continue;
            }
            const bool of_file = std::ranges::count(kFileArrays, as) > 0;
            const auto stated = parse_layer_name(role->second);  // "l0.weights"
            const auto& layer = stated ? stated : part;
            const std::string key =
                layer && !of_file ? fmt::format("l{}.{}", layer->layer, as) : std::string(as);
            if (!listing.substitutes.emplace(key, name).second)
                throw bad_input(fmt::format("{}: {} and {} are both read as {}; give one", path,
                                            listing.substitutes[key], name, key));
            if (!of_file) (layer ? numbered : plain) = &name;
            if (layer && !of_file) listing.layers.push_back(layer->layer);
            listing.roles.emplace(name, array);
            continue;
        }
        const auto whole = meanings.find(name);
        const auto of_layer = part ? meanings.find(part->array) : meanings.end();
        if (whole != meanings.end())
            listing.roles.emplace(name, whole->second);
        else if (of_layer != meanings.end())
            listing.roles.emplace(name, of_layer->second);
        else if (std::ranges::count(kFileArrays, name) > 0)
            listing.roles.emplace(name, name);
        else if (part && part->array == "options")  // of that layer
            listing.roles.emplace(name, part->array);
        if (whole != meanings.end()) {
            plain = &name;
            if (whole->second != name) listing.substitutes.emplace(whole->second, name);
        } else if (of_layer != meanings.end()) {
            numbered = &name;
            listing.layers.push_back(part->layer);
            if (of_layer->second != part->array)
                listing.substitutes.emplace(fmt::format("l{}.{}", part->layer, of_layer->second),
                                            name);
        } else if (!listing.roles.contains(name)) {
            listing.unused.push_back(name);
        }
    }
    adopt_file_names(names, listing);
    listing.given_roles = !roles.empty();
    if (plain && numbered)
        throw bad_input(
            fmt::format("{} has both {} and {}; expected plain names for one layer, or l<N>. "
                        "before each for several",
                        path, *plain, *numbered));
    std::ranges::sort(listing.layers);
    const auto twice = std::ranges::unique(listing.layers);
    listing.layers.erase(twice.begin(), twice.end());
    listing.numbered = numbered != nullptr;
    const auto is_packed = [](const auto& each) { return each.second == kPacked; };
    listing.packed = meanings.contains(kPacked) || std::ranges::any_of(listing.roles, is_packed);
    listing.projected =
        !listing.packed && std::ranges::any_of(listing.substitutes, [](const auto& each) {
            return each.second.ends_with(kOutput);
        });
    listing.hooks = std::ranges::any_of(listing.substitutes, [](const auto& each) {
        return array_part(each.second).starts_with(kHook);
    });
    listing.rotated = std::ranges::any_of(listing.substitutes, [](const auto& each) {
        const std::string_view name = array_part(each.second);
        return name == kRotated[0].first || name == kHooks[0].rotated || name == kHooks[1].rotated;
    });
    part_results(listing);
    const auto is_read_as = [&](std::string_view role) {
        return std::ranges::any_of(listing.roles,
                                   [&](const auto& each) { return each.second == role; });
    };
    listing.call = (is_read_as("Q") && is_read_as("K")) || is_read_as("X") || is_read_as(kPacked) ||
                   is_read_as("c_kv");
    if (!listing.numbered) listing.layers = {0};
    return listing;
}

std::string file_array(const Listing& listing, std::string_view name) {
    const std::string role(name);
    if (const auto given = listing.substitutes.find(role); given != listing.substitutes.end())
        return given->second;
    const auto other = listing.file_names.find(role);
    return other == listing.file_names.end() ? role : other->second;
}

bool is_file_array(std::string_view name) { return std::ranges::count(kFileArrays, name) > 0; }

std::string_view array_part(std::string_view name) {
    const auto part = parse_layer_name(name);
    return part ? part->array : name;
}

std::string layer_name(const Listing& listing, Index layer, std::string_view array) {
    std::string name = listing.numbered ? fmt::format("l{}.{}", layer, array) : std::string(array);
    const auto substitute = listing.substitutes.find(name);
    return substitute == listing.substitutes.end() ? name : substitute->second;
}

std::string substitute_note(const Listing& listing, const std::string& path,
                            std::optional<HeadAxes> layout) {
    std::vector<std::string> given, meant;
    for (const auto& [means, name] : listing.substitutes) {
        const std::string_view array = array_part(means);
        if (array == kPacked || std::ranges::count(meant, array) > 0) continue;
        given.emplace_back(array_part(name));
        meant.emplace_back(array);
    }
    if (given.empty()) return {};
    return fmt::format(
        "{}: {} {} read as {}, as {}{}{}", path, fmt::join(given, ", "),
        given.size() == 1 ? "is" : "are", fmt::join(meant, ", "),
        listing.hooks         ? layout
                                    ? fmt::format("TransformerLens saves them, but {}", info(*layout).key)
                                    : "TransformerLens saves them, [B, T, H, d]"
        : listing.projected   ? "the outputs of projections, heads side by side and before RoPE"
        : listing.given_roles ? "the roles say"
                              : "the stages of a trace",
        listing.computed.empty()
            ? ""
            : fmt::format(", and {} {} computed again", quoted(listing.computed),
                          listing.computed.size() == 1 ? "is" : "are"),
        listing.options ? "" : "; the mask, scale and positions of that call are not in the file");
}

std::string transposed_note(const Listing& listing, const std::string& path) {
    if (listing.transposed.empty()) return {};
    return fmt::format("{}: {} {} read transposed, [out, in]; gradients are [in, out]", path,
                       fmt::join(listing.transposed, ", "),
                       listing.transposed.size() == 1 ? "is" : "are");
}

std::string unused_note(const Listing& listing, const std::string& path) {
    if (listing.unused.empty()) return {};
    const bool one = listing.unused.size() == 1;
    return fmt::format(
        "{}: array{} {} {} not used{}; known arrays are {} (each alone, or as l<N>. and the name "
        "in every layer), {}",
        path, one ? "" : "s", quoted(listing.unused), one ? "is" : "are",
        remedies_for(listing.unused), fmt::join(call_arrays(), ", "), fmt::join(kFileArrays, ", "));
}

Index find_layer(const Listing& listing, Index layer, const std::string& path) {
    if (layer == kFirstLayer || (layer == kOnlyLayer && listing.layers.size() == 1))
        return listing.layers.front();
    const std::string numbers = choices(description_of(listing.layers));
    if (layer == kOnlyLayer)
        throw bad_input(fmt::format("{} has {} layers, {}", path, listing.layers.size(), numbers),
                        {{.option = "layer", .value = "N"}}, ErrorCode::ambiguous);
    if (std::ranges::count(listing.layers, layer) > 0) return layer;
    throw bad_input(fmt::format("{} has no layer {}; expected {}", path, layer, numbers));
}

}  // namespace attn::files
