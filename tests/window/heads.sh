#!/usr/bin/env bash
# The Heads workspace in the real window, of a model's folder with two layers of other widths: a small picture, order,
# two heads pinned and compared, the measures copied; the journal played again gives the same state.   heads.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
opens_encoder
goes_to heads

# A small picture, the next heads and layers by key, a weight.
first_that '"action":"show_head"' click $(points 150 500 30 130 330 30)
does '"action":"show_head"' press Home
does '"action":"show_head","head":1,"batch":null,"layer":0' press Right
does '"action":"show_head","head":1,"batch":null,"layer":1' press Down
does '"action":"show_head","head":1,"batch":null,"layer":0' press Up
first_that '"action":"select_heads_pair"' click $(points 700 900 40 300 500 40)
does '"action":"select_heads_pair"' press shift+Down

# Two pinned, swapped, in order of a measure; the palette sorts too.
does '"action":"pin_head","layer":0,"head":1,"on":true' press space
does '"action":"show_head","head":1,"batch":null,"layer":1' press Down
does '"action":"pin_head","layer":1,"head":1,"on":true' press space
does '"action":"swap_pins"' press x
does '"action":"sort_heads","measure":"entropy"' press n
does '"action":"sort_heads","measure":"previous"' palette "sort by previous token"
does '"action":"set_heads_range","own":true' press o
does '"action":"copy_head_measures"' press c
does '"action":"unpin_heads"' press Escape

# The same head in Step.
goes_to step
goes_to heads

quits_and_replays
