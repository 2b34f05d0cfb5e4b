#include "app/common/cell.h"

#include <fmt/format.h>

#include "app/common/describe.h"
#include "app/common/fields.h"
#include "app/common/place.h"
#include "app/common/sheet.h"
#include "core/large/planted.h"
#include "core/large/planted_spec.h"
#include "core/text.h"

namespace attn::view {

void describe(Visitor& visit, CellRef& cell) {
    constexpr double kMost = static_cast<double>(kMostIndex);
    std::string tensor(key_of(cell.tensor));
    visit("tensor", tensor, {.needed = true});
    visit("row", cell.row, {.low = 0.0, .high = kMost, .needed = true});
    visit("column", cell.column, {.low = -kMost, .high = kMost, .needed = true});  // see Sheet
    if (!visit.reads()) return;
    if (const auto id = find_operand(tensor))
        cell.tensor = *id;
    else
        visit.complain(fmt::format(
            "has the unknown tensor '{}': expected a stage or a weight, such as x, scores or w_q",
            shortened(tensor)));
    if (cell.column < 0 && cell.tensor != OperandId(Stage::context))
        visit.complain(fmt::format("has 'column' = {}: expected 0 or more", cell.column));
}

void describe(Visitor& visit, large::Cell& cell) {
    constexpr About kPlace{.low = 0.0, .high = static_cast<double>(kMostIndex), .needed = true};
    visit("row", cell.row, kPlace);
    visit("column", cell.column, kPlace);
}

void describe(Visitor& visit, Loss& loss) {
    constexpr About kIndex{.low = 0.0, .high = static_cast<double>(kMostIndex)};
    visit("kind", loss.kind, kNamesOf<LossKind>);
    visit("batch", loss.cell.batch, kIndex);
    visit("row", loss.cell.row, kIndex);
    visit("column", loss.cell.column, kIndex);
}

void describe(Visitor& visit, large::Head& head) {
    constexpr About kPlace{.low = 0.0, .high = static_cast<double>(kMostIndex)};
    visit("b", head.b, kPlace);
    visit("h", head.h, kPlace);
}

void describe(Visitor& visit, large::PlantedSpec& spec) {
    visit("tokens", spec.tokens);
    visit("d_k", spec.d_k);
    visit("seed", spec.seed);
    visit("band", spec.band);
    visit("sink", spec.sink);
    visit("induction", spec.induction);
    visit("documents", spec.documents);
    visit("needle", spec.needle);
    visit("causal", spec.causal);
    if (!visit.reads()) return;
    if (auto valid = large::check_planted(spec); !valid)
        visit.complain(": " + valid.error().text());
}

}  // namespace attn::view
