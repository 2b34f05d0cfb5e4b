#!/usr/bin/env bash
# The Gradients workspace in the real window: rows, raised scores and tensors by keys and by the mouse, another loss and scaling;
# the journal played again gives the same state.   gradients.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

start --save-session recorded.json --preset the-cat-sat-down
goes_to gradients
does '"action":"select_jacobian_row","row":1' press Down
does '"action":"select_jacobian_row","row":1,"column":1' press Right
does '"action":"show_gradient_of"' press Next
does '"action":"set_loss"' press l
does '"action":"set_scaling","on":false' press s
first_that '"action":"show_gradient_of"' click $(points 200 300 50 260 800 30)
first_that '"action":"select_jacobian_row"' click $(points 700 1200 60 260 800 40)

quits_and_replays
