#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/cli/cli.h"
#include "app/common/action.h"
#include "app/common/opener.h"
#include "app/common/state.h"
#include "app/files/open.h"
#include "app/files/outputs.h"
#include "app/gl/pixels.h"

namespace attn::view {
struct Lecture;
}  // namespace attn::view

namespace attn::cli {

/// What the window and `render` can be started with. Empty: not given.
struct StartOptions {
    std::vector<std::string> files;  // FILE, as parsed: resolve_start() takes the one
    std::string file;                // tensors, a session or a preset
    std::string session;             // the same, by another name
    std::string map_file;            // the same, for Long context
    std::string replay;              // a file
    std::string preset;
    std::string sentence;
    std::optional<std::string> text;   // what a model reads
    std::optional<std::string> image;  // the same: a PNG
    std::optional<std::string> audio;  // the same: a WAV
    std::string decoder;               // what its decoder has written so far, of a T5
    std::string token_ids;             // the numbers of its tokens instead: "15496,995"
    std::string off;                   // its heads that are switched off: "0.1,1.2"
    std::vector<std::string> rows;     // of its weights: "0.1.3=0.5,0.5,0,0"
    std::vector<std::string> patches;  // "0.1.v=A dog"
    std::map<std::string, std::string>
        reading;  // how FILE's arrays are read, by the options' names
    files::OptionsBy by = files::OptionsBy::controls;  // how sentences propose options
    std::string check;                                 // a file of results
    std::string workspace;
    std::optional<Index> planted;      // tokens of a generated matrix
    std::string go_to;                 // "70001,5"
    std::string tour;                  // its key
    std::string lecture;               // likewise
    std::optional<Index> layer, head;  // that is shown
    std::string stage;
    std::string select;  // "scores:1,2"
    std::string theme;
    std::string backend;
    std::optional<double> scale;
    std::string size;  // "1600x1000"
    bool needs_attention =
        false;  // a file that none can be made of is an error, not a table of its arrays
};
void add_start_options(CLI::App& app, StartOptions& options);
/// Neither a file nor a place is named: the window opens as it likes.
bool is_default_start(const StartOptions& options);
struct Start;
/// What the window shows if no option says what to open: the trained model "pronouns" at the weights that give its answer. Where
/// the program's models are not installed, the first picture of the workspace.
void append_first_screen(Start& start);
/// The text that stands for the numbers of tokens, whatever tokenizer a model has: "token-ids: 15496,995". Throws where they
/// are no numbers.
std::string text_of_token_ids(const std::string& ids);
/// Throws where --audio is given to a model that reads no sounds, or beside another text or image.
void check_audio(const std::string& audio, const std::string& model, bool others);
/// Throws where --decoder is given to a model that has none.
void check_decoder(const std::string& decoder, const std::string& model);
/// Which of these a model is given to read.
struct GivenToModel {
    bool text = false, image = false, decoder = false;
};
/// The group that is looked at where --group does not say: of T5 the decoder where --decoder is given, of CLIP the image where it
/// alone is, match where both are; "": the first.
std::string group_of_given(const std::string& model, GivenToModel given);
/// --text, --token-ids, --image, --audio, --off, --row and --patch.
void add_model_options(CLI::App& app, StartOptions& options);

/// After parsing, before anything is read or written: there is one FILE at most, numbers are in their range,
/// and none of `outputs` is a file that is read, or another output. --save-session may be the session.
Result<void> resolve_start(StartOptions& options, std::span<const files::NamedFile> outputs);

/// A first state and what is to be done to it, so that a journal of it can be played again.
struct Start {
    view::AppState state;
    view::Opener open;      // has opened the files of `actions`
    view::Actions actions;  // of the options: each must be possible
    view::Actions replay;   // of the journal: what a person did may have failed then, too
    std::vector<Note> warnings;
};
/// Reads the files; a small one is open already when its answer is among the actions, a large one is left to a job.
/// An error names the option or file, its value and what was expected.
Result<Start> read_start(const StartOptions& options, Streams io);

/// By its key; throws what there is where there is none of that name.
const view::Lecture& lecture_named(const std::string& name);

/// "1600x1000"; "": 1600 x 1000.
Result<gl::Size> parse_size(std::string_view text);

/// Every action of a journal. Lines that cannot be read are left out and named in `warnings`; an error where none can be.
Result<view::Actions> read_journal(const std::filesystem::path& path, std::vector<Note>& warnings);

}  // namespace attn::cli
