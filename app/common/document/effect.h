#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/forward.h"
#include "core/sizes.h"
#include "core/stage.h"

namespace attn {
struct AttentionSpec;
}  // namespace attn

namespace attn::view {

struct AppState;
struct Document;

// What the last edit did: every stage before and after it, compared bit by bit, beside what the dependencies say could
// have changed. T tokens, H heads; i query row, j key row, h head.

/// What became of one stage.
enum class Fate : std::uint8_t {
    cannot,   // nothing that was edited leads to it, and it is the same
    same,     // something does, and yet no number of it changed
    changed,  // some number of it changed
    resized,  // it has other rows or columns
    appeared  // it was not there
};

/// One stage of one sequence and head. 0 and −0 are the same number, NaN and NaN too.
struct StageChange {
    Fate fate = Fate::cannot;
    // the largest change, where there is one; a change from or to NaN or ∞ is larger than any
    Index row = 0;
    Index column = 0;
    float before = 0.0F;
    float after = 0.0F;
    Index others = 0;  // that changed as much
};

/// A document and its trace.
struct Moment {
    std::shared_ptr<const Document> document;
    std::shared_ptr<const Trace> trace;
};

struct EditEffect {
    Moment before;
    Index heads = 1;
    std::vector<std::array<StageChange, kStageCount>> parts;  // [batch · heads + head]

    const StageChange& at(Index batch, Index head, Stage stage) const {
        return parts[batch * heads + head][index_of(stage)];
    }
};

/// Whether the same pairs may attend under both.
bool same_mask(const AttentionSpec& a, const AttentionSpec& b);
/// Both of one model: the same sentence and weights but for what was edited.
EditEffect compare(Moment before, const Moment& after);

/// What the last edit did to a stage, of the sequence and head shown; nullptr: there was none.
const StageChange* change_of(const AppState& state, Stage stage);

/// "V, context and output change; Q, K, scores and weights cannot; largest weight of cat: sat 0.40 → 0.52": of the
/// sequence and head shown, the row that is selected, else the first query. "" where nothing is computed.
std::string effect_text(const AppState& state);

/// "changed by the last edit, most at scores[cat, sat]: 0.40 → 0.52"; "" without an edit.
std::string change_text(const AppState& state, Stage stage);

/// Of each row of weights: "H = 0.89 nats, 1.02 before the last edit"; "" where it is what it was. Empty: nothing changed.
std::vector<std::string> entropy_changes(const AppState& state);

/// The stages that a sentence of effect_text() speaks of, in its order.
struct EffectStages {
    std::vector<Stage> change, cannot, same;
};
EffectStages effect_stages(const AppState& state);

}  // namespace attn::view
