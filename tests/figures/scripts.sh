#!/usr/bin/env bash
# Words of every script are text in SVG and PDF, in fonts of this machine that have them.   scripts.sh ATTNSCOPE
command -v pdffonts pdftotext fc-list >/dev/null || { echo "skipped: poppler-utils and fontconfig are wanted"; exit 77; }
for language in ar he hi th zh ko; do
    [[ -n $(fc-list ":lang=$language") ]] ||
        { echo "skipped: no font of this machine has $language; install fonts-noto-core and fonts-noto-cjk"; exit 77; }
done
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../window/scratch.sh"

words=(القطة جلست חתול बिल्ली แมว क्षत्रिय)
sentence="${words[*]} 猫座 고양"
for workspace in step heads; do
    "$app" render --workspace $workspace --sentence "$sentence" -o words.svg
    "$app" render --workspace $workspace --sentence "$sentence" -o words.pdf
    "$app" render --chrome --workspace $workspace --sentence "$sentence" -o words.png
    # Without marks of direction and spaces: pdftotext adds its own.
    pdftotext words.pdf - | LC_ALL=C sed -E 's/\xE2(\x80[\x8E\xAA-\xAE]|\x81[\xA7-\xA9])| //g' >words.txt
    for word in "${words[@]}" 猫 座 고 양; do
        grep -q ">[^<]*$word" words.svg || fail "$workspace: '$word' is no text of the SVG"
        grep -qF -- "$word" words.txt || fail "$workspace: '$word' is no text of the PDF"
    done
    ! grep -q $'\uFFFD' words.txt words.svg || fail "$workspace: a character is missing"
    (($(pdffonts words.pdf | tail -n +3 | grep -cv -e Inter -e JetBrains -e STIX) > 2)) ||
        fail "$workspace: $(pdffonts words.pdf)"
done
