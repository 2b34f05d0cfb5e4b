#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/common/document/origin.h"
#include "core/models/ablation.h"
#include "core/note.h"

namespace attn::train {
struct Run;
}
namespace attn::verify {
struct Side;
}

namespace attn::view {

struct AppState;
struct Document;
struct Generated;
struct SweptModel;

/// A text for a trained model to read.
struct ModelText {
    ModelOrigin model;
    bool typed = false;  // over the model's document that is open: an edit of it
    bool operator==(const ModelText&) const = default;
};

struct OpenFile;
/// What it asks a model to read; nullopt: it names no text or image.
std::optional<ModelText> model_text_of(const OpenFile& action);

/// A file's results under the names of stages, to be checked.
struct ResultsOf {
    std::string path;
    std::optional<Index> layer = {};  // of names like l3.weights; nullopt: the only one
    bool operator==(const ResultsOf&) const = default;
};

/// The text that a model goes on from, and the tokens that it took so far.
struct GenerateText {
    std::string path;  // of its folder
    std::string text;
    std::vector<Index> tokens;
    std::optional<Index> lens = {};  // the step of which the logit lens is wanted; nullopt: of none
    std::string second_input = {};   // of a model of two stacks, see ModelOrigin
    bool operator==(const GenerateText&) const = default;
};

/// Every head of a model changed in turn, over a text or an image that it reads.
struct SweepModel {
    std::string path, text;
    bool image = false;
    Ablation ablation = Ablation::zero;
    std::string second_input = {}, group = {};  // of a model of two stacks, see ModelOrigin
    bool operator==(const SweepModel&) const = default;
};

/// What is to be opened: a file or a model's folder by its path, a matrix to generate, a model's reading of a text.
struct OpenRequest {
    std::variant<std::string, large::PlantedSpec, ModelText, TrainedOrigin, ResultsOf, GenerateText,
                 SweepModel>
        what;
    std::uint64_t number = 0;  // parts one request from the next, also for the same file
    std::string options = {};  // of a file, see FileOrigin
    bool operator==(const OpenRequest&) const = default;
};
/// "in.npz", or "131,072 generated tokens".
std::string description_of(const OpenRequest& request);

/// What came of it: a document, or a whole session.
struct Opened {
    std::shared_ptr<const Document> document;
    std::shared_ptr<const AppState> session;          // null: a document alone
    std::vector<Note> notes;                          // what the reader says beside
    std::shared_ptr<const train::Run> run = {};       // of a folder that a training was saved in
    std::shared_ptr<const verify::Side> side = {};    // results to be checked: they alone
    std::shared_ptr<const Generated> generated = {};  // what a model writes: it alone
    std::shared_ptr<const SweptModel> swept = {};     // a sweep over heads: it alone
};

}  // namespace attn::view
