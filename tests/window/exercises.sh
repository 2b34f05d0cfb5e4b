#!/usr/bin/env bash
# The five exercises of the texts, solved by mouse and keyboard; the journal played again gives the same state.
#   exercises.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

seed=11

# answers SHEET: a line for each question: what it is answered by, "choice N" or "blanks ROWS NUMBER...".
answers() {
    "$app" sheet "$1" --seed $seed --json | python3 -c '
import json, sys
for question in json.load(sys.stdin)["questions"]:
    rows = question["answer"]
    if question["choices"]:
        print("choice", len(question["choices"]), int(rows[0][0]))
    else:
        print("blanks", len(rows), *(round(entry, 6) for row in rows for entry in row))'
}

# tabs N KEY: the key N times.
tabs() { for ((n = 0; n < $1; ++n)); do press "$2"; done; }

types_at() {
    click "$1" "$2"
    typed . # elsewhere than in a blank it does nothing
    press Tab
}

# to_first_blank: the first blank from the top is found by the mouse; the keyboard is on it.
to_first_blank() {
    mapfile -t places < <(points 700 1000 100 282 342 12 && points 700 1100 100 150 620 12)  # most are in the first rows
    first_that '"action":"enter_answer"' types_at "${places[@]}"
    press shift+Tab
}

# answer OPENED KIND ...: the question that the keyboard is at, and its check; the keyboard ends at the button that leads on.
# OPENED: yes where its first blank is being typed into.
answer() {
    local opened=$1 kind=$2 value
    if [[ $kind == choice ]]; then
        tabs "$4" Tab
        does '"action":"check_answer"' press Return
        tabs $(($3 - $4)) Tab
        return
    fi
    for value in "${@:4}"; do
        [[ $opened == yes ]] || press Return
        opened=no
        typed -- "$value"
        does '"action":"enter_answer"' press Tab
    done
    does '"action":"check_answer"' press Return
}

# solve SHEET TITLE
solve() {
    does "\"action\":\"set_exercise\",\"sheet\":\"$1\"" palette "Exercise: $2"
    mapfile -t questions < <(answers "$1")
    to_first_blank
    opened=no
    for question in "${questions[@]}"; do
        [[ $opened == no ]] || does '"action":"show_question"' press Return
        # shellcheck disable=SC2086  # words
        answer $opened $question
        opened=yes
    done
    shows "${#questions[@]} of ${#questions[@]} questions answered right"
}

start --size 1280x800 --save-session recorded.json
does '"action":"set_workspace","workspace":"exercises"' palette "Exercises workspace"
does '"action":"set_exercise"' palette "New numbers"
for ((n = 2; n < seed; ++n)); do does '"action":"set_exercise"' press r; done
solve weights-memory "What n tokens"
solve identity-queries "Q = I"
solve equal-projections "W_Q"
solve row-entropy "The entropy"
solve scaling "With and without"
quits_and_replays
