#include "core/models/groups.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/backend.h"
#include "core/bias.h"
#include "core/engine.h"
#include "core/models/ends.h"
#include "core/models/family.h"
#include "core/models/image_prompt.h"
#include "core/models/weights.h"
#include "core/text.h"

namespace attn {
namespace {

constexpr std::array<std::string_view, 3> kOfDecoder{"encoder", "decoder", "cross"};
constexpr std::array<std::string_view, 3> kOfTowers{"text", "image", "match"};
constexpr std::array<std::string_view, 2> kOfReaders{"text", "image"};
constexpr std::array<std::string_view, 2> kOfKinds{"full", "linear"};

/// Layers of attention, and of linear attention, whose heads are others; those kinds that there are.
std::span<const std::string_view> kinds_of(const ModelConfig& config) {
    if (!config.delta) return {};
    const bool both = std::ranges::count(config.delta->layers, false) > 0;
    return std::span(kOfKinds).subspan(both ? 0 : 1);
}

/// The layers of one kind.
ModelRun of_kind(ModelRun run, const ModelConfig& config, bool linear) {
    std::vector<ModelLayer> some;
    for (std::size_t n = 0; n < run.layers.size(); ++n) {
        if (config.delta->layers[n] != linear) continue;
        run.numbers.push_back(static_cast<Index>(n));
        some.push_back(std::move(run.layers[n]));
    }
    run.layers = std::move(some);
    return run;
}

/// The decoder reads an image among its tokens.
bool reads_among(const Model& model) {
    return model.second() != nullptr && model.config().image_prompt.has_value();
}

bool has_towers(const Model& model) {
    return model.second() != nullptr && model.second()->config().image.has_value() &&
           !reads_among(model);
}

/// The decoder's run of a text with an image.
Result<ModelRun> read_among(const Model& model, const Reading& reading, const Backend& backend,
                            StageSet keep, const RunControl& control,
                            const Interventions& interventions, LogitRows logits) {
    auto reader = image_reader(model, reading.text, reading.second_input, backend, control);
    if (!reader) return tl::unexpected(reader.error());
    auto run = reader->decoder.run(std::move(reader->prompt.tokens), backend, keep, control,
                                   interventions, logits);
    if (!run) return run;
    run->image = std::move(reader->image);
    run->note = std::move(reader->note);
    return run;
}

/// What the decoder has written, without the tokens that a whole text has around it.
Result<std::vector<ModelToken>> written_tokens(const Model& model, const std::string& text) {
    const Model& decoder = *model.second();
    const Index start = decoder.config().start_id;
    std::vector<ModelToken> tokens{{start, decoder.shown(start)}};
    if (text.empty()) return tokens;
    if (const Tokenizer* tokenizer = model.tokenizer()) {
        try {
            std::ranges::move(tokenizer->encode_alone(text), std::back_inserter(tokens));
            return tokens;
        } catch (const Failure& found) {
            return tl::unexpected(found.value());
        }
    }
    const Model& reader = model.config().reads_text() ? model : decoder;
    return reader.tokens_of(text).map([&](std::vector<ModelToken> written) {
        std::ranges::move(written, std::back_inserter(tokens));
        return tokens;
    });
}

Index columns_of_vector(const Model& tower) {
    return tower.weights().pool.probe.empty() ? tower.weights().read_out.weight.shape().d
                                              : tower.config().width;
}

/// Of texts or images: a row for each, [1, 1, n, projection], what a person reads of it, and what is to be known of it.
struct Vectors {
    Tensor rows;
    std::vector<ModelToken> shown;
    std::vector<std::string> notes;
};
Result<Vectors> vectors_of(const Model& tower, const std::vector<std::string>& all,
                           const Backend& backend, const RunControl& control) {
    constexpr std::size_t kMostShown = 40;  // code points
    const bool images = tower.config().image.has_value();
    Vectors made;
    made.rows = Tensor::uninitialised({1, 1, std::ssize(all), columns_of_vector(tower)});
    for (std::size_t n = 0; n < all.size(); ++n) {
        const auto run = tower.read(all[n], backend, {}, {control.stop, {}});
        if (!run) return tl::unexpected(run.error());
        std::ranges::copy(run->read_out.values(),
                          made.rows.matrix(0, 0).row(static_cast<Index>(n)).begin());
        std::string name = images ? std::filesystem::path(all[n]).filename().string()
                                  : shortened(all[n], kMostShown);
        if (!run->note.empty())
            made.notes.push_back(name.empty() ? run->note : fmt::format("{}: {}", name, run->note));
        if (name.empty()) name = images ? "no image" : "no text";
        made.shown.push_back({static_cast<Index>(n), std::move(name)});
        if (control.progress)
            control.progress(static_cast<double>(n + 1) / static_cast<double>(all.size()));
    }
    return made;
}

/// Cosines of images and texts times e^logit_scale: Radford et al. 2021, arXiv:2103.00020, figure 3. Plus logit_bias: Zhai et
/// al. 2023, arXiv:2303.15343, §3.2.
Result<ModelRun> matched(const Model& model, const Reading& reading, const Backend& backend,
                         StageSet keep, const RunControl& control) {
    ModelRun run;
    auto images = vectors_of(*model.second(), parts_of(reading.second_input), backend, control);
    if (!images) return tl::unexpected(images.error());
    auto texts = vectors_of(model, parts_of(reading.text), backend, control);
    if (!texts) return tl::unexpected(texts.error());
    run.tokens = std::move(images->shown);
    run.tokens_kv = std::move(texts->shown);
    run.note = fmt::format("{}", fmt::join(images->notes, "; "));
    const auto inputs = std::make_shared<Inputs>();
    inputs->q = std::move(images->rows);
    inputs->k = inputs->v = std::move(texts->rows);
    AttentionSpec spec;
    spec.scale = ScaleKind::value;
    spec.scale_value = std::exp(static_cast<double>(model.weights().logit_scale.data()[0]));
    if (const Tensor& bias = model.weights().logit_bias; !bias.empty())
        spec.mask.bias = make_bias(bias);
    auto trace = attend(*inputs, spec, backend, keep | only_stage(Stage::output), control);
    if (!trace) return tl::unexpected(trace.error());
    Tensor residual = (*trace)[Stage::output];
    if (!keep[index_of(Stage::output)]) (*trace)[Stage::output] = {};
    run.embedded = residual;
    run.layers.push_back({inputs, spec, *std::move(trace), std::move(residual)});
    return run;
}

Result<void> check_group(const Model& model, const Reading& reading,
                         const Interventions& interventions) {
    const auto groups = groups_of(model);
    const std::string& text = std::string(model.config().family->text);
    if (groups.empty() && !reading.group.empty())
        return bad_input(fmt::format("group is '{}', but {} has one kind of attention",
                                     shortened(reading.group), text));
    if (groups.empty() && !reading.second_input.empty())
        return bad_input(fmt::format("{} reads one input; '{}' is a second one", text,
                                     shortened(reading.second_input)));
    if (!reading.group.empty() && std::ranges::find(groups, reading.group) == groups.end())
        return bad_input(fmt::format("group is '{}'; expected one of {}", shortened(reading.group),
                                     fmt::join(groups, ", ")));
    if (!groups.empty() && reading.group == groups.back() && !interventions.empty() &&
        !reads_among(model))
        return bad_input(fmt::format(
            "interventions are of a stack's own attention; expected none in {}", reading.group));
    return {};
}

}  // namespace

std::span<const std::string_view> groups_of(const Model& model) {
    if (model.second() == nullptr) return kinds_of(model.config());
    if (reads_among(model)) return kOfReaders;
    return has_towers(model) ? kOfTowers : kOfDecoder;
}

const Model& stack_of(const Model& model, std::string_view group) {
    const auto groups = groups_of(model);
    const bool first = groups.empty() || group.empty() || group == groups.front();
    return first || model.second() == nullptr ? model : *model.second();
}

std::span<const std::string_view> groups_in(const std::filesystem::path& folder) {
    if (!is_model_folder(folder)) return {};
    const auto config = read_model_config(folder / "config.json");
    if (!config) return {};
    if (config->family->second == nullptr || config->alone) return kinds_of(*config);
    if (config->image_prompt) return kOfReaders;
    return config->family->second->reads_images ? kOfTowers : kOfDecoder;
}

bool reads_pairs(const std::filesystem::path& folder) {
    return std::ranges::count(groups_in(folder), "image") > 0;
}

bool reads_among_text(const std::filesystem::path& folder) {
    return std::ranges::equal(groups_in(folder), kOfReaders);
}

bool reads_sounds(const std::filesystem::path& folder) {
    if (!is_model_folder(folder)) return false;
    const auto config = read_model_config(folder / "config.json");
    return config && config->sound.has_value();
}

std::vector<std::string> parts_of(std::string_view all) {
    std::vector<std::string> parts(1);
    while (!all.empty()) {
        const bool meant = all.starts_with(kOwnBars);
        if (!meant && all.starts_with(kNextOfSeveral)) {
            parts.emplace_back();
            all.remove_prefix(kNextOfSeveral.size());
            continue;
        }
        parts.back() += meant ? kNextOfSeveral : all.substr(0, 1);
        all.remove_prefix(meant ? kOwnBars.size() : 1);
    }
    for (std::string& part : parts) {
        const auto first = part.find_first_not_of(' ');
        const auto last = part.find_last_not_of(' ');
        part = first == part.npos ? "" : part.substr(first, last - first + 1);
    }
    return parts;
}

std::string with_parts(const std::string& all,
                       const std::function<std::string(const std::string&)>& make) {
    if (all.find(kNextOfSeveral) == std::string::npos) return make(all);
    std::vector<std::string> made;
    for (const std::string& part : parts_of(all)) {
        std::string& text = made.emplace_back(make(part));
        for (auto at = text.find(kNextOfSeveral); at != text.npos;
             at = text.find(kNextOfSeveral, at + kOwnBars.size()))
            text.replace(at, kNextOfSeveral.size(), kOwnBars);
    }
    return fmt::format("{}", fmt::join(made, fmt::format(" {} ", kNextOfSeveral)));
}

std::string& read_by_stack(const Model& model, Reading& reading) {
    return &stack_of(model, reading.group) == &model ? reading.text : reading.second_input;
}

Result<Decoding> decoding_of(const Model& model, const Reading& reading, const Backend& backend,
                             const RunControl& control) {
    if (has_towers(model) || model.second() == nullptr)
        return bad_input(
            fmt::format("{} gives no next token: it has no decoder", model.config().family->text));
    if (reads_among(model))
        return image_reader(model, reading.text, reading.second_input, backend, control)
            .map([](ImageReader&& reader) {
                return Decoding{std::move(reader.decoder), std::move(reader.prompt.tokens), {}};
            });
    auto encoded = model.read(reading.text, backend, {}, control);
    if (!encoded) return tl::unexpected(encoded.error());
    auto tokens = written_tokens(model, reading.second_input);
    if (!tokens) return tl::unexpected(tokens.error());
    Tensor memory = normalised_at_end(model, encoded->layers.back().residual);
    return Decoding{model.second()->over(std::move(memory)), *std::move(tokens),
                    std::move(encoded->tokens)};
}

Result<ModelRun> read_group(const Model& model, const Reading& reading, const Backend& backend,
                            StageSet keep, const RunControl& control,
                            const Interventions& interventions, LogitRows logits) {
    if (auto valid = check_group(model, reading, interventions); !valid)
        return tl::unexpected(valid.error());
    if (has_towers(model)) {
        if (reading.group == "match") return matched(model, reading, backend, keep, control);
        const bool image = reading.group == "image";
        const auto parts = parts_of(image ? reading.second_input : reading.text);
        auto run = stack_of(model, reading.group)
                       .read(parts.front(), backend, keep, control, interventions);
        if (run && parts.size() > 1)
            run->note += fmt::format(
                "{}only the first of {} {} is read; the group match compares them",
                run->note.empty() ? "" : "; ", parts.size(), image ? "images" : "texts");
        return run;
    }
    if (reads_among(model)) {
        if (reading.group != "image")
            return read_among(model, reading, backend, keep, control, interventions, logits);
        return model.second()->read(reading.second_input, backend, keep, control, interventions);
    }
    if (&stack_of(model, reading.group) == &model) {
        auto run = model.read(reading.text, backend, keep, control, interventions, logits);
        if (!run || !model.config().delta) return run;
        const auto kinds = groups_of(model);
        return of_kind(*std::move(run), model.config(),
                       (reading.group.empty() ? kinds.front() : reading.group) == kOfKinds[1]);
    }
    const bool across = reading.group == "cross";
    auto decoding = decoding_of(model, reading, backend, {control.stop, {}});
    if (!decoding) return tl::unexpected(decoding.error());
    auto run = decoding->decoder.run(std::move(decoding->tokens), backend, keep, control,
                                     interventions, logits);
    if (!run || !across) return run;
    run->layers = std::exchange(run->cross, {});
    run->tokens_kv = std::move(decoding->tokens_kv);
    return run;
}

}  // namespace attn
