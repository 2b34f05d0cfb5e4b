#!/usr/bin/env bash
# A first start: the scale goes with the height of the window, and is never under 1.   scale.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

# scale_is SCALE ARGS...: of the session that the app leaves, started with these.
scale_is() {
    local scale=$1
    shift
    start --save-session recorded.json "$@"
    leaves
    grep -q "\"ui_scale\":$scale," recorded.json || fail "started with $*: $(grep -o '"ui_scale":[^,]*' recorded.json)"
    rm recorded.json
}

scale_is 1.8 --size 1600x1800
scale_is 1.4 --size 1600x1440
scale_is 1.0 --size 1600x1000
scale_is 1.0 --size 1280x720
scale_is 1.25 --size 1600x1800 --scale 1.25
