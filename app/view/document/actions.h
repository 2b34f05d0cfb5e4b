#pragma once

#include <optional>
#include <string>

#include "app/view/common/action.h"
#include "app/view/common/sheet.h"
#include "app/view/document/opened.h"

namespace attn::view {

// The document, which every workspace views: opened, edited (undone), looked at by head and layer.

struct LoadPreset {
    std::string key;
    static constexpr auto kMeta = meta("load_preset", Kind::edit, field("key", &LoadPreset::key));
    friend void carry_out(AppState& state, const LoadPreset& action);
};
/// Typing.
struct DraftSentence {
    std::string text;
    static constexpr auto kMeta =
        meta("draft_sentence", Kind::plain, field("text", &DraftSentence::text));
    friend void carry_out(AppState& state, const DraftSentence& action);
};
struct SetSentence {
    std::string text;
    static constexpr auto kMeta =
        meta("set_sentence", Kind::edit, field("text", &SetSentence::text));
    friend void carry_out(AppState& state, const SetSentence& action);
};
/// What the open model reads, as it is typed; DocumentReady follows where it is another text.
struct TypeText {
    std::string text;
    static constexpr auto kMeta = meta("type_text", Kind::drag, field("text", &TypeText::text));
    friend void carry_out(AppState& state, const TypeText& action);
};
/// The image that the open model reads; DocumentReady follows where it is another one.
struct ReadImage {
    std::string path;  // of a PNG
    static constexpr auto kMeta = meta("read_image", Kind::plain, field("path", &ReadImage::path));
    friend void carry_out(AppState& state, const ReadImage& action);
};
/// Tensors, a session, a preset or a model; where a model of images is open, an image for it. DocumentReady follows.
struct OpenFile {
    std::string path;
    std::optional<std::string> text = {};     // for the model to read
    std::optional<std::string> options = {};  // how its arrays are read, see FileOrigin
    std::optional<std::string> image = {};    // for the model to read: a PNG
    static constexpr auto kMeta = meta(
        "open_file", Kind::plain, field("path", &OpenFile::path), field("text", &OpenFile::text),
        field("options", &OpenFile::options), field("image", &OpenFile::image));
    friend void carry_out(AppState& state, const OpenFile& action);
};
/// A generated matrix; DocumentReady follows.
struct OpenPlanted {
    large::PlantedSpec spec;
    static constexpr auto kMeta =
        meta("open_planted", Kind::plain, field("spec", &OpenPlanted::spec));
    friend void carry_out(AppState& state, const OpenPlanted& action);
};
/// Of the last OpenFile, OpenPlanted, TypeText or ReadImage.
struct DocumentReady {
    std::string what;
    std::string fault;  // why there is none; "": there is one
    std::shared_ptr<const Opened> opened{};
    static constexpr auto kMeta =
        meta("document_ready", Kind::answer, field("what", &DocumentReady::what));
    friend void carry_out(AppState& state, const DocumentReady& action);
};
struct SetModelWidth {
    Index d_model;
    static constexpr auto kMeta =
        meta("set_model_width", Kind::drag, field("d_model", &SetModelWidth::d_model));
    friend void carry_out(AppState& state, const SetModelWidth& action);
};
struct SetKeyWidth {
    Index d_k;
    static constexpr auto kMeta =
        meta("set_key_width", Kind::drag, field("d_k", &SetKeyWidth::d_k));
    friend void carry_out(AppState& state, const SetKeyWidth& action);
};
struct SetHeads {
    Index heads;
    static constexpr auto kMeta = meta("set_heads", Kind::drag, field("heads", &SetHeads::heads));
    friend void carry_out(AppState& state, const SetHeads& action);
};
struct SetScaling {
    bool on;
    static constexpr auto kMeta = meta("set_scaling", Kind::edit, field("on", &SetScaling::on));
    friend void carry_out(AppState& state, const SetScaling& action);
};
struct SetTemperature {
    double temperature;
    static constexpr auto kMeta =
        meta("set_temperature", Kind::drag, field("temperature", &SetTemperature::temperature));
    friend void carry_out(AppState& state, const SetTemperature& action);
};
struct SetCausal {
    bool on;
    static constexpr auto kMeta = meta("set_causal", Kind::edit, field("on", &SetCausal::on));
    friend void carry_out(AppState& state, const SetCausal& action);
};
/// |i − j| ≤ reach; nullopt: no window.
struct SetWindow {
    std::optional<Index> reach;
    static constexpr auto kMeta = meta("set_window", Kind::drag, field("reach", &SetWindow::reach));
    friend void carry_out(AppState& state, const SetWindow& action);
};
struct SetSeed {
    std::uint64_t seed;
    static constexpr auto kMeta = meta("set_seed", Kind::drag, field("seed", &SetSeed::seed));
    friend void carry_out(AppState& state, const SetSeed& action);
};
struct SetCell {
    CellRef cell;
    double value;
    static constexpr auto kMeta = meta("set_cell", Kind::edit, field("cell", &SetCell::cell),
                                       field("value", &SetCell::value));
    friend void carry_out(AppState& state, const SetCell& action);
};
/// In every workspace.
struct ShowHead {
    Index head;
    Index batch{};
    static constexpr auto kMeta = meta("show_head", Kind::plain, field("head", &ShowHead::head),
                                       field("batch", &ShowHead::batch));
    friend void carry_out(AppState& state, const ShowHead& action);
};
struct ShowLayer {
    Index layer;
    static constexpr auto kMeta =
        meta("show_layer", Kind::plain, field("layer", &ShowLayer::layer));
    friend void carry_out(AppState& state, const ShowLayer& action);
};
struct SetBackend {
    std::string name;
    static constexpr auto kMeta =
        meta("set_backend", Kind::plain, field("name", &SetBackend::name));
    friend void carry_out(AppState& state, const SetBackend& action);
};
/// By a backend with a device.
struct TraceReady {
    std::string backend;
    std::shared_ptr<const Document> document{};  // null: only `unavailable` was asked
    std::shared_ptr<const Trace> trace{};        // null: `failure` says why
    double elapsed_ms = 0.0;
    std::string failure{};
    std::string unavailable{};  // why the backend cannot run here at all; "": it can
    static constexpr auto kMeta =
        meta("trace_ready", Kind::answer, field("backend", &TraceReady::backend));
    friend void carry_out(AppState& state, const TraceReady& action);
};

using DocumentActions =
    ActionList<LoadPreset, DraftSentence, SetSentence, TypeText, ReadImage, OpenFile, OpenPlanted,
               DocumentReady, SetModelWidth, SetKeyWidth, SetHeads, SetScaling, SetTemperature,
               SetCausal, SetWindow, SetSeed, SetCell, ShowHead, ShowLayer, SetBackend, TraceReady>;

}  // namespace attn::view
