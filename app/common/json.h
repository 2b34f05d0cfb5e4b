#pragma once

#include <array>
#include <string_view>

#include "app/common/cell.h"
#include "app/common/fields.h"
#include "core/large/planted.h"
#include "core/stages.h"

namespace attn::view {

// The small parts that the journal, the session and the command line write alike.

/// {"tensor": "w_q", "row": 0, "column": 2}
nlohmann::ordered_json cell_to(const CellRef& cell);
CellRef cell_from(Fields& fields, std::string_view key, const nlohmann::json& found);
/// "tensor", "row" and "column" of an object that may have more.
CellRef cell_fields(Fields& fields);
/// A stage by its key.
void read_stage(Fields& fields, std::string_view key, Stage& stage);

nlohmann::ordered_json map_to(const large::PlantedSpec& spec);
/// Keeps what the value was where a part is missing.
void map_from(Fields& fields, std::string_view key, large::PlantedSpec& spec);

}  // namespace attn::view
