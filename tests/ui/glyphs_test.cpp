// Every sign that is drawn has a glyph in the font that draws it.

#include "app/common/workspace.h"
#include "tests/ui/app.h"
#include "tests/ui/text_spy.h"
#include "tests/view/sample_states.h"

using namespace attn;
using namespace attn::test;

namespace {

std::u32string characters(std::string_view text) {
    std::u32string all;
    for (const char byte : text) {
        const auto bits = static_cast<unsigned char>(byte);
        if ((bits & 0xC0U) == 0x80U)
            all.back() = (all.back() << 6U) | (bits & 0x3FU);
        else
            all += bits < 0x80U ? bits
                                : bits & (bits < 0xE0U   ? 0x1FU
                                          : bits < 0xF0U ? 0x0FU
                                                         : 0x07U);
    }
    return all;
}

/// Texts with a sign that their font lacks.
std::set<std::string> missing(const ui::Frame& frame, const SeenTexts& texts) {
    std::set<std::string> found;
    for (const SeenText& seen : texts)
        for (const char32_t each : characters(seen.text))
            if (each >= U' ' && !ui::has_glyph(ui::loaded(frame.fonts, seen.font), each))
                found.insert(seen.text);
    return found;
}

}  // namespace

TEST_CASE("no workspace draws a sign that its font lacks, at any scale") {
    for (const view::WorkspaceInfo* workspace : view::workspaces()) {
        if (workspace->key == "learn") continue;  // its shots train
        for (const view::Shot& shot : workspace->shots()) {
            view::AppState state = view::after(view::initial_state(),
                                               {view::SetWorkspace{std::string(workspace->key)}});
            view::play(state, shot.actions);
            for (const float scale : {1.0F, 1.5F, 2.0F}) {
                NullUi ui({1600.0F * scale, 1000.0F * scale}, scale);
                std::set<std::string> found;
                ui.show([&](const ui::Frame& frame, view::Actions& out) {
                    TextSpy spy(frame.painter);
                    ui::draw_window(state, spied(frame, spy), out);
                    const std::string value = workspace->inspector(state).value;
                    spy.texts.push_back({value, frame.fonts.value, {}, {}, {}});
                    found.merge(missing(frame, spy.texts));
                });
                ui.frames(2);
                CAPTURE(scale);
                CAPTURE(workspace->key);
                CAPTURE(shot.name);
                for (const std::string& text : found) FAIL_CHECK("no glyph: " << text);
            }
        }
    }
}
