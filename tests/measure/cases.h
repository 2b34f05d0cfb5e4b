#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/common/actions.h"
#include "app/common/state.h"

namespace attn::test {

/// One window to look at.
struct Case {
    Index tokens = 4;
    Index heads = 1;
    Index key_width = 4;
    Index width = 1600;
    Index height = 1000;
    double scale = 1.0;
    view::ThemeName theme = view::ThemeName::dark;
    Stage stage = Stage::weights;
    bool presenter = false;
    std::string_view workspace = {};  // "": Step at that stage
    int shot = -1;                    // of it; -1: as it is entered with that document
};

std::string name_of(const Case& at);
/// A d_k that many heads go with.
inline Index least_key_width(Index heads) { return heads > 4 ? 16 : 4; }

/// A toy sentence of that many words, none of them twice.
std::string sentence_of(Index tokens);

/// The Step workspace at the case's stage, at rest. A document is not computed anew for every stage. What the
/// model refuses (as heads beyond its limit) is in `refused`.
struct Scene {
    view::AppState state;
    std::string refused;
};
Scene scene_of(const Case& at);
/// The workspace that the case names, what it asked for answered and at rest. Kept until another document or shot is
/// asked for.
view::AppState screen_of(const Case& at);

/// The stages that such a document has.
std::vector<Stage> stages_of(const view::AppState& state);

}  // namespace attn::test
