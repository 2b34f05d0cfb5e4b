#include <algorithm>
#include <cmath>

#include "app/common/draw/draw.h"
#include "app/common/draw/widgets.h"
#include "app/workspaces/large/draw/panel.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kRooflineWidth = 220.0F;
constexpr float kRooflineHeight = 96.0F;
constexpr float kRooflineRoom = 640.0F;  // header width from which it has a place
constexpr float kBar = 6.0F;
constexpr float kBadgeGap = 16.0F;

/// "sampled preview" and what is not finite on a filled plate, "● exact" in quiet letters. Returns its width.
float draw_badge(const LargeScene& scene, ImVec2 at, float height) {
    const Frame& frame = scene.frame;
    const Font& font = frame.fonts.strong;
    if (scene.view.quality.empty()) return 0.0F;
    const bool plate = scene.view.sampled || scene.view.flawed;
    const std::string words = (plate ? "" : "● ") + scene.view.quality;
    const float pad = plate ? frame.px(10) : 0.0F;
    const float width = frame.text_width(font, words) + 2 * pad;
    const ImVec2 high{at.x + width, at.y + height};
    const view::Color fill = scene.view.flawed ? frame.theme.nan : frame.theme.warning;
    if (plate) frame.painter.rect(at, high, fill, frame.px(4));
    const view::Color quiet = scene.view.pictures.empty() ? frame.theme.muted : frame.theme.good;
    draw_text_in(frame, font, at, high, Align::center, plate ? frame.theme.background : quiet,
                 words);
    return width;
}

float badge_width(const LargeScene& scene) {
    const Font& font = scene.frame.fonts.strong;
    if (scene.view.quality.empty()) return 0.0F;
    return scene.frame.text_width(font, "● " + scene.view.quality) + scene.frame.px(20);
}

/// Title, badge, and what a pixel stands for at the right end, as far as each has room.
void draw_title_line(const LargeScene& scene, const Area& line) {
    const Frame& frame = scene.frame;
    const float gap = frame.px(kBadgeGap);
    const Font& large = frame.fonts.title;
    const float badge = badge_width(scene) + gap;
    const bool roomy = frame.text_width(large, scene.view.title) + badge <= line.width();
    const Font& font = roomy ? large : frame.fonts.strong;
    const std::string title = fit_text(frame, font, scene.view.title, line.width() - badge);
    draw_text_in(frame, font, line.low, line.high, Align::left, frame.theme.text, title);
    float x = line.low.x + frame.text_width(font, title);
    const float plate = std::min(frame.px(24), line.height() - frame.px(4));
    x += gap;
    x += draw_badge(scene, {std::round(x), std::round((line.low.y + line.high.y - plate) / 2)},
                    plate);
    const float zoom = frame.text_width(frame.fonts.small, scene.view.zoom_words);
    if (x + frame.px(24) + zoom <= line.high.x)
        draw_text_in(frame, frame.fonts.small, line.low, line.high, Align::right, frame.theme.muted,
                     scene.view.zoom_words);
    ImGui::SetCursorScreenPos(line.low);
    ImGui::InvisibleButton("title", line.size());
    tooltip(frame, scene.view.title, scene.view.quality + "; " + scene.view.zoom_words);
}

// --- the exact pass

struct PassButton {
    std::string words;
    Tip tip;
    bool starts = false;
};

std::optional<PassButton> pass_button(const view::PassView& pass) {
    if (pass.offer_pause)
        return PassButton{
            "pause", {"Pauses the exact pass", "What is done stays.  Key: Space"}, false};
    if (pass.offer_start)
        return PassButton{
            pass.start_words,
            {"Every weight, once",
             "Computes the exact overview from Q and K; it may be paused.  Key: Space"},
            true};
    return std::nullopt;
}

view::Color pass_color(const view::PassView& pass, const view::Theme& theme) {
    return pass.offer_pause ? theme.accent : theme.muted;
}

void draw_bar(const LargeScene& scene, const Area& room) {
    const Frame& frame = scene.frame;
    const float height = frame.px(kBar);
    const float top = std::round((room.low.y + room.high.y - height) / 2);
    const auto fill = [&](double share, view::Color color) {
        frame.painter.rect(
            {room.low.x, top},
            {room.low.x + room.width() * static_cast<float>(within(share, 0.0, 1.0)), top + height},
            color, height / 2);
    };
    fill(1.0, frame.theme.line);
    if (scene.view.pass.fraction > 0.0)
        fill(scene.view.pass.fraction, pass_color(scene.view.pass, frame.theme));
}

/// "━━━━━━──── [pause]" until it is done; the line alone in a figure of the canvas, in which there is no button.
void draw_pass_line(const LargeScene& scene, const Area& line) {
    const auto offered =
        scene.frame.is_canvas_alone() ? std::nullopt : pass_button(scene.view.pass);
    float right = line.high.x;
    if (offered) {
        const std::string words =
            fit_text(scene.frame, scene.frame.fonts.body, offered->words, line.width() * 0.6F);
        right -= button_width(scene.frame, words);
        ImGui::SetCursorScreenPos(
            {right, std::round((line.low.y + line.high.y - ImGui::GetFrameHeight()) / 2)});
        if (button(around(scene.frame), "pass", words, offered->tip))
            scene.out.push_back(view::SetFullPass{offered->starts});
        right -= scene.frame.px(16);
    }
    draw_bar(scene, {line.low, {right, line.high.y}});
}

/// At the right end of the line, whose rest it returns: the toy sentence is a small matrix, so that the ways to a large
/// one stand here too, where the side panel may be closed.
Area draw_offer(const LargeScene& scene, const Area& line) {
    const Frame& frame = scene.frame;
    const float width = button_width(frame, "Open a file") + generate_width(scene) + frame.px(8);
    if (!scene.view.offers_other || frame.is_canvas_alone() || width > line.width() / 2)
        return line;
    const float left = line.high.x - width;
    ImGui::SetCursorScreenPos({left, line.low.y});
    draw_open_button(scene);
    ImGui::SetCursorScreenPos(
        {left + button_width(frame, "Open a file") + frame.px(8), line.low.y});
    draw_generate_button(scene);
    return {line.low, {left - frame.px(16), line.high.y}};
}

/// What the pass does and, while it is not done, how good the preview is.
void draw_pass_words(const LargeScene& scene, const Area& line) {
    const Frame& frame = scene.frame;
    const view::PassView& pass = scene.view.pass;
    const Font& font = frame.fonts.small;
    const std::string words = fit_text(frame, font, pass.words, line.width());
    draw_text_in(frame, font, line.low, line.high, Align::left, frame.theme.text, words);
    const float x = line.low.x + frame.text_width(font, words) + frame.px(16);
    if (line.high.x - x > frame.px(40))
        draw_text_in(frame, font, {x, line.low.y}, line.high, Align::left, frame.theme.muted,
                     fit_text(frame, font, pass.detail, line.high.x - x));
    ImGui::SetCursorScreenPos(line.low);
    ImGui::InvisibleButton("pass words", line.size());
    tooltip(frame, pass.words, pass.detail);
}

}  // namespace

void draw_large_header(const LargeScene& scene, const Area& area) {
    const Frame& frame = scene.frame;
    Area left = area;
    if (scene.view.roofline.ready && area.width() >= frame.px(kRooflineRoom) &&
        area.height() >= frame.px(kRooflineHeight)) {
        left.high.x = area.high.x - frame.px(kRooflineWidth + 32);
        draw_roofline(scene.view.roofline,
                      {{area.high.x - frame.px(kRooflineWidth), area.low.y}, area.high}, frame);
    }
    const bool low = area.height() < frame.px(kRooflineHeight);
    const float title = area.low.y + frame.px(low ? 28 : 36);
    const float bar = title + frame.px(low ? 28 : 36);
    draw_title_line(scene, {left.low, {left.high.x, title}});
    if (!scene.view.pass.done) draw_pass_line(scene, {{left.low.x, title}, {left.high.x, bar}});
    const float words = scene.view.pass.done ? title : bar;
    const Area line{{left.low.x, words}, {left.high.x, words + frame.px(low ? 16 : 20)}};
    draw_pass_words(scene, scene.view.pass.done ? draw_offer(scene, line) : line);
}

}  // namespace attn::ui
