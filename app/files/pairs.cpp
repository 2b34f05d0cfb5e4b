#include "app/files/pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/files/arrays.h"

namespace attn::files {
namespace {

/// A name with the number of its layer between two parts, or the whole name where `after` is not set.
struct PairsName {
    std::string_view before;
    std::optional<std::string_view> after;
    Stage stage;
};
// Weights before scores: what is given later in the computation needs less to be known.
constexpr PairsName kPairsNames[] = {
    {"attentions.", "", Stage::weights},
    {"attentions_", "", Stage::weights},
    {"decoder_attentions.", "", Stage::weights},
    {"encoder_attentions.", "", Stage::weights},
    {"cross_attentions.", "", Stage::weights},
    {"attn.", "", Stage::weights},
    {"weights.", "", Stage::weights},
    {"l", ".weights", Stage::weights},
    {"blocks.", ".attn.hook_pattern", Stage::weights},
    {"layers.", ".attn_weights", Stage::weights},
    {"layers.", ".self_attn.attn_weights", Stage::weights},
    {"model.layers.", ".self_attn.attn_weights", Stage::weights},
    {"encoder.layer.", ".attention.self.attention_probs", Stage::weights},
    {"layer_", "", Stage::weights},
    {"weights", {}, Stage::weights},
    {"A", {}, Stage::weights},
    {"attentions", {}, Stage::weights},
    {"attn_weights", {}, Stage::weights},
    {"attention", {}, Stage::weights},
    {"attn", {}, Stage::weights},
    {"pattern", {}, Stage::weights},
    {"hook_pattern", {}, Stage::weights},
    {"attention_probs", {}, Stage::weights},
    {"probs", {}, Stage::weights},
    {"l", ".masked", Stage::masked},
    {"masked", {}, Stage::masked},
    {"blocks.", ".attn.hook_attn_scores", Stage::masked},
    {"hook_attn_scores", {}, Stage::masked},
    {"l", ".biased", Stage::biased},
    {"biased", {}, Stage::biased},
    {"l", ".scaled", Stage::scaled},
    {"scaled", {}, Stage::scaled},
};

std::optional<Index> layer_in(std::string_view name, const PairsName& form) {
    if (!form.after) return name == form.before ? std::optional<Index>(0) : std::nullopt;
    if (!name.starts_with(form.before) || !name.ends_with(*form.after) ||
        name.size() <= form.before.size() + form.after->size())
        return std::nullopt;
    const std::string_view digits =
        name.substr(form.before.size(), name.size() - form.before.size() - form.after->size());
    Index layer = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, fault] = std::from_chars(digits.data(), end, layer);
    if (fault != std::errc{} || stop != end || layer < 0) return std::nullopt;
    return layer;
}

PairsListing from(Stage stage, std::vector<std::pair<Index, std::string>> found) {
    std::ranges::sort(found);
    PairsListing listing{stage, {}, {}};
    for (auto& [layer, name] : found) {
        listing.layers.push_back(layer);
        listing.names.push_back(std::move(name));
    }
    return listing;
}

/// By the roles that a person gave: in the order of the names, a layer each.
std::optional<PairsListing> by_role(std::span<const std::string> names,
                                    const std::map<std::string, std::string>& roles) {
    for (const Stage stage : {Stage::weights, Stage::masked, Stage::scaled}) {
        std::vector<std::pair<Index, std::string>> found;
        for (const std::string& name : names)
            if (const auto role = roles.find(name);
                role != roles.end() && role->second == info(stage).key)
                found.emplace_back(std::ssize(found), name);
        if (!found.empty()) return from(stage, std::move(found));
    }
    return std::nullopt;
}

constexpr std::string_view kPairAxes =
    "[Tq, Tk], [H, Tq, Tk] or [B, H, Tq, Tk], or one array [L, B, H, Tq, Tk]";

/// Of one array, a tensor each layer.
Result<std::vector<Tensor>> tensors_of(ArrayReader& reader, const std::string& name) {
    const auto extents = reader.axes_of(name);
    if (!extents) return tl::unexpected(extents.error());
    const std::size_t n = extents->size();
    if (n < 2 || n > 5)
        return bad_input(fmt::format("{}: {} is {}; expected {}", reader.path(), name,
                                     to_string(*extents), kPairAxes));
    auto values = reader.numbers(name);
    if (!values) return tl::unexpected(values.error());
    const auto axis = [&](std::size_t from_last) {
        return n > from_last ? (*extents)[n - 1 - from_last] : Index{1};
    };
    const Shape shape{axis(3), axis(2), axis(1), axis(0)};
    if (n < 5) return std::vector<Tensor>{Tensor::shared(shape, *std::move(values))};
    std::vector<Tensor> tensors;
    for (Index layer = 0; layer < extents->front(); ++layer) {
        const float* const first = values->data() + layer * shape.count();
        tensors.push_back(Tensor::shared(shape, {first, first + shape.count()}));
    }
    return tensors;
}

/// "; rows of it sum to 1"-like hints are the window's: here shapes are compared alone.
Result<void> check_layer(const Tensor& tensor, const Tensor& first, const std::string& what) {
    const Shape &is = tensor.shape(), &was = first.shape();
    if (is.b == was.b && is.t == was.t && is.d == was.d && is.h == was.h) return {};
    return bad_input(
        fmt::format("{} is {}, the first layer {}; expected the same sizes in every layer", what,
                    to_string(is), to_string(was)));
}

}  // namespace

std::optional<PairsListing> list_pairs(std::span<const std::string> names,
                                       const std::map<std::string, std::string>& roles) {
    if (auto chosen = by_role(names, roles)) return chosen;
    for (const PairsName& form : kPairsNames) {
        std::vector<std::pair<Index, std::string>> found;
        for (const std::string& name : names)
            if (const auto layer = layer_in(name, form); layer && !roles.contains(name))
                found.emplace_back(*layer, name);
        if (!found.empty()) return from(form.stage, std::move(found));
    }
    return std::nullopt;
}

Result<void> read_pairs(ArrayReader& reader, const PairsListing& listing, TensorFile& file) {
    for (std::size_t n = 0; n < listing.names.size(); ++n) {
        auto tensors = tensors_of(reader, listing.names[n]);
        if (!tensors) return tl::unexpected(tensors.error());
        for (Tensor& tensor : *tensors) {
            const std::string what = fmt::format("{}: {}", reader.path(), listing.names[n]);
            if (!file.given.empty())
                if (auto same = check_layer(tensor, file.given.front().values, what); !same)
                    return same;
            file.numbers.push_back(tensors->size() > 1 ? std::ssize(file.given)
                                                       : listing.layers[n]);
            file.given.push_back({listing.stage, std::move(tensor)});
            file.layers.emplace_back();
        }
        file.roles.emplace(listing.names[n], info(listing.stage).key);
    }
    // Queries and keys of width 1 stand in for those that are not there: validate() checks the options by their sizes.
    const Shape shape = file.given.front().values.shape();
    Inputs stand_in;
    stand_in.q = Tensor(Shape{shape.b, shape.h, shape.t, 1});
    stand_in.k = stand_in.v = Tensor(Shape{shape.b, shape.h, shape.d, 1});
    const auto call = validate(stand_in, file.spec);
    if (!call) return bad_input(fmt::format("{}: {}", reader.path(), call.error().sentence));
    file.size = call->size();
    file.size.d_k = file.size.d_v = file.size.d_out = 0;
    const std::string_view title =
        listing.stage == Stage::weights ? "weights" : info(listing.stage).key;
    file.notes.push_back(fmt::format(
        "{}{} read as {} without the queries and keys that make them{}", listing.names.front(),
        listing.names.size() == 1 ? std::string(" is")
                                  : fmt::format(" and {} more are", listing.names.size() - 1),
        title, listing.stage == Stage::weights ? "" : "; weights are their softmax"));
    return {};
}

}  // namespace attn::files
