#!/usr/bin/env bash
# ./run with a stand-in for ninja: it builds once, then again only after a change, and reports a failure.   run_script.sh PROJECT
set -euo pipefail
project=$(readlink -f "$1")
fail() { echo "run_script: $*"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

mkdir -p tools bin third_party app core cmake shaders build/release
cp "$project/run" .
touch CMakeLists.txt CMakePresets.json app/a.cpp build/release/build.ninja
echo 'build_packages=(); install_packages() { return 1; }' >third_party/packages.sh
cat >bin/ninja <<'END'
#!/usr/bin/env bash
echo built >>"$RUN_LOG"
[[ ! -e edit_meanwhile ]] || { touch -d '+1 second' app/a.cpp; rm edit_meanwhile; }
for ((n = 1; n <= 40; ++n)); do echo "[$n/40] Building CXX object $n.o"; done
if [[ -e broken ]]; then echo "FAILED: a.cpp: an error of the compiler"; exit 1; fi
printf '#!/bin/sh\necho program "$@"\n' >build/release/attnscope
chmod +x build/release/attnscope
END
printf '#!/bin/sh\n' >bin/cmake
chmod +x bin/*
export PATH=$work/bin:$PATH RUN_LOG=$work/log
: >log
builds() { wc -l <log; }

touch -d '1 hour ago' CMakeLists.txt CMakePresets.json app/a.cpp app core cmake shaders third_party third_party/packages.sh
[[ $(./run trace x 2>said) == 'program trace x' ]] || fail "the program is not started with its arguments"
grep -q 'Building attnscope, once' said || fail "nothing is said before the build: $(cat said)"
grep -q '^40 of 40 steps$' said || fail "no progress: $(cat said)"
(($(builds) == 1)) || fail "$(builds) builds at the first start"
./run x 2>said >out || fail "the second start fails"
[[ ! -s said ]] || fail "a second start says $(cat said)"
(($(builds) == 1)) || fail "a second start builds"

# expect COUNT WORDS: a start, and COUNT builds in all.
expect() {
    ./run x >out 2>&1 || fail "$2: $(cat out)"
    (($(builds) == $1)) || fail "$2"
}
touch app/a.cpp
expect 2 "a change is not built"
expect 2 "a change is built twice"
rm app/a.cpp
expect 3 "a file that is gone is not seen"
touch app/a.cpp edit_meanwhile
expect 4 "a new file is not built"
expect 5 "an edit during the build is lost"
before=$(builds)
touch broken app/a.cpp
if ./run x >out 2>said; then fail "a failed build starts the program"; fi
grep -q 'an error of the compiler' said || fail "the compiler's words are lost"
if ./run x >out 2>said; then fail "a failed build counts as built"; fi
(($(builds) == before + 2)) || fail "a failed build is not tried again"
echo "built once, after each change, and never else"
