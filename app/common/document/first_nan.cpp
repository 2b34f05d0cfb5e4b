#include "app/common/document/first_nan.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "core/forward.h"
#include "core/stages.h"
#include "core/tensor.h"
#include "core/trace.h"

namespace attn::view {
namespace {

bool has_nan(std::span<const float> values) {
    return std::ranges::any_of(values, [](float value) { return std::isnan(value); });
}

struct Place {
    Index batch = 0, head = 0, row = 0, column = 0;
};

std::optional<Place> nan_in(const Tensor& tensor) {
    const auto values = tensor.values();
    const auto found = std::ranges::find_if(values, [](float value) { return std::isnan(value); });
    if (found == values.end()) return std::nullopt;
    const Shape shape = tensor.shape();
    Index at = found - values.begin();
    Place place;
    place.column = at % shape.d, at /= shape.d;
    place.row = at % shape.t, at /= shape.t;
    place.head = at % shape.h;
    place.batch = at / shape.h;
    return place;
}

/// "Q[cat, 1] in head 0".
std::string name_in(const AppState& state, const OperandId& id, const Place& place) {
    const Dimensions& size = state.document().size;
    std::string name = cell_name(state, {id, place.row, place.column});
    const Stage* const stage = std::get_if<Stage>(&id);
    if (stage == nullptr) return name;
    if (size.heads > 1 && info(*stage).heads != HeadAxis::none)
        name += fmt::format(" in head {}", place.head);
    if (size.batch > 1) name += fmt::format(" of sequence {}", place.batch);
    return name;
}

struct Named {
    std::string name;
    bool weighs = false;  // it reaches the weights: V and W_O do not
};

/// In the order of the stages.
Named first_named(const AppState& state) {
    const auto named = [&](const OperandId& id, const Tensor& tensor) -> Named {
        const auto place = nan_in(tensor);
        if (!place) return {};
        const Role role = std::visit([](auto key) { return info(key).role; }, id);
        return {name_in(state, id, *place), role != Role::value && role != Role::output};
    };
    for (const Stage stage : {Stage::x, Stage::x_kv})
        if (Named found = named(stage, (*state.trace)[stage]); !found.name.empty()) return found;
    for (const ParamInfo& row : param_table())
        if (Named found = named(row.param, state.document().inputs->params[row.param]);
            !found.name.empty())
            return found;
    for (const Stage stage :
         {Stage::q, Stage::k, Stage::v, Stage::q_norm, Stage::k_norm, Stage::q_rot, Stage::k_rot})
        if (Named found = named(stage, (*state.trace)[stage]); !found.name.empty()) return found;
    return {};
}

}  // namespace

std::string first_nan_text(const AppState& state) {
    if (!state.trace || is_empty(state.document())) return {};
    const Trace& trace = *state.trace;
    const MatrixView<const float> weights = sheet_of(state, Stage::weights).values;
    const auto nan_rows = [&] {
        Index rows = 0;
        for (Index i = 0; i < weights.rows; ++i) rows += has_nan(weights.row(i)) ? 1 : 0;
        return rows;
    };
    const Stage made = trace[Stage::output].empty() ? Stage::context : Stage::output;
    const Tensor& last = trace[made];
    if (!has_nan(last.values()) && nan_rows() == 0) return {};
    const auto [name, weighs] = first_named(state);
    if (name.empty()) return {};
    const Index rows = weighs ? nan_rows() : 0;
    if (rows == 0) return fmt::format("{} is NaN, so the {} holds NaN.", name, info(made).key);
    return fmt::format("{} is NaN, so {} of weights here {} NaN.", name,
                       rows == 1 ? "1 row" : fmt::format("{} rows", rows),
                       rows == 1 ? "holds" : "hold");
}

}  // namespace attn::view
