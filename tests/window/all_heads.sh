#!/usr/bin/env bash
# Attention of 12 layers of 12 heads goes into the window with one command, and each of these takes at most three actions:
# see all heads, find the one that looks at the token before, read its score, compare two, sink mass, CSV, SVG.
#   all_heads.sh ATTNSCOPE PLANTED_HEADS
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
"$(readlink -f "$2")" gpt2.npz 4 7

# The command of docs/workspaces/heads.md; then every head on one screen: 1 action.
start --save-session recorded.json gpt2.npz
document_is_there
goes_to heads

# The head that looks at the token before: 3 actions to sort (N goes through the measures), the first is the one.
does '"action":"sort_heads","measure":"entropy"' press n
does '"action":"sort_heads","measure":"evenness"' press n
does '"action":"sort_heads","measure":"previous"' press n
# Shown large, its score in the inspector: 1 action.
does '"action":"show_head","head":7,"batch":null,"layer":4' press Home

# Two compared: 3 actions.
does '"action":"pin_head","layer":4,"head":7,"on":true' press space
does '"action":"show_head"' press Right
does '"action":"pin_head"' press space

# Sink mass of every head: 3 actions. Text is one.
does '"action":"sort_heads","measure":"sink"' palette "sort by first token"

# CSV: 1 action. The same numbers go to a file by the command line.
does '"action":"copy_head_measures"' press c
"$app" heads gpt2.npz --sort previous -o heads.csv
(($(wc -l <heads.csv) == 145)) || fail "heads.csv has $(wc -l <heads.csv) lines, not one for each head and a title"
[[ $(sed -n 2p heads.csv) == 4,7,"previous token",* ]] || fail "the first head is not 4·7: $(sed -n 2p heads.csv)"
if command -v xclip >/dev/null; then
    xclip -selection clipboard -o >copied.csv
    (($(grep -c , copied.csv) == 145)) || fail "the copied CSV has $(grep -c , copied.csv) lines"
fi

# SVG, under the name that is proposed: 2 actions.
press ctrl+e
settle
does '"action":"export_figure"' press Return
wait_for "heads-compared.svg" test -s heads-compared.svg
settle  # the prompt is closed: until then Escape is its own
grep -q 'A − B' heads-compared.svg || fail "the SVG does not show the difference of the two heads"

# Every other picture and form by key, and its journal.
does '"action":"unpin_heads"' press Escape
does '"action":"set_head_form","form":"lines"' press f
does '"action":"set_head_form","form":"text"' press f
does '"action":"set_head_form","form":"dimensions"' press f
does '"action":"set_heads_list","list":"scatter"' press l
does '"action":"set_heads_list","list":"table"' press l
does '"action":"clip_sinks","by":"first"' press z
does '"action":"show_heads_as","show":"rollout"' palette "show rollout"

quits_and_replays
