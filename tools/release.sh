#!/usr/bin/env bash
# Makes the packages of a release: wheel, archive, Debian package, their checksums, and the page where Emscripten built it.
#   release.sh FOLDER [vVERSION]     a VERSION that is not the project's is an error
set -euo pipefail
(($# == 1 || $# == 2)) || { sed -n '2,3s/^# \?//p' "$0"; exit 2; }
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
build=$root/build/release
# shellcheck source=third_party/packages.sh
source "$root/third_party/packages.sh"

version=$(sed -n '/^project(/,/)/s/^ *VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
if [[ -n ${2:-} && $2 != "v$version" ]]; then
    echo "release: the tag is $2, and the version of CMakeLists.txt $version; expected v$version" >&2
    exit 1
fi
# shellcheck disable=SC2154  # of packages.sh
install_packages "${build_packages[@]}" "${release_packages[@]}" || true
mkdir -p "$1"
out=$(readlink -f "$1")
[[ -x $build/attnscope ]] || "$root/run" --version
"$root/tools/portable.py" "$build" "$out"
(cd "$build" && cpack -G DEB -B "$out/deb" >&2)
mv "$out"/deb/*.deb "$out/"
rm -r "$out/deb"
page=$root/build/web/web/attnscope-page.html
if [[ -e $page ]]; then cp "$page" "$out/attnscope-$version.html"; else echo "release: no page: $page is not built (docs/web.md)" >&2; fi
(cd "$out" && sha256sum -- attnscope* >SHA256SUMS && cat SHA256SUMS)
