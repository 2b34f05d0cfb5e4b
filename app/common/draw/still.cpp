#include "app/common/draw/still.h"

#include <imgui_internal.h>

#include <optional>
#include <ranges>

#include "app/common/draw/draw.h"
#include "app/common/draw/imgui_painter.h"
#include "app/fonts/layout.h"

namespace attn::ui {
namespace {

/// The code points of `text`, as they are written.
std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        unsigned int unused = 0;
        const int bytes = ImTextCharFromUtf8(&unused, text.data(), text.data() + text.size());
        parts.push_back(text.substr(0, static_cast<std::size_t>(std::max(bytes, 1))));
        text.remove_prefix(parts.back().size());
    }
    return parts;
}

/// Half of a character above U+FFFF, as ImGui writes it: three bytes. 0: something else begins `text`.
unsigned int half_of(std::string_view text) {
    const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
    if (text.size() < 3 || byte(0) != 0xED || byte(1) < 0xA0) return 0;
    return 0xD000U | ((byte(1) & 0x3FU) << 6U) | (byte(2) & 0x3FU);
}

/// Such a character is typed as two halves (gl/window_events.cpp). One without its other, which was deleted, is nothing.
std::string joined(std::string_view typed) {
    std::string text;
    for (unsigned int high = 0; !typed.empty();) {
        const unsigned int half = half_of(typed);
        if (half >= 0xDC00 && high != 0) {
            std::array<char, 5> bytes{};
            ImTextCharToUtf8(bytes.data(), 0x10000 + ((high - 0xD800) << 10U) + (half - 0xDC00));
            text += bytes.data();
        } else if (half == 0) {
            text += typed.front();
        }
        high = half < 0xDC00 ? half : 0;
        typed.remove_prefix(half == 0 ? 1 : 3);
    }
    return text;
}

/// Where both begin alike, in code points; U+FFFD stands for any that takes four bytes.
template <class Parts>
std::ptrdiff_t alike(const Parts& before, const Parts& typed) {
    const auto same = [](std::string_view one, std::string_view other) {
        return one == other || (other == "\uFFFD" && one.size() == 4);
    };
    return std::ranges::mismatch(before, typed, same).in1 - before.begin();
}

/// The bytes of `text` before the place `at` of ImGui's own text.
std::size_t bytes_before(std::string_view text, int at) {
#if IMGUI_VERSION_NUM >= 19200
    return std::min(static_cast<std::size_t>(at), text.size());
#else
    std::size_t bytes = 0;
    for (const std::string_view part : split(text))
        if (at-- > 0) bytes += part.size();
    return bytes;
#endif
}

/// What is selected of a text that is typed, in bytes: the caret is its second end.
struct Typed {
    std::size_t from = 0, caret = 0;
};

/// nullopt: nothing is typed into the last item.
std::optional<Typed> typed_into_last(std::string_view text) {
    ImGuiInputTextState* const state = ImGui::GetInputTextState(ImGui::GetItemID());
    if (!state || !ImGui::IsItemActive()) return std::nullopt;
#if IMGUI_VERSION_NUM >= 19200
    const int caret = state->GetCursorPos(), low = state->GetSelectionStart(),
              high = state->GetSelectionEnd();
#else
    const int caret = state->Stb.cursor, low = state->Stb.select_start,
              high = state->Stb.select_end;
#endif
    const int other = low == high ? caret : low == caret ? high : low;
    return Typed{bytes_before(text, other), bytes_before(text, caret)};
}

/// Over ImGui's own: scrolled so that the caret is seen.
void draw_typed(const Frame& frame, const view::Font& font, const fonts::Layout& layout,
                std::string_view text, Point low, Point high, Typed typed) {
    const float caret = layout.caret(text, typed.caret);
    const float from = layout.caret(text, typed.from);
    const float x = low.x - std::max(0.0F, caret - (high.x - low.x));
    const float top = std::round((low.y + high.y - font.px) / 2);
    frame.painter.push_clip(low, {high.x + frame.px(2), high.y});
    const ImVec4 selected = ImGui::GetStyleColorVec4(ImGuiCol_TextSelectedBg);
    ImGui::GetWindowDrawList()->AddRectFilled({x + std::min(from, caret), top},
                                              {x + std::max(from, caret), top + font.px},
                                              ImGui::ColorConvertFloat4ToU32(selected));
    frame.painter.text(font, {x, top}, frame.theme.text, text);
    frame.painter.line({x + caret, top}, {x + caret, top + font.px}, frame.theme.text, frame.px(1));
    frame.painter.pop_clip();
}

}  // namespace

void still_field(const Frame& frame, const view::Font& font, std::string_view text,
                 std::string_view hint) {
    const fonts::Layout* const layout = laid_out(frame.fonts, font, text);
    const ImVec2 low = ImGui::GetItemRectMin();
    const ImVec2 high = ImGui::GetItemRectMax();
    const float pad = ImGui::GetStyle().FramePadding.x;
    // A sentence at rest shows its beginning and its end; typed into, it scrolls.
    const bool cut = !ImGui::IsItemActive() &&
                     frame.text_width(font, cut_text(frame, font, text, high.x - low.x)) >
                         high.x - low.x - 2 * pad;
    if (!frame.still && !layout && !cut) return;
    const Point left{low.x + pad, low.y};
    const Point right{high.x - pad, high.y};
    draw_box(frame, low, high, frame.theme.raised);
    if (const auto typed = typed_into_last(text); layout && typed && !frame.still)
        return draw_typed(frame, font, *layout, text, left, right, *typed);
    draw_text_in(frame, font, left, right, Align::left,
                 text.empty() ? frame.theme.muted : frame.theme.text,
                 text.empty() ? fit_text(frame, font, hint, right.x - left.x)
                              : fit_ends(frame, font, text, right.x - left.x));
}

std::string keep_characters(std::string_view before, std::string_view typed) {
    const auto old = split(before);
    const std::string whole = joined(typed.substr(0, typed.find('\0')));
    const auto now = split(whole);
    const auto head = alike(old, now);
    const auto tail = alike(std::ranges::subrange(old.rbegin(), old.rend() - head),
                            std::ranges::subrange(now.rbegin(), now.rend() - head));
    std::string retained;
    const auto add = [&retained](auto from, auto end) {
        for (; from != end; ++from) retained += *from;
    };
    add(old.begin(), old.begin() + head);
    add(now.begin() + head, now.end() - tail);
    add(old.end() - tail, old.end());
    return retained;
}

}  // namespace attn::ui
