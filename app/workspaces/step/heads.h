#pragma once

#include <string>
#include <vector>

#include "app/common/painter.h"

namespace attn::view {

struct AppState;

// Small pictures of what every head has at the stage that is shown.

struct HeadPicture {
    Index head = 0;
    std::string title;    // "head 3"
    std::string name;     // "previous token", where the document names its heads
    std::string tooltip;  // its strongest pair in numbers
    bool shown = false;   // the one on the canvas
    bool drawn = false;   // there is a picture: the stage has one matrix a head
    Picture picture;
};

struct HeadsView {
    std::vector<HeadPicture> heads;  // empty: there is one head only
    Index rows = 0, columns = 0;     // of each picture
    std::string caption;             // what the pictures are of: "weights"
    Index batch = 0;
};

HeadsView build_heads_view(const AppState& state);

}  // namespace attn::view
