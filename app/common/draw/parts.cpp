#include "app/common/draw/parts.h"

#include "app/common/answer.h"
#include "app/common/document/edits.h"
#include "app/common/draw/answer.h"
#include "app/common/draw/around.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/groups.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/tabs.h"
#include "app/common/parts.h"
#include "app/common/workspace.h"

namespace attn::ui {
namespace {

using Where = CanvasPart::Where;

// Design units.
constexpr float kNarrowCanvas = 860.0F;  // a narrower canvas has one part at a time
constexpr float kPushed = 400.0F;        // the least canvas beside a drawer: else it is covered
constexpr float kMostAside = 0.6F, kMostBelow = 0.5F, kMostBothRows = 0.45F;  // of the canvas
constexpr float kAsideHero = 0.36F;                                           // of its width

bool is_single(const Parts& parts, const WorkArea& area, const Frame& frame) {
    return parts.others.size() + parts.singles.size() > 0 &&
           (is_lower_than(kLowWindow, frame) || area.work.size().x < frame.px(kNarrowCanvas));
}

/// The canvas: a drawer that leaves enough of it pushes it aside.
Box canvas_of(const WorkArea& area, float top, const Frame& frame) {
    Box box{
        {area.work.low.x + area.margin, top},
        {area.work.high.x - area.margin - area.inspector, area.work.high.y - frame.px(kSpace8)}};
    box.high.x -= pushed_by(area, box.size().x, frame);
    for (float* edge : {&box.low.x, &box.low.y, &box.high.x, &box.high.y})
        *edge =
            std::round(*edge);  // of whole pixels, as windows are: else it scrolls by a part of one
    return box;
}

bool is_below(Where where) { return where == Where::below || where == Where::lowest; }

/// Of one below its height, of others their width.
float size_of(const CanvasPart& part, const Box& space) {
    const float whole = is_below(part.where) ? space.size().y : space.size().x;
    return part.size ? part.size(space.size()) : part.share * whole;
}

struct PlacedPart {
    const CanvasPart* part;
    Box box;
};

/// Those of one side beneath each other, or of the ones below beside each other; cuts their room off `room`.
void place_side(const Parts& parts, Where where, Box& space, const Frame& frame,
                std::vector<PlacedPart>& placed) {
    std::vector<const CanvasPart*> all;
    for (const CanvasPart& part : parts.others)
        if (part.where == where) all.push_back(&part);
    if (all.empty()) return;
    const bool below = is_below(where);
    const float whole = below ? space.size().y : space.size().x;
    float size = 0.0F;
    for (const CanvasPart* part : all) size = std::max(size, size_of(*part, space));
    size = std::floor(std::min(size, whole * (below ? kMostBelow : kMostAside)));
    const float gap = std::round(frame.px(kSpace24));
    Box box = space;
    if (where == Where::left) {
        box.high.x = box.low.x + size;
        space.low.x = box.high.x + gap;
    } else if (below) {
        box.low.y = box.high.y - size;
        space.high.y = box.low.y - std::round(frame.px(kSpace16));
    } else {
        box.low.x = box.high.x - size;
        space.high.x = box.low.x - gap;
    }
    const auto count = static_cast<float>(all.size());
    float& from = below ? box.low.x : box.low.y;
    float& to = below ? box.high.x : box.high.y;
    const float each = std::floor((to - from - gap * (count - 1.0F)) / count);
    for (const CanvasPart* part : all) {
        to = from + each;
        placed.push_back({part, box});
        from = to + gap;
    }
}

/// What can stand alone in a low window.
std::vector<const CanvasPart*> singles_of(const Parts& parts) {
    std::vector<const CanvasPart*> all;
    for (const CanvasPart& part : parts.singles) all.push_back(&part);
    if (all.empty()) all.push_back(&parts.hero);
    for (const CanvasPart& part : parts.others)
        if (!part.only_beside) all.push_back(&part);
    return all;
}

/// Two rows below that would leave the hero too low: one of them, with tabs.
std::optional<PlacedPart> place_one_below(const AppState& state, const Parts& parts, Box& space,
                                          const Frame& frame, Actions& out) {
    std::vector<const CanvasPart*> all;
    float sum = 0.0F, most = 0.0F;
    for (const CanvasPart& part : parts.others) {
        if (!is_below(part.where)) continue;
        all.insert(part.where == Where::below ? all.begin() : all.end(), &part);
        const float height = size_of(part, space);
        sum += height;
        most = std::max(most, height);
    }
    const bool rows = std::ranges::count(all, Where::lowest, &CanvasPart::where) > 0;
    if (!rows || sum <= kMostBothRows * space.size().y) return std::nullopt;
    Box box = space;
    box.low.y = std::round(box.high.y - most - frame.px(kTabs));
    space.high.y = box.low.y - std::round(frame.px(kSpace16));
    const CanvasPart& part = draw_tabs(state, "tabs", all, box, frame, out);
    return PlacedPart{&part, box};
}

/// Around the hero, which gets what they leave of `room`: what comes first has its whole side.
std::vector<PlacedPart> place_others(const AppState& state, const Parts& parts, Box& space,
                                     const Frame& frame, Actions& out) {
    std::vector<PlacedPart> placed;
    std::vector<Where> done;
    if (const auto one = place_one_below(state, parts, space, frame, out)) {
        placed.push_back(*one);
        done = {Where::below, Where::lowest};
    }
    for (const CanvasPart& part : parts.others) {
        if (std::ranges::count(done, part.where) > 0) continue;
        place_side(parts, part.where, space, frame, placed);
        done.push_back(part.where);
    }
    return placed;
}

/// Where what is open has nothing to show here.
void draw_undo_hint(const AppState& state, const Frame& frame, Actions& out) {
    if (view::shown_workspace(state).missing_data(state).empty()) return;
    const auto back = view::undo_hint(state);
    if (!back) return;
    leave_space({0.0F, frame.px(kSpace8)});
    if (button(frame, "way back", back->text, {"A sentence for all workspaces", back->tip}))
        out.insert(out.end(), back->actions.begin(), back->actions.end());
}

void draw_canvas(const AppState& state, const Parts& parts, const WorkArea& area, float top,
                 const Frame& frame, Actions& out) {
    Box space = canvas_of(area, top, frame);
    if (!parts.missing_data.empty()) {
        space.low.y += frame.px(kSpace16);
        return panel("lacks", space, [&] {
            wrapped_text(frame, frame.fonts.title, frame.theme.muted, parts.missing_data);
            if (area.chrome) draw_undo_hint(state, frame, out);
        });
    }
    Heading heading = parts.heading;
    heading.reasons = view::shown_workspace(state).reasons(state);
    const float bottom = top + heading_height(heading, space.size().x, frame);
    record_rect_for_tests(frame.painter, Measuring::Kind::heading, space.low,
                          {space.high.x, bottom});
    std::optional<Info> info;
    panel("heading", {space.low, {space.high.x, bottom}}, [&] {
        info = draw_heading(heading, {space.low, {space.high.x, bottom}}, frame);
    });
    space.low.y = std::round(bottom);
    space.low.y = std::round(draw_answer(view::shown_answer(state), space, frame));
    if (info) space.low.y = std::round(draw_info(*info, space, frame));
    const CanvasPart* hero = &parts.hero;
    std::vector<PlacedPart> others;
    if (is_single(parts, area, frame))
        hero = &draw_tabs(state, "tabs", singles_of(parts), space, frame, out);
    else
        others = place_others(state, parts, space, frame, out);
    if (hero->draw) panel("hero", space, [&] { hero->draw(space); });  // Tab reaches it first
    for (const PlacedPart& other : others)
        panel(other.part->id.c_str(), other.box, [&] { other.part->draw(other.box); });
}

using Controls = std::function<void(ControlBar&)>;

/// Of a model of two stacks: which of its attentions is shown comes first.
Controls with_groups(const AppState& state, const Parts& parts) {
    auto groups = view::groups_view(state);
    if (groups.names.empty() || !view::shown_workspace(state).shows_document) return parts.controls;
    return [groups = std::move(groups), &parts](ControlBar& bar) {
        draw_groups(groups, bar);
        if (parts.controls) parts.controls(bar);
    };
}

float draw_bar(const AppState& state, const Controls& controls, const WorkArea& area,
               ControlBar& bar) {
    const Frame& frame = bar.frame;
    const Box& work = area.work;
    if (!area.chrome) return work.low.y;
    const float bottom = work.low.y + bar_height(frame);
    panel("bar", {{work.low.x + area.margin, work.low.y}, {work.high.x - area.margin, bottom}},
          [&] {
              if (controls) bar.draw_row(controls, view::parts_look(state).more);
          });
    frame.painter.line({work.low.x, bottom}, {work.high.x, bottom}, frame.theme.line, frame.px(1));
    return bottom;
}

}  // namespace

float pushed_by(const WorkArea& area, float canvas, const Frame& frame) {
    return canvas - area.drawer >= frame.px(kPushed) ? area.drawer : 0.0F;
}

std::vector<CanvasPart> parts_of(const std::vector<GridView>& grids,
                                 const std::function<void(const Box& box, std::size_t n)>& draw) {
    std::vector<CanvasPart> parts;
    for (std::size_t n = 0; n < grids.size(); ++n)
        parts.push_back({"matrix " + std::to_string(n), grids[n].title,
                         [draw, n](const Box& box) { draw(box, n); }});
    return parts;
}

void add_matrices(
    Parts& parts, const std::vector<GridView>& grids,
    const std::function<void(const Box& box, std::size_t n, std::size_t count)>& draw) {
    if (grids.empty()) return;
    const std::size_t last = grids.size() - 1;
    parts.hero = {"matrix", grids[last].title,
                  [draw, last](const Box& box) { draw(box, last, 1); }};
    if (last == 0) return;
    parts.singles = parts_of(grids, [draw](const Box& box, std::size_t n) { draw(box, n, 1); });
    std::ranges::rotate(parts.singles, parts.singles.end() - 1);
    parts.others.push_back({"matrices", "", [draw, last](const Box& box) { draw(box, 0, last); },
                            Where::left, kAsideHero});
    parts.others.back().only_beside = true;
}

std::string draw_parts(const AppState& state, const WorkArea& area, const Parts& parts,
                       const Frame& frame, Actions& out) {
    const Frame chrome = around(frame);
    ControlBar bar(chrome, out);
    const Controls controls = with_groups(state, parts);
    const float top = draw_bar(state, controls, area, bar);
    draw_canvas(state, parts, area, top, frame, out);
    open_inspector(state, area, out);
    if (parts.side)
        side_panel(area, top, "side part", frame, parts.side);
    else
        side_inspector(state, area, top, frame, out);
    if (area.chrome && controls && view::parts_look(state).more) bar.draw_rest(controls);
    return parts.status;
}

}  // namespace attn::ui
