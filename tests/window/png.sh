# shellcheck shell=bash
# Width x height of a PNG file: bytes 16 to 23, most significant first.
png_size() { od -An -tu1 -j16 -N8 "$1" | awk '{ print $3 * 256 + $4 "x" $7 * 256 + $8 }'; }
