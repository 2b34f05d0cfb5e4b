#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/models/model.h"
#include "core/models/tokenizer.h"
#include "core/result.h"
#include "core/run_control.h"
#include "core/tensor.h"

namespace attn {

// A decoder that reads an image among the tokens of a text (ModelConfig::image_prompt), as LLaVA: Liu et al. 2023,
// arXiv:2304.08485, §4.1. With X the chosen hidden states of the tower side by side, a row a patch, the vectors of the image
// tokens are activation(X W_1 + b_1) W_2 + b_2, in place of their rows of the embedding.

/// A text with its image tokens: each is a patch of the tower, or its class token, and named so.
struct ImagePrompt {
    std::vector<ModelToken> tokens;
    bool has_image = false;
    std::string note = {};  // where the image stands, if the text leaves it open
};
/// One image token stands for the whole image; several, as many as the tower's vectors, for one vector each. A text without one
/// has the image before it where `file` names an image. Errors: other numbers of image tokens; several files; those of tokens_of().
Result<ImagePrompt> image_prompt(const Model& model, const std::string& text,
                                 const std::string& file);

/// The vectors of a PNG, or for "" of the mean in every pixel: [1, 1, image tokens, width of the decoder].
struct ImageVectors {
    Tensor rows;
    std::shared_ptr<const RgbImage> image;  // ModelRun::image
    std::string note;
};
Result<ImageVectors> image_vectors(const Model& tower, const std::string& file,
                                   const Backend& backend, const RunControl& control = {});

/// The decoder over the image of `file` (Model::seeing), and the tokens of the text.
struct ImageReader {
    Model decoder;
    ImagePrompt prompt;
    std::shared_ptr<const RgbImage> image;
    std::string note;
};
Result<ImageReader> image_reader(const Model& model, const std::string& text,
                                 const std::string& file, const Backend& backend,
                                 const RunControl& control = {});

}  // namespace attn
