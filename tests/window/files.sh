#!/usr/bin/env bash
# A prompt keeps the path that cannot be opened; the desktop's dialog gives another, and none to the next prompt; a figure of
# 85 mm and its caption; an emoji is typed into the sentence; saved where the dialog says, the program ends.   files.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
cp "$here/../../assets/presets/river-bank.json" chosen.json
mkdir bin
# The desktop's dialog: it answers as soon as the file `held` is gone, which browse waits for.
printf '#!/bin/sh\nwhile [ -e held ]; do sleep 0.05; done\ncat answer\ntouch answered\n' >bin/zenity
browse() {
    rm -f answered
    press ctrl+b
    wait_for "the dialog's answer" test -e answered
    settle
}
echo "$work/chosen.json" >answer
chmod +x bin/zenity
export PATH=$work/bin:$PATH LC_ALL=C.UTF-8

start --preset the-cat-sat-down
press ctrl+o
typed "$work/none.npz"
does '"action":"open_file".*none.npz' press Return
settle
does '"action":"open_file".*none.npz' press Return # it is there still
settle
browse
does '"action":"open_file".*chosen.json' press Return
settle
never '"action":"open_file"' press Return # the prompt is gone

# Without that dialog: the rows beneath the path, of a folder and then of a file.
mkdir -p of/runs
cp chosen.json of/runs/
press ctrl+o
typed "$work/of/ru"
press Down
press Return
settle
press Down
press Down # over ../
does '"action":"open_file".*of/runs/chosen.json' press Return
settle
never '"action":"open_file"' press Return # the prompt is gone

press ctrl+e
settle
does '"action":"set_figure_size","size":"85mm"' press Down
press ctrl+a
typed "$work/figure.svg"
does '"action":"export_figure"' press Return
wait_for "the caption" test -s figure.caption.txt
grep -q '<svg [^>]*width="321' figure.svg || fail "the figure is not 85 mm wide"

# A caption that somebody wrote is asked about as a figure is.
echo mine >other.caption.txt
press ctrl+e
settle
press ctrl+a
typed "$work/other.svg"
does '"action":"export_figure"' press Return
settle
[[ $(<other.caption.txt) == mine && ! -e other.svg ]] || fail "the caption was overwritten unasked"
does '"action":"export_figure".*"overwrite":true' press Return
wait_for "the other caption" bash -c '[[ $(<other.caption.txt) != mine ]]'

# What is chosen for a prompt that was closed goes into no other.
touch held
rm -f answered
press ctrl+o
settle
press ctrl+b
settle
press Escape
press ctrl+e
settle
rm held  # a dialog that is still open answers now
settle
does '"action":"export_figure","path":"[a-z-]*.svg"' press Return

probe() { click "$1" "$2" && xdotool key z; }
first_that '"action":"draft_sentence"' probe $(points 700 900 50 24 24 10)
press ctrl+a
xdotool type --delay 300 'a 😀'
wait_for "the emoji" grep -q '"action":"draft_sentence","text":"a 😀"' "$journal"

# Saved where the dialog says, in place of what was typed, the program ends.
press Return
echo "$work/kept.json" >answer
press ctrl+q
settle
press Return # save and quit
typed none
settle
browse
does '"action":"save_session","path":".*/kept.json"' press Return
ends 0
[[ -s kept.json ]] || fail "the session is not where the dialog said"
