#!/usr/bin/env bash
# The text of a PDF can be selected.   pdf_text.sh ATTNSCOPE
command -v pdftotext >/dev/null || { echo "skipped: pdftotext is not installed"; exit 77; }
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../window/scratch.sh"

# reads WORDS ARGUMENT...: a figure made with these has the words as text.
reads() {
    local words=$1
    shift
    "$app" render "$@" -o figure.pdf
    pdftotext -layout figure.pdf figure.txt
    grep -qF -- "$words" figure.txt ||
        fail "'$words' is not in the text of $*"
}

reads 'looks at' --stage weights
reads 'exp' --chrome --stage weights
reads '.577' --stage weights
reads 'Raw scores' --stage scores
reads 'almost no gradient' --workspace saturation
reads '512 × 512' --planted 512
reads 'Masks' --chrome --stage q
