#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/describe.h"
#include "app/common/names.h"
#include "app/common/slots.h"
#include "core/large/cell.h"
#include "core/train/held_out.h"
#include "core/train/matrices.h"
#include "core/train/record.h"
#include "core/train/spec.h"

namespace attn::train {
struct Influences;
struct LeftOut;
struct OwnAnswer;
struct Probe;
struct Run;
}  // namespace attn::train

namespace attn::view {

/// As the first launch has it: associative recall with ÷√d_k (0) and without (1).
train::Spec first_learn_spec(std::size_t run);

/// A model, and beside it the same with one setting otherwise.
struct LearnRuns {
    train::Spec a = first_learn_spec(0);
    train::Spec b = first_learn_spec(1);  // as `a`, but for `differs`
    std::string differs = "scaling";      // name of the field in which B is another; "": A alone
    bool operator==(const LearnRuns&) const = default;
    bool has_b() const { return !differs.empty(); }
    std::size_t count() const { return has_b() ? 2 : 1; }
    /// Of the run that has more.
    Index layers() const { return std::max(a.layers, b.layers); }
    Index heads() const { return std::max(a.heads, b.heads); }
    const train::Spec& of(std::size_t run) const { return run == 0 ? a : b; }
};
/// What is trained next. Undone.
struct LearnControls : LearnRuns {
    bool operator==(const LearnControls&) const = default;
};

void describe(Visitor& visit, LearnRuns& runs);
void describe(Visitor& visit, LearnControls& controls);

/// Fields in which B may differ.
inline constexpr std::array<std::string_view, 16> kLearnDifferences{
    "scaling", "initial_spread", "temperature", "d_k",
    "heads",   "layers",         "positions",   "mlp",
    "norm",    "d_model",        "symbols",     "learning_rate",
    "warmup",  "weight_decay",   "optimiser",   "seed"};

inline constexpr std::array<std::string_view, 2> kLearnRunNames{"a", "b"};

/// Everything that determines a training: the same plan gives the same numbers, bit for bit, on one machine.
struct LearnPlan {
    LearnControls controls;                              // as they were when it was begun
    std::array<std::vector<train::Switch>, 2> switches;  // of A and B, by their steps
    Index until = 0;                                     // steps that each is to make
    Index seeds = 1;  // runs of the next seeds too, for the spread
    std::shared_ptr<const train::Run> opened =
        {};  // A goes on from this one; null: from first weights
    bool operator==(const LearnPlan&) const = default;
};
/// What the attention maps are of.
struct LearnShown {
    std::optional<Index> step;  // the kept moment at or before it; nullopt: the newest
    std::string sentence;       // "": the sequence that is the same at every step
    bool operator==(const LearnShown&) const = default;
};
struct LearnRequest {
    LearnPlan plan;
    LearnShown shown;
    bool operator==(const LearnRequest&) const = default;
};

/// What was trained so far. Immutable.
using LearnHeldOut = train::HeldOutPoint;
struct LearnSide {
    std::vector<std::shared_ptr<const train::Record>> records;
    std::vector<train::Moment> moments;
    std::shared_ptr<const train::Probe> probe;  // of the moment shown; its step is the moment's
    std::shared_ptr<const train::OwnAnswer>
        answer;  // of the same, to the sentence; null: no own data
    std::vector<train::Matrix> matrices;
    std::vector<LearnHeldOut> held_out;  // of a language that holds texts out: ascending steps
};
/// Run A of own data, trained again without each line.
struct LeftOutRequest {
    train::Spec spec;
    std::vector<train::Switch> switches;
    Index steps = 0;
    bool operator==(const LeftOutRequest&) const = default;
};
struct LearnLeftOut {
    LeftOutRequest request;
    std::shared_ptr<const train::LeftOut> models;  // null: the training failed
    std::string fault;
};
/// Which lines decide the answer to a sentence; found when both are there, see follow_learn().
struct LearnInfluences {
    std::shared_ptr<const LearnLeftOut> left_out;  // its models are not null
    std::string sentence;
    std::shared_ptr<const train::Influences> found;  // null: the sentence cannot be answered
};
struct LearnSeed {
    std::uint64_t seed = 0;
    std::array<train::Ending, 2> endings;
};
struct LearnSeries {
    LearnRequest request;
    std::array<LearnSide, 2> sides;  // the second is empty where A is alone
    std::vector<LearnSeed> seeds;    // of the spread: the finished ones
    std::vector<std::string> vocabulary;
    double steps_per_second = 0.0;  // of both together, over the last second or so
    bool complete = false;          // all that was requested is there
    std::string fault;              // why it cannot be trained; "": it can
};

enum class LearnMeasure : std::uint8_t {
    accuracy,
    loss,
    saturated,
    entropy,
    max_probability,
    gradient,
    w_q,
    w_v,
    held_out  // the last: only languages have it
};
inline constexpr std::size_t kLearnMeasureCount = 9;
template <>
inline constexpr std::string_view kNamesOf<LearnMeasure>[] = {
    "accuracy", "loss", "saturated", "entropy", "max_probability",
    "gradient", "w_q",  "w_v",       "held_out"};

/// The weights of one head, or of one word in every head.
enum class LearnPicture : std::uint8_t { head, word };
template <>
inline constexpr std::string_view kNamesOf<LearnPicture>[] = {"head", "word"};

enum class LearnPage : std::uint8_t { settings, row, heads, matrices, lines };
template <>
inline constexpr std::string_view kNamesOf<LearnPage>[] = {"settings", "row", "heads", "matrices",
                                                           "lines"};

/// The shown part and the trained runs. Not undone.
struct LearnLook {
    std::optional<LearnPlan> plan;  // nullopt: nothing was trained
    bool recorded = false;          // the recorded run is shown, while no plan exists
    LearnShown shown;
    Index layer = 0, head = 0;
    LearnMeasure measure = LearnMeasure::accuracy;
    LearnPage page = LearnPage::row;
    LearnPicture picture = LearnPicture::head;
    large::Cell cell;

    // of the moment: in no session and no journal
    bool chosen = false;             // the shown head or cell: the end of a training keeps it
    bool ticks = false;              // the clock of a window does
    bool replay_waits = false;       // the recorded run plays once it ticks
    std::optional<double> replay_s;  // since the recorded run began to play; nullopt: it rests
    std::optional<large::Cell> hovered;
    std::string draft;                       // of the sentence, as typed so far
    std::string text_draft;                  // of the text that is learnt
    std::optional<std::string> lines_draft;  // of own data, as typed; nullopt: the learnt lines
    bool lines_open = false;                 // their box is to take the keyboard
    std::optional<LeftOutRequest> left_out_request;  // by hand; nullopt: none
    std::shared_ptr<const LearnLeftOut> left_out;
    std::shared_ptr<const LearnInfluences> influences;
    double left_out_done = 0.0;                 // progress of the request, 0 … 1
    std::shared_ptr<const LearnSeries> series;  // null: none yet; or the recorded run
    std::shared_ptr<const LearnSeries>
        before;  // as it was when something was switched; null: nothing was
};

void describe(Visitor& visit, LearnPlan& plan);
void describe(Visitor& visit, LearnLook& look);

inline constexpr Controls<LearnControls> learn_controls;
inline constexpr Look<LearnLook> learn_look;

}  // namespace attn::view
