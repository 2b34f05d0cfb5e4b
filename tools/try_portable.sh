#!/usr/bin/env bash
# Tries the packages of tools/portable.py in a bare Debian: without fonts, X, GTK and OpenGL, then the window under Xvfb.
#   try_portable.sh ROOT FOLDER
# ROOT is made by: debootstrap --variant=minbase bookworm ROOT (or another release, or Ubuntu). FOLDER has the wheel and the archive.
# Wants root (chroot). What apt installs in ROOT stays there.
set -euo pipefail
(($# == 2)) || { sed -n '2,5s/^# \?//p' "$0"; exit 2; }
root=$(readlink -f "$1") folder=$(readlink -f "$2")
[[ -x $root/usr/bin/apt-get ]] || { echo "$root is not the root of a Debian"; exit 2; }
[[ $root != / ]] || { echo "the root of this machine is not tried"; exit 2; }

step() { echo "== $*"; }
fail() { echo "try_portable: $*"; exit 1; }
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp/try/home LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
mounted=
cleanup() {
    rm -rf "${root:?}/tmp/try"
    [[ -z $mounted ]] || umount "$root/proc"
}
trap cleanup EXIT
if [[ ! -e $root/proc/self ]]; then
    mount -t proc proc "$root/proc" && mounted=yes
fi
mkdir -p "$root/tmp/try/home"
cp "$folder"/attnscope-*.whl "$folder"/attnscope-*.tar.xz "$root/tmp/try/"
for library in libX11 libgtk-3 libGL libEGL libcairo libpango; do
    ! compgen -G "$root/usr/lib/*/$library.so*" >/dev/null || echo "note: $root has $library: it is not bare"
done

# works PROGRAM: everything that needs no OpenGL, in /tmp/try/PART.
works() {
    inside mkdir -p "/tmp/try/$2"
    inside sh -ec "cd /tmp/try/$2
        $1 --version
        $1 trace --model pronouns --text 'the animal did not cross the street because it was too tired' -o out.npz >trace.txt
        $1 diff out.npz --layer 1 >diff.txt
        for ending in svg pdf png; do $1 render --preset exercise --width 85mm -o x.\$ending; done
        $1 render --preset exercise --workspace heads --size 1280x720 -o heads.svg
        $1 info" >"$root/tmp/try/$2.txt" 2>&1 || fail "$(tail "$root/tmp/try/$2.txt")"
    ! grep -i fontconfig "$root/tmp/try/$2.txt" || fail "fontconfig complains"
    grep -aq 'FontName /[A-Z]*+Inter' "$root/tmp/try/$2/x.pdf" || fail "the figure is not in the packed fonts: $(grep -a FontName "$root/tmp/try/$2/x.pdf")"
    head -n 1 "$root/tmp/try/$2.txt"
}

step "archive"
inside sh -c 'cd /tmp/try && tar -xf attnscope-*.tar.xz' 2>/dev/null || tar -xf "$folder"/attnscope-*.tar.xz -C "$root/tmp/try" # without xz there
program=/tmp/try/$(cd "$root/tmp/try" && ls -d attnscope-*-linux-*/)attnscope
works "$program" archive
inside "$program" --install >/dev/null
grep -q "^Exec=\"$program\" %F$" "$root/tmp/try/home/.local/share/applications/attnscope.desktop" || fail "the menu entry starts something else"
inside "$program" --uninstall
left=$(find "$root/tmp/try/home" -name '*attnscope*' -path '*share*')
[[ -z $left ]] || fail "--uninstall leaves $left"

step "wheel"
inside apt-get -o Acquire::Check-Valid-Until=false -qq update
inside apt-get -qq install -y --no-install-recommends python3-venv python3-numpy >/dev/null
inside sh -ec 'cd /tmp/try && python3 -m venv --system-site-packages venv && venv/bin/pip install -q --no-index attnscope-*.whl'
works /tmp/try/venv/bin/attnscope wheel
inside /tmp/try/venv/bin/python -c '
import numpy, attnscope
q = k = v = numpy.eye(3, dtype=numpy.float32)
figure = attnscope.show(q, k, v, tokens=["The", "cat", "sat"], causal=True)
figure.save("/tmp/try/figure.svg")
assert attnscope.program() == "/tmp/try/venv/bin/attnscope", attnscope.program()
assert "<svg" in figure._repr_html_()'
cmp "$root/tmp/try/archive/out.npz" "$root/tmp/try/wheel/out.npz" || fail "the two give other numbers"

step "window under Xvfb"
inside apt-get -qq install -y --no-install-recommends xvfb xauth libgl1 libegl1 libgl1-mesa-dri >/dev/null
inside sh -ec "cd /tmp/try
    printf '%s\n' '{\"action\":\"go_to_stage\",\"stage\":\"weights\"}' >journal.jsonl
    xvfb-run -a -s '-screen 0 1280x720x24' $program --replay journal.jsonl --save-session s.json --exit-after-replay
    $program render --chrome --size 1280x720 -o chrome.png
    test -s s.json && test -s chrome.png"
step "all works"
