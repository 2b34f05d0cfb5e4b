#!/usr/bin/env bash
# A Llama of random weights with an induction circuit set by hand: in at most 12 keys and clicks the sweep finds the head and
# what ablating it does to a logit difference, and its QK, its OV and what it composes with are on the screen.
#   circuit.sh ATTNSCOPE PLANTED_CIRCUIT
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
text=abcdefghabc
"$2" planted
actions=0
acts() {
    actions=$((actions + 1))
    does "$@"
}
# texts: x, y and words of each text on the screen that the journal gives.
texts() { sed -nE 's|^<text [^>]*x="([0-9.]+)" y="([0-9.]+)"[^>]*>([^<]*)</text>$|\1 \2 \3|p' drawn.svg; }
# at_words PATTERN: where the first text that matches stands; sets x and y.
at_words() {
    draw_journal
    read -r x y < <(texts | grep -E -- "^[0-9.]+ [0-9.]+ $1\$" | head -n 1 | awk '{print int($1) + 6, int($2) - 4}') ||
        fail "'$1' is not on the screen"
}
# says OPTION...: what the command line says of the same.
says() { "$app" circuits planted --text $text --json "$@" | tr -d ' \n'; }
# rounded NUMBER DECIMALS: as the screen has it, with a minus sign.
rounded() { LC_ALL=C printf "%.$2f" "$1" | sed 's/^-/−/'; }

start --save-session recorded.json --text $text planted
document_is_there
actions=2
goes_to heads
at_words sweep
acts '"action":"set_heads_list","list":"sweep"' click "$x" "$y"

# The two heads of the circuit change logit d − logit x most: the lower one on the screen is of the later layer.
draw_journal
read -r x y < <(texts | grep -E ' −[4-9]\.[0-9]{3}$' | awk '$1 < 800 {print int($1) + 6, int($2) - 4}' | sort -k2 -n | tail -n 1) ||
    fail "no head changes the logit difference by −4 or more"
acts '"action":"show_head","head":1,"batch":null,"layer":1' click "$x" "$y"
change=$(says | grep -oE '"layer":1,"head":1,"change":[-0-9.e]+' | sed 's/.*://')
shows "changes most when the context of L1 H1 is replaced by 0: by $(rounded "$change" 4)" ">$(rounded "$change" 3)<"

# One click from there its QK; a cell has its arithmetic in the inspector.
at_words circuit
acts '"action":"set_head_form","form":"circuit"' click "$x" "$y"
shows "QK of L1 H1" "Singular values of QK" "copying score"
draw_journal
read -r x y < <(texts | grep -E ' −?[0-9]*\.[0-9]+$' | awk '$1 > 860 && $1 < 1150 && $2 > 300 && $2 < 600 {print int($1) + 4, int($2) - 4}' | head -n 1)
acts '"action":"select_circuit_cell"' click "$x" "$y"
row=$(grep -oE '"action":"select_circuit_cell","row":[0-9]+' "$journal" | tail -n 1 | grep -oE '[0-9]+$')
column=$(grep -oE '"action":"select_circuit_cell","row":[0-9]+,"column":[0-9]+' "$journal" | tail -n 1 | grep -oE '[0-9]+$')
value=$(says --layer 1 --head 1 | sed -E 's/.*"qk":\[\[(.*)\]\],"qk_tokens".*/\1/; s/\],\[/\n/g' | sed -n "$((row + 1))p" | cut -d, -f"$((column + 1))")
shows "QK\[" "$(rounded "$value" 4 | sed -E 's/(\.[0-9]{2,}[1-9]|\.[0-9]{2})0+$/\1/')"

# What it writes copies what it attends to; what it reads is written by the head of the previous token.
at_words OV
acts '"action":"show_circuit","show":"ov"' click "$x" "$y"
shows "OV of L1 H1" "raises the logit of"
at_words composition
acts '"action":"show_circuit","show":"composition"' click "$x" "$y"
shows "composes most with L0 H2: K "
((actions <= 12)) || fail "$actions actions; expected at most 12"
echo "$actions actions"

quits_and_replays
