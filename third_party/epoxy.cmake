# libepoxy from upstream. Its own build is Meson's; all that it does is to write the dispatch tables from the
# Khronos registry and to compile a few files.
enable_language(C)
find_package(Python3 COMPONENTS Interpreter REQUIRED)
# What gives windows and programs without one their OpenGL.
if(WIN32)
  set(epoxy_apis wgl)
else()
  find_package(X11 REQUIRED)
  set(epoxy_apis egl glx)
endif()
foreach(api egl glx wgl)
  string(TOUPPER ${api} name)
  set(EPOXY_HAS_${name} 0)
  if(api IN_LIST epoxy_apis)
    set(EPOXY_HAS_${name} 1)
  endif()
endforeach()
attn_fetch(epoxy https://github.com/anholt/libepoxy.git 1.5.10 SOURCE_SUBDIR unused)

set(epoxy_out ${CMAKE_CURRENT_BINARY_DIR}/epoxy)
file(MAKE_DIRECTORY ${epoxy_out}/include/epoxy ${epoxy_out}/src)
file(CONFIGURE OUTPUT ${epoxy_out}/src/config.h CONTENT [[
#define ENABLE_EGL @EPOXY_HAS_EGL@
#define ENABLE_GLX @EPOXY_HAS_GLX@
#define HAVE_KHRPLATFORM_H 1
#define EPOXY_PUBLIC __attribute__((visibility("default"))) extern
]] @ONLY)
file(CONFIGURE OUTPUT ${epoxy_out}/include/epoxy/config.h CONTENT [[
#define EPOXY_HAS_GLX @EPOXY_HAS_GLX@
#define EPOXY_HAS_EGL @EPOXY_HAS_EGL@
#define EPOXY_HAS_WGL @EPOXY_HAS_WGL@
]] @ONLY)

set(epoxy_generated)
foreach(api gl ${epoxy_apis})
  add_custom_command(
    OUTPUT ${epoxy_out}/src/${api}_generated_dispatch.c ${epoxy_out}/include/epoxy/${api}_generated.h
    COMMAND ${Python3_EXECUTABLE} ${epoxy_SOURCE_DIR}/src/gen_dispatch.py --source --header
            --srcdir ${epoxy_out}/src --includedir ${epoxy_out}/include/epoxy
            ${epoxy_SOURCE_DIR}/registry/${api}.xml
    VERBATIM)
  list(APPEND epoxy_generated
    ${epoxy_out}/src/${api}_generated_dispatch.c ${epoxy_out}/include/epoxy/${api}_generated.h)
endforeach()

list(TRANSFORM epoxy_apis REPLACE "(.+)" "${epoxy_SOURCE_DIR}/src/dispatch_\\1.c" OUTPUT_VARIABLE epoxy_files)
add_library(attn_epoxy_upstream STATIC EXCLUDE_FROM_ALL
  ${epoxy_SOURCE_DIR}/src/dispatch_common.c ${epoxy_files} ${epoxy_generated})
target_include_directories(attn_epoxy_upstream
  SYSTEM PUBLIC ${epoxy_SOURCE_DIR}/include ${epoxy_out}/include
  PRIVATE ${epoxy_SOURCE_DIR}/src ${epoxy_out}/src)
target_compile_options(attn_epoxy_upstream PRIVATE -O1)  # tables: -O2 takes minutes for nothing
if(WIN32)
  target_link_libraries(attn_epoxy_upstream PUBLIC opengl32 gdi32)
else()
  target_link_libraries(attn_epoxy_upstream PUBLIC X11::X11 ${CMAKE_DL_LIBS})
endif()
attn_provide(epoxy attn_epoxy_upstream "upstream 1.5.10")
