#!/usr/bin/env bash
# The Windows program under Wine, as the tests of tests/window start the program: by_wine.sh ARGS...
export WINEDEBUG=${WINEDEBUG:--all} WINEDLLOVERRIDES=mscoree,mshtml= LC_ALL=C.UTF-8
program=${ATTNSCOPE_WINDOWS_PROGRAM:-$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../build/windows/attnscope.exe}
exec wine "$program" "$@"
