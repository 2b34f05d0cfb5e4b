#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/models/interventions.h"

namespace attn::cli {

// Interventions as they are typed. An error names the flag, what was typed and what was expected.

/// --off "0.1,1.2".
Result<std::vector<ModelHead>> parse_heads_off(std::string_view text);
/// --row "0.1.3=0.5,0.5,0,0": layer, head, query and a weight for each key.
Result<RowIntervention> parse_row(std::string_view text);
/// --patch "0.1.v=A dog": layer, head, q, k or v, and the text whose vectors are taken.
struct TypedPatch {
    ModelHead at;
    Stage part = Stage::v;
    std::string text;
};
Result<TypedPatch> parse_patch(std::string_view text);

/// As they are typed: "--off 0.1", "--row 0.1.3=0.5,0.5,0,0".
std::string words_of(ModelHead off);
std::string words_of(const RowIntervention& row);
std::string words_of(const TypedPatch& patch);

}  // namespace attn::cli
