#!/usr/bin/env bash
# The text of a PDF can be selected.   pdf_text.sh ATTNSCOPE
set -euo pipefail
command -v pdftotext >/dev/null || { echo "skipped: pdftotext is not installed"; exit 77; }
app=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# reads WORDS ARGUMENT...: a figure made with these has the words as text.
reads() {
    local words=$1
    shift
    "$app" render "$@" -o "$work/figure.pdf"
    pdftotext -layout "$work/figure.pdf" "$work/figure.txt"
    grep -qF -- "$words" "$work/figure.txt" ||
        { echo "FAILED: '$words' is not in the text of $*"; exit 1; }
}

reads 'Attention weights' --stage weights
reads 'exp' --stage weights
reads '0.577' --stage weights
reads 'Raw scores' --stage scores
reads 'unscaled' --workspace saturation
reads '512 × 512' --planted 512
reads 'Saturation' --chrome --stage q
