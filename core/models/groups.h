#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/models/interventions.h"
#include "core/models/model.h"
#include "core/models/tokenizer.h"
#include "core/run_control.h"

namespace attn {

// Of a model of two stacks: T5's encoder and decoder, with the attention across; CLIP's towers of texts and of images, with
// the match of their vectors; LLaVA's decoder, which reads an image among its tokens, and its tower. And of one stack of
// layers of two kinds: Qwen3-Next's full and linear attention.

/// The kinds of attention that it has, the first what Model::read() gives; empty: it is one stack.
std::span<const std::string_view> groups_of(const Model& model);
/// The same of the model in a folder, which its config.json says.
std::span<const std::string_view> groups_in(const std::filesystem::path& folder);
/// The stack that has a group, "" the first: whose configuration, layers and logits they are.
const Model& stack_of(const Model& model, std::string_view group);
/// The folder's model reads texts and images.
bool reads_pairs(const std::filesystem::path& folder);

/// The same, and the image is among the tokens of the text.
bool reads_among_text(const std::filesystem::path& folder);

/// The folder's model reads a sound.
bool reads_sounds(const std::filesystem::path& folder);

/// Between several texts, or several files of images; and how one has those two bars itself.
inline constexpr std::string_view kNextOfSeveral = "||", kOwnBars = "\\||";
/// Without the spaces around each; "" is one that is empty.
std::vector<std::string> parts_of(std::string_view all);
/// The same with each made anew; one alone is taken as it is.
std::string with_parts(const std::string& all,
                       const std::function<std::string(const std::string&)>& make);

/// What such a model reads, and which of its groups is looked at; "" the first.
struct Reading {
    std::string text;  // or the file of an image or a sound; of the first stack. Of CLIP: texts
    std::string second_input =
        {};  // what the decoder has written so far, after the token that it begins with; CLIP's images
    std::string group = {};
    bool operator==(const Reading&) const = default;
};
/// What the stack of its group reads: `text`, or `beside`.
std::string& read_by_stack(const Model& model, Reading& reading);

/// Model::read() of one group: layers, tokens and read-out are that group's. full and linear have the layers of their kind,
/// ModelRun::numbers. cross has the decoder's tokens and, as
/// tokens_kv, the encoder's. match is one layer: q are the vectors of the images, k and v those of the texts, the scale is
/// e^logit_scale, so that `scaled` are CLIP's logits, images by texts. Of several texts or images the towers show the first.
/// Errors: a group that the model does not have, a second thing to read for a model of one; interventions in cross and match.
Result<ModelRun> read_group(const Model& model, const Reading& reading, const Backend& backend,
                            StageSet keep = all_stages(), const RunControl& control = {},
                            const Interventions& interventions = {},
                            LogitRows logits = LogitRows::all);

/// The decoder, reading what the encoder gave of the text, and the tokens that it begins with: its own, then those of `beside`.
/// Of a decoder that reads an image among its tokens those of the text.
struct Decoding {
    Model decoder;
    std::vector<ModelToken> tokens, tokens_kv;
};
Result<Decoding> decoding_of(const Model& model, const Reading& reading, const Backend& backend,
                             const RunControl& control = {});

}  // namespace attn
