#!/usr/bin/env python3
"""Plants one violation of every rule of layers.py in a tree of its own, and fails where it goes unseen."""
import sys

sys.dont_write_bytecode = True
import layers

ROOM = {"app/workspaces/step/state.h": "#pragma once\ninline constexpr Look<StepLook> step_look;\n"
                                       "using StepActions =\n    ActionList<ViewActions<StepBy>, EditActions<SetStepSpeed>>;\n"}
failed = []


def faults(file, text, around):
    return list(layers.faults({**around, file: "#pragma once\n" + text + "\n"}))


def plant(file, text, around={}):
    if not any(file in fault for fault in faults(file, text, around)):
        failed.append(f"unseen: {file}: {text}")


def allow(file, text, around={}):
    failed.extend(f"refused: {file}: {text}: {fault}" for fault in faults(file, text, around))


plant("core/a.cpp", '#include "app/common/state.h"')
plant("app/workspaces/step/a.cpp", '#include "app/workspaces/large/state.h"')
plant("app/workspaces/large/draw/a.cpp", '#include "app/workspaces/step/draw/canvas.h"')
plant("app/common/a.cpp", '#include "app/workspaces/step/state.h"')
plant("app/common/map/a.cpp", '#include "app/workspaces/large/state.h"')
plant("app/common/a.cpp", '#include "app/window/session.h"')
plant("app/window/a.cpp", '#include "app/workspaces/step/state.h"')
plant("app/cli/a.cpp", '#include "app/workspaces/step/state.h"')
plant("app/a.cpp", '#include "app/workspaces/step/state.h"')
plant("app/window/a.cpp", "#include <unistd.h>")
plant("app/cli/a.cpp", "#include <sys/stat.h>")
allow("app/platform/a.cpp", "#include <unistd.h>")
plant("core/a.cpp", "#include <unistd.h>")
plant("core/io/a.cpp", "#include <sys/mman.h>")
allow("core/posix/a.cpp", "#include <sys/mman.h>")
plant("core/posix/a.cpp", "#include <sys/syscall.h>")
plant("app/gl/a.cpp", "#include <epoxy/egl.h>")
allow("core/posix/system.cpp", "#include <sys/syscall.h>")
plant("app/platform/a.cpp", '#include "app/cli/cli.h"')
plant("app/window/a.cpp", "bool plays(const AppState& state) { return step_look(state).playing; }", ROOM)
plant("app/workspaces/large/a.cpp", "const StepLook& look = state.looks.get<StepLook>();", ROOM)
plant("app/jobs/a.cpp", "void go(AppState& state) { apply(state, StepBy{1}); }", ROOM)
plant("app/window/a.cpp", "apply(state, SetStepSpeed{1});", ROOM)
allow("app/workspaces/step/a.cpp", "void go(AppState& state) { apply(state, StepBy{1}); }", ROOM)
allow("app/window/a.cpp", "// as StepBy does", ROOM)
plant("app/common/a.h", '#include "app/common/b.h"', {"app/common/b.h": '#pragma once\n#include "app/common/a.h"\n'})
plant("app/common/a.h", "inline constexpr int kMostRows = 2;", {"core/b.h": "#pragma once\ninline constexpr int kMostRows = 1;\n"})
plant("core/a.cpp", '#include "../app/gl/context.h"')
plant("core/io/a.h", "#include <epoxy/gl.h>")
plant("core/a.h", "#include <GLFW/glfw3.h>")
plant("core/a.h", "# include <imgui.h>")
plant("core/a.cpp", "#include <iostream>")
plant("core/a.cpp", "#include <mpi.h>")
plant("app/cli/a.cpp", '#include "cluster/ring.h"')
plant("core/a.cpp", '    std::printf("%d", 1);')
plant("core/a.cpp", "    std::cerr << 1;")
plant("core/a.cpp", '    fmt::print("x");')
plant("core/a.cpp", "    exit(1);")
plant("app/common/a.cpp", "#include <imgui.h>")
plant("app/common/a.cpp", '#include "app/common/draw/widgets.h"')
plant("app/common/a.cpp", "#include <epoxy/gl.h>")
plant("app/common/draw/a.cpp", '#include "app/gl/texture.h"')
plant("app/common/draw/a.cpp", "#include <GLFW/glfw3.h>")
plant("app/common/draw/a.cpp", "#include <backends/imgui_impl_opengl3.h>")
plant("app/common/draw/a.cpp", '#include "core/softmax.h"')
plant("app/workspaces/step/draw/a.cpp", '#include "core/softmax.h"')
plant("app/workspaces/step/a.cpp", "#include <imgui.h>")
plant("app/common/draw/a.cpp", "    static int selected = 0;")
plant("app/workspaces/step/draw/a.cpp", '    ImGui::InvisibleButton("row", size);')
plant("app/window/draw/a.cpp", '    if (ImGui::BeginChild("terms", {width, height})) {')
plant("app/common/draw/a.cpp", "    ImGui::Dummy({width, 0.0F});")
plant("app/common/draw/a.h", "    ImGui::Image(texture, size);")
plant("core/io/a.inl", "#include <imgui.h>")
plant("app/gl/a.cpp", '#include "app/window/draw/window.h"')
plant("app/gl/a.cpp", '#include "app/common/state.h"')
plant("app/figures/a.cpp", '#include "app/window/draw/window.h"')
plant("app/figures/a.cpp", "#include <imgui.h>")
plant("app/common/draw/a.cpp", '#include "app/figures/figure.h"')
plant("app/cli/a.cpp", '#include "app/window/draw/window.h"')
plant("app/files/a.cpp", '#include "app/cli/start.h"')
plant("app/files/a.cpp", '#include "app/window/draw/window.h"')
plant("app/files/a.cpp", '#include "app/gl/png.h"')
plant("app/files/a.cpp", "#include <imgui.h>")
plant("app/jobs/a.cpp", '#include "app/files/open.h"')
plant("app/jobs/a.cpp", "#include <imgui.h>")
plant("app/common/a.cpp", '#include "app/files/call.h"')
plant("app/common/draw/a.cpp", '#include "app/files/call.h"')
plant("app/gl/a.cpp", '#include "app/files/call.h"')
allow("core/a.cpp", '#include "core/tensor.h"')
allow("core/a.cpp", '    std::snprintf(text, size, "%g", x);  // prints into memory')
allow("core/a.cpp", "    // never calls exit() or abort()")
allow("core/check.cpp", "#include <iostream>")
allow("app/common/a.cpp", '#include "core/engine.h"')
allow("app/common/draw/a.cpp", "#include <imgui.h>")
allow("app/common/draw/items.cpp", '    return ImGui::InvisibleButton(id, positive_size(size));')
allow("app/common/draw/a.cpp", "    // ImGui::Dummy(size) would end the program")
allow("app/files/a.cpp", '#include "app/common/state.h"')
allow("app/cli/a.cpp", '#include "app/files/call.h"')
allow("app/gl/a.cpp", "#include <epoxy/gl.h>")

if not list(layers.faults({"app/common/a.h": "int x;\n"})):
    failed.append("unseen: a header without #pragma once")
print("\n".join(failed))
sys.exit(bool(failed))
