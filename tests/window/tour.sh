#!/usr/bin/env bash
# The guided tour: a page is read, predicted, done by hand and by "Show me", put away and resumed.   tour.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

start --tour attention --save-session toured.json
# The first page opens a trained model; its task is typed.
wait_for "the model" bash -c "grep -q document_ready '$journal'"
does '"action":"predict","choice":1' press ctrl+2
does '"action":"show_tour_action"' press ctrl+Return
first_that '"action":"go_to_tour_page","page":1' press ctrl+Right ctrl+Right ctrl+Right ctrl+Right ctrl+Right
# The prediction by mouse, the cell that is asked for by mouse.
first_that '"action":"predict"' click $(points 740 1200 40 760 860 20)
does '"action":"step_by","steps":1' press Right
first_that '"action":"select_cell","cell":{"tensor":"q","row":2' click $(points 300 900 60 300 640 60)
does '"action":"go_to_tour_page","page":2' press ctrl+Right
does '"action":"go_to_tour_page","page":1' press ctrl+Left

# Every page by the keyboard, to the end.
for page in {2..19}; do
    does '"action":"predict","choice":0' press ctrl+1
    does '"action":"show_tour_action"' press ctrl+Return
    # what is opened beside the window takes a while
    first_that "\"action\":\"go_to_tour_page\",\"page\":$page" press ctrl+Right ctrl+Right ctrl+Right ctrl+Right ctrl+Right
done
does '"action":"predict","choice":1' press ctrl+2
leaves
grep -q '"tour":{"name":"attention","page":19,"on":true' toured.json || fail "the session does not hold the page"

# A session resumes it; a name that is not known is refused.
start toured.json
does '"action":"go_to_tour_page","page":18' press ctrl+Left
leaves
code=0
"$app" --tour nowhere 2>error.txt || code=$?
((code == 2)) || fail "an unknown tour ends with $code"
grep -q "^attnscope: --tour is 'nowhere'; expected attention" error.txt || fail "$(cat error.txt)"
