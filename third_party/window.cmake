# GLFW, Dear ImGui (with its GLFW and OpenGL 3 backends), libepoxy, cairo, Pango, fontconfig.

if(EMSCRIPTEN)
  return()
endif()
attn_find_package(glfw glfw glfw3 3.3)
if(NOT TARGET attn::glfw)
  set(GLFW_BUILD_DOCS OFF)
  set(GLFW_BUILD_EXAMPLES OFF)
  set(GLFW_BUILD_TESTS OFF)
  set(GLFW_INSTALL OFF)
  set(GLFW_BUILD_WAYLAND OFF)  # X11 is enough, XWayland included, and wants fewer headers
  attn_fetch(glfw https://github.com/glfw/glfw.git 3.4)
  attn_provide(glfw glfw "upstream 3.4")
endif()

# <imgui.h>, <backends/imgui_impl_glfw.h>, <backends/imgui_impl_opengl3.h> in either case. The system's is a
# static library that calls GLFW, so GLFW follows it on the link line.
attn_find_module(imgui imgui>=1.86)
if(NOT TARGET attn::imgui)
  attn_fetch(imgui https://github.com/ocornut/imgui.git v1.92.2b SOURCE_SUBDIR unused)
  add_library(attn_imgui_upstream STATIC EXCLUDE_FROM_ALL
    ${imgui_SOURCE_DIR}/imgui.cpp
    ${imgui_SOURCE_DIR}/imgui_draw.cpp
    ${imgui_SOURCE_DIR}/imgui_tables.cpp
    ${imgui_SOURCE_DIR}/imgui_widgets.cpp
    ${imgui_SOURCE_DIR}/misc/cpp/imgui_stdlib.cpp
    ${imgui_SOURCE_DIR}/backends/imgui_impl_glfw.cpp
    ${imgui_SOURCE_DIR}/backends/imgui_impl_opengl3.cpp)
  target_include_directories(attn_imgui_upstream SYSTEM PUBLIC
    ${imgui_SOURCE_DIR} ${imgui_SOURCE_DIR}/backends ${imgui_SOURCE_DIR}/misc/cpp)
  target_link_libraries(attn_imgui_upstream PRIVATE attn::glfw ${CMAKE_DL_LIBS})
  attn_provide(imgui attn_imgui_upstream "upstream 1.92.2b")
endif()
target_link_libraries(attn_imgui INTERFACE attn::glfw)

attn_find_module(epoxy epoxy>=1.5)
if(NOT TARGET attn::epoxy)
  include(epoxy.cmake)
endif()

if(WIN32)
  return()
endif()
# Only from the system, as fontconfig.
attn_find_module(cairo cairo>=1.16)
if(NOT TARGET attn::cairo)
  message(FATAL_ERROR "cairo 1.16 or later is wanted: install libcairo2-dev and pkg-config")
endif()

# Only from the system: it draws with the system's cairo.
attn_find_module(pango pangocairo>=1.48 pangoft2>=1.48)
if(NOT TARGET attn::pango)
  message(FATAL_ERROR "Pango 1.48 or later is wanted: install libpango1.0-dev and pkg-config")
endif()

# Only from the system: a private copy would not know the fonts that the system has.
attn_find_module(fontconfig fontconfig>=2.13)
if(NOT TARGET attn::fontconfig)
  message(FATAL_ERROR "fontconfig 2.13 or later is wanted: install libfontconfig-dev and pkg-config")
endif()
