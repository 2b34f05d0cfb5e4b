#include "app/files/pairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "app/files/inputs.h"
#include "app/files/text.h"
#include "core/spec_arrays.h"
#include "core/spec_fields.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::files {
namespace {

/// A name with the number of its layer between two parts, or the whole name where `after` is not set.
struct PairsName {
    std::string_view before;
    std::optional<std::string_view> after;
    Stage stage;
    bool stacked = false;  // one array of four axes holds layers, not sequences
};
/// What numpy.savez calls arrays that were given no name.
constexpr std::string_view kUnnamed = "arr_";
// Weights before scores: what is given later in the computation needs less to be known.
constexpr PairsName kPairsNames[] = {
    {"attentions.", "", Stage::weights},
    {"attentions_", "", Stage::weights},
    {"attn.", "", Stage::weights},
    {"attn_", "", Stage::weights},
    {"attention_", "", Stage::weights},
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
    {"attentions", {}, Stage::weights, true},
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
    {"l", ".scores", Stage::scores},
    {"scores", {}, Stage::scores},
    {kUnnamed, "", Stage::weights, true},
};

std::optional<Index> layer_in(std::string_view name, const PairsName& form) {
    if (!form.after) return name == form.before ? std::optional<Index>(0) : std::nullopt;
    if (!name.starts_with(form.before) || !name.ends_with(*form.after) ||
        name.size() <= form.before.size() + form.after->size())
        return std::nullopt;
    const auto layer = number_in<Index>(
        name.substr(form.before.size(), name.size() - form.before.size() - form.after->size()));
    return layer && *layer >= 0 ? layer : std::nullopt;
}

PairsListing from(Stage stage, std::vector<std::pair<Index, std::string>> found,
                  bool stacked = false) {
    std::ranges::sort(found);
    PairsListing listing{stage, {}, {}, {}, stacked && found.size() == 1, {}};
    for (auto& [layer, name] : found) {
        listing.layers.push_back(layer);
        listing.names.push_back(std::move(name));
    }
    return listing;
}

/// 3 of "l3.weights".
std::optional<Index> layer_of_role(std::string_view role) {
    const std::string_view array = array_part(role);
    if (array.size() == role.size()) return std::nullopt;
    return number_in<Index>(role.substr(1, role.size() - array.size() - 2));
}

/// By the roles that a person gave: as those say, else in the order of the names, a layer each.
std::optional<PairsListing> by_role(Stage stage, std::span<const std::string> names,
                                    const std::map<std::string, std::string>& roles) {
    std::vector<std::pair<Index, std::string>> found;
    for (const std::string& name : names)
        if (const auto role = roles.find(name);
            role != roles.end() && array_part(role->second) == info(stage).key)
            found.emplace_back(layer_of_role(role->second).value_or(std::ssize(found)), name);
    if (found.empty()) return std::nullopt;
    return from(stage, std::move(found));
}

/// A name that says nothing means weights where each array has their four axes, or one has five.
bool can_be_pairs(const ArrayReader& reader, const PairsName& form,
                  const std::vector<std::pair<Index, std::string>>& found) {
    if (form.before != kUnnamed) return true;
    return std::ranges::all_of(found, [&](const auto& each) {
        const auto axes = caught([&] { return reader.axes_of(each.second).size(); });
        return axes && (*axes == 4 || (*axes == 5 && found.size() == 1));
    });
}

std::optional<PairsListing> by_name(const PairsName& form, const ArrayReader& reader,
                                    const std::map<std::string, std::string>& roles) {
    std::vector<std::pair<Index, std::string>> found;
    for (const std::string& name : reader.names())
        if (const auto layer = layer_in(name, form); layer && !roles.contains(name))
            found.emplace_back(*layer, name);
    if (found.empty() || !can_be_pairs(reader, form, found)) return std::nullopt;
    return from(form.stage, std::move(found), form.stacked);
}

/// Of one array.
bool holds_layers(const std::vector<Index>& extents, const PairsListing& pairs) {
    return extents.size() == 5 || (extents.size() == 4 && pairs.stacked);
}

/// Of encoder, decoder and cross attention: "cross_attentions.0" or "cross_attentions_0".
std::optional<PairsListing> by_group(std::span<const std::string> names,
                                     const std::map<std::string, std::string>& roles,
                                     std::string_view wanted) {
    PairsListing listing;
    std::vector<Index> own;  // the layers' numbers in their names
    std::size_t groups = 0;
    for (const std::string_view group : {"encoder", "decoder", "cross"}) {
        if (!wanted.empty() && group != wanted) continue;
        std::vector<std::pair<Index, std::string>> found;
        for (const char between : {'.', '_'}) {
            const std::string before = fmt::format("{}_attentions{}", group, between);
            for (const std::string& name : names)
                if (const auto layer = layer_in(name, {before, "", Stage::weights});
                    layer && !roles.contains(name))
                    found.emplace_back(*layer, name);
        }
        std::ranges::sort(found);
        groups += found.empty() ? 0 : 1;
        for (auto& [layer, name] : found) {
            listing.layers.push_back(std::ssize(listing.layers));
            listing.titles.push_back(fmt::format("{} {}", group, layer));
            own.push_back(layer);
            listing.names.push_back(std::move(name));
        }
    }
    if (groups == 0) return std::nullopt;
    if (groups > 1) return listing;
    listing.layers = std::move(own);
    listing.titles.clear();
    return listing;
}

/// "layer 0 is encoder 0, layer 1 is cross 0"
std::string titles_note(const PairsListing& pairs) {
    std::vector<std::string> items;
    for (std::size_t n = 0; n < pairs.titles.size(); ++n)
        items.push_back(fmt::format("layer {} is {}", pairs.layers[n], pairs.titles[n]));
    return fmt::format("{}", fmt::join(items, ", "));
}

/// Layers of other sizes are other groups, of which one is looked at.
void check_groups(const ArrayReader& reader, const PairsListing& pairs,
                  std::optional<view::FileQuestion>* asks) {
    for (std::size_t n = 1; n < pairs.titles.size(); ++n) {
        const auto first = reader.axes_of(pairs.names.front()),
                   axes = reader.axes_of(pairs.names[n]);
        if (axes == first) continue;
        if (asks)
            *asks = {"Which attention do you want to see?",
                     {{"encoder", "Encoder tokens attend to encoder tokens.", "group", "encoder"},
                      {"decoder", "Decoder tokens attend to decoder tokens.", "group", "decoder"},
                      {"cross", "Decoder tokens attend to encoder tokens.", "group", "cross"}}};
        throw Failure(
            Error{.problem = fmt::format(
                      "{} is {} and {} {}: attention blocks of different sizes open one "
                      "at a time",
                      pairs.titles.front(), to_string(first), pairs.titles[n], to_string(axes)),
                  .code = ErrorCode::ambiguous,
                  .where = reader.path(),
                  .remedies = {{"group", "encoder"}, {"group", "decoder"}, {"group", "cross"}}});
    }
}

constexpr std::string_view kPairAxes =
    "[Tq, Tk], [H, Tq, Tk] or [B, H, Tq, Tk], or one array [L, B, H, Tq, Tk]";

/// Of one array, a tensor each layer.
std::vector<Tensor> tensors_of(ArrayReader& reader, const std::string& name,
                               const PairsListing& pairs) {
    const auto extents = reader.axes_of(name);
    const std::size_t n = extents.size();
    if (n < 2 || n > 5)
        throw bad_input(fmt::format("{}: {} is {}; expected {}", reader.path(), name,
                                    to_string(extents), kPairAxes));
    auto values = reader.numbers(name);
    const auto axis = [&](std::size_t from_last) {
        return n > from_last ? extents[n - 1 - from_last] : Index{1};
    };
    const bool several = holds_layers(extents, pairs);
    const Shape shape{several && n == 4 ? 1 : axis(3), axis(2), axis(1), axis(0)};
    if (!several) return std::vector<Tensor>{Tensor::shared(shape, std::move(values))};
    std::vector<Tensor> tensors;
    for (Index layer = 0; layer < extents.front(); ++layer) {
        const float* const first = values.data() + layer * shape.count();
        tensors.push_back(Tensor::shared(shape, {first, first + shape.count()}));
    }
    return tensors;
}

/// "; rows of it sum to 1"-like hints are the window's: here shapes are compared alone.
void check_layer(const Tensor& tensor, const Tensor& first, const std::string& what) {
    const Shape &is = tensor.shape(), &was = first.shape();
    if (is.b == was.b && is.t == was.t && is.d == was.d && is.h == was.h) return;
    throw bad_input(
        fmt::format("{} is {}, the first layer {}; expected the same sizes in every layer", what,
                    to_string(is), to_string(was)));
}

/// "weights", or the key of a stage of scores.
std::string_view title_of(Stage stage) { return info(stage).key; }

/// The first stage that the option changes no longer when the stage is given; nullopt: it changes all. A given `masked` is
/// masked again.
std::optional<Stage> idle_from(const AttentionOption& option) {
    const SpecField* const field = field_of(option);
    const std::optional<Stage> stage = field != nullptr ? field->stage : option.stage;
    if (stage == Stage::masked) return Stage::weights;
    return stage ? std::optional(std::max(*stage, Stage::scores)) : std::nullopt;
}

/// Those that `given` has, in the order of their stages.
std::vector<std::string_view> idle_options(const OptionValues& given, Stage stage) {
    std::vector<std::pair<Stage, std::string_view>> idle;
    for (const AttentionOption& option : attention_options())
        if (const auto from = idle_from(option);
            from && stage >= *from && given.contains(option.name))
            idle.emplace_back(*from, option.name);
    std::ranges::stable_sort(idle, {}, [](const auto& each) { return each.first; });
    std::vector<std::string_view> names;
    for (const auto& each : idle) names.push_back(each.second);
    return names;
}

/// Options of the axes of V.
constexpr std::string_view kOfValues[] = {"kv-heads", "layout"};

/// Of the pairs themselves, which bring their heads.
void check_heads(const ArrayReader& reader, const CallOptions& options, const TensorFile& file) {
    const Index heads = file.given.front().values.shape().h;
    if (!options.heads || *options.heads == heads) return;
    throw bad_input(fmt::format("{}: heads is {}, but {} are of {}; leave it out", reader.path(),
                                *options.heads, title_of(file.given.front().stage), heads));
}

void add_idle(std::string& note, const std::vector<std::string_view>& idle, std::string_view why) {
    if (idle.empty()) return;
    note += fmt::format("{}{} change{} no number: {}", note.empty() ? "" : "; ",
                        fmt::join(idle, ", "), idle.size() == 1 ? "s" : "", why);
}

/// The scale of raw scores, which only a person knows.
void resolve_scale(const std::string& what, const CallOptions& options, AttentionSpec& spec) {
    if (!options.d_k)
        throw bad_input(
            fmt::format("{} are scores q·k, and the file does not have their scale", what),
            {{.option = "scale",
              .value = "none",
              .meaning = "they are already scaled, or need no scale"},
             {.option = "scale",
              .value = "X",
              .meaning = "multiplies the scores by X before the softmax"},
             {.option = "d-k", .value = "N", .meaning = "N is the width of a query: times 1/√N"}},
            ErrorCode::ambiguous);
    spec.scale = ScaleKind::value;
    spec.scale_value = 1.0 / std::sqrt(static_cast<double>(*options.d_k));
}

/// The same as a question; V tells how wide queries mostly are.
view::FileQuestion scale_question(const ArrayReader& reader, const std::string& values) {
    view::FileQuestion question{"Are the scores raw or scaled?", {}};
    question.answers.push_back({"scaled, × 1",
                                "Already scaled, or without a scale: softmax takes them unchanged.",
                                "scale", "none"});
    const Index width =
        caught([&] { return reader.has(values) ? reader.axes_of(values).back() : 0; }).value_or(0);
    if (width > 0)
        question.answers.push_back({fmt::format("raw, × 1/√{}", width),
                                    "Raw q·k, with queries as wide as V in this file.", "d-k",
                                    std::to_string(width)});
    if (width != 64)
        question.answers.push_back(
            {"raw, × 1/√64", "Raw q·k with d_k = 64, as in GPT-2 and BERT.", "d-k", "64"});
    if (width != 128)
        question.answers.push_back(
            {"raw, × 1/√128", "Raw q·k with d_k = 128, as in Llama 3 8B.", "d-k", "128"});
    return question;
}

/// V, and what means something beside it.
Inputs read_beside(const LayerReader& layer, Index heads) {
    Inputs in;
    const CallOptions& options = layer.options;
    const Index kv_heads = options.kv_heads.value_or(options.heads.value_or(heads));
    layer.read("V", layer.heads_axes(kv_heads), in.v);
    for (const Param param : {Param::w_o, Param::b_o, Param::sinks}) {
        const ParamInfo& row = info(param);
        if (in.v.empty() && param != Param::sinks) continue;
        const Axes axes{.layout = row.bias ? Layout::bias : Layout::weight};
        layer.read(row.npz, axes, in.params[param]);
    }
    return in;
}

void add_roles(const LayerReader& layer, const Inputs& in, TensorFile& file) {
    const auto add = [&](std::string_view role, const Tensor& tensor) {
        if (tensor.empty()) return;
        const std::string name = layer.name(role);
        file.roles.emplace(name, fmt::format("{}{}", role, layer.is_transposed(role) ? ".T" : ""));
    };
    add("V", in.v);
    for (const Param param : {Param::w_o, Param::b_o, Param::sinks})
        add(info(param).npz, in.params[param]);
}

/// The layers that file.given holds, each with what stands beside it.
void add_beside(ArrayReader& reader, const BesidePairs& beside, TensorFile& file) {
    const Index heads = file.given.front().values.shape().h;
    for (std::size_t n = 0; n < file.given.size(); ++n) {
        const bool of_layer = beside.listing.numbered || file.given.size() == 1;
        const Index number = beside.listing.numbered ? file.numbers[n] : 0;
        const LayerReader layer{reader, beside.listing, number, beside.options};
        auto in = of_layer ? read_beside(layer, heads) : Inputs{};
        add_roles(layer, in, file);
        file.param_extents.push_back(extents_of_params(layer, in));
        file.upstreams.emplace_back();
        if (in.v.empty() != (n == 0 ? in.v.empty() : file.layers.front().v.empty()))
            throw bad_input(fmt::format(
                "{}: some layers have V and some have none; expected V in every layer or in none",
                reader.path()));
        file.layers.push_back(std::move(in));
    }
}

/// The sizes, with what the options say checked against them.
void resolve_sizes(const ArrayReader& reader, Stage stage, TensorFile& file) {
    const Tensor& first = file.given.front().values;
    for (const Inputs& in : file.layers) {
        const auto size = sizes_from(stage, first.shape(), in, file.spec);
        if (!size) throw Failure(within(reader.path(), size.error()));
        file.size = *size;
    }
}

}  // namespace

std::string idle_note(const OptionValues& given, Stage stage, const Beside& beside) {
    std::vector<std::string_view> idle = idle_options(given, stage), of_dropout;
    for (const std::string_view name : kOfValues)
        if (!beside.values && given.contains(name)) idle.push_back(name);
    for (const AttentionOption& option : attention_options())
        if (const SpecField* const field = field_of(option);
            field != nullptr && field->stage == Stage::dropped && !beside.dropped &&
            given.contains(option.name))
            of_dropout.push_back(option.name);
    std::string note;
    add_idle(note, idle, fmt::format("{} are given", title_of(stage)));
    add_idle(note, of_dropout,
             beside.spec.drops() ? "results of dropped weights need V" : "no weight is dropped");
    return note;
}

std::optional<PairsListing> list_pairs(const ArrayReader& reader,
                                       const std::map<std::string, std::string>& roles,
                                       std::string_view group) {
    const auto names = reader.names();
    for (const Stage stage : {Stage::weights, Stage::masked, Stage::scaled, Stage::scores})
        if (auto chosen = by_role(stage, names, roles)) return chosen;
    if (auto grouped = by_group(names, roles, group)) return grouped;
    if (!group.empty())
        throw bad_input(fmt::format("group is {0}, but there is no array {0}_attentions.0", group));
    for (const PairsName& form : kPairsNames)
        if (auto found = by_name(form, reader, roles)) return found;
    return std::nullopt;
}

/// Whether every row of [..., Tq, Tk] has no negative number and adds up to 1, or to 0 where all is masked.
bool has_rows_of_weights(const ArrayReader& reader, const std::string& name) {
    const auto axes = caught([&] { return reader.axes_of(name); });
    if (!axes || axes->size() < 2 || axes->size() > 3 || axes->back() < 2) return false;
    const auto array = caught([&] { return reader.array(name); });
    const auto are_weights = [&](const auto& values) {
        if constexpr (requires { values.front() + 1.0; }) {
            const auto width = static_cast<std::size_t>(axes->back());
            for (std::size_t row = 0; row < values.size(); row += width) {
                double sum = 0.0;
                for (std::size_t j = row; j < row + width; ++j) {
                    if (!(values[j] >= 0)) return false;
                    sum += values[j];
                }
                if (sum != 0.0 && std::abs(sum - 1.0) > 1e-2) return false;
            }
            return true;
        }
        return false;
    };
    return array && std::visit(are_weights, array->values);
}

std::optional<PairsListing> lone_pairs(const ArrayReader& reader,
                                       std::span<const std::string> unknown) {
    if (unknown.size() != 1 || reader.names().size() != 1) return std::nullopt;
    std::vector<std::pair<Index, std::string>> found{{0, unknown.front()}};
    if (!can_be_pairs(reader, {kUnnamed, "", Stage::weights}, found) &&
        !has_rows_of_weights(reader, unknown.front()))
        return std::nullopt;
    return from(Stage::weights, std::move(found), true);
}

std::vector<PairsListing> list_all_pairs(const ArrayReader& reader,
                                         const std::map<std::string, std::string>& roles) {
    std::vector<PairsListing> all;
    const auto add = [&](std::optional<PairsListing> found) {
        const auto same = [&](const PairsListing& each) { return each.stage == found->stage; };
        if (found && std::ranges::none_of(all, same)) all.push_back(*std::move(found));
    };
    for (const Stage stage : {Stage::weights, Stage::masked, Stage::scaled, Stage::scores})
        add(by_role(stage, reader.names(), roles));
    for (const PairsName& form : kPairsNames) add(by_name(form, reader, roles));
    return all;
}

void choose_pairs(const ArrayReader& reader, Index layer, PairsListing& listing) {
    Listing layers;
    layers.layers = listing.layers;
    const auto axes = reader.axes_of(listing.names.front());
    const bool several = listing.names.size() == 1 && holds_layers(axes, listing);
    for (Index n = 1; several && n < axes.front(); ++n) layers.layers.push_back(n);
    const auto number = find_layer(layers, layer, reader.path());
    if (several) {
        listing.only = number;
        return;
    }
    const auto at = std::ranges::find(listing.layers, number) - listing.layers.begin();
    listing.names = {listing.names[at]};
    listing.titles.clear();
    listing.layers = {number};
}

void read_pairs(ArrayReader& reader, const PairsListing& pairs, const BesidePairs& beside,
                TensorFile& file) {
    const std::string whole = fmt::format("{}: {}", reader.path(), pairs.names.front());
    check_groups(reader, pairs, beside.asks);
    if (beside.options.operation)
        throw bad_input(fmt::format("{}: operation {} needs Q, K and V, and the file gives {}",
                                    reader.path(), info(beside.options.operation->operation).key,
                                    title_of(pairs.stage)));
    if (pairs.stage == Stage::scores && file.spec.scale == ScaleKind::sqrt_dk) {
        if (beside.asks && !beside.options.d_k)
            *beside.asks =
                scale_question(reader, layer_name(beside.listing, pairs.layers.front(), "V"));
        resolve_scale(whole, beside.options, file.spec);
    }
    for (std::size_t n = 0; n < pairs.names.size(); ++n) {
        auto tensors = tensors_of(reader, pairs.names[n], pairs);
        for (std::size_t l = 0; l < tensors.size(); ++l) {
            if (pairs.only && *pairs.only != static_cast<Index>(l)) continue;
            Tensor& tensor = tensors[l];
            const std::string what = fmt::format("{}: {}", reader.path(), pairs.names[n]);
            if (!file.given.empty()) check_layer(tensor, file.given.front().values, what);
            file.numbers.push_back(tensors.size() > 1 ? static_cast<Index>(l) : pairs.layers[n]);
            file.given.push_back({pairs.stage, std::move(tensor)});
        }
        file.roles.emplace(pairs.names[n], title_of(pairs.stage));
    }
    check_heads(reader, beside.options, file);
    add_beside(reader, beside, file);
    resolve_sizes(reader, pairs.stage, file);
    file.notes.emplace_back(
        fmt::format(
            "{}{} read as {} without the queries and keys that make them{}", pairs.names.front(),
            pairs.names.size() == 1 ? std::string(" is")
                                    : fmt::format(" and {} more are", pairs.names.size() - 1),
            title_of(pairs.stage),
            pairs.stage == Stage::weights ? ""
            : pairs.stage == Stage::scores
                ? "; scaled as the options say, weights are their softmax"
                : "; weights are their softmax"),
        NoteCode::given_pairs);
    if (const auto axes = reader.axes_of(pairs.names.front()); pairs.stacked && axes.size() == 4)
        file.notes.push_back(fmt::format("{} {} is read as [L, H, Tq, Tk], {} layer{}",
                                         pairs.names.front(), to_string(axes), axes.front(),
                                         axes.front() == 1 ? "" : "s"));
    if (!pairs.titles.empty()) file.notes.push_back(titles_note(pairs));
    const bool values = !file.layers.front().v.empty();
    const bool dropped = file.spec.drops() && (values || beside.asks == nullptr);
    if (std::string idle = idle_note(beside.given, pairs.stage, {file.spec, values, dropped});
        !idle.empty())
        file.notes.push_back(std::move(idle));
}

}  // namespace attn::files
