#!/usr/bin/env bash
# A profile that is full everywhere is of one colour in a PDF, at every resolution.   pdf_seams.sh ATTNSCOPE
command -v pdftoppm >/dev/null || { echo "skipped: pdftoppm is not installed"; exit 77; }
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../window/scratch.sh"

"$app" render --planted 3000 -o figure.svg
"$app" render --planted 3000 -o figure.pdf
read -r width height < <(sed -nE 's|^<svg .* width="([0-9]+)" height="([0-9]+)".*|\1 \2|p' figure.svg)
for dpi in 72 80 96 150 200; do
    # One pixel wide, through the middle of the strip at the right edge.
    pdftoppm -r $dpi -x $(((width - 36) * dpi / 96)) -y $((height * dpi / 300)) \
        -W 1 -H $((height * dpi / 300)) figure.pdf strip
    colors=$(tail -c +"$((1 + $(head -n 3 strip-1.ppm | wc -c)))" strip-1.ppm | od -An -v -tx1 -w3 | sort -u)
    (($(wc -l <<<"$colors") == 1)) || fail "seams at $dpi dpi:" $colors
    [[ $colors != " 0e 12 17" ]] || fail "no profile there"
done
