#include "app/common/state.h"
#include "app/workspaces/positions/view.h"

namespace attn::view {

std::vector<std::string> positions_reasons(const AppState& state) {
    switch (positions_controls(state).kind) {
        case PositionKind::sinusoidal:
            return {
                "Two positions have vectors of sines and cosines. Their dot product adds terms "
                "cos a cos b + sin a sin b = cos (a − b).",
                "The angles are proportional to the position, so this dot product depends only on "
                "the distance."};
        case PositionKind::learned:
            return {
                "Learned vectors start at random: before training, the dot product of two "
                "different ones has no relation to distance.",
                "Training has to learn which positions belong together."};
        case PositionKind::rotary:
            return {
                "RoPE rotates q by angles that depend on its position, and k by angles for its own "
                "position.",
                "Positions enter the dot product of rotated vectors only through the difference of "
                "the angles, and so through the difference of the positions."};
        case PositionKind::alibi:
            return {"ALiBi lowers a score by slope · distance.",
                    "Each step of distance multiplies e^score by e^−slope, before softmax divides "
                    "by the sum of the row."};
    }
    return {};
}

}  // namespace attn::view
