#!/usr/bin/env bash
# It ends at once while it reads a file, and soon after a signal whatever is being computed.   ends.sh ATTNSCOPE
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/window.sh"
real=$app
app=$work/interruptible
printf '#!/bin/sh\nexec env --default-signal=INT,HUP,TERM "%s" "$@"\n' "$real" >"$app"
chmod +x "$app"

is_reading() { grep -q '^Name:.*attnscope' "/proc/$pid/status" && grep -q '^State:.*S' "/proc/$pid/status"; }
# computes: it has used two seconds of processor time.
computes() { (($(cut -d ' ' -f 14,15 --output-delimiter=+ "/proc/$pid/stat") > 200)); }

# A start that reads: a pipe that brings nothing is a file that takes for ever.
for signal in INT TERM HUP; do
    mkfifo slow-$signal
    "$app" - <slow-$signal &
    pid=$!
    exec 9>slow-$signal  # held open: there is no end of file
    wait_for "the program to read" is_reading
    kill -s $signal "$pid"
    ends $((128 + $(kill -l $signal)))
    exec 9>&-
done

# A comparison that would take many minutes: 8 heads of 6000 queries and keys.
python3 - <<'END' || exit 77
import io, struct, zipfile
def array(shape, value):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    count = 1
    for n in shape:
        count *= n
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<f", value) * count
with zipfile.ZipFile("long.npz", "w") as file:
    for n, name in enumerate(["Q", "K", "V", "context"]):
        file.writestr(name + ".npy", array((1, 8, 6000, 64), 0.01 * (n + 1)))
END
for signal in TERM INT; do
    start --workspace verify long.npz
    wait_for "the comparison" computes
    kill -s $signal "$pid"
    ends $((128 + $(kill -l $signal)))
done
echo "ends while it reads, and while it compares"
