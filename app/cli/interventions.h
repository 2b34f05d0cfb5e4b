#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/models/row_intervention.h"
#include "core/stage.h"

namespace attn::cli {

// Interventions as they are typed. An error names the flag, what was typed and what was expected.

/// --patch "0.1.v=A dog": layer, head, q, k or v, and the text whose vectors are taken.
struct TypedPatch {
    HeadPlace at;
    Stage part = Stage::v;
    std::string text;
};
struct TypedInterventions {
    std::vector<HeadPlace> off;  // --off "0.1,1.2"; "": none
    std::vector<RowIntervention>
        rows;  // --row "0.1.3=0.5,0.5,0,0": layer, head, query, a weight for each key
    std::vector<TypedPatch> patches;
    bool any() const { return !off.empty() || !rows.empty() || !patches.empty(); }
};
TypedInterventions parse_interventions(std::string_view off, const std::vector<std::string>& rows,
                                       const std::vector<std::string>& patches);

/// As they are typed: "--off 0.1", "--row 0.1.3=0.5,0.5,0,0".
std::string description_of(HeadPlace off);
std::string description_of(const RowIntervention& row);
std::string description_of(const TypedPatch& patch);

}  // namespace attn::cli
