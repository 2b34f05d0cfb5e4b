#include "app/common/draw/tabs.h"

#include "app/common/parts.h"

namespace attn::ui {

const CanvasPart& draw_tabs(const AppState& state, const char* id,
                            const std::vector<const CanvasPart*>& all, Box& space,
                            const Frame& frame, Actions& out) {
    const auto found = std::ranges::find_if(
        all, [&](const CanvasPart* part) { return part->id == view::parts_look(state).part; });
    const auto shown = found == all.end() ? 0 : static_cast<int>(found - all.begin());
    std::vector<std::string> names;
    for (const CanvasPart* part : all) names.push_back(part->name);
    if (frame.is_canvas_alone()) return *all[shown];
    const float bottom = space.low.y + frame.px(kTabs);
    panel(id, {space.low, {space.high.x, bottom}}, [&] {
        const Frame chrome = around(frame);
        const Tip tip{"Choose the part to show", "A larger window shows all at once."};
        const bool fits = choice_width(chrome, names) <= space.size().x;
        const auto n = fits ? choice(chrome, "part", names, shown, tip)
                            : combo(chrome, "##part", {names, shown}, space.size().x, tip, out);
        if (n) out.push_back(ShowPart{all[*n]->id});
    });
    space.low.y = bottom;
    return *all[shown];
}

void add_compared(Parts& parts, const AppState& state, const Compared& compared, const Frame& frame,
                  Actions& out) {
    const auto& [both, grids, first, draw, more] = compared;
    if (grids.empty()) return;
    const std::size_t count = std::min<std::size_t>(grids.size(), 2);
    parts.hero = {"matrices", both, [draw = draw, count](const Box& box) { draw(box, 0, count); }};
    parts.singles =
        parts_of(grids, [draw = draw](const Box& box, std::size_t n) { draw(box, n, 1); });
    std::vector<CanvasPart> tabs{parts.hero};
    tabs.insert(tabs.end(), parts.singles.begin() + static_cast<std::ptrdiff_t>(count),
                parts.singles.end());
    std::ranges::rotate(parts.singles, parts.singles.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                   first, grids.size() - 1)));
    for (std::vector<CanvasPart>* each : {&tabs, &parts.singles})
        each->insert(each->end(), more.begin(), more.end());
    if (tabs.size() < 2) return;
    parts.hero.draw = [&state, &frame, &out, tabs](Box box) {
        std::vector<const CanvasPart*> all;
        for (const CanvasPart& tab : tabs) all.push_back(&tab);
        draw_tabs(state, "hero tabs", all, box, frame, out).draw(box);
    };
}

}  // namespace attn::ui
