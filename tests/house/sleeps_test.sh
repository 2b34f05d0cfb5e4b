#!/usr/bin/env bash
# sleeps.py sees a pause in each language, and one more than is allowed.   sleeps_test.sh TREE
set -euo pipefail
tree=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$tree/tests" "$folder/tests"
"$tree/tests/house/sleeps.py" "$folder" >/dev/null

# refuses FILE LINE: with this line added.
refuses() {
    cp "$folder/tests/$1" "$folder/before"
    printf '%s\n' "$2" >>"$folder/tests/$1"
    if "$tree/tests/house/sleeps.py" "$folder" >/dev/null; then
        echo "not seen in $1: $2"
        exit 1
    fi
    cp "$folder/before" "$folder/tests/$1"
}
refuses window/steps.sh 'sleep 0.3'
refuses window/window.sh 'sleep 1'
refuses window/kept.sh 'sleep "$seconds"'
refuses window/edits.sh 'xdotool key a sleep 0.3 key b'
refuses web/page_test.py 'time.sleep(1)'
refuses known/stages_test.cpp 'std::this_thread::sleep_for(1s);'
