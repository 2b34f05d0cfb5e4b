#include "core/models/image_prompt.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/backend.h"
#include "core/io/png_image.h"
#include "core/models/family.h"
#include "core/models/groups.h"
#include "core/models/layers.h"
#include "core/models/patches.h"
#include "core/models/token_ids.h"
#include "core/models/weights.h"
#include "core/text.h"

namespace attn {
namespace {

/// Of each image token, in the order of the tower's.
std::vector<ModelToken> image_tokens_of(const Model& model) {
    const ImagePromptRules& rules = *model.config().image_prompt;
    std::vector<ModelToken> tokens = patch_tokens(*model.second()->config().image);
    if (rules.drops_class) tokens.erase(tokens.begin());
    for (ModelToken& token : tokens) token.id = rules.token;
    return tokens;
}

/// Of a text without an image token, with one before it: as the tokenizer reads that, or, where it does not know the token,
/// before all others.
Result<std::vector<ModelToken>> with_image_before(const Model& model, const std::string& text,
                                                  std::vector<ModelToken> tokens) {
    const Index id = model.config().image_prompt->token;
    const auto is_image = [id](const ModelToken& token) { return token.id == id; };
    if (model.tokenizer() != nullptr && !text.starts_with(kTokenIds)) {
        auto read = model.tokens_of(fmt::format("{}\n{}", model.text_of(id), text));
        if (read && std::ranges::count_if(*read, is_image) == 1) return read;
    }
    tokens.insert(tokens.begin(), {id, ""});
    return tokens;
}

/// Columns from `first` on.
void put_columns(const Tensor& from, Index first_row, Index first, Tensor& x) {
    for (Index row = 0; row < x.shape().t; ++row)
        std::ranges::copy(from.matrix(0, 0).row(first_row + row),
                          x.matrix(0, 0).row(row).begin() + first);
}

}  // namespace

Result<ImagePrompt> image_prompt(const Model& model, const std::string& text,
                                 const std::string& file) {
    const Index id = model.config().image_prompt->token;
    const auto is_image = [id](const ModelToken& token) { return token.id == id; };
    const auto files = parts_of(file);
    if (files.size() > 1)
        return bad_input(fmt::format("{} reads one image; expected one file in place of {}",
                                     model.config().family->text, files.size()));
    ImagePrompt prompt;
    if (!text.empty()) {
        auto tokens = model.tokens_of(text);
        if (!tokens) return tl::unexpected(tokens.error());
        prompt.tokens = *std::move(tokens);
    }
    const auto image = image_tokens_of(model);
    auto stated = std::ranges::count_if(prompt.tokens, is_image);
    if (stated == 0) {
        if (file.empty()) return prompt;
        auto with = with_image_before(model, text, std::move(prompt.tokens));
        if (!with) return tl::unexpected(with.error());
        prompt.tokens = *std::move(with);
        prompt.note = text.empty() ? "" : "the text has no image token: the image is before it";
        stated = 1;
    }
    prompt.has_image = true;
    if (stated == std::ssize(image)) {
        auto next = image.begin();
        for (ModelToken& token : prompt.tokens)
            if (is_image(token)) token = *next++;
        return prompt;
    }
    if (stated != 1)
        return bad_input(fmt::format(
            "the text has {}, {}; expected 1 in place of the image, or {}, one for each of its "
            "vectors",
            counted(stated, "image token"), model.shown(id), image.size()));
    const auto at = prompt.tokens.erase(std::ranges::find_if(prompt.tokens, is_image));
    prompt.tokens.insert(at, image.begin(), image.end());
    return prompt;
}

Result<ImageVectors> image_vectors(const Model& tower, const std::string& file,
                                   const Backend& backend, const RunControl& control) {
    const ModelConfig& config = tower.config();
    const ImagePromptRules& rules = *config.image_prompt;
    auto run = tower.read(file, backend, {}, {control.stop, {}});
    if (!run) return tl::unexpected(run.error());
    const Index dropped = rules.drops_class ? 1 : 0, width = config.width;
    auto x = Tensor::uninitialised(
        {1, 1, run->embedded.shape().t - dropped, width * std::ssize(rules.layers)});
    for (std::size_t n = 0; n < rules.layers.size(); ++n) {
        const Index layer = rules.layers[n];
        put_columns(layer == 0 ? run->embedded : run->layers[layer - 1].residual, dropped,
                    static_cast<Index>(n) * width, x);
    }
    x = through(x, tower.weights().project_in);
    activate(x, rules.activation);
    return ImageVectors{through(x, tower.weights().project_out), std::move(run->image),
                        std::move(run->note)};
}

Result<ImageReader> image_reader(const Model& model, const std::string& text,
                                 const std::string& file, const Backend& backend,
                                 const RunControl& control) {
    auto prompt = image_prompt(model, text, file);
    if (!prompt) return tl::unexpected(prompt.error());
    if (!prompt->has_image) return ImageReader{model, *std::move(prompt), nullptr, ""};
    auto vectors = image_vectors(*model.second(), file, backend, control);
    if (!vectors) return tl::unexpected(vectors.error());
    const std::string between = vectors->note.empty() || prompt->note.empty() ? "" : "; ";
    std::string note = vectors->note + between + prompt->note;
    return ImageReader{model.seeing(std::move(vectors->rows)), *std::move(prompt),
                       std::move(vectors->image), std::move(note)};
}

}  // namespace attn
