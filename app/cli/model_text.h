#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/cli.h"
#include "core/models/model.h"
#include "core/models/tokenizer.h"

namespace attn::cli {

/// MODEL with --text or --token-ids: what `generate`, `lens` and `circuits` read.
struct ModelText {
    std::string folder;
    std::optional<std::string> text;
    std::string token_ids;
    std::string image = {};
    std::string audio = {};
    std::string decoder;  // what its decoder has written so far, of a model of two stacks
};
void add_model_text(CLI::App& app, ModelText& options);
/// The same with --image.
void add_model_text_or_image(CLI::App& app, ModelText& options);

struct OpenedText {
    std::shared_ptr<const Model> model;
    std::vector<ModelToken> tokens;  // of a text
    std::string read;                // what Model::read() takes: the text, or the image's file
};
/// The model, and the tokens of its text; its notes go to `err`, after the command's name. Throws.
OpenedText open_text(const ModelText& options, std::string_view command, Streams io);

/// The value of `flag`; `otherwise` where it was not given. Throws where it is no number.
double parse_number_of(std::string_view flag, const std::string& text, double otherwise);

/// "▁cat (#7)".
std::string token_description(const Model& model, Index id);

}  // namespace attn::cli
