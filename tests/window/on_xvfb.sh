#!/usr/bin/env bash
# Runs a command on an X server of its own, whose screen is $SCREEN: on_xvfb.sh COMMAND...  Exit 77 (skipped) where there
# is none.
set -euo pipefail
for tool in xvfb-run xdotool; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: $tool is not installed"
        exit 77
    fi
done
# What a person kept is neither used nor changed.
places=$(mktemp -d)
trap 'rm -rf "$places"' EXIT
export XDG_STATE_HOME=$places/state XDG_CONFIG_HOME=$places/config
# -noreset: without it the server forgets its root properties when the last client leaves.
# Each begins to look for a free number elsewhere: two that start at once must not find the same.
xvfb-run -a -n $((100 + $$ % 300 * 3)) -s "-screen 0 ${SCREEN:-1600x1000}x24 +extension GLX -noreset" "$@"
