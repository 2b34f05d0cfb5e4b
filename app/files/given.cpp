// What a file gives for a call, and the sentences where that is not enough.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/files/inputs.h"
#include "app/files/layers.h"

namespace attn::files {
namespace {

constexpr std::size_t kMostNamed = 12;

/// What trace computes, under the names that programs give it.
constexpr std::string_view kComputed[] = {
    "weights",     "A",      "attn",         "attention",        "attentions", "attn_weights",
    "pattern",     "scores", "scaled",       "masked",           "biased",     "logits",
    "attn_scores", "probs",  "hook_pattern", "hook_attn_scores",
};

bool is_computed(std::string_view name) {
    const std::string_view array = array_part(name);
    return std::ranges::count(kComputed, array) > 0;
}

/// "weights [2, 3, 3]" of what a file has of them.
std::vector<std::string> computed_in(const ArrayReader& reader) {
    std::vector<std::string> found;
    for (const std::string& name : reader.names())
        if (is_computed(name) && found.size() < kMostNamed)
            found.push_back(fmt::format("{} {}", name, caught([&] {
                                                           return to_string(reader.axes_of(name));
                                                       }).value_or("")));
    return found;
}

std::string joined(const std::vector<std::string>& items) {
    if (items.size() < 2) return items.empty() ? "" : items.front();
    return fmt::format("{} and {}", fmt::join(items.begin(), items.end() - 1, ", "), items.back());
}

std::string is_or_are(const std::vector<std::string>& items) {
    return fmt::format("{} {}", joined(items), items.size() == 1 ? "is" : "are");
}

Error missing_in(const LayerReader& layer, std::string problem, std::vector<Remedy> remedies) {
    return {.problem = std::move(problem),
            .code = ErrorCode::missing,
            .where = layer.shown(),
            .remedies = std::move(remedies)};
}

/// A file without any of Q, K, V and X.
Error nothing_given(const LayerReader& layer) {
    const std::vector<std::string> computed = computed_in(layer.reader);
    if (layer.reader.has("attentions.0.0"))
        return missing_in(layer, "attentions are those of generate(), one tuple for each new token",
                          {{.option = {},
                            .advice = "Save those of one pass over the whole text: model(ids, "
                                      "output_attentions=True).attentions"}});
    if (computed.empty())
        return missing_in(
            layer, "the file has no queries, keys and values",
            {{.option = {}, .advice = "Save X with W_Q, W_K and W_V, or all of Q, K and V"},
             {.option = "role",
              .value = "NAME=weights",
              .meaning = "or Q, K, V",
              .when = "they have other names"}});
    return missing_in(
        layer,
        fmt::format("{} there, which trace computes from Q, K and V, and those are missing",
                    is_or_are(computed)),
        {{.option = "role",
          .value = "NAME=weights",
          .meaning = "or masked, scaled, scores",
          .when = "the file has only scores or weights"},
         {.option = {}, .advice = "Save Q, K and V too, or X with W_Q, W_K and W_V"}});
}

Error some_missing(const LayerReader& layer, const std::vector<std::string>& missing,
                   const std::vector<std::string>& given) {
    const bool values_alone = missing == std::vector<std::string>{"V"};
    return missing_in(
        layer, fmt::format("{} missing; {} there", is_or_are(missing), is_or_are(given)),
        {{.option = {},
          .advice = values_alone ? "Save V too, which the context needs, or open the file in the "
                                   "window, which can show weights alone"
                                 : "Save all of Q, K and V, or X with W_Q, W_K and W_V"}});
}

/// How an array that is read heads-first can have `heads` heads after all, or that it needs no option.
Remedy remedy_for(const std::vector<Index>& extents, Index heads, std::string_view option) {
    const std::size_t n = extents.size();
    const Index width = extents.back();
    if (n >= 3 && extents[n - 2] == heads)
        return {.option = "layout",
                .value = "tokens-first",
                .when = fmt::format("its axes are {}", n == 3 ? "[T, H, d]" : "[B, T, H, d]")};
    if (n <= 3 && width % heads == 0)
        return {.option = "layout",
                .value = "joined",
                .when = fmt::format("it is {}, {} heads of width {}",
                                    n == 2 ? "[T, H·d]" : "[B, T, H·d]", heads, width / heads)};
    return {.option = {}, .advice = fmt::format("Leave {} out: Q, K and V have their own", option)};
}

void check_heads(const LayerReader& layer, const Inputs& in) {
    struct Count {
        std::string_view option, array;
        std::optional<Index> heads;
        const Tensor& tensor;
    };
    for (const Count& count : {Count{"heads", "Q", layer.options.heads, in.q},
                               {"kv-heads", "K", layer.options.kv_heads, in.k}}) {
        const Index brings = count.tensor.shape().h;
        if (!count.heads || count.tensor.empty() || *count.heads == brings) continue;
        const std::vector<Index>& extents = layer.reader.extents(layer.name(count.array));
        Error error{.problem = fmt::format("{} is {}, but {} is {} and has {}", count.option,
                                           *count.heads, count.array, to_string(extents), brings),
                    .where = layer.shown()};
        if (!layer.options.layout && *count.heads > 0)
            error.remedies = {remedy_for(extents, *count.heads, count.option)};
        throw Failure(std::move(error));
    }
}

/// "; it holds Q, K"
std::string what_it_holds(const ArrayReader& reader) {
    const auto& names = reader.names();
    if (names.empty()) return "; it holds nothing";
    const auto named = static_cast<std::ptrdiff_t>(std::min(names.size(), kMostNamed));
    const std::string more =
        names.size() > kMostNamed ? fmt::format(" and {} more", names.size() - kMostNamed) : "";
    return fmt::format("; it holds {}{}", fmt::join(names.begin(), names.begin() + named, ", "),
                       more);
}

}  // namespace

void check_given(const LayerReader& layer, const Inputs& in, Values values) {
    if (in.projects()) return;
    std::vector<std::string> given, missing;
    for (const auto& [name, tensor] : {std::pair{"Q", &in.q}, {"K", &in.k}, {"V", &in.v}})
        (tensor->empty() ? missing : given).emplace_back(name);
    const bool enough =
        missing.empty() || (values == Values::optional && missing == std::vector<std::string>{"V"});
    if (enough) {
        if (!layer.packed()) check_heads(layer, in);
        return;
    }
    Error error = given.empty() ? nothing_given(layer) : some_missing(layer, missing, given);
    error.problem += what_it_holds(layer.reader);
    throw Failure(std::move(error));
}

std::vector<Remedy> layout_remedy(const LayerReader& layer, const Inputs& in) {
    const auto &q = in.q.shape(), &k = in.k.shape(), &v = in.v.shape();
    if (layer.options.layout || layer.packed() || in.q.empty() || in.k.empty()) return {};
    const std::vector<Index>& axes = layer.reader.extents(layer.name("Q"));
    const bool values = in.v.empty() || (v.t == k.t && v.h == k.h && v.b == k.b);
    const bool fits = q.b == k.b && q.d == k.d && q.t % k.t == 0 && values;
    if (axes.size() < 3 || !fits) return {};
    return {{.option = "layout",
             .value = "tokens-first",
             .when = fmt::format("Q {} is {}", to_string(axes),
                                 axes.size() == 3 ? "[T, H, d]" : "[B, T, H, d]")}};
}

}  // namespace attn::files
