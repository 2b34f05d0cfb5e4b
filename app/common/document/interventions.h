#pragma once

#include <string>
#include <vector>

#include "app/common/action.h"
#include "app/common/document/text_patch.h"
#include "core/models/row_intervention.h"

namespace attn::view {

struct Document;
struct ModelChanges;

// Interventions in the model that is open: switched off heads, replaced rows of weights, q, k or v of another text.

/// In their order; in place of the row of this query, or the part of this head, where there is one.
void set_row(ModelChanges& changes, RowIntervention row);
void set_patch(ModelChanges& changes, TextPatch patch);

/// "L0 H1", "L0 H1 and L1 H2"; of many the first eight and how many more.
std::string off_text(const std::vector<HeadPlace>& off);
/// "without L0 H1, with row 3 of L0 H2 replaced, with v of layer 1 key head 0 from “A dog”"; of none "without
/// interventions".
std::string changes_text(const ModelChanges& changes);
/// "all on key 2", "even over 3 keys", "0.5, 0.25, 0.25".
std::string row_description(const std::vector<double>& weights);

/// Why nothing can be changed inside what is shown of the model: "cross has none: …"; "": it can, or no model is open.
std::string interventions_lack(const Document& document);

/// One entry of the list of interventions.
struct Intervention {
    std::string name;  // "L0 H1 off", "L0 H2 row 3", "L1 H0 v"
    std::string text;  // what it is
    Action remove;
};
/// In the order in which the model carries them out: patches, rows, heads off.
std::vector<Intervention> interventions_of(const ModelChanges& changes);

}  // namespace attn::view
