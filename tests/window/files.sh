#!/usr/bin/env bash
# A prompt keeps the path that cannot be opened; the desktop's dialog gives another; a figure of 85 mm and its caption; an
# emoji is typed into the sentence.   files.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
cp "$here/../../assets/presets/river-bank.json" chosen.json
mkdir bin
printf '#!/bin/sh\necho "%s"\n' "$work/chosen.json" >bin/zenity # the desktop's dialog, answered at once
chmod +x bin/zenity
export PATH=$work/bin:$PATH LC_ALL=C.UTF-8

start --preset the-cat-sat-down
press ctrl+o
typed "$work/none.npz"
does '"action":"open_file".*none.npz' press Return
sleep 0.5
does '"action":"open_file".*none.npz' press Return # it is there still
sleep 0.5
press ctrl+b
sleep 1
does '"action":"open_file".*chosen.json' press Return
sleep 0.5
never '"action":"open_file"' press Return # the prompt is gone

press ctrl+e
sleep 0.5
does '"action":"set_figure_size","size":"85mm"' press Down
press ctrl+a
typed "$work/figure.svg"
does '"action":"export_figure"' press Return
wait_for "the caption" test -s figure.caption.txt
grep -q '<svg [^>]*width="321' figure.svg || fail "the figure is not 85 mm wide"

probe() { click "$1" "$2" && xdotool key z; }
first_that '"action":"draft_sentence"' probe $(points 700 900 50 24 24 10)
press ctrl+a
xdotool type --delay 300 'a 😀'
wait_for "the emoji" grep -q '"action":"draft_sentence","text":"a 😀"' "$journal"
