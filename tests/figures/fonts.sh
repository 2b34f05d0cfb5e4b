#!/usr/bin/env bash
# With DejaVu alone the window is whole; with the other fonts each face is set in its own.   fonts.sh ATTNSCOPE
command -v pdffonts pdftotext fc-list >/dev/null || { echo "skipped: poppler-utils and fontconfig are wanted"; exit 77; }
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../window/scratch.sh"
fonts_of() { pdffonts "$1" | tail -n +3; }

dejavu=$(fc-list -f '%{file}\n' 'DejaVu Sans' | head -n 1)
[[ -n $dejavu ]] || { echo "skipped: DejaVu is not installed"; exit 77; }
cat >dejavu.conf <<XML
<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${dejavu%/*}</dir><cachedir>$work/cache</cachedir></fontconfig>
XML

for stage in scores scaled weights context; do
    FONTCONFIG_FILE=$work/dejavu.conf "$app" render --chrome --stage $stage -o $stage.pdf
    fonts_of $stage.pdf | grep -q DejaVu || fail "no DejaVu in $stage.pdf"
    ! fonts_of $stage.pdf | grep -qv DejaVu || fail "another font in $stage.pdf: $(fonts_of $stage.pdf)"
    ! pdftotext $stage.pdf - | grep -q $'\xEF\xBF\xBD' || fail "a sign is missing in $stage.pdf"
done
FONTCONFIG_FILE=$work/dejavu.conf "$app" render --chrome --stage weights --size 1280x720 -o alone.png 2>said.txt
[[ ! -s said.txt ]] || fail "with DejaVu alone it says: $(cat said.txt)"

"$app" render --chrome --stage weights -o all.pdf
has() { [[ -z $(fc-list "$1") ]] || fonts_of all.pdf | grep -q "$2" || fail "$1 is here and sets nothing"; }
has STIXGeneral:italic STIXGeneral-Italic
has Inter Inter
has 'JetBrains Mono' JetBrainsMono
