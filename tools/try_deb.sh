#!/usr/bin/env bash
# Installs the package in a bare Debian, runs what it brought, and removes it again.
#   try_deb.sh FOLDER PACKAGE.deb
# FOLDER is the root of a Debian, made by: debootstrap --variant=minbase bookworm FOLDER
# Wants root (chroot). What the package depends on and recommends is installed there by apt and stays.
set -euo pipefail
(($# == 2)) || { sed -n '2,5s/^# \?//p' "$0"; exit 2; }
root=$(readlink -f "$1") deb=$(readlink -f "$2")
[[ -x $root/usr/bin/apt-get ]] || { echo "$root is no root of a Debian"; exit 2; }
[[ $root != / ]] || { echo "the root of this machine is not tried"; exit 2; }

step() { echo "== $*"; }
fail() { echo "try_deb: $*"; exit 1; }
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp/try_deb LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }

mounted=
cleanup() {
    rm -rf "${root:?}/tmp/try_deb"
    [[ -z $mounted ]] || umount "$root/proc"
}
trap cleanup EXIT
if [[ ! -e $root/proc/self ]]; then
    mount -t proc proc "$root/proc" && mounted=yes
fi
mkdir -p "$root/tmp/try_deb"
cp "$deb" "$root/tmp/try_deb/attnscope.deb"

everything() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp \
    -o -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/log \) -prune -o -print | sort); }

inside dpkg -P attnscope >/dev/null 2>&1 || true  # of a run that was broken off
step "what it needs, and readers of man pages, entries and types"
inside apt-get -qq update
inside apt-get -qq install -y --no-install-recommends man-db groff-base desktop-file-utils shared-mime-info dpkg >/dev/null
# Without the package, so that what is left by its removal is then its own.
needed=$(for field in Depends Recommends; do dpkg-deb -f "$deb" $field | sed 's/([^)]*)//g; s/|[^,]*//g' | tr ',\n' '  '; done)
# shellcheck disable=SC2086  # names of packages
inside apt-get -qq install -y --no-install-recommends $needed >/dev/null
everything >"$root/tmp/try_deb/before"

step "install"
inside apt-get -qq install -y /tmp/try_deb/attnscope.deb
inside dpkg -s attnscope | grep -E '^(Status|Version|Installed-Size|Depends|Recommends):'

step "run"
inside attnscope --version
inside attnscope info | sed -n '1,/^$/p'
inside attnscope info --json | grep -q '/usr/share/attnscope/presets\|/usr/bin/../share/attnscope/presets' || fail "no presets are found"
inside sh -c 'cd /tmp/try_deb && attnscope render --preset exercise -o x.png --size 1280x720 &&
    attnscope render --chrome --preset exercise -o window.png --size 1280x720 &&
    attnscope render --all -o all >/dev/null && ls -l x.png window.png && ls all | wc -l'

step "trace"
printf '%s' '{"Q":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},"K":{"dtype":"F32","shape":[2,2],"data_offsets":[16,32]},"V":{"dtype":"F32","shape":[2,2],"data_offsets":[32,48]}}' >"$root/tmp/try_deb/header"
(
    cd "$root/tmp/try_deb"
    # A header of less than 256 bytes, its length in 8 bytes before it; then 1 and 0 as float32.
    # shellcheck disable=SC2059  # the format is an escape
    printf "\\x$(printf %02x "$(stat -c %s header)")\\0\\0\\0\\0\\0\\0\\0" >qkv.safetensors
    cat header >>qkv.safetensors
    for _ in Q K V; do printf '\0\0\x80\x3f\0\0\0\0\0\0\0\0\0\0\x80\x3f'; done >>qkv.safetensors
)
inside sh -c 'cd /tmp/try_deb && attnscope trace qkv.safetensors -o out.npz --causal --grad | head -n 3 && attnscope diff out.npz --causal >/dev/null'

step "man page"
inside sh -c 'test -s /usr/share/man/man1/attnscope.1.gz' || echo "dpkg of this root leaves man pages out (path-exclude)"
inside sh -c 'man --warnings attnscope 2>/tmp/try_deb/said | head -5; ! test -s /tmp/try_deb/said' || fail "man: $(cat "$root/tmp/try_deb/said")"

step "entry, types, icon, metainfo"
inside desktop-file-validate /usr/share/applications/attnscope.desktop
for type in application/x-attnscope-session+json application/x-safetensors application/x-npy application/x-npz; do
    inside grep -qxF "$type" /usr/share/mime/types || fail "no type $type"
    inside grep -qF "$type=attnscope.desktop" /usr/share/applications/mimeinfo.cache || fail "$type is not opened by attnscope"
done
inside ls /usr/share/icons/hicolor/scalable/apps/attnscope.svg /usr/share/metainfo/attnscope.metainfo.xml

step "remove"
inside dpkg -r attnscope
inside dpkg -P attnscope >/dev/null 2>&1 || true
everything >"$root/tmp/try_deb/after"
diff "$root/tmp/try_deb/before" "$root/tmp/try_deb/after" || fail "something is left, or gone"
! inside grep -rq attnscope /usr/share/applications /usr/share/mime/types /var/lib/dpkg/info || fail "a cache still names it"
step "everything is as it was"
