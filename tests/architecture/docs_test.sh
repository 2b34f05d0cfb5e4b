#!/usr/bin/env bash
# Plants one violation of every rule of docs.py in a tree of its own, and fails if it goes unseen.
#   docs_test.sh ATTNSCOPE
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
app=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/docs/images" "$tree/tests/goldens/models"
cp -r "$here/../../python" "$tree/python"
cp -r "$here/../goldens/models/gpt2" "$tree/tests/goldens/models/"
version=$(sed -n 's/^version: //p' "$here/../../CITATION.cff")
failed=0

# A tree without violations.
reset() {
    cp "$here/../../CMakeLists.txt" "$here/../../CITATION.cff" "$tree/"
    printf 'attnscope-%s-linux\n' "$version" >"$tree/docs/install.md"
    printf '# Changelog\n' >"$tree/CHANGELOG.md"
    printf '# Contributing\n' >"$tree/CONTRIBUTING.md"
    cat >"$tree/README.md" <<'README'
# Example

attnscope-VERSION-linux [page](docs/page.md) [part](docs/page.md#the-second-part-of-it) <img src="docs/images/a.png" width="1">

```sh
attnscope stages
attnscope info
attnscope trace qkv.npz -o out.npz
attnscope diff qkv.npz kernel.npz --causal
attnscope --tour attention    # a window
```

```python
print(1)
```
README
    sed -i "s/VERSION/$version/" "$tree/README.md"
    printf '# Page\n\n## The second part, of `it`\n\n[<img src="images/a.png" alt="a">](images.sh#L2)\n' >"$tree/docs/page.md"
    printf '#!/bin/sh\ndraw a.png x\n' >"$tree/docs/images.sh"
    : >"$tree/docs/images/a.png"
}

# seen WORDS: docs.py must fail with these words in its output.
seen() {
    local said
    if said=$("$here/docs.py" "$tree" "$app") || [[ $said != *"$1"* ]]; then
        echo "unseen: $1 (said: $said)"
        failed=1
    fi
    reset
}

reset
"$here/docs.py" "$tree" "$app" || { echo "a right tree is refused"; failed=1; }
for name in README CHANGELOG CONTRIBUTING; do
    head -c 10000 /dev/zero | tr '\0' 'x' >>"$tree/$name.md"
    seen "$name.md: 10"
done
sed -i "s/$version/9.8.7/" "$tree/CITATION.cff"
seen 'CITATION.cff: version 9.8.7; expected'
echo 'attnscope-9.8.7-linux' >>"$tree/docs/install.md"
seen 'docs/install.md: version'
echo '[x](nowhere.md)' >>"$tree/docs/page.md"
seen 'docs/page.md: nowhere.md: no such file'
echo '[x](page.md#nothing)' >>"$tree/docs/page.md"
seen 'page.md#nothing: page.md has no such heading'
rm "$tree/docs/images/a.png"
seen 'docs/images/a.png: no such file'
printf '#!/bin/sh\n\ndraw a.png x\n' >"$tree/docs/images.sh"
seen 'links to line 2 of images.sh; line 3 draws it'
sed -i 's/attnscope stages/attnscope stages --nothing/' "$tree/README.md"
seen 'attnscope stages --nothing ended with 2'
sed -i 's/diff qkv.npz kernel.npz --causal/diff qkv.npz kernel.npz/' "$tree/README.md"
seen 'attnscope diff qkv.npz kernel.npz ended with 1'
sed -i 's/--tour attention/--tour nothing-of-that-name/' "$tree/README.md"
seen 'attnscope --tour nothing-of-that-name ended with 2'
sed -i 's/attnscope info/attnscope --no-such-option/' "$tree/README.md"
seen 'attnscope --no-such-option ended with 2'
sed -i 's/print(1)/raise SystemExit(3)/' "$tree/README.md"
seen 'the Python example ended with 3'
sed -i '/attnscope info/d' "$tree/README.md"
seen '4 examples of commands'
exit "$failed"
