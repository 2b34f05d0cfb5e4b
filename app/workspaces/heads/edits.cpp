#include <numeric>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/heads.h"
#include "app/common/document/intervention_actions.h"
#include "app/common/document/model_text.h"
#include "app/common/state.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"
#include "core/scores/score.h"
#include "core/text.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// Keys that the selected row may attend to, 1 each.
std::vector<double> allowed_keys(const HeadsResult& result, HeadPlace place, Index query) {
    const auto weights = result.weights(place);
    const auto& allowed = result.allowed(place);
    std::vector<double> keys(weights.columns, 1.0);
    for (std::size_t j = 0; j < keys.size() && !allowed.empty(); ++j)
        if (allowed[static_cast<std::size_t>(query) * keys.size() + j] == 0) keys[j] = 0.0;
    return keys;
}

void add_rows(const AppState& state, std::vector<HeadEdit>& edits) {
    const HeadPlace here = head_here(state);
    const Index query = heads_look(state).pair.row;
    const Index key = heads_look(state).pair.column;
    std::vector<double> even = allowed_keys(*heads_look(state).result, here, query);
    std::vector<double> one(even.size(), 0.0);
    const double count = std::accumulate(even.begin(), even.end(), 0.0);
    const bool may = even[key] != 0.0;
    for (double& weight : even) weight /= std::max(count, 1.0);
    one[key] = 1.0;
    const char* const formula = "Replaces the softmax weights of this query. [T]";
    edits.push_back(
        {fmt::format("row {}: all on key {}", query, key),
         fmt::format("Put the whole weight of row {} of this head on key {}", query, key),
         fmt::format("α_ij = 1 at the selected key, else 0. {}", formula), Key::a,
         ReplaceRow{here.layer, here.head, query, one}, may ? "" : "the mask forbids this key"});
    edits.push_back({fmt::format("row {}: even", query),
                     fmt::format("Spread row {} of this head evenly", query),
                     fmt::format("α_ij = 1/n over its {}. {}",
                                 counted(static_cast<Index>(count), "allowed key"), formula),
                     Key::e, ReplaceRow{here.layer, here.head, query, even},
                     count > 0.0 ? "" : "the mask forbids every key of this row"});
    const auto& rows = wanted_model(state)->changes.rows;
    const bool replaced = std::ranges::any_of(
        rows, [&](const RowIntervention& row) { return row.at == here && row.query == query; });
    edits.push_back(
        {fmt::format("restore row {}", query), fmt::format("Restore row {} of this head", query),
         "Shows the softmax weights again.", Key::u, RestoreRow{here.layer, here.head, query},
         replaced ? "" : "this row is not replaced"});
}

void add_patches(const AppState& state, std::vector<HeadEdit>& edits) {
    const HeadPlace here = head_here(state);
    const Document& document = state.document();
    const Index heads = std::max<Index>(document.own_heads, 1);
    const Index kv = document.own_kv_heads > 0 ? document.own_kv_heads : heads;
    const std::pair<Stage, Key> parts[] = {
        {Stage::q, Key::q}, {Stage::k, Key::k}, {Stage::v, Key::v}};
    for (const auto& [part, key] : parts) {
        const Index head = part == Stage::q ? here.head : here.head * kv / heads;
        const std::string whose =
            part == Stage::q || kv == heads ? "this head" : fmt::format("key head {}", head);
        edits.push_back(
            {fmt::format("patch {} …", info(part).key),
             fmt::format("Patch {} of {} from another text or image", info(part).key, whose),
             "Takes the vectors of another text or image with as many tokens, position by "
             "position, before RoPE. [T, d]",
             key, AskPatch{here.layer, head, part}});
    }
}

}  // namespace

std::vector<HeadEdit> head_edits(const AppState& state) {
    std::vector<HeadEdit> edits;
    const HeadPlace here = head_here(state);
    if (wanted_model(state) == nullptr || !has_own_heads(state.document())) return edits;
    if (!interventions_lack(state.document()).empty()) return edits;
    if (!has_current_heads(state) || heads_look(state).result->find(here) == nullptr) return edits;
    const auto weights = heads_look(state).result->weights(here);
    const large::Cell pair = heads_look(state).pair;
    if (pair.row < weights.rows && pair.column < weights.columns) add_rows(state, edits);
    add_patches(state, edits);
    return edits;
}

}  // namespace attn::view
