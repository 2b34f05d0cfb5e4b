# libepoxy from upstream. Its own build is Meson's; all that it does is to write the dispatch tables from the
# Khronos registry and to compile four files.
enable_language(C)
find_package(Python3 COMPONENTS Interpreter REQUIRED)
find_package(X11 REQUIRED)
attn_fetch(epoxy https://github.com/anholt/libepoxy.git 1.5.10 SOURCE_SUBDIR unused)

set(epoxy_out ${CMAKE_CURRENT_BINARY_DIR}/epoxy)
file(MAKE_DIRECTORY ${epoxy_out}/include/epoxy ${epoxy_out}/src)
file(CONFIGURE OUTPUT ${epoxy_out}/src/config.h CONTENT [[
#define ENABLE_EGL 1
#define ENABLE_GLX 1
#define HAVE_KHRPLATFORM_H 1
#define EPOXY_PUBLIC __attribute__((visibility("default"))) extern
]])
file(CONFIGURE OUTPUT ${epoxy_out}/include/epoxy/config.h CONTENT [[
#define EPOXY_HAS_GLX 1
#define EPOXY_HAS_EGL 1
#define EPOXY_HAS_WGL 0
]])

set(epoxy_generated)
foreach(api gl egl glx)
  add_custom_command(
    OUTPUT ${epoxy_out}/src/${api}_generated_dispatch.c ${epoxy_out}/include/epoxy/${api}_generated.h
    COMMAND ${Python3_EXECUTABLE} ${epoxy_SOURCE_DIR}/src/gen_dispatch.py --source --header
            --srcdir ${epoxy_out}/src --includedir ${epoxy_out}/include/epoxy
            ${epoxy_SOURCE_DIR}/registry/${api}.xml
    VERBATIM)
  list(APPEND epoxy_generated
    ${epoxy_out}/src/${api}_generated_dispatch.c ${epoxy_out}/include/epoxy/${api}_generated.h)
endforeach()

add_library(attn_epoxy_upstream STATIC EXCLUDE_FROM_ALL
  ${epoxy_SOURCE_DIR}/src/dispatch_common.c
  ${epoxy_SOURCE_DIR}/src/dispatch_egl.c
  ${epoxy_SOURCE_DIR}/src/dispatch_glx.c
  ${epoxy_generated})
target_include_directories(attn_epoxy_upstream
  SYSTEM PUBLIC ${epoxy_SOURCE_DIR}/include ${epoxy_out}/include
  PRIVATE ${epoxy_SOURCE_DIR}/src ${epoxy_out}/src)
target_link_libraries(attn_epoxy_upstream PUBLIC X11::X11 ${CMAKE_DL_LIBS})
attn_provide(epoxy attn_epoxy_upstream "upstream 1.5.10")
