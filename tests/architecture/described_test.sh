#!/usr/bin/env bash
# Leaves one field of one workspace out of its description, five times, and fails where that goes unseen.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/app/common"
cp -r "$1/app/workspaces" "$tree/app/"
cp -r "$1/app/common/map" "$tree/app/common/"
failed=0
count=0

# The lines of a description: visit("name", look.member…).
while IFS=: read -r file line text; do
    ((count < 5)) || break
    cp "$file" "$tree/kept"
    sed -i "${line}d" "$file"
    if "$here/described.py" "$tree" >/dev/null; then
        echo "unseen: ${file#"$tree"/}:$line without $text"
        failed=1
    fi
    cp "$tree/kept" "$file"
    count=$((count + 1))
done < <(grep -rnE '^    visit\("[a-z_]+", (look|controls)\.[a-z_]+[,)].*;$' "$tree/app/workspaces" --include='*.cpp' --include='*.h' | sort -t: -k1,1 -u)
((count == 5)) || { echo "only $count descriptions were found"; failed=1; }
exit "$failed"
