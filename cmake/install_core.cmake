# Component `development`: attnscope::core for find_package(attnscope), with the headers under include/attnscope/core.
# docs/core.md is its page, tests/core_example what is built with it.
include(CMakePackageConfigHelpers)

# The libraries that core is linked with, as core/CMakeLists.txt names them, and how they are found again.
get_target_property(attn_libraries attn_core LINK_LIBRARIES)
list(FILTER attn_libraries INCLUDE REGEX "^attn::")
list(TRANSFORM attn_libraries REPLACE "^attn::" "")
set(attn_finds "")
foreach(name IN LISTS attn_libraries)
  get_property(find GLOBAL PROPERTY attn_find_${name})
  if(NOT find)
    message(STATUS "core is not installed: ${name} is not the system's")
    return()
  endif()
  string(APPEND attn_finds "${find}\n")
  set_target_properties(attn_${name} PROPERTIES EXPORT_NAME ${name})
endforeach()

set_target_properties(attn_core PROPERTIES EXPORT_NAME core)
list(TRANSFORM attn_libraries PREPEND attn_)
install(TARGETS attn_core ${attn_libraries} EXPORT attnscope ARCHIVE COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attnscope)
# Without the headers that are core's own, which read other libraries.
install(DIRECTORY core DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attnscope COMPONENT development
  FILES_MATCHING PATTERN "*.h"
  REGEX "/(io/(array_memory|gguf|gguf_grids|json|zip_target)|kernels/(bias_tiles|block_product|contributing|eigen_view|fused(_.*)?|highway_targets)|large/(pool_kernels|query_lanes)|models/(config_reader|gguf|sentence_pieces|source|spectrum|tokenizer_steps?|weight_reader)|train/(packed|pass|worker)|posix/system)\\.h$" EXCLUDE)

set(attn_package ${CMAKE_INSTALL_LIBDIR}/cmake/attnscope)
install(EXPORT attnscope NAMESPACE attnscope:: DESTINATION ${attn_package} FILE attnscope-targets.cmake COMPONENT development)
configure_package_config_file(cmake/attnscope-config.cmake.in ${PROJECT_BINARY_DIR}/generated/attnscope-config.cmake
  INSTALL_DESTINATION ${attn_package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/attnscope-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/attnscope-config.cmake ${PROJECT_BINARY_DIR}/generated/attnscope-config-version.cmake
  DESTINATION ${attn_package} COMPONENT development)
