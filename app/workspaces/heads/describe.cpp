#include <cmath>

#include <fmt/format.h>

#include "app/workspaces/heads/state.h"
#include "core/head_measures.h"

namespace attn::view {
namespace {

void check_measure(Visitor& visit, const std::string& key) {
    if (!find_head_measure(key)) visit.complain(fmt::format("has the unknown measure '{}'", key));
}

void check(Visitor& visit, const HeadsLook& look) {
    for (const std::string& key : {look.sort, look.filter.measure})
        if (!key.empty()) check_measure(visit, key);
    const std::string& label = look.filter.label;
    if (!label.empty() && label != kUnlabelled) check_measure(visit, label);
    for (const std::string& key : {look.scatter_x, look.scatter_y}) check_measure(visit, key);
    if (!(look.clip_limit > 0.0 && look.clip_limit <= 1.0))
        visit.complain("has a 'clip_limit' that is not above 0 and at most 1");
    if (!std::isfinite(look.filter.least)) visit.complain("has a 'least' that is no number");
    if (look.pinned[1] && (!look.pinned[0] || look.pinned[0] == look.pinned[1]))
        visit.complain("has 'b' without another head 'a'");
}

}  // namespace

void describe(Visitor& visit, HeadsLook& look) {
    visit("sort", look.sort);
    visit("own_range", look.own_range);
    visit("show", look.show, head_show_keys());
    visit("curve", look.curve, kColorCurves);
    visit("clip", look.clip, kSinkClips);
    visit("clip_limit", look.clip_limit);
    visit("form", look.form, kHeadForms);
    visit("list", look.list, kHeadsLists);
    visit("label", look.filter.label);
    visit("measure", look.filter.measure);
    visit("least", look.filter.least);
    visit("scatter_x", look.scatter_x);
    visit("scatter_y", look.scatter_y);
    visit("row", look.pair.row, {.low = 0});
    visit("column", look.pair.column, {.low = 0});
    visit("a", look.pinned[0]);
    visit("b", look.pinned[1]);
    if (visit.reads()) check(visit, look);
}

}  // namespace attn::view
