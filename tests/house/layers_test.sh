#!/usr/bin/env bash
# Plants one violation of every rule of layers.sh in a tree of its own, and fails where it goes unseen.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{core/io,app/{view/{common,step,large},ui/{common,step,large},gl,cli,files,figures,jobs},tests}
failed=0

# plant FILE TEXT: seen only when layers.sh fails and names the file.
plant() {
    local said
    printf '#pragma once\n%s\n' "$2" >"$tree/$1"
    if said=$("$here/layers.sh" "$tree") || [[ $said != *"$1"* ]]; then
        echo "unseen: $1: $2"
        failed=1
    fi
    rm "$tree/$1"
}

# allow FILE TEXT: no violation.
allow() {
    printf '#pragma once\n%s\n' "$2" >"$tree/$1"
    "$here/layers.sh" "$tree" || { echo "refused: $1: $2"; failed=1; }
    rm "$tree/$1"
}

plant core/a.cpp '#include "app/common/state.h"'
plant app/view/step/a.cpp '#include "app/common/map/state.h"'
plant app/ui/large/a.cpp '#include "app/workspaces/step/draw/canvas.h"'
plant app/view/common/a.cpp '#include "app/workspaces/step/state.h"'
plant app/view/common/a.cpp '#include "app/common/document/document.h"'
printf '#pragma once\n#include "app/view/a.h"\n' >"$tree/app/view/b.h"
plant app/view/a.h '#include "app/view/b.h"'
rm "$tree/app/view/b.h"
printf 'inline constexpr int kMostRows = 1;\n' >"$tree/core/b.h"
plant app/view/a.h 'inline constexpr int kMostRows = 2;'
rm "$tree/core/b.h"
plant core/a.cpp '#include "../app/gl/context.h"'
plant core/io/a.h '#include <epoxy/gl.h>'
plant core/a.h '#include <GLFW/glfw3.h>'
plant core/a.h '# include <imgui.h>'
plant core/a.cpp '#include <iostream>'
plant core/a.cpp '    std::printf("%d", 1);'
plant core/a.cpp '    std::cerr << 1;'
plant core/a.cpp '    fmt::print("x");'
plant core/a.cpp '    exit(1);'
plant app/view/a.cpp '#include <imgui.h>'
plant app/view/a.cpp '#include "app/common/draw/widgets.h"'
plant app/view/a.cpp '#include <epoxy/gl.h>'
plant app/ui/a.cpp '#include "app/gl/texture.h"'
plant app/ui/a.cpp '#include <GLFW/glfw3.h>'
plant app/ui/a.cpp '#include <backends/imgui_impl_opengl3.h>'
plant app/ui/a.cpp '#include "core/softmax.h"'
plant app/ui/a.cpp '    static int selected = 0;'
plant core/io/a.inl '#include <imgui.h>'
plant app/gl/a.cpp '#include "app/ui/panel.h"'
plant app/gl/a.cpp '#include "app/common/state.h"'
plant app/figures/a.cpp '#include "app/window/draw/window.h"'
plant app/figures/a.cpp '#include <imgui.h>'
plant app/ui/a.cpp '#include "app/figures/figure.h"'
plant app/cli/a.cpp '#include "app/ui/panel.h"'
plant app/files/a.cpp '#include "app/cli/start.h"'
plant app/files/a.cpp '#include "app/ui/panel.h"'
plant app/files/a.cpp '#include "app/gl/png.h"'
plant app/files/a.cpp '#include <imgui.h>'
plant app/jobs/a.cpp '#include "app/files/open.h"'
plant app/jobs/a.cpp '#include <imgui.h>'
plant app/view/a.cpp '#include "app/files/call.h"'
plant app/ui/a.cpp '#include "app/files/call.h"'
plant app/gl/a.cpp '#include "app/files/call.h"'

allow core/a.cpp '#include "core/tensor.h"'
allow core/a.cpp '    std::snprintf(text, size, "%g", x);  // prints into memory'
allow core/a.cpp '    // never calls exit() or abort()'
allow core/check.cpp '#include <iostream>'
allow app/view/a.cpp '#include "core/engine.h"'
allow app/ui/a.cpp '#include <imgui.h>'
allow app/files/a.cpp '#include "app/common/state.h"'
allow app/cli/a.cpp '#include "app/files/call.h"'
allow app/gl/a.cpp '#include <epoxy/gl.h>'

echo 'int x;' >"$tree/app/view/unguarded.h"
! "$here/layers.sh" "$tree" >/dev/null || { echo "unseen: a header without #pragma once"; failed=1; }
exit "$failed"
