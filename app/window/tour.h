#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/slots.h"
#include "core/result.h"
#include "core/sizes.h"

namespace attn::view {

class Action;

class Fields;

/// One page of a tour: read, predict, act, see.
struct TourPage {
    /// What a session of the present screen has at a JSON pointer.
    struct Condition {
        std::string at;  // "/window/workspace"
        std::string is;  // JSON text: equal to it; "": it is not asked
        std::optional<double> at_least, at_most;
        std::optional<bool> changed;  // since the page was opened
    };

    std::string title;
    std::string text;      // a paragraph; may quote numbers, see filled()
    std::string question;  // to predict
    std::vector<std::string> choices;
    Index answer = 0;                // the choice that holds
    std::string ask;                 // what the person is to do
    std::vector<Condition> done;     // all hold once it is done
    std::string reveal;              // said then; may quote numbers
    std::vector<std::string> start;  // journal lines: how the window stands as the page opens
    std::vector<std::string> show;   // journal lines that do what is asked
    std::vector<std::string>
        predicted;  // journal lines once it is predicted: screens that show the answer
};

/// assets/tours/<key>.json. A translation is a file of its own.
struct Tour {
    std::string key;
    std::string title;
    Index minutes = 0;
    std::vector<TourPage> pages;
};

/// An error names the page, the key or the journal line that is wrong and what was expected.
Result<Tour> tour_from_json(std::string_view text, std::string_view file_name);

/// Actions as the journal has them; each must be one.
void read_actions(Fields& fields, std::string_view key, std::vector<std::string>& lines);
/// Carries out journal lines. Those after "document_ready" wait for the document that an earlier line opens.
void carry_out_lines(AppState& state, const std::vector<std::string>& lines);

/// Lines of a tour or lecture that wait for a document.
struct WaitingLines {
    enum class Source : std::uint8_t { task, page, screen };
    std::uint64_t request = 0;  // the number of its OpenRequest
    std::vector<std::string> lines;
    Source source = Source::task;
    bool operator==(const WaitingLines&) const = default;
};
inline constexpr Look<WaitingLines> waiting_lines;
/// Says who has the lines that wait, if any do.
void mark_waiting(AppState& state, WaitingLines::Source source);
/// After every action: carries out the waiting lines once their document is there. Drops them if it cannot be opened, or
/// if another one is requested meanwhile.
void continue_lines(AppState& state, const Action& action);

/// "" once the page is predicted and done; else what it waits for.
std::string tour_waits(const AppState& state);

/// After every action: notes that what the page asks for is there.
void follow_tour(AppState& state);

/// `text` with numbers of the document in place of "{weights:2,0}": stage or parameter, row and column, of the head that is
/// shown. A weight is written as a percentage, anything else as the inspector writes it; "{title}" is the document's title; what
/// is not there is "–".
std::string filled(const AppState& state, std::string_view text);

/// What the strip at the foot of the window shows.
struct TourView {
    std::string place;  // "Tour · 3 of 12"
    std::string title, text, question;
    std::string ask;  // "": nothing, or not predicted yet
    std::vector<std::string> choices;
    std::optional<Index> chosen;
    std::string verdict;  // on the prediction; "": nothing is known yet
    std::string reveal;   // "": not done yet
    std::string waits;    // what the page asks for before its answer; "": nothing
    bool first = false, last = false;
};
/// nullopt: no tour is on.
std::optional<TourView> build_tour_view(const AppState& state);

}  // namespace attn::view
