#include <cmath>

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/grid_set.h"
#include "app/common/draw/groups.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/open_model.h"
#include "app/common/draw/parts.h"
#include "app/workspaces/generate/view.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kStripShare = 0.44F;                      // of the width
constexpr float kMostName = 0.24F, kNumbers = 66.0F;      // columns of the candidates
constexpr float kLowestRow = 20.0F, kHighestRow = 84.0F;  // of a candidate
constexpr float kBarHeight = 0.56F, kHighestBar = 36.0F;  // of its row
constexpr float kChipPad = 6.0F, kChipRows = 3.0F;
constexpr float kLensLayer = 30.0F, kLensBest = 0.3F;
constexpr float kPathsShare = 0.45F, kLowestPath = 38.0F, kHighestPath = 56.0F, kFork = 72.0F;
constexpr float kThinFork = 1.5F, kThickFork = 14.0F, kCacheBar = 6.0F;
constexpr double kFaintFork = 0.35;

// --- the bar

void draw_steps(const GenerateView& view, ControlBar& bar) {
    if (view.cannot && view.shows_decoder) {
        if (bar.button("decoder", "show the decoder",
                       {"It predicts the next token and generates text", ""}))
            bar.out.push_back(ShowGroup{"decoder"});
        return;
    }
    if (view.cannot) {
        open_model_button(bar, "stories", std::string(view::kOpenText));
        if (bar.button("open", "Open a model…", {"Open a model's folder", "Key: Ctrl+O"}))
            bar.out.push_back(ShowPrompt{PromptKind::open});
        return;
    }
    if (bar.button("back", "Back", {"Step back", "Key: ←"}) && view.at > 0)
        bar.out.push_back(ShowGenerated{view.at - 1});
    if (bar.button("step", "Step", {"Take the next token, or step forward", "Key: →"})) {
        if (view.next)
            bar.out.push_back(*view.next);
        else if (view.at < view.count)
            bar.out.push_back(view.at + 1 < view.count ? ShowGenerated{view.at + 1}
                                                       : ShowGenerated{});
    }
    const char* const play = view.playing ? "Stop" : "Play";
    if (bar.button("play", play, {"Generate tokens one after another", "Key: Space"}))
        bar.out.push_back(PlayGeneration{!view.playing});
    if (view.at < view.count && bar.button("drop", "delete after here",
                                           {"Delete the tokens from this step on", "Key: Del"}))
        bar.out.push_back(DropTokens{view.at});
}

void draw_place(const GenerateView& view, ControlBar& bar) {
    if (view.layers > 1)
        if (const auto layer = bar.number("##layer", "layer", view.layer, 0, view.layers - 1,
                                          {"Layer of the weights", "Key: Y"}))
            bar.out.push_back(ShowLayer{*layer});
    if (view.heads > 1)
        if (const auto head = bar.number("##head", "head", view.head, 0, view.heads - 1,
                                         {"Head of the weights", "Key: H"}))
            bar.out.push_back(ShowHead{*head});
}

void draw_generate_bar(const GenerateView& view, const GenerateLook& look, ControlBar& bar) {
    draw_steps(view, bar);
    if (view.cannot) return;
    bar.field<SetGreedy>(view.controls);
    bar.field<SetSamplingTemperature>(view.controls);
    bar.field<SetTopK>(view.controls);
    bar.field<SetTopP>(view.controls);
    bar.field<SetSamplingSeed>(view.controls);
    draw_place(view, bar);
    if (view.has_lens) bar.field<ShowLens>(look);
}

// --- the text

/// Where each chip stands, row by row; of more rows than have room the last.
struct ChipLayout {
    std::vector<Box> boxes;
    std::size_t first = 0;  // that has room
    float height = 0.0F;
};

ChipLayout lay_out_chips(const std::vector<GenerateChip>& chips, const Box& box,
                         const Frame& frame) {
    ChipLayout at;
    const float row = frame.px(kTitleRow), gap = frame.px(kSpace4);
    float x = box.low.x, y = box.low.y;
    for (const GenerateChip& chip : chips) {
        const float width = std::min(
            frame.text_width(frame.fonts.body, chip.text) + frame.px(2 * kChipPad), box.size().x);
        if (x > box.low.x && x + width > box.high.x) {
            x = box.low.x;
            y += row + gap;
        }
        at.boxes.push_back({{x, y}, {x + width, y + row}});
        x += width + gap;
    }
    const float bottom = y + row - box.low.y;
    at.height = std::min(bottom, kChipRows * (row + gap) - gap);
    for (Box& each : at.boxes) {
        each.low.y -= bottom - at.height;
        each.high.y -= bottom - at.height;
        if (each.low.y < box.low.y - 1.0F) ++at.first;
    }
    return at;
}

void draw_chip(const GenerateChip& chip, const Box& box, const Frame& frame, Actions& out) {
    const Theme& theme = frame.theme;
    const float radius = frame.px(4);
    if (chip.step) {
        ImGui::SetCursorScreenPos(box.low);
        const bool clicked = invisible_button("chip", box.size());
        if (clicked || pressed_by_key(frame)) out.push_back(ShowGenerated{*chip.step});
        tooltip(frame, fmt::format("Step {}", *chip.step), "Click to see its candidates.");
        frame.painter.rect(box.low, box.high, theme.raised, radius);
    }
    if (chip.shown) frame.painter.outline(box.low, box.high, theme.accent, frame.px(1.5F), radius);
    draw_fitted(frame, frame.fonts.body, {box.low.x + frame.px(kChipPad), box.low.y},
                {box.high.x, box.high.y}, Align::left, chip.step ? theme.text : theme.muted,
                chip.text);
}

/// Returns what it takes of the height.
float draw_chips(const GenerateView& view, const Box& box, const Frame& frame, Actions& out) {
    const ChipLayout at = lay_out_chips(view.chips, box, frame);
    for (std::size_t n = at.first; n < view.chips.size(); ++n) {
        ImGui::PushID(static_cast<int>(n));
        draw_chip(view.chips[n], at.boxes[n], frame, out);
        ImGui::PopID();
    }
    return at.height;
}

// --- the candidates

/// Columns of a row of candidates: name, bar, what the model says, what it is drawn with.
struct BarColumns {
    float name, bar, before, after, end;
};

BarColumns columns_in(const GenerateView& view, const Box& box, const Frame& frame) {
    float widest = 0.0F;
    for (const GenerateBar& bar : view.bars)
        widest = std::max(widest, frame.text_width(frame.fonts.body, bar.text));
    const float numbers = frame.px(kNumbers);
    const float name = std::min(widest + frame.px(kSpace12), box.size().x * kMostName);
    return {box.low.x + frame.px(kSpace8), box.low.x + frame.px(kSpace8) + name,
            box.high.x - 2 * numbers, box.high.x - numbers, box.high.x - frame.px(kSpace8)};
}

void draw_bar_heads(const BarColumns& at, const Box& line, const Frame& frame) {
    const Font& font = frame.fonts.small;
    const auto head = [&](float low, float high, Align align, const char* text) {
        draw_fitted(frame, font, {low, line.low.y}, {high, line.high.y}, align, frame.theme.muted,
                    text);
    };
    head(at.name, at.before, Align::left, "outline: model, filled: after T, top-k, top-p");
    head(at.before, at.after - frame.px(kSpace8), Align::right, "model");
    head(at.after, at.end, Align::right, "after");
}

void draw_marks_of(const GenerateBar& bar, const BarColumns& at, const Box& line, double most,
                   const Frame& frame) {
    const Theme& theme = frame.theme;
    const float space = at.before - at.bar - frame.px(kSpace8);
    const float height = std::min(line.size().y * kBarHeight, frame.px(kHighestBar));
    const float top = (line.low.y + line.high.y - height) / 2;
    const auto reach = [&](double p) {
        return at.bar + space * static_cast<float>(most > 0.0 ? within(p / most, 0.0, 1.0) : 0.0);
    };
    const Color ink = theme.role(Role::output);
    const float inset = frame.px(3);
    if (bar.after > 0.0)
        frame.painter.rect({at.bar, top + inset}, {reach(bar.after), top + height - inset}, ink);
    frame.painter.outline({at.bar, top}, {std::max(reach(bar.before), at.bar + 1.0F), top + height},
                          bar.retained ? theme.text : theme.muted, frame.px(1));
}

void draw_bar_texts(const GenerateBar& bar, const BarColumns& at, const Box& line,
                    const Frame& frame) {
    const Theme& theme = frame.theme;
    const Color ink = bar.retained ? theme.text : theme.muted;
    const Font& digits = frame.fonts.digits_small;
    draw_fitted(frame, bar.chosen ? frame.fonts.strong : frame.fonts.body, {at.name, line.low.y},
                {at.bar - frame.px(kSpace4), line.high.y}, Align::left, ink, bar.text);
    draw_fitted(frame, digits, {at.before, line.low.y}, {at.after - frame.px(kSpace8), line.high.y},
                Align::right, theme.muted, bar.before_text);
    draw_fitted(frame, digits, {at.after, line.low.y}, {at.end, line.high.y}, Align::right, ink,
                bar.after_text);
}

void draw_candidate(const GenerateView& view, const GenerateBar& bar, const BarColumns& at,
                    const Box& line, const Frame& frame, Actions& out) {
    ImGui::SetCursorScreenPos(line.low);
    const bool clicked = invisible_button("candidate", line.size());
    const bool pressed = pressed_by_key(frame);
    if (clicked || pressed) out.push_back(TakeToken{view.at, bar.token});
    if (ImGui::IsItemHovered() || bar.explained)
        frame.painter.rect(line.low, line.high, frame.theme.raised, frame.px(4));
    tooltip(frame, fmt::format("“{}”", bar.text),
            "Click to take it here; later tokens are dropped.");
    draw_marks_of(bar, at, line, view.most, frame);
    draw_bar_texts(bar, at, line, frame);
    if (bar.chosen)
        frame.painter.outline(line.low, line.high, frame.theme.accent, frame.px(1.5F), frame.px(4));
}

void draw_candidates(const GenerateView& view, const Box& box, const Frame& frame, Actions& out) {
    const BarColumns at = columns_in(view, box, frame);
    const float head = frame.px(kTextRow);
    draw_bar_heads(at, {box.low, {box.high.x, box.low.y + head}}, frame);
    const float top = box.low.y + head;
    const float rest = view.rest.empty() ? 0.0F : frame.px(kTextRow);
    const auto fit =
        static_cast<std::size_t>(std::max((box.high.y - top - rest) / frame.px(kLowestRow), 1.0F));
    std::vector<GenerateBar> bars(
        view.bars.begin(),
        view.bars.begin() + static_cast<std::ptrdiff_t>(std::min(fit, view.bars.size())));
    const auto chosen = std::ranges::find(view.bars, true, &GenerateBar::chosen);
    if (chosen != view.bars.end() && chosen - view.bars.begin() >= std::ssize(bars))
        bars.back() = *chosen;
    const auto count = static_cast<float>(std::max<std::size_t>(bars.size(), 1));
    const float row =
        std::floor(std::min((box.high.y - top - rest) / count, frame.px(kHighestRow)));
    float y = top;
    for (std::size_t n = 0; n < bars.size(); ++n, y += row) {
        ImGui::PushID(static_cast<int>(n));
        draw_candidate(view, bars[n], at, {{box.low.x, y}, {box.high.x, y + row}}, frame, out);
        ImGui::PopID();
    }
    record_rect_for_tests(frame.painter, Measuring::Kind::chart, {at.bar, top}, {at.before, y});
    record_rect_for_tests(frame.painter, Measuring::Kind::labels, box.low, {box.high.x, y});
    if (bars.size() == view.bars.size())
        draw_fitted(frame, frame.fonts.small, {at.name, y}, {at.end, y + rest}, Align::left,
                    frame.theme.muted, view.rest);
}

// --- the text with branches

/// From the text's end to a continuation, with its probability as thickness.
void draw_fork(Point from, Point to, double probability, const Frame& frame) {
    constexpr int kPieces = 16;
    std::vector<Point> points;
    for (int n = 0; n <= kPieces; ++n) {
        const float t = static_cast<float>(n) / kPieces;
        const float ease = t * t * (3.0F - 2.0F * t);
        points.push_back({from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * ease});
    }
    const double share = within(probability, 0.0, 1.0);
    frame.painter.polyline(
        points,
        view::translucent(frame.theme.role(Role::output), kFaintFork + (1.0 - kFaintFork) * share),
        frame.px(kThinFork) + frame.px(kThickFork) * static_cast<float>(share));
}

/// Its tokens from left to right as far as they fit; a click continues the text up to one.
void draw_path(const GeneratePath& path, const Box& line, const Frame& frame, Actions& out) {
    float x = line.low.x;
    const float gap = frame.px(kSpace4), middle = (line.low.y + line.high.y) / 2;
    for (std::size_t n = 0; n < path.tokens.size(); ++n) {
        const view::GeneratePathToken& word = path.tokens[n];
        const float width = std::max(frame.text_width(frame.fonts.body, word.text),
                                     frame.text_width(frame.fonts.small, word.probability)) +
                            frame.px(2 * kChipPad);
        if (x + width > line.high.x) break;
        const Box box{{x, line.low.y + gap / 2}, {x + width, line.high.y - gap / 2}};
        ImGui::PushID(static_cast<int>(n));
        ImGui::SetCursorScreenPos(box.low);
        const bool clicked = invisible_button("word", box.size());
        if (clicked || pressed_by_key(frame)) out.push_back(word.take);
        frame.painter.rect(box.low, box.high,
                           ImGui::IsItemHovered() ? frame.theme.control : frame.theme.raised,
                           frame.px(4));
        tooltip(frame, fmt::format("“{}”: {}", word.text, word.probability),
                "Click to continue the text up to this token.");
        ImGui::PopID();
        draw_text_in(frame, frame.fonts.body, box.low, {box.high.x, middle + gap}, Align::center,
                     frame.theme.text, word.text);
        draw_text_in(frame, frame.fonts.small, {box.low.x, middle}, box.high, Align::center,
                     frame.theme.muted, word.probability);
        x += width + gap;
    }
}

/// Returns the height that it takes.
float draw_paths(const GenerateView& view, const Box& box, const Frame& frame, Actions& out) {
    if (view.paths.empty()) return 0.0F;
    const float head = frame.px(kTextRow), numbers = frame.px(kNumbers);
    const auto count = static_cast<float>(view.paths.size());
    const float row = std::floor(within((box.size().y * kPathsShare - head) / count,
                                        frame.px(kLowestPath), frame.px(kHighestPath)));
    const float height = head + row * count;
    draw_fitted(frame, frame.fonts.small, {box.low.x + frame.px(kSpace8), box.low.y},
                {box.high.x - numbers, box.low.y + head}, Align::left, frame.theme.muted,
                view.paths_title);
    draw_fitted(frame, frame.fonts.small, {box.high.x - 2 * numbers, box.low.y},
                {box.high.x - frame.px(kSpace8), box.low.y + head}, Align::right, frame.theme.muted,
                "product");
    const Point from{box.low.x + frame.px(kSpace8), box.low.y + head + row * count / 2};
    const float left = from.x + frame.px(kFork);
    for (std::size_t n = 0; n < view.paths.size(); ++n) {
        const view::GeneratePath& path = view.paths[n];
        const float top = box.low.y + head + row * static_cast<float>(n);
        draw_fork(from, {left, top + row / 2}, path.probability, frame);
        ImGui::PushID(static_cast<int>(n));
        draw_path(path, {{left, top}, {box.high.x - numbers, top + row}}, frame, out);
        ImGui::PopID();
        draw_fitted(frame, frame.fonts.digits_small, {box.high.x - numbers, top},
                    {box.high.x - frame.px(kSpace8), top + row}, Align::right, frame.theme.text,
                    path.text);
    }
    record_rect_for_tests(frame.painter, Measuring::Kind::chart, {from.x, box.low.y + head},
                          {box.high.x, box.low.y + height});
    return height + frame.px(kSpace12);
}

void draw_generate_hero(const GenerateView& view, const Box& box, const Frame& frame,
                        Actions& out) {
    ImGui::PushID("text");
    float top = box.low.y + draw_chips(view, box, frame, out) + frame.px(kSpace12);
    ImGui::PopID();
    ImGui::PushID("paths");
    top += draw_paths(view, {{box.low.x, top}, box.high}, frame, out);
    ImGui::PopID();
    draw_candidates(view, {{box.low.x, top}, box.high}, frame, out);
}

// --- beside them

void draw_strip(const GenerateView& view, const Box& box, const Frame& frame, Actions& out) {
    if (!view.strip) return;
    const float bar = view.cache_share ? frame.px(kCacheBar + kSpace4) : 0.0F;
    const float bottom = box.high.y - frame.px(2 * kTextRow) - bar;
    if (const auto clicked =
            draw_grid_set({&*view.strip, 1}, box.low, {box.high.x, bottom}, frame).clicked)
        out.push_back(clicked->row < view.count ? ShowGenerated{clicked->row} : ShowGenerated{});
    const float middle = bottom + frame.px(kTextRow);
    draw_fitted(frame, frame.fonts.body, {box.low.x, bottom}, {box.high.x, middle}, Align::left,
                frame.theme.text, view.cache);
    draw_fitted(frame, frame.fonts.small, {box.low.x, middle},
                {box.high.x, middle + frame.px(kTextRow)}, Align::left, frame.theme.muted,
                view.cache_formula);
    if (!view.cache_share) return;
    const Point low{box.low.x, box.high.y - frame.px(kCacheBar)};
    const auto share = static_cast<float>(within(*view.cache_share, 0.0, 1.0));
    frame.painter.rect(low, box.high, frame.theme.raised, frame.px(3));
    frame.painter.rect(low, {low.x + box.size().x * share, box.high.y}, frame.theme.role(Role::key),
                       frame.px(3));
}

void draw_lens_row(const GenerateLensRow& row, const Box& line, const Frame& frame) {
    const float layer = line.low.x + frame.px(kLensLayer);
    const float best = layer + line.size().x * kLensBest;
    const float numbers = line.high.x - frame.px(kNumbers);
    const float bar = best + frame.px(kNumbers);
    const float inset = line.size().y * (1.0F - kBarHeight) / 2;
    draw_fitted(frame, frame.fonts.digits_small, line.low, {layer, line.high.y}, Align::left,
                frame.theme.muted, row.layer);
    draw_fitted(frame, frame.fonts.body, {layer, line.low.y}, {best, line.high.y}, Align::left,
                frame.theme.text, row.best);
    draw_fitted(frame, frame.fonts.digits_small, {best, line.low.y},
                {bar - frame.px(kSpace8), line.high.y}, Align::right, frame.theme.muted,
                row.best_text);
    const auto share = static_cast<float>(within(row.probability, 0.0, 1.0));
    frame.painter.rect({bar, line.low.y + inset},
                       {bar + (numbers - bar) * share, line.high.y - inset},
                       frame.theme.role(Role::output));
    draw_fitted(frame, frame.fonts.digits_small, {numbers, line.low.y}, line.high, Align::right,
                frame.theme.text, row.text);
}

void draw_lens(const GenerateView& view, const Box& box, const Frame& frame) {
    Box line{box.low, {box.high.x, box.low.y + frame.px(kTitleRow)}};
    draw_fitted(frame, frame.fonts.strong, line.low, line.high, Align::left, frame.theme.text,
                view.lens_title);
    const float low = line.high.y;
    const auto count = static_cast<float>(std::max<std::size_t>(view.lens.size(), 1));
    const float row = std::min((box.high.y - low) / count, frame.px(kTitleRow));
    const auto fit =
        static_cast<std::size_t>((box.high.y - low) / std::max(row, frame.px(kSmallRow)));
    const std::size_t first = view.lens.size() - std::min(view.lens.size(), fit);
    const float pitch = std::max(row, frame.px(kSmallRow));
    for (std::size_t n = first; n < view.lens.size(); ++n) {
        line = {{box.low.x, line.high.y}, {box.high.x, line.high.y + pitch}};
        draw_lens_row(view.lens[n], line, frame);
    }
}

std::string draw_generate_workspace(const AppState& state, const WorkArea& area, const Frame& frame,
                                    Actions& out) {
    const GenerateView view = build_generate_view(state);
    Parts parts{.missing_data = view.pending,
                .heading = {view.headline, view.muted},
                .hero = {"candidates", "candidates",
                         [&](const Box& box) { draw_generate_hero(view, box, frame, out); }},
                .status = view.status};
    parts.heading.warns = view.warns;
    if (view.pending.empty() || view.cannot)
        parts.controls = [&](ControlBar& bar) {
            draw_groups(view::groups_view(state), bar);
            draw_generate_bar(view, view::generate_look(state), bar);
        };
    if (view.strip)
        parts.others.push_back({"rows", "rows of weights",
                                [&](const Box& box) { draw_strip(view, box, frame, out); },
                                CanvasPart::Where::right, kStripShare});
    if (view.experts)
        parts.others.push_back({"experts", "experts",
                                [&](const Box& box) {
                                    draw_grid_set({&*view.experts, 1}, box.low, box.high, frame);
                                },
                                CanvasPart::Where::right, kStripShare});
    if (!view.lens.empty())
        parts.others.push_back({"lens", "logit lens",
                                [&](const Box& box) { draw_lens(view, box, frame); },
                                CanvasPart::Where::right, kStripShare});
    return draw_parts(state, area, parts, frame, out);
}

}  // namespace

extern const WorkspacePanel kGeneratePanel{"generate", draw_generate_workspace};

}  // namespace attn::ui
