#!/usr/bin/env bash
# Fails when clang-format 14 would change a source file; skips (77) where that version is not installed, because
# every version lays some lines out differently.
#   format.sh TREE           checks
#   format.sh TREE --fix     repairs
set -euo pipefail
cd "$1"

tool=
for name in clang-format-14 clang-format; do
    [[ $("$name" --version 2>/dev/null) != *'version 14.'* ]] || { tool=$name; break; }
done
[[ -n $tool ]] || { echo "clang-format 14 is not here: not checked"; exit 77; }

mapfile -t files < <(find core app cluster macos tests web windows -name '*.h' -o -name '*.cpp')
if [[ ${2:-} == --fix ]]; then
    exec "$tool" -i "${files[@]}"
fi
"$tool" --dry-run -Werror "${files[@]}" 2>/dev/null && exit

wrong=0
for file in "${files[@]}"; do
    diff -u --label "$file" --label "$file, formatted" "$file" <("$tool" "$file") || wrong=$((wrong + 1))
done
((wrong == 0)) || { echo "$wrong files to format. Repair: tests/architecture/format.sh . --fix"; exit 1; }
