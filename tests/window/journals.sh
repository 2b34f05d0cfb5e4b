#!/usr/bin/env bash
# Random journals of all actions, with edge values, played in the real window at two sizes: the same state twice.
#   journals.sh ATTNSCOPE RANDOM_JOURNAL COUNT
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
writer=$(readlink -f "$2")
last=$3
source "$here/window.sh"

# play SIZE SESSION: carries the journal out and saves what it led to.
play() {
    "$app" --replay random.jsonl --size "$1" --save-session "$2" --exit-after-replay 2>said.txt ||
        fail "journal $seed at $1: $(tail -n 3 said.txt)"
}

for ((seed = 0; seed < last; ++seed)); do
    mkdir "$work/$seed"
    cd "$work/$seed"
    "$writer" "$seed" | grep -v '"action":"quit"' >random.jsonl
    play 1600x1000 first.json
    play 1280x720 second.json
    cmp first.json second.json || fail "journal $seed gives two states"
done
echo "$last random journals, each the same state at two sizes"
