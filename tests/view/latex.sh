#!/usr/bin/env bash
# LaTeX takes every formula of the stages and what "Copy as LaTeX" gives. Wants pdflatex (Debian:
# texlive-latex-base); ./test does not run it.   latex.sh LATEX_COPIES
#   cmake --build build/dev --target latex_copies && tests/view/latex.sh build/dev/latex_copies
set -euo pipefail
command -v pdflatex >/dev/null || { echo "skipped: pdflatex is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" >"$work/copies.tex"
cd "$work"
pdflatex -interaction=nonstopmode -halt-on-error copies.tex >log.txt || {
    grep -A4 '^!' log.txt
    exit 1
}
grep -o 'Output written.*' log.txt
