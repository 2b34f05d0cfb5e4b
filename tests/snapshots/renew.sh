#!/usr/bin/env bash
# Draws the committed sheets again, after a change of look that is meant: build first, then look at the sheets that changed.
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
exec tests/snapshots/draw.sh build/release/attnscope build/release/test_snapshots tests/snapshots/sheets --renew
