#pragma once

#include <optional>
#include <string>

#include "app/common/action.h"
#include "app/common/document/opened.h"
#include "app/common/place.h"
#include "app/common/sheet.h"

namespace attn::view {

// The document, which every workspace views: opened, edited (undone), looked at by head and layer.

struct LoadPreset {
    std::string key;
    static constexpr Meta kMeta{"load_preset", Kind::edit, fields<&LoadPreset::key>};
    friend void carry_out(AppState& state, const LoadPreset& action);
};
/// Typing.
struct DraftSentence {
    std::string text;
    static constexpr Meta kMeta{"draft_sentence", Kind::plain, fields<&DraftSentence::text>};
    friend void carry_out(AppState& state, const DraftSentence& action);
};
struct SetSentence {
    std::string text;
    static constexpr Meta kMeta{"set_sentence", Kind::edit, fields<&SetSentence::text>};
    friend void carry_out(AppState& state, const SetSentence& action);
};
/// What the open model reads, as it is typed; DocumentReady follows where it is another text.
struct TypeText {
    std::string text;
    static constexpr Meta kMeta{"type_text", Kind::drag, fields<&TypeText::text>};
    friend void carry_out(AppState& state, const TypeText& action);
};
/// The image that the open model reads; DocumentReady follows where it is another one.
struct ReadImage {
    std::string path;  // of a PNG
    static constexpr Meta kMeta{"read_image", Kind::plain, fields<&ReadImage::path>};
    friend void carry_out(AppState& state, const ReadImage& action);
};
/// Tensors, a session, a preset or a model; where a model of images is open, an image for it. DocumentReady follows.
struct OpenFile {
    std::string path;
    std::optional<std::string> text = {};     // for the model to read
    std::optional<std::string> options = {};  // how its arrays are read, see FileOrigin
    std::optional<std::string> image = {};    // for the model to read: a PNG
    static constexpr Meta kMeta{
        "open_file", Kind::plain,
        fields<&OpenFile::path, &OpenFile::text, &OpenFile::options, &OpenFile::image>};
    friend void carry_out(AppState& state, const OpenFile& action);
};
/// A generated matrix; DocumentReady follows.
struct OpenPlanted {
    large::PlantedSpec spec;
    static constexpr Meta kMeta{"open_planted", Kind::plain, fields<&OpenPlanted::spec>};
    friend void carry_out(AppState& state, const OpenPlanted& action);
};
/// Of the last OpenFile, OpenPlanted, TypeText or ReadImage.
struct DocumentReady {
    std::string what;
    std::string fault;  // why there is none; "": there is one
    std::shared_ptr<const Opened> opened{};
    static constexpr Meta kMeta{"document_ready", Kind::answer, fields<&DocumentReady::what>};
    friend void carry_out(AppState& state, const DocumentReady& action);
};
struct SetModelWidth {
    Index d_model;
    static constexpr Meta kMeta{"set_model_width", Kind::drag, fields<&SetModelWidth::d_model>};
    friend void carry_out(AppState& state, const SetModelWidth& action);
};
struct SetKeyWidth {
    Index d_k;
    static constexpr Meta kMeta{"set_key_width", Kind::drag, fields<&SetKeyWidth::d_k>};
    friend void carry_out(AppState& state, const SetKeyWidth& action);
};
struct SetHeads {
    Index heads;
    static constexpr Meta kMeta{"set_heads", Kind::drag, fields<&SetHeads::heads>};
    friend void carry_out(AppState& state, const SetHeads& action);
};
struct SetScaling {
    bool on;
    static constexpr Meta kMeta{"set_scaling", Kind::edit, fields<&SetScaling::on>};
    friend void carry_out(AppState& state, const SetScaling& action);
};
struct SetTemperature {
    double temperature;
    static constexpr Meta kMeta{"set_temperature", Kind::drag,
                                fields<&SetTemperature::temperature>};
    friend void carry_out(AppState& state, const SetTemperature& action);
};
struct SetSeed {
    std::uint64_t seed;
    static constexpr Meta kMeta{"set_seed", Kind::drag, fields<&SetSeed::seed>};
    friend void carry_out(AppState& state, const SetSeed& action);
};
struct SetCell {
    CellRef cell;
    double value;
    static constexpr Meta kMeta{"set_cell", Kind::edit, fields<&SetCell::cell, &SetCell::value>};
    friend void carry_out(AppState& state, const SetCell& action);
};

// The mask, rule by rule and painted.

/// Top-left, or off.
struct SetCausal {
    bool on;
    static constexpr Meta kMeta{"set_causal", Kind::edit, fields<&SetCausal::on>};
    friend void carry_out(AppState& state, const SetCausal& action);
};
enum class CausalChoice : std::uint8_t { off, top_left, bottom_right };
inline constexpr std::string_view kCausalNames[] = {"off", "top-left", "bottom-right"};
/// Of what is painted between two pairs: the line, or the whole rectangle.
enum class PaintShape : std::uint8_t { line, rectangle };
inline constexpr std::string_view kPaintShapeNames[] = {"line", "rectangle"};
struct SetCausalMask {
    CausalChoice causal;
    static constexpr Meta kMeta{"set_causal_mask", Kind::edit};
    friend void describe(Visitor& visit, SetCausalMask& action) {
        visit("causal", action.causal, kCausalNames);
    }
    friend void carry_out(AppState& state, const SetCausalMask& action);
};
/// Valid keys of the sequence shown; nullopt: no padding mask.
struct SetPadding {
    std::optional<Index> keys;
    static constexpr Meta kMeta{"set_padding", Kind::drag, fields<&SetPadding::keys>};
    friend void carry_out(AppState& state, const SetPadding& action);
};
/// nullopt: no block mask.
struct SetBlock {
    std::optional<Index> length;
    static constexpr Meta kMeta{"set_block", Kind::drag, fields<&SetBlock::length>};
    friend void carry_out(AppState& state, const SetBlock& action);
};
/// |i − j| ≤ reach; nullopt: no window.
struct SetWindow {
    std::optional<Index> reach;
    static constexpr Meta kMeta{"set_window", Kind::drag, fields<&SetWindow::reach>};
    friend void carry_out(AppState& state, const SetWindow& action);
};
/// Places that a query sees to its left and to its right; both nullopt: no window.
struct SetWindowSides {
    std::optional<Index> left, right;
    static constexpr Meta kMeta{"set_window_sides", Kind::drag,
                                fields<&SetWindowSides::left, &SetWindowSides::right>};
    friend void carry_out(AppState& state, const SetWindowSides& action);
};
struct SetGlobalTokens {
    Index tokens;
    static constexpr Meta kMeta{"set_global_tokens", Kind::drag, fields<&SetGlobalTokens::tokens>};
    friend void carry_out(AppState& state, const SetGlobalTokens& action);
};
/// What softmax gives a row without a key: 0, or NaN.
struct SetEmptyRows {
    bool nan;
    static constexpr Meta kMeta{"set_empty_rows", Kind::edit, fields<&SetEmptyRows::nan>};
    friend void carry_out(AppState& state, const SetEmptyRows& action);
};
/// Paints every pair from one to another, of this head alone where the painted mask has heads. Within a gesture a
/// rectangle replaces the one before.
struct PaintMask {
    Index row, column, to_row, to_column;
    PaintShape shape;
    bool allowed;
    static constexpr Meta kMeta{"paint_mask", Kind::drag};
    friend void describe(Visitor& visit, PaintMask& action) {
        visit("row", action.row);
        visit("column", action.column);
        visit("to_row", action.to_row);
        visit("to_column", action.to_column);
        visit("shape", action.shape, kPaintShapeNames);
        visit("allowed", action.allowed);
    }
    friend void carry_out(AppState& state, const PaintMask& action);
};
/// Nothing is painted any more.
struct ClearPaint {
    static constexpr Meta kMeta{"clear_paint", Kind::edit};
    friend void carry_out(AppState& state, const ClearPaint& action);
};
/// The rules become paint and are switched off: the same mask, every pair of which can then be painted.
struct PaintRules {
    static constexpr Meta kMeta{"paint_rules", Kind::edit};
    friend void carry_out(AppState& state, const PaintRules& action);
};

// What is looked at, and who computes.

/// In every workspace.
struct ShowHead {
    Index head;
    std::optional<Index> batch{};  // nullopt: the one that is shown
    std::optional<Index> layer{};  // the same
    static constexpr Meta kMeta{"show_head", Kind::plain,
                                fields<&ShowHead::head, &ShowHead::batch, &ShowHead::layer>};
    friend void carry_out(AppState& state, const ShowHead& action);
};
struct ShowLayer {
    Index layer;
    static constexpr Meta kMeta{"show_layer", Kind::plain, fields<&ShowLayer::layer>};
    friend void carry_out(AppState& state, const ShowLayer& action);
};
struct SetBackend {
    std::string name;
    static constexpr Meta kMeta{"set_backend", Kind::plain, fields<&SetBackend::name>};
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
    static constexpr Meta kMeta{"trace_ready", Kind::answer, fields<&TraceReady::backend>};
    friend void carry_out(AppState& state, const TraceReady& action);
};

// The place that all workspaces share, and what gradients are of.

struct GoToStage {
    Stage stage;
    static constexpr Meta kMeta{"go_to_stage", Kind::plain, fields<&GoToStage::stage>};
    friend void carry_out(AppState& state, const GoToStage& action);
};
struct SelectCell {
    CellRef cell;
    static constexpr Meta kMeta{"select_cell", Kind::plain, fields<&SelectCell::cell>};
    friend void carry_out(AppState& state, const SelectCell& action);
};
struct MoveSelection {
    int rows;
    int columns;
    static constexpr Meta kMeta{"move_selection", Kind::plain,
                                fields<&MoveSelection::rows, &MoveSelection::columns>};
    friend void carry_out(AppState& state, const MoveSelection& action);
};
struct HoverCell {
    std::optional<CellRef> cell;
    static constexpr Meta kMeta{"", Kind::moment};
    friend void carry_out(AppState& state, const HoverCell& action);
};
struct ShowGradients {
    bool on;
    static constexpr Meta kMeta{"show_gradients", Kind::plain, fields<&ShowGradients::on>};
    friend void carry_out(AppState& state, const ShowGradients& action);
};
/// What L is, and shows its gradients. Of one output: the selected one, else the one chosen last, else the first.
struct SetLoss {
    LossKind kind;
    static constexpr Meta kMeta{"set_loss", Kind::plain};
    friend void describe(Visitor& visit, SetLoss& action) {
        visit("kind", action.kind, kLossNames);
    }
    friend void carry_out(AppState& state, const SetLoss& action);
};
/// L is this number of the output.
struct SetLossCell {
    CellRef cell;
    static constexpr Meta kMeta{"set_loss_cell", Kind::plain, fields<&SetLossCell::cell>};
    friend void carry_out(AppState& state, const SetLossCell& action);
};
/// What this number of the output should be, for the squared error.
struct SetTarget {
    CellRef cell;
    double value;
    static constexpr Meta kMeta{"set_target", Kind::edit,
                                fields<&SetTarget::cell, &SetTarget::value>};
    friend void carry_out(AppState& state, const SetTarget& action);
};

using DocumentActions =
    ActionList<LoadPreset, DraftSentence, SetSentence, TypeText, ReadImage, OpenFile, OpenPlanted,
               DocumentReady, SetModelWidth, SetKeyWidth, SetHeads, SetScaling, SetTemperature,
               SetCausal, SetCausalMask, SetWindow, SetWindowSides, SetGlobalTokens, SetBlock,
               SetPadding, SetEmptyRows, PaintMask, ClearPaint, PaintRules, SetSeed, SetCell,
               ShowHead, ShowLayer, SetBackend, TraceReady, GoToStage, SelectCell, MoveSelection,
               HoverCell, ShowGradients, SetLoss, SetLossCell, SetTarget>;

}  // namespace attn::view
