#!/usr/bin/env bash
# The Verify workspace in the real window: what the backend computes, planted faults, arrays, measures and cells by keys and by the
# mouse, a kernel's file by its path, its worst number in Step; the journal played again gives the same state.   verify.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

inputs=$here/../goldens/npz/cat_sat_mat.npz
"$app" trace "$inputs" -o kernel.npz >/dev/null
start --save-session recorded.json "$inputs" --workspace verify
does '"action":"plant_fault"' press f
does '"action":"plant_fault"' press f
does '"action":"plant_fault","fault":""' press Escape
does '"action":"show_checked"' press Next
does '"action":"show_checked"' press Prior
does '"action":"set_error_scale"' press n
does '"action":"select_checked"' press Down
does '"action":"select_checked"' press Right
does '"action":"select_worst"' press w
press c
typed "kernel.npz"
does '"action":"check_file","path":"kernel.npz"' press Return
first_that '"action":"show_checked"' click $(points 200 500 120 110 500 24)
mapfile -t cells < <(points 800 1200 60 260 700 40)
first_that '"action":"select_checked"' click "${cells[@]}"
does '"action":"open_checked_in_step"' press Return
goes_to verify
does '"action":"check_file","path":""' press x

quits_and_replays
