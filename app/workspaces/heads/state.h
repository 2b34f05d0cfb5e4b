#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/common/colormap.h"
#include "app/common/slots.h"
#include "core/head_views.h"
#include "core/heads/place.h"
#include "core/large/cell.h"
#include "core/models/ablation.h"
#include "core/models/sweep_part.h"

namespace attn::view {
struct Document;
}  // namespace attn::view

namespace attn {
struct HeadsResult;
}

namespace attn::view {

struct HeadsCorpus;
struct HeadsMaps;
struct CircuitMap;
struct CorpusShown;
struct HeadAnswer;
struct HeadsShown;
struct SweptModel;

inline void describe(Visitor& visit, HeadPlace& place) {
    visit("layer", place.layer, {.low = 0, .needed = true});
    visit("head", place.head, {.low = 0, .needed = true});
}

/// Which keys are left out of the colour range, and of what is drawn as lines: none, key 0, or those whose mean weight
/// over queries is at least a limit. Sinks: Xiao et al. 2023, arXiv:2309.17453.
enum class SinkClip : std::uint8_t { none, first, limit };
inline constexpr std::string_view kSinkClips[] = {"none", "first", "limit"};

/// How the head that is shown stands large.
enum class HeadForm : std::uint8_t { matrix, lines, text, dimensions, circuit, alignment };
inline constexpr std::string_view kHeadForms[] = {"matrix",     "lines",   "text",
                                                  "dimensions", "circuit", "alignment"};

/// Which heads stand in it together: the one that is shown alone, those of its layer, those that pass the filter.
enum class HeadsOf : std::uint8_t { head, layer, filter };
inline constexpr std::string_view kHeadsOf[] = {"head", "layer", "filter"};

/// The part of a circuit that is shown: QK, OV, the composition of a head with earlier heads, or the edges of the whole model.
enum class CircuitShow : std::uint8_t { qk, ov, composition, edges };
inline constexpr std::string_view kCircuitShows[] = {"qk", "ov", "composition", "edges"};
/// Which tokens QK and OV have at their columns: the text's, or the vocabulary's nearest.
enum class CircuitOver : std::uint8_t { text, vocabulary };
inline constexpr std::string_view kCircuitOvers[] = {"text", "vocabulary"};

/// How all heads stand beside it.
enum class HeadsList : std::uint8_t { pictures, scatter, table, sweep, corpus };
inline constexpr std::string_view kHeadsLists[] = {"pictures", "scatter", "table", "sweep",
                                                   "corpus"};

/// What a sweep shows of each head that is changed.
enum class SweepShow : std::uint8_t { logits, kl };
inline constexpr std::string_view kSweepShows[] = {"logits", "kl"};

inline constexpr std::string_view kColorCurves[] = {"usual", "linear", "root", "log"};

/// Which heads are shown among all: those that pass both.
struct HeadsFilter {
    std::string label;    // key of the measure that names it; kUnlabelled; "": any
    std::string measure;  // key of a measure that must be at least `least`; "": none
    double least = 0.5;
    bool filters() const { return !label.empty() || !measure.empty(); }
    bool operator==(const HeadsFilter&) const = default;
};
inline constexpr std::string_view kUnlabelled = "none";

/// What the Heads workspace looks at. The head that it shows is the document's layer and the shared head. Not undone.
struct HeadsLook {
    std::string sort;        // key of a measure; "": by layer and head
    bool own_range = false;  // each head's colours end at its own largest number
    std::array<std::optional<HeadPlace>, 2> pinned;  // A and B; B only with A
    large::Cell pair;                                // query and key
    HeadShow show = HeadShow::weights;
    ColorCurve curve = ColorCurve::root;
    SinkClip clip = SinkClip::none;
    double clip_limit = 0.3;
    HeadForm form = HeadForm::matrix;
    std::string parting = "=";  // the token between the two parts of a text that are aligned
    HeadsList list = HeadsList::pictures;
    HeadsFilter filter;
    std::string scatter_x = "sink", scatter_y = "previous";  // keys of measures
    Ablation ablation = Ablation::zero;                      // of the sweep
    SweepShow sweep_show = SweepShow::logits;
    std::string corpus;  // file of what heads do over many texts; "": none
    SweepPart part = SweepPart::heads;
    std::string from,
        pairs;  // of a patch: its text; which tokens are paired, "0=0, 3=4", "": common ends
    large::Cell swept_cell;  // layer and position, where no head is changed
    HeadsOf of = HeadsOf::head;
    CircuitShow circuit_show = CircuitShow::qk;
    CircuitOver circuit_over = CircuitOver::text;
    large::Cell circuit_cell;  // of the picture; of edges, sender and reader as numbers of nodes

    // of the moment: in no session and no journal
    std::optional<HeadPlace> hovered;
    std::optional<HeadPlace> chosen;              // by the action that is carried out
    std::shared_ptr<const HeadsResult> previous;  // what was shown before it
    std::optional<large::Cell> hovered_pair;
    std::shared_ptr<const HeadsResult> result;    // see follow_heads(); null: not shown yet
    std::shared_ptr<const Document> result_of;    // what it is current for
    std::string result_by;                        // the requested backend
    std::shared_ptr<const HeadsResult> measured;  // of more weights than are held: measures alone
    std::shared_ptr<const Document> measured_of;
    std::string measured_by;
    std::shared_ptr<const HeadsShown> shown;  // of `result`, as the settings above have it
    std::shared_ptr<const HeadsMaps> maps;    // of `shown`
    double done = 0.0;                        // of what is being computed, 0 … 1
    std::shared_ptr<const SweptModel> swept;  // null: none was requested yet
    double sweep_done = 0.0;
    std::shared_ptr<const HeadsCorpus> corpus_read;   // null: not yet
    std::shared_ptr<const CorpusShown> corpus_shown;  // of it; null: its table is not shown
    std::shared_ptr<const SweptModel> circuit;        // of one head; null: none was requested yet
    double circuit_done = 0.0;
    std::shared_ptr<const CircuitMap> circuit_map;  // of `circuit`
    std::optional<large::Cell> hovered_circuit;
    std::optional<Index> pairing;  // the token that is to be paired
    std::string aligned_model;     // path of the model that show_alignment_once() has seen last
    std::shared_ptr<const HeadAnswer> answer;  // see requested_head_answer()
    std::string imaged;                        // what show_image_once() has seen last
    bool form_of_image = false;                // it has set the form
};
/// What a session keeps of it.
void describe(Visitor& visit, HeadsLook& look);

inline constexpr Look<HeadsLook> heads_look;

}  // namespace attn::view
