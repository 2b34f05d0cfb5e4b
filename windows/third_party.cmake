# The libraries of the Windows program: all come as sources, by FetchContent or from folders that are here already (README.md of
# third_party: FETCHCONTENT_SOURCE_DIR_<NAME>). cairo, Pango and fontconfig are unused:
# figures are SVG, and GDI sets other scripts. TBB is unused too (portable/core/threads.cpp).
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_CURRENT_LIST_DIR})  # which has no .pc
set(CMAKE_POLICY_VERSION_MINIMUM 3.5)

foreach(name cairo pango fontconfig tbb)
  add_library(attn_windows_${name} INTERFACE)
  attn_provide(${name} attn_windows_${name} "unused")
endforeach()

enable_language(C)
# attn_windows_sources(<target> <folder> <leave>): every C file of the folder but those that match, as upstream's makefiles have it.
function(attn_windows_sources target folder leave)
  file(GLOB files ${folder}/*.c)
  list(FILTER files EXCLUDE REGEX "${leave}")
  add_library(${target} STATIC ${files})
  target_include_directories(${target} SYSTEM PUBLIC ${folder})
  target_compile_options(${target} PRIVATE -w -O2)
endfunction()

attn_fetch(zlib https://github.com/madler/zlib.git v1.3.1 SOURCE_SUBDIR unused)
attn_windows_sources(attn_windows_zlib ${zlib_SOURCE_DIR} "/gz[a-z]*\\.c$")
attn_provide(zlib attn_windows_zlib "upstream 1.3.1")
# For find_package() of libzip.
add_library(ZLIB::ZLIB INTERFACE IMPORTED GLOBAL)
target_link_libraries(ZLIB::ZLIB INTERFACE attn_windows_zlib)
set(ZLIB_INCLUDE_DIR ${zlib_SOURCE_DIR} CACHE PATH "" FORCE)
set(ZLIB_LIBRARY ZLIB::ZLIB CACHE STRING "" FORCE)

attn_fetch(png https://github.com/pnggroup/libpng.git v1.6.43 SOURCE_SUBDIR unused)
attn_windows_sources(attn_windows_png ${png_SOURCE_DIR} "/(pngtest|example)\\.c$")
configure_file(${png_SOURCE_DIR}/scripts/pnglibconf.h.prebuilt ${CMAKE_CURRENT_BINARY_DIR}/png/pnglibconf.h COPYONLY)
target_include_directories(attn_windows_png SYSTEM PUBLIC ${CMAKE_CURRENT_BINARY_DIR}/png)
target_compile_definitions(attn_windows_png PRIVATE PNG_INTEL_SSE_OPT=0)
target_link_libraries(attn_windows_png PUBLIC attn_windows_zlib)
attn_provide(png attn_windows_png "upstream 1.6.43")
# Of libzip: a random number for its temporary names, by Windows' own library.
set(ENABLE_WINDOWS_CRYPTO OFF)
set(BUILD_SHARED_LIBS OFF)
