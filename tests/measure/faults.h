#pragma once

#include <string>
#include <vector>

#include "app/workspaces/step/view.h"
#include "tests/measure/hero.h"
#include "tests/measure/tracer.h"

namespace attn::test {

/// Something that a person would not want to see, in words.
struct Fault {
    enum class Kind : std::uint8_t {
        small,
        overlap,
        cut,
        unlabelled,
        elided,
        faint,
        missing,
        covered
    };
    Kind kind;
    std::string text;
};
const char* name_of(Fault::Kind kind);

/// Words under 11 px an em x scale; words over words; words that leave the window, or what it cuts them to (up and
/// down may be scrolled).
std::vector<Fault> faults_of_text(const Log& log, const Rect& window, double scale);

/// Of which rows and columns a label is asked for: of all, or of the selected one.
struct Asked {
    bool rows = true;
    bool columns = true;
};

/// Tokens of the result matrix whose row or column no word names.
std::vector<Fault> missing_labels(const Log& log, const view::GridView& grid, const Hero& hero,
                                  const Asked& asked);

/// Words that show at least in part.
std::vector<TextLine> seen_of(const Log& log);
/// "“text” at x,y…x,y in window".
std::string where(const TextLine& text);

/// Words that do not overlap in ink may in height: a line has air above and beneath.
bool overlap(const TextLine& a, const TextLine& b);

}  // namespace attn::test
