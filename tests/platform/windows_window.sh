#!/usr/bin/env bash
# The window of the Windows program, under Wine and Xvfb: first screen, stages by keys and mouse, an edit, a session that is saved and
# opened again, the journal.   windows_window.sh
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
program=${ATTNSCOPE_WINDOWS_PROGRAM:-$here/../../build/windows/attnscope.exe}
if [[ ! -e $program ]]; then
    echo "skipped: $program is not built: it wants mingw-w64 (docs/install.md)"
    exit 77
fi
command -v wine >/dev/null || { echo "skipped: wine is not installed"; exit 77; }
exec "$here/../window/on_xvfb.sh" "$here/../window/steps.sh" "$here/by_wine.sh"
