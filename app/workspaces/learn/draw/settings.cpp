#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/common/draw/draw.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/still.h"
#include "app/common/draw/widgets.h"
#include "app/common/format.h"
#include "app/workspaces/learn/actions.h"
#include "app/workspaces/learn/draw/parts.h"
#include "app/workspaces/learn/settings.h"

namespace attn::ui {
namespace {

using view::LearnFieldKind;
using view::LearnFieldView;

// Design units.
constexpr float kLabels = 124.0F;
constexpr double kLeastRate = 1e-5;

/// What the field is set to, as JSON.
std::optional<std::string> draw_number(const LearnFieldView& field, float width, const Frame& frame,
                                       view::Actions& out) {
    const Tip tip{field.label, field.tip};
    const auto low = static_cast<Index>(field.low);
    const auto high = static_cast<Index>(field.high);
    const auto now = static_cast<Index>(field.number);
    if (field.log && low > 0) {
        const SliderWords words_of{"", view::grouped(now), view::grouped(high)};
        const auto to = log_slider(frame, "##log", words_of, now, low, high, width, tip, out);
        return to ? std::optional(fmt::format("{}", *to)) : std::nullopt;
    }
    const auto to = number_field(frame, "##whole", "", now, low, high, width, tip, out);
    return to ? std::optional(fmt::format("{}", *to)) : std::nullopt;
}

std::optional<std::string> draw_real(const LearnFieldView& field, float width, const Frame& frame,
                                     view::Actions& out) {
    const SliderWords words_of{"", view::significant(field.number, 3), "0.000123"};
    const double high = std::min(field.high, 10.0);
    const auto to = real_slider(frame, "##real", words_of, std::max(field.number, kLeastRate),
                                kLeastRate, high, width, {field.label, field.tip}, out);
    return to ? std::optional(nlohmann::json(*to).dump()) : std::nullopt;
}

std::optional<std::string> draw_value(const LearnFieldView& field, float width, const Frame& frame,
                                      view::Actions& out) {
    const Tip tip{field.label, field.tip};
    switch (static_cast<LearnFieldKind>(field.kind)) {
        case LearnFieldKind::whole:
            return draw_number(field, width, frame, out);
        case LearnFieldKind::real:
            return draw_real(field, width, frame, out);
        case LearnFieldKind::seed:
            if (const auto to = seed_field(frame, "##seed",
                                           static_cast<std::uint64_t>(std::max(field.number, 0.0)),
                                           width, tip, out))
                return fmt::format("{}", *to);
            return std::nullopt;
        case LearnFieldKind::flag:
            if (const auto on = toggle(frame, "flag", field.value == "true" ? "on" : "off",
                                       field.value == "true", tip))
                return std::string(*on ? "true" : "false");
            return std::nullopt;
        case LearnFieldKind::names:
            if (const auto n =
                    combo(frame, "##names", {field.names, field.current}, width, tip, out))
                return nlohmann::json(field.names[static_cast<std::size_t>(*n)]).dump();
            return std::nullopt;
        case LearnFieldKind::text:
            return std::nullopt;
    }
    return std::nullopt;
}

/// A line of letters; what was typed when Enter commits it.
std::optional<std::string> draw_text(const Frame& frame, const char* id, const std::string& draft,
                                     const std::string& hint, std::string& typed, float width) {
    typed = draft;
    ImGui::SetNextItemWidth(width);
    push_font(frame.fonts.body);
    const bool entered =
        ImGui::InputTextWithHint(id, hint.c_str(), &typed, ImGuiInputTextFlags_EnterReturnsTrue);
    pop_font();
    still_field(frame, frame.fonts.body, typed, hint);
    return entered ? std::optional(typed) : std::nullopt;
}

void draw_field(const LearnFieldView& field, const view::AppState& state, const Frame& frame,
                view::Actions& out) {
    ImGui::PushID(field.run.data());
    ImGui::PushID(field.key.c_str());
    const float left = ImGui::GetCursorPosX();
    ImGui::AlignTextToFramePadding();
    words(frame, frame.fonts.body, frame.theme.muted,
          fit_text(frame, frame.fonts.body, field.label, frame.px(kLabels)));
    tooltip(frame, field.label, field.tip);
    ImGui::SameLine(left + frame.px(kLabels + 8));
    const float width = std::max(frame.px(80), ImGui::GetContentRegionAvail().x - frame.px(12));
    if (static_cast<LearnFieldKind>(field.kind) == LearnFieldKind::text) {
        const std::string& draft = view::learn_look(state).text_draft.empty()
                                       ? field.value
                                       : view::learn_look(state).text_draft;
        std::string typed;
        if (const auto text =
                draw_text(frame, "##text", draft, "words to learn; Enter", typed, width))
            out.push_back(view::SetLearnField{"a", "text", nlohmann::json(*text).dump()});
        else if (typed != draft)
            out.push_back(view::DraftLearnText{typed});
    } else if (const auto value = draw_value(field, width, frame, out)) {
        out.push_back(view::SetLearnField{std::string(field.run), field.key, *value});
    }
    ImGui::PopID();
    ImGui::PopID();
}

}  // namespace

void draw_learn_settings(const view::LearnView& view, const view::AppState& state,
                         const Frame& frame, view::Actions& out) {
    const float width = ImGui::GetContentRegionAvail().x - frame.px(12);
    words(frame, frame.fonts.body, frame.theme.muted, "B differs from A in");
    if (const auto n = combo(frame, "##differs", {view.difference_names, view.difference}, width,
                             {"The one setting that B has otherwise", ""}, out))
        out.push_back(view::SetLearnDifference{
            *n == 0 ? std::string()
                    : std::string(view::kLearnDifferences[static_cast<std::size_t>(*n) - 1])});
    if (view.changed && view.started)
        wrapped_words(frame, frame.fonts.body, frame.theme.warning,
                      "What is shown was trained with other settings: N begins with these.");
    for (const LearnFieldView& field : view.fields) draw_field(field, state, frame, out);
    words(frame, frame.fonts.body, frame.theme.muted, "maps of");
    std::string typed;
    if (const auto text =
            draw_text(frame, "##sentence", view.sentence, view.sentence_hint, typed, width))
        out.push_back(view::SetLearnSentence{*text});
    else if (typed != view.sentence)
        out.push_back(view::DraftLearnSentence{typed});
    tooltip(frame, "What the attention maps are of",
            view.sentence_hint + ". Enter; empty: the usual one");
    ImGui::Dummy({1.0F, frame.px(8)});
}

}  // namespace attn::ui
