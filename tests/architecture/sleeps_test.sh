#!/usr/bin/env bash
# sleeps.py sees a pause in each language, and one more than is allowed.   sleeps_test.sh TREE
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/tests"
(cd "$1/tests" && find . \( -name '*.sh' -o -name '*.py' -o -name '*.cpp' -o -name '*.h' \) -print0 | tar -c --null -T -) | tar -x -C "$folder/tests"

planted=()
plant() {
    printf '%s\n' "$2" >>"$folder/tests/$1"
    planted+=("tests/$1:$(wc -l <"$folder/tests/$1"): $2")
}
plant window/steps.sh 'sleep 0.3'
plant window/window.sh 'sleep 1'
# shellcheck disable=SC2016  # as it stands in a script
plant window/kept.sh 'sleep "$seconds"'
plant window/edits.sh 'xdotool key a sleep 0.3 key b'
plant web/page_test.py 'time.sleep(1)'
plant known/tensor_test.cpp 'std::this_thread::sleep_for(1s);'
code=0
said=$("$1/tests/architecture/sleeps.py" "$folder") || code=$?
for line in "${planted[@]}"; do
    if ((code != 1)) || [[ $said != *"$line"* ]]; then
        echo "not seen: $line"
        exit 1
    fi
done
