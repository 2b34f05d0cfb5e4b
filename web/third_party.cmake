# The libraries of the page: those that the system has are of another machine, so all come as sources, by FetchContent or from
# folders that are here already (README.md of third_party: FETCHCONTENT_SOURCE_DIR_<NAME>). What the browser does itself is unused.
set(ENV{PKG_CONFIG_LIBDIR} "")
set(CMAKE_POLICY_VERSION_MINIMUM 3.5)

foreach(name tbb glfw epoxy cairo pango fontconfig)
  add_library(attn_web_${name} INTERFACE)
  attn_provide(${name} attn_web_${name} "unused")
endforeach()
target_include_directories(attn_web_epoxy SYSTEM INTERFACE ${PROJECT_SOURCE_DIR}/web/include)

enable_language(C)
# attn_web_sources(zlib attn_web_zlib <folder>): every C file of the folder but those that match, as upstream's makefiles have it.
function(attn_web_sources target folder leave)
  file(GLOB files ${folder}/*.c)
  list(FILTER files EXCLUDE REGEX "${leave}")
  add_library(${target} STATIC ${files})
  target_include_directories(${target} SYSTEM PUBLIC ${folder})
  target_compile_options(${target} PRIVATE -w -O2 -fwasm-exceptions -sSUPPORT_LONGJMP=wasm)
endfunction()

attn_fetch(zlib https://github.com/madler/zlib.git v1.3.1 SOURCE_SUBDIR unused)
attn_web_sources(attn_web_zlib ${zlib_SOURCE_DIR} "/gz[a-z]*\\.c$")
attn_provide(zlib attn_web_zlib "upstream 1.3.1")
# What libzip's find_package finds.
add_library(ZLIB::ZLIB INTERFACE IMPORTED GLOBAL)
target_link_libraries(ZLIB::ZLIB INTERFACE attn_web_zlib)
set(ZLIB_INCLUDE_DIR ${zlib_SOURCE_DIR} CACHE PATH "" FORCE)
set(ZLIB_LIBRARY ZLIB::ZLIB CACHE STRING "" FORCE)

attn_fetch(png https://github.com/pnggroup/libpng.git v1.6.43 SOURCE_SUBDIR unused)
attn_web_sources(attn_web_png ${png_SOURCE_DIR} "/(pngtest|example)\\.c$")
configure_file(${png_SOURCE_DIR}/scripts/pnglibconf.h.prebuilt ${CMAKE_CURRENT_BINARY_DIR}/png/pnglibconf.h COPYONLY)
target_include_directories(attn_web_png SYSTEM PUBLIC ${CMAKE_CURRENT_BINARY_DIR}/png)
target_link_libraries(attn_web_png PUBLIC attn_web_zlib)
attn_provide(png attn_web_png "upstream 1.6.43")

attn_fetch(imgui https://github.com/ocornut/imgui.git v1.92.2b SOURCE_SUBDIR unused)
add_library(attn_web_imgui STATIC
  ${imgui_SOURCE_DIR}/imgui.cpp
  ${imgui_SOURCE_DIR}/imgui_draw.cpp
  ${imgui_SOURCE_DIR}/imgui_tables.cpp
  ${imgui_SOURCE_DIR}/imgui_widgets.cpp
  ${imgui_SOURCE_DIR}/misc/cpp/imgui_stdlib.cpp
  ${imgui_SOURCE_DIR}/backends/imgui_impl_opengl3.cpp)
target_include_directories(attn_web_imgui SYSTEM PUBLIC
  ${imgui_SOURCE_DIR} ${imgui_SOURCE_DIR}/backends ${imgui_SOURCE_DIR}/misc/cpp)
target_compile_options(attn_web_imgui PRIVATE -w -O2)
attn_provide(imgui attn_web_imgui "upstream 1.92.2b")
