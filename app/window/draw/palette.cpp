#include <imgui_internal.h>

#include "app/common/actions.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/items.h"
#include "app/common/draw/math.h"
#include "app/common/draw/overlay.h"
#include "app/common/draw/still.h"
#include "app/common/draw/text_fields.h"
#include "app/common/draw/typing.h"
#include "app/common/draw/widgets.h"
#include "app/common/glossary.h"
#include "app/common/state.h"
#include "app/window/draw/panels.h"

namespace attn::ui {
namespace {

constexpr float kRow = 32.0F;       // design units
constexpr float kAround = 48 + 48;  // above and below the rows
constexpr float kMostRows = 12;
constexpr float kApart = 16.0F;            // of a row's words and its remark
constexpr float kLeastDescription = 0.6F;  // of a row, before its remark gives way
constexpr const char* kFindHint = "Find a command, a term or a question (“question” lists them)";

/// The right side of a row: where the command belongs and its keys, or why it cannot be done.
std::string remark_of(const Command& command) {
    if (!command.enabled) return command.why_not;
    if (command.chord.key == Key::none) return command.group;
    return command.group + "   " + keys_of(command);
}

/// What was typed in this frame, taken from the toolkit, which drops it until a field has the keyboard.
std::string taken_letters() {
    ImVector<ImWchar>& queue = ImGui::GetIO().InputQueueCharacters;
    std::string text;
    for (const ImWchar c : queue) {
        char letter[5];
        ImTextCharToUtf8(letter, c);
        if (c >= ' ' && c != 127) text += letter;
    }
    queue.resize(0);
    return text;
}

/// The field over a list, which always has the keyboard; what it says once that changed.
std::optional<std::string> query_field(const std::string& now, const char* hint,
                                       const Frame& frame) {
    std::string query = now;
    wide_field("##query", hint, query, ImGuiInputTextFlags_None, frame);
    if (query == now) return std::nullopt;
    return query;
}

/// The same; letters that come before it has the keyboard count.
std::optional<std::string> command_field(const std::string& now, const Frame& frame) {
    if (ImGui::IsAnyItemActive()) return query_field(now, kFindHint, frame);
    std::string query = now;
    std::string early = taken_letters();
    wide_field("##query", kFindHint, query, ImGuiInputTextFlags_None, frame, &early);
    query += early;
    if (query == now) return std::nullopt;
    return query;
}

template <class Entry>
void choose(const Entry& entry, Actions& out) {
    const Actions actions = chosen(entry);
    out.insert(out.end(), actions.begin(), actions.end());
}

bool draw_row(const Command& command, bool current, const Frame& frame) {
    const bool clicked = draw_list_row(
        {"row", kRow, current, command.text, remark_of(command), command.enabled}, frame);
    if (!command.enabled) tooltip(frame, command.text, command.why_not);
    return clicked;
}

/// As many as the window has room for.
std::size_t most_rows(const Frame& frame) {
    const float space = ImGui::GetIO().DisplaySize.y - frame.px(kAround + 48);
    return static_cast<std::size_t>(within(space / frame.px(kRow), 1.0F, kMostRows));
}

void draw_rows(const AppState& state, const std::vector<Command>& found, const Frame& frame,
               Actions& out) {
    draw_list(state.palette_row, found.size(), most_rows(frame), [&](std::size_t n) {
        if (draw_row(found[n], n == state.palette_row, frame)) choose(found[n], out);
    });
    if (found.empty()) wrapped_text(frame, frame.fonts.body, frame.theme.muted, "No matches.");
}

void read_keys(const AppState& state, const std::vector<Command>& found, Actions& out) {
    if (is_pressed(Key::down, true)) out.push_back(MovePalette{1});
    if (is_pressed(Key::up, true)) out.push_back(MovePalette{-1});
    const float wheel = ImGui::GetIO().MouseWheel;
    if (wheel != 0.0F) out.push_back(MovePalette{wheel < 0.0F ? 1 : -1});
    if (is_pressed(Key::enter) && state.palette_row < found.size())
        choose(found[state.palette_row], out);
    const bool again = ImGui::GetIO().KeyCtrl && is_pressed(Key::k);
    if (again || is_pressed(Key::escape)) out.push_back(ShowPalette{false});
}

// ---- the glossary

using Terms = std::vector<const GlossaryTerm*>;

// Design units.
constexpr float kGlossaryWidth = 880.0F, kGlossaryHeight = 640.0F, kTermRow = 30.0F;
constexpr float kTerms = 300.0F;  // the list

void draw_term_list(const Terms& terms, std::size_t row, float height, const Frame& frame,
                    Actions& out) {
    const auto rows =
        std::max<std::size_t>(1, static_cast<std::size_t>(height / frame.px(kTermRow)));
    draw_list(row, terms.size(), rows, [&](std::size_t n) {
        const GlossaryTerm& term = *terms[n];
        if (draw_list_row({"term", kTermRow, n == row, term.term, term.symbol}, frame))
            out.push_back(ChooseTerm{static_cast<Index>(n)});
    });
}

void draw_term(const AppState& state, const GlossaryTerm& term, const Frame& frame, Actions& out) {
    const std::string title = term.symbol.empty() || term.symbol == term.term
                                  ? term.term
                                  : term.term + ", " + term.symbol;
    wrapped_text(frame, frame.fonts.title, frame.theme.text, title);
    leave_space({0.0F, frame.px(4)});
    wrapped_text(frame, frame.fonts.body, frame.theme.text, term.definition);
    leave_space({0.0F, frame.px(12)});
    if (!term.tex.empty()) formula_item(frame, term.tex, plain_formula_of(term), kFormulaSize);
    leave_space({0.0F, frame.px(12)});
    const std::string place = place_description(state, term);
    if (button(frame, "##see", "Show in " + place, {"Opens " + place, "Key: Enter"}))
        choose(term, out);
}

void read_glossary_keys(const AppState& state, const Terms& terms, Actions& out) {
    const auto row = static_cast<Index>(state.glossary.row);
    const float wheel = ImGui::GetIO().MouseWheel;
    Index to = row;
    if (is_pressed(Key::down, true) || wheel < 0.0F) ++to;
    if (is_pressed(Key::up, true) || wheel > 0.0F) --to;
    if (is_pressed(Key::page_down, true)) to += 10;
    if (is_pressed(Key::page_up, true)) to -= 10;
    if (to != row) out.push_back(ChooseTerm{to});
    if (is_pressed(Key::enter) && state.glossary.row < terms.size())
        choose(*terms[state.glossary.row], out);
    if (is_pressed(Key::escape)) out.push_back(ShowGlossary{false});
}

/// As the field opens: with what came before it, and nothing of it selected.
int add_early(ImGuiInputTextCallbackData* data) {
    auto& early = *static_cast<std::string*>(data->UserData);
    keep_early(data);
    data->InsertChars(data->BufTextLen, early.c_str());
    early.clear();
    return 0;
}

}  // namespace

bool draw_list_row(const ListRow& row, const Frame& frame) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 size{ImGui::GetContentRegionAvail().x, frame.px(row.height)};
    const bool clicked = invisible_button(row.id, size);
    const ImVec2 high{low.x + size.x, low.y + size.y};
    if (row.current || ImGui::IsItemHovered())
        frame.painter.rect(low, high, frame.theme.raised, frame.px(4));
    if (row.current) frame.painter.rect(low, {low.x + frame.px(2), high.y}, frame.theme.accent);
    const ImVec2 inner{low.x + frame.px(12), low.y}, end{high.x - frame.px(12), high.y};
    const float all = end.x - inner.x - frame.px(kApart);
    const float remark = frame.text_width(frame.fonts.small, row.remark);
    const std::string text = fit_text(frame, frame.fonts.body, row.text,
                                      std::max(all * kLeastDescription, all - remark));
    const float left = all - frame.text_width(frame.fonts.body, text);
    draw_text_in(frame, frame.fonts.body, inner, end, Align::left,
                 row.enabled ? frame.theme.text : frame.theme.muted, text);
    draw_text_in(frame, frame.fonts.small, inner, end, Align::right, frame.theme.muted,
                 fit_text(frame, frame.fonts.small, row.remark, left));
    return clicked;
}

void wide_field(const char* id, const char* hint, std::string& text, ImGuiInputTextFlags flags,
                const Frame& frame, std::string* early) {
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
    if (!ImGui::IsAnyItemActive()) ImGui::SetKeyboardFocusHere();
    push_font(frame.fonts.body);
    if (early == nullptr)
        text_field(id, text, {hint, flags});
    else
        text_field(id, text, {hint, flags | ImGuiInputTextFlags_CallbackAlways, add_early, early});
    pop_font();
    still_field(frame, frame.fonts.body, text, hint);
}

void draw_palette(const AppState& state, const std::vector<Command>& found, const Frame& frame,
                  Actions& out) {
    const std::size_t rows = std::min(most_rows(frame), std::max<std::size_t>(found.size(), 1));
    const float height = frame.px(kAround) + frame.px(kRow) * static_cast<float>(rows);
    const bool beside = begin_overlay("palette", frame.px(640), height, frame);
    if (auto query = command_field(state.palette_query, frame))
        out.push_back(SetPaletteQuery{*std::move(query)});
    draw_rows(state, found, frame, out);
    end_overlay();
    read_keys(state, found, out);
    if (beside) out.push_back(ShowPalette{false});
}

void draw_glossary(const AppState& state, const Frame& frame, Actions& out) {
    const Terms terms = found_terms(state);
    const float height = std::min(frame.px(kGlossaryHeight), ImGui::GetIO().DisplaySize.y);
    const bool beside = begin_overlay("glossary", frame.px(kGlossaryWidth), height, frame);
    if (auto query = query_field(state.glossary.query, "Find a term", frame))
        out.push_back(SetGlossaryQuery{*std::move(query)});
    const ImVec2 space = ImGui::GetContentRegionAvail();
    const float list = std::min(frame.px(kTerms), space.x * 0.45F);
    if (terms.empty()) {
        const auto& all = glossary();
        wrapped_text(frame, frame.fonts.body, frame.theme.muted,
                     all ? "No matches." : all.error().text());
    } else if (begin_child("terms", {list, space.y})) {
        draw_term_list(terms, state.glossary.row, space.y, frame, out);
    }
    if (!terms.empty()) {
        ImGui::EndChild();
        ImGui::SameLine(0.0F, frame.px(20));
        begin_child("term", {ImGui::GetContentRegionAvail().x, space.y});
        draw_term(state, *terms[std::min(state.glossary.row, terms.size() - 1)], frame, out);
        ImGui::EndChild();
    }
    end_overlay();
    read_glossary_keys(state, terms, out);
    if (beside) out.push_back(ShowGlossary{false});
}

}  // namespace attn::ui
