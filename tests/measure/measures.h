#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/measure/faults.h"

namespace attn::test {

/// What one window shows, in numbers.
struct Measures {
    double hero_height = 0.0;  // of the largest picture, of the height between bar and bottom line
    double hero_area = 0.0;    // of the window
    double empty = 0.0;        // of the canvas: farther than a margin from all that is drawn
    Index word_count = 0;      // outside grids, of which `rail` are names of workspaces
    Index numbers = 0;         // outside grids
    Index rail = 0;
    std::vector<std::string> texts;  // in which those words and numbers stand
    double least_text = 0.0;         // design units
    double least_contrast = 0.0;     // of a text to what lies under it
    std::vector<Fault> faults;
};

/// `tokens`: words of the sentence, which are data wherever they stand.
struct Looking {
    Rect window;
    double scale = 1.0;
    view::Color background;
    std::set<std::string> tokens = {};
};
Measures measured(const Log& log, const Looking& at);

}  // namespace attn::test
