#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/common/action.h"
#include "app/common/cell.h"
#include "app/common/place.h"
#include "core/forward.h"
#include "core/large/planted_spec.h"
#include "core/sizes.h"
#include "core/stage.h"

namespace attn::view {

struct Document;
struct Opened;

// The document, which every workspace views: opened, edited (undone), looked at by head and layer.

struct LoadPreset {
    std::string key;
    static constexpr auto kJournalNames = journal_names("load_preset", "key");
};
/// Typing.
struct DraftSentence {
    std::string text;
    static constexpr auto kJournalNames = journal_names("draft_sentence", "text");
};
struct SetSentence {
    std::string text;
    static constexpr auto kJournalNames = journal_names("set_sentence", "text");
};
/// What the open model reads, as it is typed; DocumentReady follows where it is another text.
struct TypeText {
    std::string text;
    static constexpr auto kJournalNames = journal_names("type_text", "text");
};
/// The image that the open model reads; DocumentReady follows where it is another one.
struct ReadImage {
    std::string path;  // of a PNG
    static constexpr auto kJournalNames = journal_names("read_image", "path");
};
/// What the second stack of the open model reads: the decoder's text so far, the files of images; DocumentReady follows.
struct TypeBeside {
    std::string text;
    static constexpr auto kJournalNames = journal_names("type_beside", "text");
};
/// Which attention of a model of two stacks is looked at; DocumentReady follows.
struct ShowGroup {
    std::string group;
    static constexpr auto kJournalNames = journal_names("show_group", "group");
};
/// Tensors, a session, a preset or a model; where a model of images is open, an image for it. DocumentReady follows.
struct OpenFile {
    std::string path;
    std::optional<std::string> text = {};          // for the model to read
    std::optional<std::string> options = {};       // how its arrays are read, see FileOrigin
    std::optional<std::string> image = {};         // for the model to read: a PNG
    std::optional<std::string> second_input = {};  // of a model of two stacks, see ModelOrigin
    std::optional<std::string> group = {};
    static constexpr auto kJournalNames =
        journal_names("open_file", "path", "text", "options", "image", "beside", "group");
};
/// A generated matrix; DocumentReady follows.
struct OpenPlanted {
    large::PlantedSpec spec;
    static constexpr auto kJournalNames = journal_names("open_planted", "spec");
};
/// Of the last OpenFile, OpenPlanted, TypeText or ReadImage.
struct DocumentReady {
    std::string what;
    std::string fault;  // why there is none; "": there is one
    std::shared_ptr<const Opened> opened{};
    static constexpr auto kJournalNames = journal_names("document_ready", "what");
};
struct SetModelWidth {
    Index d_model;
    static constexpr auto kJournalNames = journal_names("set_model_width", "d_model");
};
struct SetKeyWidth {
    Index d_k;
    static constexpr auto kJournalNames = journal_names("set_key_width", "d_k");
};
struct SetHeads {
    Index heads;
    static constexpr auto kJournalNames = journal_names("set_heads", "heads");
};
struct SetScaling {
    bool on;
    static constexpr auto kJournalNames = journal_names("set_scaling", "on");
};
struct SetTemperature {
    double temperature;
    static constexpr auto kJournalNames = journal_names("set_temperature", "temperature");
};
struct SetSeed {
    std::uint64_t seed;
    static constexpr auto kJournalNames = journal_names("set_seed", "seed");
};
struct SetCell {
    CellRef cell;
    double value;
    static constexpr auto kJournalNames = journal_names("set_cell", "cell", "value");
};

// The mask, rule by rule and painted.

/// Top-left, or off.
struct SetCausal {
    bool on;
    static constexpr auto kJournalNames = journal_names("set_causal", "on");
};
enum class CausalChoice : std::uint8_t { off, top_left, bottom_right };
template <>
inline constexpr std::string_view kNamesOf<CausalChoice>[] = {"off", "top-left", "bottom-right"};
/// Of what is painted between two pairs: the line, or the whole rectangle.
enum class PaintShape : std::uint8_t { line, rectangle };
template <>
inline constexpr std::string_view kNamesOf<PaintShape>[] = {"line", "rectangle"};
struct SetCausalMask {
    CausalChoice causal;
    static constexpr auto kJournalNames = journal_names("set_causal_mask", "causal");
};
/// Valid keys of the sequence shown; nullopt: no padding mask.
struct SetPadding {
    std::optional<Index> keys;
    static constexpr auto kJournalNames = journal_names("set_padding", "keys");
};
/// nullopt: no block mask.
struct SetBlock {
    std::optional<Index> length;
    static constexpr auto kJournalNames = journal_names("set_block", "length");
};
/// |i − j| ≤ reach; nullopt: no window.
struct SetWindow {
    std::optional<Index> reach;
    static constexpr auto kJournalNames = journal_names("set_window", "reach");
};
/// Places that a query sees to its left and to its right; both nullopt: no window.
struct SetWindowSides {
    std::optional<Index> left, right;
    static constexpr auto kJournalNames = journal_names("set_window_sides", "left", "right");
};
struct SetGlobalTokens {
    Index tokens;
    static constexpr auto kJournalNames = journal_names("set_global_tokens", "tokens");
};
/// What softmax gives a row without a key: 0, or NaN.
struct SetEmptyRows {
    bool nan;
    static constexpr auto kJournalNames = journal_names("set_empty_rows", "nan");
};
/// Paints every pair from one to another, of this head alone where the painted mask has heads. Within a gesture a
/// rectangle replaces the one before.
struct PaintMask {
    Index row, column, to_row, to_column;
    PaintShape shape;
    bool allowed;
    static constexpr auto kJournalNames =
        journal_names("paint_mask", "row", "column", "to_row", "to_column", "shape", "allowed");
};
/// Gives the bias of every pair from one to another the value, of this head alone where the bias has heads. Within a gesture a rectangle
/// replaces the one before.
struct PaintBias {
    Index row, column, to_row, to_column;
    PaintShape shape;
    double value;
    static constexpr auto kJournalNames =
        journal_names("paint_bias", "row", "column", "to_row", "to_column", "shape", "value");
};
/// Nothing is painted any more.
struct ClearPaint {
    static constexpr auto kJournalNames = journal_names("clear_paint");
};
/// The rules become paint and are switched off: the same mask, every pair of which can then be painted.
struct PaintRules {
    static constexpr auto kJournalNames = journal_names("paint_rules");
};

// What is looked at, and who computes.

/// In every workspace.
struct ShowHead {
    Index head;
    std::optional<Index> batch{};  // nullopt: the one that is shown
    std::optional<Index> layer{};  // the same
    static constexpr auto kJournalNames = journal_names("show_head", "head", "batch", "layer");
};
struct ShowLayer {
    Index layer;
    static constexpr auto kJournalNames = journal_names("show_layer", "layer");
};
struct SetBackend {
    std::string name;
    static constexpr auto kJournalNames = journal_names("set_backend", "name");
};
/// By a backend with a device.
struct TraceReady {
    std::string backend;
    std::shared_ptr<const Document> document{};  // null: only `unavailable` was asked
    std::shared_ptr<const Trace> trace{};        // null: `failure` says why
    double elapsed_ms = 0.0;
    std::string failure{};
    std::string unavailable{};  // why the backend cannot run here at all; "": it can
    static constexpr auto kJournalNames = journal_names("trace_ready", "backend");
};

// The place that all workspaces share, and what gradients are of.

struct GoToStage {
    Stage stage;
    static constexpr auto kJournalNames = journal_names("go_to_stage", "stage");
};
struct SelectCell {
    CellRef cell;
    static constexpr auto kJournalNames = journal_names("select_cell", "cell");
};
struct MoveSelection {
    int rows, columns;
    static constexpr auto kJournalNames = journal_names("move_selection", "rows", "columns");
};
struct HoverCell {
    std::optional<CellRef> cell;
};
struct ShowGradients {
    bool on;
    static constexpr auto kJournalNames = journal_names("show_gradients", "on");
};
/// What L is, and shows its gradients. Of one output: the selected one, else the one chosen last, else the first.
struct SetLoss {
    LossKind kind;
    static constexpr auto kJournalNames = journal_names("set_loss", "kind");
};
/// L is this number of the output.
struct SetLossCell {
    CellRef cell;
    static constexpr auto kJournalNames = journal_names("set_loss_cell", "cell");
};
/// What this number of the output should be, for the squared error.
struct SetTarget {
    CellRef cell;
    double value;
    static constexpr auto kJournalNames = journal_names("set_target", "cell", "value");
};

using DocumentActions =
    ActionList<ViewActions<DraftSentence, ReadImage, TypeBeside, ShowGroup, OpenFile, OpenPlanted,
                           ShowHead, ShowLayer, SetBackend, GoToStage, SelectCell, MoveSelection,
                           ShowGradients, SetLoss, SetLossCell>,
               EditActions<LoadPreset, SetSentence, SetScaling, SetCausal, SetCausalMask,
                           SetEmptyRows, ClearPaint, PaintRules, SetCell, SetTarget>,
               DragActions<TypeText, SetModelWidth, SetKeyWidth, SetHeads, SetTemperature,
                           SetWindow, SetWindowSides, SetGlobalTokens, SetBlock, SetPadding,
                           PaintMask, PaintBias, SetSeed>,
               Awaited<DocumentReady, TraceReady>, TransientActions<HoverCell>>;
template <ListedIn<DocumentActions> A>
inline constexpr Meta kMetaOf<A> = DocumentActions::kMeta<A>;

}  // namespace attn::view
