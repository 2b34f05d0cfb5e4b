#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/action.h"
#include "app/common/document/interventions.h"
#include "app/common/forward.h"
#include "app/common/grid.h"
#include "app/common/keys.h"
#include "app/common/map/view.h"
#include "app/common/painter.h"
#include "app/workspaces/heads/image.h"
#include "app/workspaces/heads/state.h"
#include "core/models/alignment.h"
#include "core/models/path_patching.h"

namespace attn::view {

struct ColorLook;
struct HeadsFilter;
struct HeadsLook;
struct SweptModel;
}  // namespace attn::view

namespace attn {
struct HeadFacts;
struct HeadsResult;
}  // namespace attn

namespace attn::view {

/// What can be done to the head that is shown and the selected row of its weights in the model that is open.
struct HeadEdit {
    std::string button;   // "row: even"
    std::string command;  // in the palette, and on top of the tooltip
    std::string tip;
    Key key = Key::none;
    Action action;
    std::string why_not = {};  // "": it can be done
};
/// None where no model is open or its heads are not shown yet.
std::vector<HeadEdit> head_edits(const AppState& state);

// ---- lists

// All heads by their measures: two of them as a scatter, all of them as a table. Heads that the filter leaves out are in
// neither.

struct ScatterAxis {
    std::string title;               // "previous token"
    std::string formula;             // "mean of a[i,i−1], i ≥ 1"
    std::vector<std::string> ticks;  // evenly from the low end to the high one
    int current = 0;                 // of the measures
};
struct ScatterDot {
    HeadPlace place;
    float x = 0.0F, y = 0.0F;  // 0 … 1 along the axes
    bool shown = false;
    std::string pin;  // "A", "B" or ""
};
struct HeadsScatter {
    ScatterAxis x, y;
    std::vector<ScatterDot> dots;
    std::string note;  // of heads that have no place
};
HeadsScatter heads_scatter(const AppState& state);

struct HeadsTableColumn {
    std::string key, title, tip;
};
struct HeadsTableRow {
    HeadPlace place;
    std::string name, label;
    std::vector<std::string> cells;
    bool shown = false;
    std::string tip = {};  // of the row; "": none
    std::string text =
        {};  // that the model is to read where the head is chosen; "": the one that it reads
};
struct HeadsTable {
    std::vector<HeadsTableColumn> columns;
    std::string sort;  // key of a column; "": by layer and head
    std::vector<HeadsTableRow> rows;
    bool labels = true;  // heads have some here
};
HeadsTable heads_table(const AppState& state);

/// A head whose measure is not defined does not pass a filter on it.
bool passes(const HeadsFilter& filter, const HeadFacts& facts);
/// "12 of 144 shown"; "" where nothing is filtered.
std::string shown_count(const HeadsLook& look);
/// "12 of 144 heads: label previous token, sink ≥ 0.50."
std::string filter_text(const AppState& state);

// ---- every head changed in turn

/// Which token of the other text stands for which.
struct TokenPairs {
    std::vector<std::string> here, there;
    std::vector<std::pair<Index, Index>> pairs;
    std::optional<Index> chosen;  // of `here`, to be paired next
};
struct SweepView {
    std::string missing_data;         // why there is nothing; "": there is
    std::optional<GridView> grid;     // a row a layer
    std::optional<TokenPairs> pairs;  // of a patch
};
SweepView head_sweep(const AppState& state);
/// These two paired with each other alone, or parted: what PairTokens takes. "": they are the last pair, which stays.
std::string repaired(PairedTokens pairs, Index here, Index there);

// ---- one head as products of its weights, or the edges of the whole model

/// The parts of a model, the embedding below, the logits above, and an edge from each sender to each of its readers.
struct HeadEdgesView {
    struct Node {
        ModelNode node;
        std::string name, text, tip;  // "L0 H0", "tired .97": its largest weight at the answer
        double x = 0.0, y = 0.0;      // of its middle, 0 … 1, y from below
    };
    struct Edge {
        large::Cell nodes;   // sender and reader
        double width = 0.0;  // |change| of the largest, 0 … 1
        double change = 0.0;
        std::string text;  // "Cut: −1.94 · Q −2.41 · K −.01 · V .43"
    };
    std::vector<Node> nodes;
    std::vector<Edge> edges;             // the thinnest first; none without a change
    large::Cell selected;                // an edge
    std::string legend, lowers, raises;  // "logit A − logit B when cut:", "down", "up"
    std::string undefined;               // edges whose change is NaN; "": none
};
HeadEdgesView head_edges_view(const AppState& state, const SweptModel& swept);
/// The selected edge, or the edge of the headline.
large::Cell edges_cell(const AppState& state, const SweptModel& swept);
std::string edges_point(const SweptModel& swept);
InspectorView edges_inspector(const AppState& state, const SweptModel& swept);

struct HeadCircuitView {
    std::string missing_data;  // why there is nothing; "": there is
    std::optional<HeadEdgesView> edges;
    std::vector<GridView> grids;     // QK or OV, or three of composition
    std::vector<MapView> maps;       // QK or OV in their place where they are too long for cells
    std::optional<GridView> values;  // singular values, as bars
    std::string text;                // of the copying score
};
HeadCircuitView head_circuit_view(const AppState& state);
/// The cell that is chosen in it, inside what there is.
large::Cell circuit_cell(const AppState& state);
/// Its arithmetic; nullopt: no circuit is shown, or it is not there.
std::optional<InspectorView> circuit_inspector(const AppState& state);

// ---- one head large

// A head in another form than a matrix: as lines between tokens, as the text that one query sees, and its scores by
// dimension. Only where undefined_text() is "", but for the dimensions.

/// From a query, left, to a key, right.
struct HeadLine {
    Index query = 0, key = 0;
    float strength = 0.0F;  // 0 … 1, of width and opacity
    Color color;
};
struct HeadLinesView {
    std::string title;
    std::vector<std::string> queries, keys;
    std::vector<HeadLine>
        lines;  // the strongest last; those of less than kLeastLine of the range are left out
    Index query = 0, key = 0;  // chosen
    std::vector<std::string> legend;
    std::vector<std::pair<std::string, Color>> heads =
        {};  // that stand over each other; empty: one
};
inline constexpr double kLeastLine = 0.02;
HeadLinesView head_lines(const AppState& state, HeadPlace place);

// An alignment: the words of a source and of a target text as two rows, joined by the weights of one head.

/// The keys of the source's words, and the queries of the target's.
struct AlignedParts {
    std::string missing_data;  // why the text has one part; "": it has two
    std::vector<Index> keys, queries;
    bool predicts = false;  // the word of a query is the one after it, which the model predicts
};
AlignedParts aligned_parts(const AppState& state);
/// The work of a head between them. A target word has a source word where more than half of the weight of its query lies on
/// that word: no other can have as much.
struct HeadAlignment {
    std::vector<std::optional<Index>> source;  // of each target word its place in the source
    Index joined = 0;                          // target words that have one
    Index different = 0;                       // source words that they have
    Index crossings = 0;  // pairs of target words whose source words are in the other order
    double weight = 0.0;  // Σ of those weights
};
HeadAlignment head_alignment(MatrixView<const float> weights, const AlignedParts& parts);
/// Of a layer the head that joins the most different source words; of equal ones the most target words, then the largest
/// weight. nullopt: the layer has no weights.
std::optional<HeadPlace> clearest_head(const AppState& state, Index layer);
/// Of the head that is shown, as a sentence; "": it is not shown as an alignment, or the text has one part.
std::string alignment_point(const AppState& state);
/// A model whose own text has two parts is shown as an alignment by the clearest head of its last layer, once.
void show_alignment_once(AppState& state);

struct HeadAlignmentView {
    std::string missing_data;
    HeadLinesView lines;  // queries: the target's words, keys: the source's; by their place there
    AlignedParts parts;
    std::optional<Index> query, key;  // the chosen ones that are there
};
/// Of one head, or of several the largest weight of each pair.
HeadAlignmentView head_alignment_view(const AppState& state, const std::vector<HeadPlace>& places);

/// Those that stand large together; empty: one alone does.
std::vector<HeadPlace> heads_together(const AppState& state);
/// "mean of 4 heads of layer 1"
std::string together_text(const AppState& state, const std::vector<HeadPlace>& places);
/// The mean of what is shown of each, which all are as large. Lacks: why there is none.
struct MeanMatrix {
    std::string missing_data;
    std::vector<float> values;
    IsMasked masked;  // in all of them
    Index rows = 0, columns = 0;
    MatrixView<const float> matrix() const { return {values.data(), rows, columns, columns}; }
};
MeanMatrix mean_of_heads(const AppState& state, const std::vector<HeadPlace>& places);
/// Of its colours: the heads' own, and with ranges of their own the mean's.
ColorRange mean_range(const HeadsLook& look, const std::vector<HeadPlace>& places,
                      const MeanMatrix& mean, const ColorLook& colors);
GridView mean_grid(const AppState& state, const std::vector<HeadPlace>& places);
/// Of the first kMostOver, each in a colour of its own.
inline constexpr std::size_t kMostOver = 8;
Color head_color(std::size_t n, ThemeName theme);
HeadLinesView lines_together(const AppState& state, const std::vector<HeadPlace>& places);

enum class HeadChipLook : std::uint8_t { plain, number, masked, not_a_number, clipped };
struct HeadChip {
    std::string text;
    HeadChipLook look = HeadChipLook::plain;
    Color fill = {}, ink = {};
    std::string tooltip = {};
    bool is_query = false, is_key = false;
};
struct HeadTextView {
    std::string title;
    std::vector<HeadChip> queries;  // empty: the keys are the same tokens
    std::vector<HeadChip> keys;
    std::vector<std::string> legend;
};
HeadTextView head_text(const AppState& state, HeadPlace place);

/// q_d · k_d of the chosen query: a row a key, a column a dimension, the score as the sum at the right.
struct HeadDimensionsView {
    std::string missing_data;
    std::optional<GridView> grid;
    std::vector<std::string> legend;
};
HeadDimensionsView head_dimensions(const AppState& state, HeadPlace place);

// ---- all of it

/// A small picture of a head's weights: a part of one picture that has them all.
struct HeadThumb {
    HeadPlace place;
    std::string title;  // "L0 H3"; with the value that the heads are sorted by: "L0 H3  0.54"
    std::string pin;    // "A", "B" or ""
    bool shown = false;
    bool passes = true;  // the filter; dimmed where it does not
    bool off = false;    // switched off in the model
    std::string change;  // what other heads being off did to its weights: "0.31"; "": nothing
    float change_share = 0.0F;  // of the largest such change
    Index column = 0;           // where a row is a layer
    Part part;
    float aspect = 1.0F;  // height over width
};
/// How the small pictures are coloured.
struct HeadsLegend {
    std::vector<Color> colors;  // from low to high
    std::string low, high;
    std::optional<float> even;     // where 1/n stands along the colours, n keys
    std::string text;              // "weights, √; mark: 1/n = 0.25"
    std::optional<Color> clipped;  // of keys that are left out of the colours
    std::string clipped_text;      // "key 0 of every head"
    std::string caution, source;   // of what is shown in place of weights, and of weights
    std::string change_text;       // what a strip in a picture is; "": there is none
};
/// A list to choose from, by keys.
struct HeadsChoice {
    std::vector<std::string> names, keys;
    int current = 0;
    const std::string& key() const { return keys[current]; }
};
struct HeadsControls {
    HeadsChoice show, clip, list, form, sort, label, measure, x, y, ablation, sweep, part, of,
        circuit, over;
    std::string parting;      // of an alignment
    std::string from, pairs;  // of a patch
    int curve = 0;            // linear, root, log
    HeadImageLook image;
    double clip_limit = 0.3;
    double least = 0.5, least_high = 1.0;  // of the filter's measure, and where its slider ends
    std::string count;                     // "12 of 144 shown"
    bool own_range = false;
    bool pinned = false;  // the head shown
    bool compares = false;
    bool model = false;              // its heads can be switched off
    bool off = false;                // the head shown
    std::string switch_unavailable;  // why no head is switched off, row replaced or patch made here
    std::vector<HeadEdit> edits;     // of the head shown
    std::vector<Intervention> interventions;
};

struct AllHeadsView {
    std::string missing_data;  // why there is nothing; "": there is
    std::string pending;       // what is being computed; "": nothing
    std::string point;         // the first line
    bool warns = false;        // it names a NaN
    std::string answer;        // the effect of the head; "": not known
    bool listed = false;       // one picture after the other, with titles; else a row is a layer
    Index layers = 0, columns = 0;                       // of the pictures by layer and head
    std::vector<std::string> layer_labels, head_labels;  // "L0", "H0"
    std::vector<HeadThumb> thumbs;                       // in their order
    Picture picture;
    HeadsLegend legend;
    std::optional<HeadPlace> hovered;
    std::string hover_title, hover_text;
    HeadsList list = HeadsList::pictures;
    std::optional<HeadsScatter> scatter;
    std::shared_ptr<const HeadsTable> table;  // null: there is none
    std::optional<SweepView> sweep;
    std::string list_missing_data;  // why there is none of these; "": there is
    // the head shown, or A and B, in one of the forms
    std::string large_missing_data;  // why it is not defined; "": it is
    std::vector<GridView> grids;     // with two A − B too
    std::vector<MapView> maps;       // in their place where they are too long for cells
    std::vector<HeadLinesView> lines;
    std::vector<HeadTextView> texts;
    std::vector<HeadImageView> images;  // in their place where tokens are patches
    std::optional<HeadDimensionsView> dimensions;
    std::optional<HeadCircuitView> circuit;
    std::optional<HeadAlignmentView> alignment;
    std::optional<large::Cell> hovered_circuit;
    std::optional<large::Cell> hovered_pair;
    large::Cell pair;
    std::string why;  // behind ⓘ: when a head has a label, what is shown does not say
    std::vector<std::string> notes;  // layers that cannot be computed
    HeadsControls controls;
    HeadPlace here;
};

AllHeadsView build_all_heads_view(const AppState& state);

/// The picture of all heads: tiles in rows by layer, one pixel a weight, of large ones the largest of several.
struct HeadsAtlas {
    Index tile = 1;  // pixels, of the largest
    Index layers = 0, columns = 0;
};
HeadsAtlas heads_atlas(const HeadsResult& result);
Picture heads_picture(const AppState& state, const HeadsAtlas& atlas);
/// Where in it a head stands.
Part heads_part(const HeadsResult& result, const HeadsAtlas& atlas, HeadPlace place);

std::string heads_missing_data(const AppState& state);
InspectorView heads_inspector(const AppState& state);

/// See WorkspaceInfo::reasons.
std::vector<std::string> heads_reasons(const AppState& state);

}  // namespace attn::view
