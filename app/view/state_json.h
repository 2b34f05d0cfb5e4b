#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "app/view/fields.h"
#include "app/view/state.h"

namespace attn::view {

// The small parts that the journal and the session write alike.

inline const std::vector<std::string_view> kWorkspaceNames{"step", "saturation"};
inline const std::vector<std::string_view> kThemeNames{"dark", "light"};
inline const std::vector<std::string_view> kModelNames{"fixed_logits", "sampled"};
inline const std::vector<std::string_view> kSeverityNames{"info", "warning", "error"};

/// {"tensor": "w_q", "row": 0, "column": 2}
nlohmann::ordered_json cell_to(const CellRef& cell);
CellRef cell_from(Fields& fields, std::string_view key, const nlohmann::json& found);
/// A stage by its key.
void read_stage(Fields& fields, std::string_view key, Stage& stage);

}  // namespace attn::view
