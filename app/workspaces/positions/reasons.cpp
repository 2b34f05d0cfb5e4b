#include "app/common/state.h"
#include "app/workspaces/positions/view.h"

namespace attn::view {

std::vector<std::string> positions_reasons(const AppState& state) {
    switch (positions_controls(state).kind) {
        case PositionKind::sinusoidal:
            return {
                "Two positions have vectors of sines and cosines. Their dot product adds terms "
                "cos a cos b + sin a sin b = cos (a − b).",
                "The angles grow with the position, so this dot product depends on the distance."};
        case PositionKind::learned:
            return {"Learned vectors begin at random, so their dot products follow no distance.",
                    "Training has to learn which positions belong together."};
        case PositionKind::rotary:
            return {
                "RoPE rotates q by an angle that depends on its position, and k by an angle for "
                "its own position.",
                "A dot product of rotated vectors depends on the difference of the angles, and "
                "so on the distance."};
        case PositionKind::alibi:
            return {"ALiBi lowers a score by slope · distance.",
                    "Softmax raises e to it, so a step of distance multiplies the weight by "
                    "e^−slope."};
    }
    return {};
}

}  // namespace attn::view
