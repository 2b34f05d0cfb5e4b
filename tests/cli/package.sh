#!/usr/bin/env bash
# What is installed beside the program, by the tools that will read it.
#   package.sh man ATTNSCOPE        groff and man have nothing to warn of, and print every command
#   package.sh desktop ENTRY        desktop-file-validate
#   package.sh mime TYPES ENTRY     update-mime-database takes the types, and they are those of the entry
#   package.sh metainfo FILE ENTRY  appstreamcli or xmllint, and its types are those of the entry
# 77: the tool is not here.
set -euo pipefail
fail() { echo "package: $*"; exit 1; }
skip() { echo "package: $* is not here: not checked"; exit 77; }
has() { command -v "$1" >/dev/null; }
types_of() { sed -n 's/^MimeType=//p' "$1" | tr ';' '\n' | sed '/^$/d' | sort; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

what=$1 file=$2 entry=${3:-}
case $what in
man)
    has groff || skip groff
    "$file" --man >"$work/attnscope.1"
    groff -man -Tutf8 -Kutf8 -ww "$work/attnscope.1" >"$work/page" 2>"$work/said" || fail "$(cat "$work/said")"
    [[ ! -s $work/said ]] || fail "groff: $(head "$work/said")"
    if has man; then
        LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -l "$work/attnscope.1" >"$work/page" 2>"$work/said"
        [[ ! -s $work/said ]] || fail "man: $(head "$work/said")"
    fi
    sed 's/\x1b\[[0-9;]*m//g; s/.\x08//g' "$work/page" >"$work/text"
    for words in 'attnscope trace IN' '--causal' '--exit-after-replay' 'EXIT STATUS' '128 + N'; do
        grep -qF -e "$words" "$work/text" || fail "no '$words' on the page"
    done
    ;;
desktop)
    has desktop-file-validate || skip desktop-file-validate
    desktop-file-validate "$file"
    ;;
mime)
    has update-mime-database || skip update-mime-database
    mkdir -p "$work/mime/packages"
    cp "$file" "$work/mime/packages"
    XDG_DATA_HOME=$work update-mime-database "$work/mime" 2>"$work/said" || fail "$(cat "$work/said")"
    [[ ! -s $work/said ]] || fail "$(cat "$work/said")"
    types_of "$entry" >"$work/wanted"
    grep -v '^#' "$work/mime/types" | sort >"$work/got"
    diff "$work/wanted" "$work/got" || fail "the entry names other types"
    for glob in '*.attnscope.json' '*.safetensors' '*.npy' '*.npz'; do
        grep -qF ":$glob" "$work/mime/globs" || fail "no type for $glob"
    done
    ;;
metainfo)
    sed -n 's:.*<mediatype>\(.*\)</mediatype>.*:\1:p' "$file" | sort | diff <(types_of "$entry") - ||
        fail "the entry names other types"
    if has appstreamcli; then
        # An id that is a domain turned round would name one that nobody of the project has.
        appstreamcli validate --no-net --no-color --override=cid-desktopapp-is-not-rdns=info "$file"
    elif has xmllint; then
        xmllint --noout "$file"
    else
        skip 'appstreamcli or xmllint'
    fi
    ;;
*) fail "unknown: $what" ;;
esac
