# shellcheck shell=bash
# Types texts for a model into the window of window.sh, which is sourced before.

# focus_text: finds the field by typing, once; sets x and y. All that stands there is chosen.
probe_field() {
    click "$1" "$2"
    typed 'z'
    settle
}
x= y=
focus_text() {
    local fields
    if [[ -z $x ]]; then
        mapfile -t fields < <(points 840 940 50 24 24 10)
        first_that '"action":"type_text"' probe_field "${fields[@]}"
    fi
    click "$x" "$y"
    press ctrl+a
}

# types_text TEXT: in place of what stands there; Enter, once the answer to the last letter is there.
types_text() {
    focus_text
    typed "$1"
    wait_for "'$1' in the journal" last_text_is "$1"
    wait_for "the answer to '$1'" is_answered
    does '"action":"end_gesture"' press Return
}
last_text() { grep '"action":"type_text"' "$journal" | tail -n 1; }
last_text_is() { last_text | grep -qF -- "\"text\":\"$1\""; }
is_answered() { grep '"action":"type_text"\|"action":"document_ready"' "$journal" | tail -n 1 | grep -q document_ready; }

# shows_tokens TOKEN...: what the journal so far draws has each as a label; shows_not: none.
shows_tokens() {
    local token
    draw_journal
    for token; do grep -qF -- ">$token<" drawn.svg || fail "'$token' is not on the screen"; done
}
shows_not() {
    local token
    for token; do ! grep -qF -- ">$token<" drawn.svg || fail "'$token' is on the screen"; done
}
