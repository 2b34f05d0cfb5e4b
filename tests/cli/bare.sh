#!/usr/bin/env bash
# The wheel and the archive in bare systems: tools/try_portable.sh in each root of ATTN_ROOTS, paths with a colon between them.
#   bare.sh PROJECT BUILD
# 77: ATTN_ROOTS is not set, or no root's rights. apt installs packages in the roots.
set -euo pipefail
project=$1 build=$2
if [[ -z ${ATTN_ROOTS:-} ]] || ((EUID != 0)); then
    echo "skipped: run as root with ATTN_ROOTS=ROOT:ROOT, each made by debootstrap --variant=minbase (docs/install.md)"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$project/tools/portable.py" "$build" "$folder"
IFS=: read -ra roots <<<"$ATTN_ROOTS"
for root in "${roots[@]}"; do
    sed -n 's/^PRETTY_NAME=//p' "$root/etc/os-release"
    "$project/tools/try_portable.sh" "$root" "$folder"
done
