#!/usr/bin/env bash
# Fails when a comment, a sentence or a name of core speaks of the app: options of the command line, commands, and parts
# of the window. Core is a library of other programs too: what it says is in its own names, as query_offset.
# core/result.* renders remedies in the style that a front end sets, with the flags of a command too: it is left out. So is
# Python code that core quotes, which imports the package.
# Usage: core_words.sh TREE
set -euo pipefail
cd "$1"

found=0

# search REGEX WHY
search() {
    local hits
    hits=$(grep -rnE --include='*.h' --include='*.cpp' --include='*.inl' -e "$1" core |
        grep -vE '"attnscope run |import attnscope, |^core/result\.' || true)
    [[ -n $hits ]] || return 0
    echo "$2:"
    echo "$hits"
    found=1
}

options=$(sed -nE 's/^ *\{"([a-z]+-[a-z-]+)", .*/\1/p' app/files/options.cpp | paste -sd '|')
[[ -n $options ]] || { echo "app/files/options.cpp: no options are found"; exit 1; }

search '(//|").*(^|[^A-Za-z0-9_)-])--[a-z]' 'core knows no options of the command line'
search "\b($options)\b" 'core says the names of its fields'
search '\battnscope\b' 'core knows no program'
search '[Cc]ommand[ _-]line|[Ww]orkspace|\b[Ss]essions?\b|[Jj]ournal|\b[Rr]ibbon|[Ii]nspector|[Tt]ooltip|[Tt]oast|[Kk]eyboard|\b[Mm]ouse|\bCtrl\b|\b[Cc]lick|\b([Pp]ress|[Hh]it|[Kk]eys?) [A-Z0-9]\b *(to|opens|shows)|\b(ImGui|GLFW|OpenGL|GUI|UI)\b|\b(the|our|this) app\b' \
    'core knows no window and nothing in it'
exit "$found"
