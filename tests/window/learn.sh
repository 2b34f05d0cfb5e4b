#!/usr/bin/env bash
# The Learn workspace in the real window: the recorded run is left, training runs beside the window and is paused, looked back at, switched and
# gone on with; another setting, a moment opened in Step; the journal played again gives the same state.   learn.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"

start --save-session recorded.json --preset the-cat-sat-down
goes_to learn
does '"action":"show_learn_step"' press Left
does '"action":"new_training"' press n
does '"action":"train_to","until":600' press space
does '"action":"train_to"' press space
does '"action":"train_to"' press shift+Right
does '"action":"show_learn_step"' press Home
does '"action":"show_learn_step"' press Right
does '"action":"switch_scaling","run":"b"' press shift+s
does '"action":"switch_learn_head","run":"a"' press x
does '"action":"show_learn_head","layer":1' press Down
does '"action":"show_learn_measure","learn_measure":"loss"' press Next
does '"action":"new_training"' press n
does '"action":"train_to"' press shift+Right
does '"action":"show_learn_page","learn_page":"settings"' palette "panel: settings"
first_that '"action":"set_learn_field"' drag_right $(points 1420 1440 4 190 560 34)
does '"action":"open_learn_moment","run":"a","workspace":"step"' palette "open this step of a in step"

quits_and_replays
