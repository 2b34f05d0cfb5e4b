#!/usr/bin/env bash
# F12 writes a picture of the window, and goes on where it cannot.   screenshot.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
source "$here/png.sh"

pictures() { find . -name 'attnscope-*.png' | sort; }
pictures_are() { (($(pictures | wc -l) == $1)); }

start
press F12
wait_for "a picture" pictures_are 1
press F12
wait_for "a second picture, not over the first" pictures_are 2
for picture in $(pictures); do
    [[ $(png_size "$picture") == 1600x1000 ]] || fail "$picture is $(png_size "$picture"), not 1600x1000"
done
leaves

start --screenshot-dir "$work/no-such-folder" 2>error.txt
press F12
wait_for "the reason on standard error" grep -q no-such-folder error.txt
does '"action":"set_workspace"' press 2
pictures_are 2 || fail "a picture is written without its folder"
leaves
