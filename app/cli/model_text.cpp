#include "app/cli/model_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments.h"
#include "app/cli/start.h"
#include "app/common/assets.h"
#include "app/common/or_throw.h"
#include "app/files/model.h"
#include "app/files/text.h"
#include "core/models/family.h"
#include "core/models/groups.h"
#include "core/models/token_ids.h"
#include "core/text.h"

namespace attn::cli {

void add_model_text(CLI::App& app, ModelText& options) {
    app.add_option(
        "MODEL", options.folder,
        "a trained model: its folder (config.json, *.safetensors, tokenizer), or a .gguf");
    add_value(app, "--text", options.text, "TEXT", "what the model reads");
    add_value(app, "--token-ids", options.token_ids, "N,..",
              "in place of --text: the numbers of its tokens");
    add_value(app, "--audio", options.audio, "FILE.wav", "what a model of sounds reads, 16 kHz");
}

void add_model_text_or_image(CLI::App& app, ModelText& options) {
    add_model_text(app, options);
    add_value(app, "--image", options.image, "FILE.png", "what a model of images reads");
}

OpenedText open_text(const ModelText& given, std::string_view command, Streams io) {
    if (given.folder.empty())
        throw bad_input(
            fmt::format("no MODEL; expected a trained model's folder, its .gguf, or one of {}",
                        fmt::join(view::built_in_models(), ", ")));
    ModelText options = given;
    options.folder = files::model_path(given.folder);
    if (!given.audio.empty()) {
        check_audio(given.audio, options.folder,
                    given.text || !given.token_ids.empty() || !given.image.empty());
        options.text = given.audio;
    }
    if (std::string text = files::default_text(options.folder);
        !text.empty() && !options.text && options.token_ids.empty() && options.image.empty())
        options.text = std::move(text);
    const bool ids = !options.token_ids.empty(), image = !options.image.empty();
    if (ids && options.text)
        throw bad_input("--token-ids and --text are given; expected one of the two");
    const bool among = image && reads_among_text(options.folder);
    if (image && !among && (ids || options.text))
        throw bad_input("--image and a text are given; expected one of the two");
    if (!ids && !options.text && !image)
        throw bad_input("no --text; expected the text that the model reads, or --token-ids");
    OpenedText opened;
    opened.read = image && !among ? options.image
                  : ids           ? text_of_token_ids(options.token_ids)
                                  : options.text.value_or("");
    opened.model = std::make_shared<const Model>(or_throw(Model::open(options.folder)));
    const ModelConfig& config = opened.model->config();
    if (image && !among && !config.image)
        throw bad_input(fmt::format("{} reads no image; leave out --image", config.family->text));
    for (const std::string& note : opened.model->notes()) write_note(note, command, io);
    if (opened.model->second() != nullptr) {  // its decoder, over the text
        const std::string& second = among ? options.image : options.decoder;
        auto decoding = or_throw(
            decoding_of(*opened.model, {opened.read, second, {}}, *find_backend("staged")));
        opened.model = std::make_shared<const Model>(std::move(decoding.decoder));
        opened.tokens = std::move(decoding.tokens);
        if (!opened.model->image_rows().empty() && options.image.empty())
            write_note(std::string("no image is given: every pixel is the mean"), command, io);
        return opened;
    }
    if (!options.decoder.empty())
        throw bad_input(fmt::format("--decoder is '{}'; {} has none", shortened(options.decoder),
                                    opened.model->config().family->text));
    if (!image) opened.tokens = or_throw(opened.model->tokens_of(opened.read));
    if (const auto note = files::vocabulary_note(*opened.model, opened.tokens); !note.empty())
        write_note(note, command, io);
    return opened;
}

void check_audio(const std::string& audio, const std::string& model, bool others) {
    if (others)
        throw bad_input(fmt::format(
            "--audio '{}' is given with a text or an image; expected one of them", audio));
    if (audio.empty()) throw bad_input("--audio is ''; expected the path of a WAV");
    if (!reads_sounds(model))
        throw bad_input(fmt::format(
            "--audio is '{}'; {} reads no sound: expected --text TEXT, or --image FILE.png", audio,
            model.empty() ? "no file" : model));
}

void check_decoder(const std::string& decoder, const std::string& model) {
    if (decoder.empty() || std::ranges::count(groups_in(model), "decoder") > 0) return;
    throw bad_input(fmt::format("--decoder is '{}'; {} has no decoder that reads an encoder",
                                shortened(decoder), model));
}

std::string group_of_given(const std::string& model, GivenToModel given) {
    if (given.decoder) return "decoder";
    if (!given.image || !reads_pairs(model)) return {};
    if (reads_among_text(model)) return {};
    return given.text ? "match" : "image";
}

std::string text_of_token_ids(const std::string& ids) {
    if (!numbered_tokens(ids))
        throw bad_input(
            fmt::format("--token-ids is '{}'; expected whole numbers from 0, such as 15496,995",
                        shortened(ids)));
    return fmt::format("{} {}", kTokenIds, ids);
}

double parse_number_of(std::string_view flag, const std::string& text, double otherwise) {
    if (text.empty()) return otherwise;
    const auto number = files::number_in<double>(text);
    if (!number) throw bad_input(fmt::format("{} is '{}'; expected a number", flag, text));
    return *number;
}

std::string token_description(const Model& model, Index id) {
    const std::string shown = model.shown(id);
    const std::string number = fmt::format("#{}", id);
    return shown == number ? shown : fmt::format("{} ({})", shown, number);
}

}  // namespace attn::cli
