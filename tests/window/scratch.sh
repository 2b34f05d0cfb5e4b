# shellcheck shell=bash
# What a script without a window begins with: the program $1 as app, here, a folder of its own, fail WORDS.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
app=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
