#pragma once

#include <vector>

namespace attn::view {

// State, document and actions by name, for headers that only pass them on: state.h, document/document.h, action.h and
// inspector.h have them.

struct AppState;
struct Document;
class Action;
using Actions = std::vector<Action>;
struct InspectorView;

}  // namespace attn::view
