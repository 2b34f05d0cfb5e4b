#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/common/forward.h"
#include "app/common/grid.h"
#include "app/common/painter.h"
#include "core/models/model_stages.h"

namespace attn::view {
struct ModelRead;
}  // namespace attn::view

namespace attn {
struct LogitPart;
}  // namespace attn

namespace attn::view {

/// One part of the answer's sum as a bar from the sum before it to the sum after it.
struct ModelBar {
    std::string name, text = {};  // "L1 H2", "+1.31"
    double start = 0.0, end = 0.0;
    std::optional<Index> part;  // in the order of the sum; nullopt: several parts of one layer
    Index layer = -1;           // of those
    Index head = -1;            // of one head; -1: of another part
    bool selected = false;
    std::string tip = {};
};

/// The kind of one row of the picture.
enum class ModelRowKind : std::uint8_t {
    stage,   // a matrix of a stage
    stages,  // the stages of attention, which Step shows
    heads,   // the weights of every head of the shown layer
    layers,  // layers that are folded: what leaves the last of them
    answers  // the answers of the model
};
/// A stage of attention in its row.
struct AttentionStep {
    Stage stage = Stage::x;
    std::string text, tip;
    bool selected = false;  // Step shows it
};
/// One row, from the tokens up.
struct ModelRow {
    ModelRowKind kind = ModelRowKind::stage;
    std::optional<ModelStage> stage;  // of a stage
    Index layer = -1;                 // the folded layers up to this one; −1: of none
    Index first_layer = -1;
    std::string name, tip;
    std::string cost;  // parameters and FLOP of its part; "": said elsewhere
    Role role = Role::input;
    bool residual = false;  // of the stream that runs through all layers
    bool in_layer = false;  // of the shown layer
    bool adds = false;      // what it is made of joins the stream here
    bool computed = true;   // else its place is empty
    bool marked = false;    // before or after attention, as ShowModelPlace requests
    std::vector<AttentionStep> steps;
    std::string gradient,
        gradient_tip;  // norm of ∂L by this row of the stream, or by the part that joins it; "": none
    double gradient_share = 0.0;    // of the largest one
    std::vector<Picture> pictures;  // one; of heads one each
    Index rows = 0, columns = 0;    // of the matrix, tokens by columns
    std::vector<ModelBar> bars;
};

struct ModelAnswerBar {
    Index id = 0;
    std::string text, number;
    double probability = 0.0;
    bool selected = false;
};

/// A known model: the parts of its parameters, and what pairs of tokens cost.
struct KnownModelRow {
    std::string name, parameters, tip;
    std::vector<double> shares;      // of embedding, attention, MLP, read-out
    std::vector<std::string> texts;  // of them
    std::vector<std::string> pairs;  // share of the FLOP of a token, of each context
};

struct ModelView {
    std::string missing_data;  // in the place of all else; "": something is shown
    bool can_open = false;     // a model has to be opened first: `known` is shown
    bool shows_known = false;
    std::vector<KnownModelRow> known;
    std::vector<std::string> known_parts, known_contexts;
    std::string known_caption;  // over known_contexts
    std::string headline, muted;
    std::vector<std::string> notes;  // behind ⓘ
    bool warns = false;
    std::vector<std::string> tokens;
    Index token = 0;  // that is looked at
    std::vector<ModelRow> rows;
    std::vector<ModelAnswerBar> answers;
    std::string answers_name;
    bool gradients = false;                // in place of parameters and FLOP
    double sum_low = 0.0, sum_high = 0.0;  // of the bars; equal: there are none
    std::string sum_name, sum_text;        // "logit of “mat”", "4.20"
    bool has_difference = false;
    std::string head;         // "Open L1 H2 in Heads"; "": no head is selected
    Index shown_head = 0;     // of the shown layer, in every workspace
    bool reads_text = false;  // which can be typed here
    Index layer = 0, layers = 1;
    Index steps = 0;             // rows that can be computed one by one
    std::optional<Index> until;  // of them; nullopt: all
    // the matrix that is shown large
    std::optional<GridView> grid;  // of few enough numbers
    std::optional<Picture> map;    // of more
    std::string map_title, map_shape;
    Index map_rows = 0, map_columns = 0;
    std::string back;  // the number explained before: "N_1[it, 3]"; "": no operand was followed
    std::string status;
};
ModelView build_model_view(const AppState& state);
InspectorView model_inspector(const AppState& state);

/// Why a model's stages cannot be shown; "": they can.
std::string model_missing_data(const AppState& state);
/// What was read of the open document's text; null: nothing yet.
const ModelRead* current_model_read(const AppState& state);
/// The shown one: the current one, or, while another text is read, the last text of the same model.
const ModelRead* shown_model_read(const AppState& state);
/// The stage and cell that the inspector explains; nullopt: none.
struct ModelCell {
    ModelStage stage = ModelStage::entry;
    Index row = 0, column = 0;
};
std::optional<ModelCell> explained_cell(const AppState& state);
/// The part of the sum that is selected; null: none.
const LogitPart* selected_model_part(const AppState& state);
/// "L1 H2", "MLP of layer 1", "embedding".
std::string part_name(const LogitPart& part);
/// As in formulas: "N_1".
std::string tex_symbol(ModelStage stage);
/// The selected token; else the one that the model's answer is about; nullopt: the last.
std::optional<Index> wanted_row(const AppState& state);
/// The token looked at.
Index model_token(const AppState& state);
/// “mat”
std::string model_token_text(const AppState& state, Index row);

/// See WorkspaceInfo::reasons.
std::vector<std::string> model_reasons(const AppState& state);

}  // namespace attn::view
