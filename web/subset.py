#!/usr/bin/env python3
"""Writes a font with only the glyphs that the window takes from fonts: the browser draws all others (web/app/fonts/layout.cpp).

    subset.py app/common/draw/fonts.cpp IN OUT

The characters are those of kTextAndMathematics. Without hints, kerning and ligatures, which the page's rasterizer (stb_truetype)
does not read, and without the family's name, which licences reserve for the whole font.
"""
import pathlib
import re
import sys

from fontTools import subset


def characters(source):
    """The numbers of kTextAndMathematics: pairs of first and last, then 0."""
    found = re.search(r"kTextAndMathematics\[\] = \{(.*?), 0\};", source, re.S)
    if not found:
        sys.exit("kTextAndMathematics is not where subset.py looks for it")
    numbers = [int(number, 16) for number in found[1].split(",")]
    return [code for first, last in zip(numbers[::2], numbers[1::2]) for code in range(first, last + 1)]


def main(source, whole, part):
    options = subset.Options(hinting=False, layout_features=[], name_IDs=[0, 13, 14], notdef_outline=True,
                             recalc_timestamp=False)
    options.drop_tables += ["DSIG", "FFTM", "GDEF", "GPOS", "GSUB", "MATH", "kern"]
    font = subset.load_font(whole, options)
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes=characters(pathlib.Path(source).read_text()))
    chosen.subset(font)
    subset.save_font(font, part, options)


main(*sys.argv[1:])
