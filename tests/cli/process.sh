#!/usr/bin/env bash
# The program as a process: what it says when its streams, its memory or its time are taken away.
#   process.sh ATTNSCOPE QKV.npz
input=$(readlink -f "$2")
# shellcheck source=SCRIPTDIR/../window/scratch.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../window/scratch.sh"

# refuses CODE WORDS COMMAND...: it ends with this code and one line that has these words.
refuses() {
    local code=$1 words=$2 got=0
    shift 2
    timeout 20 "$@" 2>error.txt || got=$?
    ((got == code)) || fail "exit code $got, not $code: $*"
    (($(wc -l <error.txt) == 1)) || fail "expected one line: $(cat error.txt)"
    grep -q -- "$words" error.txt || fail "'$words' is not in: $(cat error.txt)"
}

# Output that goes nowhere is a failure, however little it is.
for words in --help --version stages info "stages --json" "trace --help" saturate; do
    # shellcheck disable=SC2086  # two words
    refuses 1 'standard output cannot be written' "$app" $words >/dev/full
done

# Streams that are closed from the start are not taken for files that the program opens.
"$app" trace "$input" -o open.npz >/dev/null 2>&1
got=0
"$app" trace "$input" -o closed.npz <&- >&- 2>&- || got=$?
((got == 1)) || fail "exit code $got, though the summary is lost"
cmp open.npz closed.npz || fail "the file is another one when all streams are closed"
refuses 1 'it is closed' "$app" stages >&-

# A file that may not grow further is a failure, and nothing is left of it.
mkdir limited
printf '{"task":"induction"}' >spec.json
for words in "trace $input -o limited/x.npz" "heads $input -o limited/x.csv" \
    "render $input -o limited/x.png" "train spec.json -o limited/run --steps 1"; do
    got=0
    # shellcheck disable=SC2086  # several words
    said=$( (ulimit -f 0 && timeout 20 "$app" $words) 2>&1 >/dev/null) || got=$?
    ((got == 1)) && [[ $said == *'File too large'* ]] || fail "exit code $got of $words: $said"
done
[[ -z $(find limited -type f) ]] || fail "left: $(find limited)"

# A pipe has no name that can be opened twice.
refuses 2 'is a pipe or device; expected a file, or - for standard input' "$app" trace <(cat "$input") -o x.npz
refuses 2 'is a pipe or device' "$app" heads <(cat "$input")
ln -s loop loop
refuses 2 'Too many levels' "$app" heads loop

# - is standard input and output, and makes no file.
"$app" trace - -o - <"$input" 2>summary.txt | cat >piped.npz
cmp open.npz piped.npz || fail "the file is another one through pipes"
grep -q 'standard input -> standard output' summary.txt || fail "the summary says $(cat summary.txt)"
[[ ! -e ./- ]] || fail "a file named - was made"
refuses 2 'standard input is empty' "$app" trace - -o out.npz </dev/null
refuses 2 'the same file as the input' "$app" trace open.npz -o - >>open.npz
cmp open.npz piped.npz || fail "the input was written to"
got=0
"$app" trace "$input" -o - >/dev/full 2>error.txt || got=$?
((got == 1)) && grep -q 'standard output cannot be written' error.txt || fail "exit code $got: $(cat error.txt)"

# A reader that has had enough is no error of ours.
got=0
(trap - PIPE && "$app" stages --json) 2>error.txt | head -c 1 >/dev/null || got=$?
((got == 141 || got == 0)) && [[ ! -s error.txt ]] || fail "exit code $got: $(cat error.txt)"

# Too little memory is a sentence. Sanitizers reserve more than any limit.
if ! grep -qa __asan_init "$app" && ! grep -qa __tsan_init "$app"; then
    ln -s /dev/zero zero.json
    (ulimit -v 150000 && refuses 1 'not enough memory' "$app" render --session zero.json -o x.png)
fi
