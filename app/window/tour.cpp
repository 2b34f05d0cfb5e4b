#include "app/window/tour.h"
#include "app/common/document/document.h"
#include "app/common/workspace.h"
#include "app/window/journal.h"

#include <charconv>

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/assets.h"
#include "app/common/document/actions.h"
#include "app/common/document/edits.h"
#include "app/common/fields.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/window/lecture.h"
#include "app/window/requests.h"
#include "app/window/session.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace attn::view {
namespace {

using nlohmann::json;

// ---- reading

TourPage::Condition read_condition(Fields& fields) {
    TourPage::Condition condition;
    fields.need("at", condition.at);
    if (const json* const is = fields.find("is")) condition.is = is->dump();
    const auto read_some = [&](std::string_view key, auto& value) {
        if (fields.find(key) != nullptr) fields.read(key, value.emplace());
    };
    read_some("at_least", condition.at_least);
    read_some("at_most", condition.at_most);
    if (!condition.at.starts_with('/'))
        fields.complain("has 'at': expected a JSON pointer, as in \"/window/workspace\"");
    read_some("changed", condition.changed);
    if (condition.is.empty() && !condition.at_least && !condition.at_most && !condition.changed)
        fields.complain("has no 'is', 'at_least', 'at_most' or 'changed'");
    return condition;
}

TourPage read_page(Fields& fields) {
    TourPage page;
    fields.need("title", page.title);
    fields.need("text", page.text);
    fields.read("question", page.question);
    fields.read("choices", page.choices);
    if (!page.choices.empty())
        fields.need_index("answer", page.answer, 0, static_cast<Index>(page.choices.size()) - 1);
    fields.read("ask", page.ask);
    read_list(fields, "done", "condition", page.done, read_condition);
    fields.read("reveal", page.reveal);
    read_actions(fields, "start", page.start);
    read_actions(fields, "show", page.show);
    read_actions(fields, "predicted", page.predicted);
    if (page.question.empty() != page.choices.empty())
        fields.complain("has only one of 'question' and 'choices': expected both or neither");
    if (!page.predicted.empty() && page.question.empty())
        fields.complain("has 'predicted' without 'question': expected both or neither");
    if (page.ask.empty() != page.done.empty() || page.ask.empty() != page.show.empty())
        fields.complain("has some of 'ask', 'done' and 'show': expected all or none");
    return page;
}

// ---- conditions

bool holds(const json& opened, const json& screen, const TourPage::Condition& condition) {
    const json::json_pointer at(condition.at);
    const json value = screen.contains(at) ? screen.at(at) : json();  // null: it is not there
    if (!condition.is.empty() && value != json::parse(condition.is)) return false;
    const json before = opened.contains(at) ? opened.at(at) : json();
    if (condition.changed && *condition.changed == (before == value)) return false;
    if (!condition.at_least && !condition.at_most) return true;
    if (!value.is_number()) return false;
    const double number = value.get<double>();
    return number >= condition.at_least.value_or(number) &&
           number <= condition.at_most.value_or(number);
}

// ---- words

/// `cell`: "weights:2,0".
std::string quoted_cell(const AppState& state, std::string_view cell) {
    if (cell == "title") return state.document().title;
    const std::size_t colon = std::min(cell.find(':'), cell.size());
    const std::size_t comma = std::min(cell.find(',', colon), cell.size());
    Index row = -1;
    Index column = -1;
    const char* const end = cell.data() + cell.size();
    std::from_chars(cell.data() + std::min(colon + 1, cell.size()), end, row);
    std::from_chars(cell.data() + std::min(comma + 1, cell.size()), end, column);
    const auto operand = find_operand(cell.substr(0, colon));
    const auto value = operand ? value_at(state, {*operand, row, column}) : std::nullopt;
    if (!value) return "–";
    const bool weight = *operand == OperandId(Stage::weights);
    return weight ? percent(*value) : number(*value);
}

const TourPage& page_of(const TourLook& look) {
    return look.tour->pages[static_cast<std::size_t>(look.page)];
}

/// The answer was shown, not predicted.
constexpr Index kNoPrediction = -1;

bool is_predicted(const TourLook& look) { return look.chosen || page_of(look).question.empty(); }
bool is_finished(const TourLook& look) {
    return is_predicted(look) && (look.done || page_of(look).ask.empty());
}

std::string verdict_of(const TourLook& look, const TourPage& page) {
    if (!look.chosen || !is_finished(look)) return "";
    const auto choice = [&](Index n) { return page.choices[n]; };
    if (*look.chosen == kNoPrediction) return fmt::format("The answer: {}.", choice(page.answer));
    if (*look.chosen == page.answer) return fmt::format("Right: {}.", choice(page.answer));
    return fmt::format("Your prediction: \"{}\". Right: \"{}\".", choice(*look.chosen),
                       choice(page.answer));
}

// ---- carrying out

/// What these lines do is not what the page asks for.
void set_up(AppState& state, const std::vector<std::string>& lines) {
    state.tour.done = true;  // nothing is noted meanwhile
    carry_out_lines(state, lines);
    mark_waiting(state, WaitingLines::Source::page);
    state.tour.done = false;
    state.tour.opened.clear();
}

void announce_page(AppState& state) {
    const TourLook& look = state.tour;
    show_message(state, "Tour, page {} of {}: {}.", look.page + 1, look.tour->pages.size(),
                 page_of(look).title);
}

void open_page(AppState& state, Index page) {
    TourLook& look = state.tour;
    look.page = std::clamp<Index>(page, 0, static_cast<Index>(look.tour->pages.size()) - 1);
    look.chosen.reset();
    set_up(state, page_of(look).start);
    announce_page(state);
}

void predict(AppState& state, Index choice) {
    TourLook& look = state.tour;
    const bool first = !look.chosen;
    look.chosen = choice;
    if (first && !page_of(look).predicted.empty()) set_up(state, page_of(look).predicted);
}

}  // namespace

void carry_out_lines(AppState& state, const std::vector<std::string>& lines) {
    waiting_lines(state) = {};
    for (auto line = lines.begin(); line != lines.end(); ++line) {
        const auto action = from_journal(*line);
        if (!action) continue;
        if (is_awaited(*action)) {
            if (state.opening) waiting_lines(state) = {state.opened, {line + 1, lines.end()}};
            if (state.opening) return;
            continue;
        }
        apply(state, *action);
    }
}

void mark_waiting(AppState& state, WaitingLines::Source source) {
    if (waiting_lines(std::as_const(state)).request != 0) waiting_lines(state).source = source;
}

void continue_lines(AppState& state, const Action& action) {
    if (waiting_lines(std::as_const(state)).request == 0) return;
    const bool same = waiting_lines(state).request == state.opened;
    if (same && state.opening) return;
    const WaitingLines waiting = std::exchange(waiting_lines(state), {});
    const auto* const ready = action.as<DocumentReady>();
    if (!same || ready == nullptr || !ready->opened) return;
    if (waiting.source == WaitingLines::Source::page && state.tour.on) {
        set_up(state, waiting.lines);
        announce_page(state);
        return;
    }
    carry_out_lines(state, waiting.lines);
    if (waiting.source != WaitingLines::Source::screen) return;
    mark_waiting(state, waiting.source);
    if (const LectureScreen* const screen = shown_screen(state)) show_message(state, screen->line);
}

void read_actions(Fields& fields, std::string_view key, std::vector<std::string>& lines) {
    if (const json* const found = fields.find_list(key))
        for (const json& action : *found) {
            lines.push_back(action.dump());
            if (auto known = from_journal(lines.back()); !known)
                fields.complain(fmt::format("'{}': {}", key, known.error().text()));
        }
}

Result<Tour> tour_from_json(std::string_view text, std::string_view file_name) {
    return parse_json(text, file_name).and_then([&](const json& value) -> Result<Tour> {
        Fields fields(value, std::string(file_name));
        Tour tour;
        fields.need("title", tour.title);
        fields.need_index("minutes", tour.minutes, 1);
        need_list(fields, "pages", "page", tour.pages, read_page);
        if (auto valid = fields.finish(); !valid) return tl::unexpected(valid.error());
        return tour;
    });
}

TourList list_tours() {
    TourList tours;
    for (const auto& path : asset_files("tours")) {
        auto tour = read_text_file(path).and_then(
            [&](const std::string& text) { return tour_from_json(text, path.string()); });
        if (!tour) continue;
        tour->key = path.stem().string();
        tours.push_back(std::make_shared<const Tour>(*std::move(tour)));
    }
    return tours;
}

std::string tour_waits(const AppState& state) {
    const TourLook& look = state.tour;
    if (!look.on || is_finished(look)) return {};
    return is_predicted(look) ? "Try it first" : "Predict first";
}

void follow_tour(AppState& state) {
    TourLook& look = state.tour;
    if (!look.on || look.done || page_of(look).done.empty()) return;
    const WaitingLines& waiting = waiting_lines(std::as_const(state));
    if (waiting.request != 0 && waiting.source == WaitingLines::Source::page) return;
    if (!is_predicted(look) && !page_of(look).predicted.empty())
        return;  // its screen is not there yet
    const std::string now = session_to_json(state);
    if (look.opened.empty()) look.opened = now;
    const json opened = json::parse(look.opened, nullptr, false);
    const json screen = json::parse(now, nullptr, false);
    look.done = std::ranges::all_of(page_of(look).done, [&](const auto& condition) {
        return holds(opened, screen, condition);
    });
}

std::string filled(const AppState& state, std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t open = std::min(text.find('{'), text.size());
        result += text.substr(0, open);
        text.remove_prefix(open);
        const std::size_t close = text.find('}');
        if (close == text.npos) break;
        const std::string_view inside = text.substr(1, close - 1);
        result += quoted_cell(state, inside);
        text.remove_prefix(close + 1);
    }
    return result + std::string(text);
}

std::optional<TourView> build_tour_view(const AppState& state) {
    const TourLook& look = state.tour;
    if (!look.on) return std::nullopt;
    const TourPage& page = page_of(look);
    const auto pages = static_cast<Index>(look.tour->pages.size());
    TourView view;
    view.place = fmt::format("{} · {} of {}", look.tour->title, look.page + 1, pages);
    view.title = page.title;
    view.text = filled(state, page.text);
    view.question = page.question;
    view.choices = page.choices;
    view.chosen = look.chosen;
    if (is_predicted(look)) view.ask = page.ask;
    view.verdict = verdict_of(look, page);
    if (is_finished(look)) view.reveal = filled(state, page.reveal);
    view.waits = tour_waits(state);
    view.first = look.page == 0;
    view.last = look.page + 1 == pages;
    return view;
}

void carry_out(AppState& state, const StartTour& action) {
    const auto found = std::ranges::find_if(state.tours, [&](const auto& tour) {
        return action.name.empty() || tour->key == action.name;
    });
    if (found == state.tours.end()) {
        std::string keys;
        for (const auto& tour : state.tours) keys += (keys.empty() ? "" : ", ") + tour->key;
        return show_error(state, "There is no tour '{}': {}.", action.name,
                          keys.empty() ? "none was found" : "choose one of " + keys);
    }
    const bool resumes = state.tour.tour && state.tour.tour->key == (*found)->key;
    if (!resumes) state.tour = {}, state.tour.tour = *found;
    state.tour.on = true;
    open_page(state, state.tour.page);
}

void carry_out(AppState& state, const GoToTourPage& action) {
    if (!state.tour.on) return show_message(state, "No tour is open. Shift+F1 starts one.");
    TourLook& look = state.tour;
    if (action.page <= look.page || is_finished(look)) return open_page(state, action.page);
    if (!is_predicted(look)) return predict(state, kNoPrediction);
    carry_out_lines(state, page_of(look).show);
    look.done = true;  // also where the lines wait for a document
}

void carry_out(AppState& state, const Predict& action) {
    TourLook& look = state.tour;
    const Index count = look.on ? static_cast<Index>(page_of(look).choices.size()) : 0;
    if (action.choice < 0 || action.choice >= count)
        return show_message(state, "This page has nothing to predict.");
    if (look.chosen && is_finished(look))
        return show_message(state,
                            "The page already shows the answer. Go back a page to predict again.");
    predict(state, action.choice);
}

void carry_out(AppState& state, const ShowTourAction&) {
    if (!state.tour.on || page_of(state.tour).show.empty())
        return show_message(state, "This page has no task.");
    if (!is_predicted(state.tour)) return warn(state, "Predict first: choose one of the answers.");
    carry_out_lines(state, page_of(state.tour).show);
}

void carry_out(AppState& state, const EndTour&) {
    if (!state.tour.on) return show_message(state, "No tour is open.");
    const bool last = state.tour.page + 1 == static_cast<Index>(state.tour.tour->pages.size());
    state.tour.on = false;
    if (last) {
        state.tour = {};
        return show_message(state, "The tour is finished.");
    }
    show_message(state, "Tour closed at page {}. Shift+F1 resumes it.", state.tour.page + 1);
}

}  // namespace attn::view
