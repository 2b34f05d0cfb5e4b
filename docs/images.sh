#!/usr/bin/env bash
# Redraws the pictures of README.md and docs/ without a display. ImageMagick reduces them to a quarter of the size, Pillow the film.
#   docs/images.sh ATTNSCOPE              all of them
#   docs/images.sh ATTNSCOPE step-dark    only this one
set -euo pipefail
app=$(readlink -f "$1")
only=${2:+${2%.png}.png}
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/images"
journal=$(mktemp)
trap 'rm -f "$journal"' EXIT

drawn=()
wanted() { [[ -z $only || $only == "$1" ]]; }

# draw NAME ACTIONS OPTIONS...: the window after these lines of a journal.
draw() {
    wanted "$1" || return 0
    drawn+=("$1")
    printf '%s\n' "$2" >"$journal"
    "$app" render --chrome --replay "$journal" "${@:3}" -o "$1"
}

sentence=eight-heads
draw step-dark.png '{"action":"show_head","head":0,"layer":1}
{"action":"go_to_stage","stage":"weights"}
{"action":"select_cell","cell":{"tensor":"weights","row":7,"column":1}}' --theme dark pronouns
draw step-light.png '{"action":"go_to_stage","stage":"scores"}
{"action":"select_cell","cell":{"tensor":"scores","row":2,"column":1}}' --theme light
draw saturation-dark.png '{"action":"set_workspace","workspace":"saturation"}' --theme dark pronouns
draw saturation-light.png '{"action":"set_workspace","workspace":"saturation"}' --theme light pronouns
draw masks-dark.png '{"action":"set_workspace","workspace":"masks"}
{"action":"set_causal_mask","causal":"top-left"}
{"action":"select_pair","row":3,"column":1,"extend":false}' --theme dark
draw kinds-dark.png '{"action":"set_workspace","workspace":"kinds"}
{"action":"choose_kinds","pair":"rope"}' --theme dark --preset "$sentence"
draw positions-dark.png '{"action":"set_workspace","workspace":"positions"}' --theme dark
draw numerics-dark.png '{"action":"set_workspace","workspace":"numerics"}' --theme dark
draw cost-dark.png '{"action":"set_workspace","workspace":"cost"}' --theme dark
draw tensors-dark.png '{"action":"set_workspace","workspace":"tensors"}
{"action":"select_tensor","name":"W_Q"}' --theme dark --preset three-heads
draw heads-dark.png '{"action":"set_workspace","workspace":"heads"}
{"action":"show_head","head":0,"batch":0,"layer":0}
{"action":"select_heads_pair","row":4,"column":3}' --theme dark --preset three-heads
draw generate-dark.png '{"action":"set_workspace","workspace":"generate"}' --theme dark stories --text "Anna saw a"
draw lookup-dark.png '{"action":"set_workspace","workspace":"lookup"}' --theme dark
draw gradients-dark.png '{"action":"set_workspace","workspace":"gradients"}
{"action":"select_jacobian_row","row":7,"column":1}' --theme dark --preset "$sentence"
draw verify-dark.png '{"action":"set_workspace","workspace":"verify"}
{"action":"set_causal_mask","causal":"top-left"}
{"action":"plant_fault","fault":"scale"}' --theme dark --preset three-heads
draw learn-dark.png '{"action":"set_workspace","workspace":"learn"}
{"action":"train_to","until":600}
{"action":"show_learn_head","layer":1,"head":0}
{"action":"select_learn_cell","row":17,"column":9}' --theme dark
draw exercises-dark.png '{"action":"set_workspace","workspace":"exercises"}
{"action":"set_exercise","sheet":"softmax-gradient","seed":7}
{"action":"show_question","question":1}' --theme dark
draw compare-dark.png '{"action":"set_workspace","workspace":"step"}
{"action":"go_to_stage","stage":"weights"}
{"action":"pin_baseline"}
{"action":"set_scaling","on":false}
{"action":"set_workspace","workspace":"compare"}' --theme dark --preset "$sentence"
draw large-dark.png '{"action":"fit_map"}' --theme dark --planted 131072 --size 1440x900
draw large-light.png '{"action":"go_to_needle"}' --theme light --planted 131072 --size 1440x900

# film NAME.png OPTION...: an animated PNG of at most 1.5 MB.
films=(scaling.png needle.png learning.png)
film() {
    wanted "$1" || return 0
    drawn+=("$1")
    "$app" render --film --rest 1.6 "${@:2}" --theme dark -o "$1"
    ! python3 -c 'import PIL' 2>/dev/null || python3 ../smaller_film.py "$1"
}
printf '%s\n' '{"action":"set_scaling","on":false}' '{"action":"set_scaling","on":true}' >"$journal"
film scaling.png --replay "$journal" --preset "$sentence" --stage weights --select weights:7,1 --size 1120x720
printf '%s\n' '{"action":"go_to_needle"}' >"$journal"
film needle.png --replay "$journal" --planted 16384 --size 880x560
film learning.png --workspace learn --size 880x720
draw model-dark.png '{"action":"set_workspace","workspace":"model"}' --theme dark stories
draw alignment-dark.png '{"action":"set_workspace","workspace":"heads"}' --theme dark translate
draw learn-pronouns-dark.png '{"action":"set_workspace","workspace":"learn"}
{"action":"load_experiment","experiment":"pronouns"}
{"action":"train_to","until":256}' --theme dark
draw edges-dark.png '{"action":"set_workspace","workspace":"heads"}
{"action":"show_circuit","show":"edges","over":"text"}' --theme dark pronouns
scene=$(mktemp --suffix=.npz)
trap 'rm -f "$journal" "$scene"' EXIT
if wanted heads-image-dark.png; then
    python3 ../image_scene.py "$scene"
    draw heads-image-dark.png '{"action":"set_workspace","workspace":"heads"}
{"action":"select_heads_pair","row":205,"column":0}' --theme dark "$scene"
fi

((${#drawn[@]} > 0)) || { echo "images.sh: no picture is named $only; docs/images has the names" >&2; exit 2; }
for picture in "${drawn[@]}"; do
    [[ " ${films[*]} " != *" $picture "* ]] || continue # it moves
    ! command -v convert >/dev/null || convert "$picture" -dither None -colors 256 "PNG8:$picture"
done
