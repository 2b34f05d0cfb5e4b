# INTERFACE targets that our own targets link: attn_warnings (PRIVATE) and attn_paths (where it is asked).

# Warnings are of our code only: third-party headers are SYSTEM. Developers (preset dev) and CI ask for them, as errors; a
# build that somebody makes with a newer compiler prints none and never stops at one, and is some percent quicker.
option(ATTN_WERROR "Warn, and take warnings as errors" OFF)
add_library(attn_warnings INTERFACE)
if(ATTN_WERROR)
  # An index is signed, as the sizes of a call are; GCC's -Wconversion does not ask for a cast at each [n], Clang's would.
  target_compile_options(attn_warnings INTERFACE
    -Wall -Wextra -Wconversion -Wno-sign-conversion -Wshadow -Werror)
endif()

# Where assets/ lies. A run from the build tree reads ATTN_SOURCE_ASSETS; an installed program reads
# ATTN_INSTALL_ASSETS, which is relative to the folder of the executable, so that the install can be moved.
include(GNUInstallDirs)
file(RELATIVE_PATH attn_install_assets
  ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/attnscope)
# Where this tree lies stands in one generated header, so that the compiler's command line is the same wherever it is.
set(attn_assets ${PROJECT_SOURCE_DIR}/assets)
if(EMSCRIPTEN)
  set(attn_assets /assets) # inside the page
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/tree.h.in ${PROJECT_BINARY_DIR}/generated/attn_tree.h @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.h.in ${PROJECT_BINARY_DIR}/generated/attn_version.h @ONLY)
add_library(attn_paths INTERFACE)
target_include_directories(attn_paths INTERFACE ${PROJECT_BINARY_DIR}/generated)
target_compile_definitions(attn_paths INTERFACE
  ATTN_INSTALL_ASSETS="${attn_install_assets}")

# attn_precompile(TARGET HEADERS...): headers that most files of a target read, compiled once where ATTN_PCH says so.
function(attn_precompile target)
  if(ATTN_PCH)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# attn_join(TARGET [ALONE files...]): where ATTN_UNITY says so, ten sources are compiled as one, which halves the time of
# a whole build; so no two of them give one name to two things. ALONE are those that are compiled by themselves.
function(attn_join target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALONE")
  if(ATTN_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
    set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# attn_optimise(TARGET LEVEL): the optimisation of a target's release build, in place of CMake's -O3.
function(attn_optimise target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O${level}>)
endfunction()

# attn_library(TARGET [ALONE files...] [MORE files...]): all sources of this folder, joined but for ALONE; MORE are generated.
# -O1: drawing, words and files are no faster by -O2 or -O3 and take a third longer to compile.
function(attn_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALONE;MORE")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(${target} STATIC ${sources} ${arg_MORE})
  target_link_libraries(${target} PRIVATE attn_warnings)
  attn_optimise(${target} 1)
  attn_join(${target} ALONE ${arg_ALONE} ${arg_MORE})
endfunction()
