#!/usr/bin/env bash
# Figures of every workspace in every format, without a display or OpenGL.   export.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../window/scratch.sh"
unset DISPLAY WAYLAND_DISPLAY
npz=$here/../goldens/npz

# begins FILE BYTES
begins() { [[ $(head -c "${#2}" "$1" | tr -d '\0') == "$2" ]] || fail "$1 does not begin with $2"; }
# says FILE WORDS...: each is the text of one <text>, or a part of it.
says() {
    local file=$1 words
    shift
    for words; do grep -qE "<text [^>]*>[^<]*$words" "$file" || fail "$file does not say '$words'"; done
}

# No OpenGL: a figure needs none.
export LIBGL_DRIVERS_PATH=$work/none EGL_PLATFORM=none

for format in svg pdf png; do
    "$app" render --stage weights --select weights:1,2 -o "step.$format"
    "$app" render --workspace saturation --theme light -o "saturation.$format"
    "$app" render --planted 512 -o "large.$format"
    "$app" render --planted 512 -o "again.$format"
    cmp "large.$format" "again.$format" || fail "the second large.$format is another"
done
for name in step saturation large; do
    begins "$name.svg" '<svg xmlns='
    begins "$name.pdf" '%PDF-'
    ! cmp -s "$name.svg" step.svg || [[ $name == step ]] || fail "$name.svg is step.svg"
    if command -v python3 >/dev/null; then
        python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$name.svg" ||
            fail "$name.svg is not well-formed"
    fi
done

# The canvas alone, with its words; the window only with --chrome.
says step.svg ' looks at ' Softmax cat '\.160' evenness
says saturation.svg without 'almost no gradient' '82 %'
says large.svg '512 × 512' exact
! grep -q '>Help<' step.svg || fail "the rail is in the canvas's figure"
grep -q '<image ' large.svg || fail "the map is not in large.svg"
"$app" render --chrome --stage weights --select weights:1,2 -o chrome.svg
says chrome.svg ' looks at ' Help Masks causal Model 'The cat sat down' LaTeX
grep -q 'width="1600" height="1000"' chrome.svg || fail "chrome.svg is not of the window's size"

# A sentence that is scrolled on screen is whole in its figure: the colour bar of A ends at 1.
"$app" render --stage weights --sentence "$(seq -s ' ' 1001 1064)" -o long.svg
says long.svg '1064'
grep -q '>1</text>' long.svg || fail "the last matrix is cut"

# One of 96 tokens: the note ends where the page ends.
# place FILE ATTRIBUTE WORDS: of the last text with these words, in whole pixels.
place() { sed -nE "s|^<text .* $2=\"([0-9]+)[0-9.]*\".*>$3</text>\$|\1|p" "$1" | tail -n 1; }
"$app" render "$npz/many_tokens.npz" --workspace step --stage weights -o high.svg
read -r left width < <(sed -nE 's|^<svg .*width="([0-9]+)".* viewBox="([0-9]+) .*|\2 \1|p' high.svg)
note=' 2' # what follows the index of "1 head, 96 × 96, d_k 2"
(($(place high.svg x "$note") + $(place high.svg textLength "$note") > left + width - 32)) ||
    fail "the note does not end where the page ends"

# Each cell says its pair and its number under the pointer, or none does.
grep -q '<title>A\[[^]]*\] = 0\.1[56]' step.svg || fail "no cell of step.svg says its number"
"$app" render --stage weights --select weights:1,2 --no-titles -o plain.svg
! grep -q '<title>' plain.svg || fail "--no-titles leaves titles"

# Standard output takes its format by name.
"$app" render --format svg --stage weights --select weights:1,2 -o - >piped.svg
cmp step.svg piped.svg || fail "standard output differs from the file"
"$app" render --stage weights --select weights:1,2 -o - >piped.png
cmp step.png piped.png || fail "standard output is not PNG where no format is named"
[[ ! -e ./- ]] || fail "a file is named -"

# Every stage.
for stage in x q k v scores scaled masked weights context output; do
    "$app" render --stage "$stage" -o "stage.svg"
    says stage.svg cat
done

# Of a fixed width: columns of a page, their letters 7 to 9 pt (of 96 px an inch), the headline beside them; a slide.
for size in 85mm:321 120mm:453 180mm:680 slide:1280; do
    "$app" render --stage weights --select weights:1,2 --width "${size%:*}" -o wide.svg
    grep -qE "^<svg [^>]*width=\"${size#*:}" wide.svg || fail "${size%:*} is not ${size#*:} px wide"
    [[ $size != slide* ]] || break
    grep -q ' looks at ' wide.caption.txt || fail "the caption of ${size%:*} has no headline"
    ! grep -q ' looks at ' wide.svg || fail "the headline of ${size%:*} is in the figure too"
    grep -oE 'font-size="[0-9.]+' wide.svg | tr -dc '0-9.\n' |
        awk '$1 < 9.3 || $1 > 12.1 { bad = 1 } END { exit bad }' ||
        fail "letters of ${size%:*} are not 7 to 9 pt"
done

# A caption has no instructions for the window.
for workspace in compare learn; do
    "$app" render --workspace "$workspace" --width 85mm -o told.svg
    ! grep -qE '(Press|Space) ' told.caption.txt || fail "the caption of $workspace has an instruction"
    grep -q '[a-z]' told.caption.txt || fail "the caption of $workspace is empty"
done

# On cream, and on nothing: of a PNG the type of its colours says that some are clear.
"$app" render --stage weights --width 85mm --paper cream -o cream.svg
grep -q '<rect [^>]*#fbf6e8' cream.svg || fail "no cream lies behind cream.svg"
"$app" render --stage weights --width 85mm -o white.svg
"$app" render --stage weights --width 85mm --paper transparent -o clear.svg
(($(grep -c '<rect' white.svg) == $(grep -c '<rect' clear.svg) + 1)) || fail "clear.svg has a ground"
for paper in plain:2 transparent:6; do
    "$app" render --stage weights --paper "${paper%:*}" -o ground.png
    [[ $(od -An -tu1 -j25 -N1 ground.png | tr -d ' ') == "${paper#*:}" ]] ||
        fail "--paper ${paper%:*}: colours of another type"
done

# refuses WORDS ARGUMENT...: exit 2, one line with the words, no file.
refuses() {
    local words=$1 got=0
    shift
    "$app" render "$@" 2>error.txt >/dev/null || got=$?
    ((got == 2)) || fail "exit code $got, not 2: $*"
    (($(wc -l <error.txt) == 1)) || fail "not one line: $(cat error.txt)"
    grep -qF -- "$words" error.txt || fail "'$words' is not in: $(cat error.txt)"
}
refuses "has the extension .bmp: expected .svg, .pdf or .png" -o fig.bmp
refuses "has no extension: expected .svg, .pdf or .png" -o fig
refuses "--no-titles is for SVG" --no-titles -o fig.png
refuses "--format is 'gif'" --format gif -o fig.svg
refuses "--width is '90mm'" --width 90mm -o fig.svg
refuses "--paper is 'blue'" --paper blue -o fig.svg
refuses "expected no --chrome" --width 85mm --chrome -o fig.svg
[[ ! -e fig.bmp && ! -e fig && ! -e fig.svg && ! -e fig.png ]] || fail "a refused figure was written"

# No fonts at all: worse type, but a figure.
echo '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig></fontconfig>' >fonts.conf
for format in svg pdf png; do
    FONTCONFIG_FILE=$work/fonts.conf "$app" render --stage weights -o "bare.$format" ||
        fail "no $format without fonts"
done
