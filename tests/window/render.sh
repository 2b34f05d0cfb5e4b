#!/usr/bin/env bash
# Pictures without a window or a display: complete, of the size asked for, the same every time.
#   render.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/scratch.sh"
source "$here/png.sh"
unset DISPLAY WAYLAND_DISPLAY
assets=$here/../../assets

for workspace in step saturation numerics cost heads lookup compare tensors learn gradients verify; do
    "$app" render --chrome --workspace "$workspace" --size 1280x720 -o "$workspace.png"
    "$app" render --chrome --workspace "$workspace" --size 1280x720 -o again.png
    cmp "$workspace.png" again.png || fail "$workspace looks different the second time"
    [[ $(png_size "$workspace.png") == 1280x720 ]] || fail "$workspace.png is $(png_size "$workspace.png")"
done
! cmp -s step.png saturation.png || fail "both workspaces look the same"

"$app" render --chrome --theme light --scale 1.5 --stage weights --select weights:1,2 -o light.png
"$app" render --chrome --theme dark --scale 1.5 --stage weights --select weights:1,2 -o dark.png
! cmp -s light.png dark.png || fail "both themes look the same"

"$app" render --all -o out/ >listed.txt
(($(wc -l <listed.txt) >= 4)) || fail "--all listed $(cat listed.txt)"
while read -r path; do [[ -s $path ]] || fail "$path is listed but not there"; done <listed.txt

# refuses WORDS ARGS...: exit code 2, one line that has these words, and no picture.
refuses() {
    local words=$1 got=0
    shift
    rm -f none.png
    "$app" render "$@" -o none.png 2>error.txt || got=$?
    ((got == 2)) && (($(wc -l <error.txt) == 1)) || fail "exit code $got: $*: $(cat error.txt)"
    grep -q -- "$words" error.txt || fail "'$words' is not in: $(cat error.txt)"
    [[ ! -e none.png ]] || fail "a picture was drawn: $*"
}

# An option that cannot be carried out is no picture of something else; what a person once got wrong is.
refuses 'no cell' --stage weights --select weights:99,0
printf '{"action":"go_to_stage","stage":"weights"}\n{"action":"load_preset","key":"nosuch"}\n' >mistake.jsonl
"$app" render --replay mistake.jsonl -o mistake.png || fail "a journal with a mistake in it cannot be drawn"

# FILE as the window takes it, from a pipe and into one too.
"$app" render --stage weights -o default.png
"$app" render "$assets/presets/exercise.json" --stage weights -o file.png
"$app" render - --stage weights --format png -o - <"$assets/presets/exercise.json" | cat >piped.png
cmp file.png piped.png || fail "the picture is another one through pipes"
! cmp -s default.png file.png || fail "FILE changes nothing in the picture"
[[ ! -e ./- ]] || fail "a file named - was made"
