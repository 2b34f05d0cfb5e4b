#!/usr/bin/env bash
# The Lookup workspace by mouse and keyboard: the query dragged, a key, a value and the temperature, another memory, pairs
# added and removed; the other pages; the journal played again gives the same state.   lookup.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

start --preset the-cat-sat-down --save-session recorded.json
goes_to lookup

# The query stands in the plane of keys: the first drag that moves it finds it; undo takes the whole drag back.
mapfile -t plane < <(points 531 531 1 422 422 1; points 430 590 16 374 474 16)
first_that '"action":"move_lookup_query"' drag_right "${plane[@]}"
does '"action":"end_gesture"' drag_right $((x + 80)) "$y"
does '"action":"undo"' press ctrl+z
does '"action":"move_lookup_query"' press Right
does '"action":"move_lookup_query"' press Up
mapfile -t keys < <(points 469 469 1 564 564 1; points 430 530 16 534 594 16)
first_that '"action":"move_lookup_key"' drag_right "${keys[@]}"
does '"action":"undo"' press ctrl+z
does '"action":"move_lookup_value"' press ctrl+Right
does '"action":"set_lookup_temperature","temperature":0.01' press h
does '"action":"set_lookup_temperature","temperature":100' press m
does '"action":"set_lookup_temperature","temperature":1.0' press o
does '"action":"add_lookup_pair"' press a
does '"action":"remove_lookup_pair"' press Delete
does '"action":"load_memory","memory":"' press n
mapfile -t rows < <(points 1500 1500 10 478 518 20; points 1500 1500 10 430 640 10)
first_that '"action":"select_lookup_pair"' click "${rows[@]}"

# Capacity.
does '"action":"show_lookup_page","page":"capacity"' press Next
does '"action":"set_capacity_width","width":32' press Right
does '"action":"set_capacity_pairs","pairs":64' press Up
first_that '"action":"set_capacity_width"' drag_right $(points 400 700 100 260 460 40)

# The document's tokens.
does '"action":"show_lookup_page","page":"similarity"' press Next
does '"action":"set_similarity_measure","by":"cosine"' press m
does '"action":"set_similarity_softmax","softmax":"rows"' press a
does '"action":"set_similarity_of","of":"x"' press x
does '"action":"select_lookup_cell"' press Down
does '"action":"show_lookup_page","page":"alignment"' press Next
does '"action":"select_lookup_cell"' press Down
does '"action":"show_lookup_page","page":"permutation"' press Next
does '"action":"shuffle_tokens"' press s
does '"action":"order_tokens","order":"reversed"' press r
does '"action":"order_tokens","order":"document"' press d
does '"action":"set_permutation_position","position":"sinusoidal"' press n
first_that '"action":"move_token"' drag_right $(points 580 640 15 140 156 8)

quits_and_replays
