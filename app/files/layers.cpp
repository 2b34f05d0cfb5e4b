#include "app/files/layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "app/files/options.h"
#include "app/files/words.h"
#include "core/stages.h"

namespace attn::files {
namespace {

constexpr std::size_t kMostNamed = 8;  // in a note

std::vector<std::string_view> call_arrays() {
    std::vector<std::string_view> names{"Q", "K", "V", "X", "X_kv"};
    for (const ParamInfo& param : param_table()) names.push_back(param.npz);
    names.insert(names.end(), {"dO", "dY"});
    return names;
}

constexpr std::string_view kFileArrays[] = {"mask", "tokens", "tokens_kv", "options"};

/// What other programs call what has another name or place here.
constexpr struct {
    std::string_view name, remedy;
} kOtherNames[] = {
    {"attn_mask", "call it mask, true = may attend"},
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
    for (const AttentionOption& option : attention_options())
        if (option.name == name)
            return fmt::format("{}: it is an option, not an array: give --{}", name, option.name);
    return {};
}

std::string remedies_for(const std::vector<std::string>& unused) {
    std::string remedies;
    for (const std::string& name : unused)
        if (const std::string remedy = remedy_for(name); !remedy.empty()) remedies += "; " + remedy;
    return remedies;
}

/// The parts of "l3.Q".
struct LayerName {
    Index layer;
    std::string_view array;
};

std::optional<LayerName> parse_layer_name(std::string_view name) {
    const std::size_t dot = name.find('.');
    if (dot == name.npos || dot < 2 || name[0] != 'l' || (name[1] == '0' && dot > 2))
        return std::nullopt;
    Index layer = 0;
    const char* const end = name.data() + dot;
    const auto [stop, fault] = std::from_chars(name.data() + 1, end, layer);
    if (fault != std::errc{} || stop != end || layer < 0) return std::nullopt;
    return LayerName{layer, name.substr(dot + 1)};
}

std::vector<std::string> words_of(std::span<const Index> layers) {
    std::vector<std::string> words;
    for (const Index layer : layers) words.push_back(std::to_string(layer));
    return words;
}

}  // namespace

Result<Listing> list_layers(std::span<const std::string> names, const std::string& path) {
    Listing listing;
    const std::vector<std::string_view> of_call = call_arrays();
    const std::string* plain = nullptr;
    const std::string* numbered = nullptr;
    for (const std::string& name : names) {
        const auto part = parse_layer_name(name);
        if (std::ranges::count(of_call, name) > 0) {
            plain = &name;
        } else if (part && std::ranges::count(of_call, part->array) > 0) {
            numbered = &name;
            listing.layers.push_back(part->layer);
        } else if (std::ranges::count(kFileArrays, name) == 0) {
            listing.unused.push_back(name);
        }
    }
    if (plain && numbered)
        return bad_input(
            fmt::format("{} has both {} and {}; expected plain names for one layer, or "
                        "l<N>. before each for several",
                        path, *plain, *numbered));
    std::ranges::sort(listing.layers);
    const auto twice = std::ranges::unique(listing.layers);
    listing.layers.erase(twice.begin(), twice.end());
    listing.numbered = numbered != nullptr;
    if (!listing.numbered) listing.layers = {0};
    return listing;
}

std::string layer_name(const Listing& listing, Index layer, std::string_view array) {
    return listing.numbered ? fmt::format("l{}.{}", layer, array) : std::string(array);
}

std::string unused_note(const Listing& listing, const std::string& path) {
    if (listing.unused.empty()) return {};
    const std::size_t named = std::min(listing.unused.size(), kMostNamed);
    const bool one = listing.unused.size() == 1;
    const std::string more = named == listing.unused.size()
                                 ? ""
                                 : fmt::format(" and {} more", listing.unused.size() - named);
    return fmt::format(
        "{}: array{} '{}'{} {} not used{}; known arrays are {} (each alone, or as l<N>. and the "
        "name in every layer), {}",
        path, one ? "" : "s",
        fmt::join(listing.unused.begin(), listing.unused.begin() + static_cast<long>(named),
                  "', '"),
        more, one ? "is" : "are", remedies_for(listing.unused), fmt::join(call_arrays(), ", "),
        fmt::join(kFileArrays, ", "));
}

Result<Index> find_layer(const Listing& listing, Index layer, const std::string& path) {
    if (layer == kFirstLayer || (layer == kOnlyLayer && listing.layers.size() == 1))
        return listing.layers.front();
    const std::string numbers = choices(words_of(listing.layers));
    if (layer == kOnlyLayer)
        return bad_input(fmt::format("{} has {} layers; choose one with --layer: {}", path,
                                     listing.layers.size(), numbers));
    if (std::ranges::count(listing.layers, layer) > 0) return layer;
    return bad_input(fmt::format("{} has no layer {}; expected {}", path, layer, numbers));
}

}  // namespace attn::files
