#include "app/common/state.h"
#include "app/workspaces/positions/view.h"

namespace attn::view {

std::vector<std::string> positions_reasons(const AppState& state) {
    switch (positions_controls(state).kind) {
        case PositionKind::sinusoidal:
            return {
                "Two positions have vectors of sines and cosines. Their dot product adds terms "
                "cos a cos b + sin a sin b = cos (a − b).",
                "The angles grow with the position, so this dot product depends only on the "
                "distance."};
        case PositionKind::learned:
            return {
                "Learned vectors start at random: before training, their dot products have no "
                "relation to distance.",
                "Training has to learn which positions belong together."};
        case PositionKind::rotary:
            return {
                "RoPE rotates q by an angle that depends on its position, and k by an angle for "
                "its own position.",
                "Positions enter the dot product of rotated vectors only through the difference of "
                "the angles, and so through the distance."};
        case PositionKind::alibi:
            return {"ALiBi lowers a score by slope · distance.",
                    "Each step of distance multiplies e^score by e^−slope, before softmax divides "
                    "by the sum of the row."};
    }
    return {};
}

}  // namespace attn::view
