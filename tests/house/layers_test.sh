#!/usr/bin/env bash
# Plants one violation of every rule of layers.sh in a tree of its own, and fails where it goes unseen.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{core/io,app/{common/{draw,document,map/draw},window/draw,workspaces/{step,large}/draw,gl,cli,files,figures,jobs,keep},tests}
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
plant app/workspaces/step/a.cpp '#include "app/workspaces/large/state.h"'
plant app/workspaces/large/draw/a.cpp '#include "app/workspaces/step/draw/canvas.h"'
plant app/common/a.cpp '#include "app/workspaces/step/state.h"'
plant app/common/map/a.cpp '#include "app/workspaces/large/state.h"'
plant app/common/a.cpp '#include "app/window/session.h"'
plant app/window/a.cpp '#include "app/workspaces/step/state.h"'
plant app/cli/a.cpp '#include "app/workspaces/step/state.h"'
plant app/a.cpp '#include "app/workspaces/step/state.h"'
printf '#pragma once\ninline constexpr Look<StepLook> step_look;\nstruct StepBy {\n    static constexpr Meta kMeta{"", {}};\n};\n' \
    >"$tree/app/workspaces/step/state.h"
plant app/window/a.cpp 'bool plays(const AppState& state) { return step_look(state).playing; }'
plant app/workspaces/large/a.cpp 'const StepLook& look = state.looks.get<StepLook>();'
plant app/jobs/a.cpp 'void go(AppState& state) { apply(state, StepBy{1}); }'
allow app/workspaces/step/a.cpp 'void go(AppState& state) { apply(state, StepBy{1}); }'
allow app/window/a.cpp '// as StepBy does'
rm "$tree/app/workspaces/step/state.h"
printf '#pragma once\n#include "app/common/a.h"\n' >"$tree/app/common/b.h"
plant app/common/a.h '#include "app/common/b.h"'
rm "$tree/app/common/b.h"
printf 'inline constexpr int kMostRows = 1;\n' >"$tree/core/b.h"
plant app/common/a.h 'inline constexpr int kMostRows = 2;'
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
plant app/common/a.cpp '#include <imgui.h>'
plant app/common/a.cpp '#include "app/common/draw/widgets.h"'
plant app/common/a.cpp '#include <epoxy/gl.h>'
plant app/common/draw/a.cpp '#include "app/gl/texture.h"'
plant app/common/draw/a.cpp '#include <GLFW/glfw3.h>'
plant app/common/draw/a.cpp '#include <backends/imgui_impl_opengl3.h>'
plant app/common/draw/a.cpp '#include "core/softmax.h"'
plant app/workspaces/step/draw/a.cpp '#include "core/softmax.h"'
plant app/workspaces/step/a.cpp '#include <imgui.h>'
plant app/common/draw/a.cpp '    static int selected = 0;'
plant core/io/a.inl '#include <imgui.h>'
plant app/gl/a.cpp '#include "app/window/draw/window.h"'
plant app/gl/a.cpp '#include "app/common/state.h"'
plant app/figures/a.cpp '#include "app/window/draw/window.h"'
plant app/figures/a.cpp '#include <imgui.h>'
plant app/common/draw/a.cpp '#include "app/figures/figure.h"'
plant app/cli/a.cpp '#include "app/window/draw/window.h"'
plant app/files/a.cpp '#include "app/cli/start.h"'
plant app/files/a.cpp '#include "app/window/draw/window.h"'
plant app/files/a.cpp '#include "app/gl/png.h"'
plant app/files/a.cpp '#include <imgui.h>'
plant app/jobs/a.cpp '#include "app/files/open.h"'
plant app/jobs/a.cpp '#include <imgui.h>'
plant app/common/a.cpp '#include "app/files/call.h"'
plant app/common/draw/a.cpp '#include "app/files/call.h"'
plant app/gl/a.cpp '#include "app/files/call.h"'

allow core/a.cpp '#include "core/tensor.h"'
allow core/a.cpp '    std::snprintf(text, size, "%g", x);  // prints into memory'
allow core/a.cpp '    // never calls exit() or abort()'
allow core/check.cpp '#include <iostream>'
allow app/common/a.cpp '#include "core/engine.h"'
allow app/common/draw/a.cpp '#include <imgui.h>'
allow app/files/a.cpp '#include "app/common/state.h"'
allow app/cli/a.cpp '#include "app/files/call.h"'
allow app/gl/a.cpp '#include <epoxy/gl.h>'

echo 'int x;' >"$tree/app/common/unguarded.h"
! "$here/layers.sh" "$tree" >/dev/null || { echo "unseen: a header without #pragma once"; failed=1; }
exit "$failed"
