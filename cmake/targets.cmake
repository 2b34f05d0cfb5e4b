# INTERFACE targets that our own targets link: attn_warnings (PRIVATE) and attn_paths (where it is asked).

# Warnings are errors, for our code only: third-party headers are SYSTEM.
add_library(attn_warnings INTERFACE)
target_compile_options(attn_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow -Werror)

# Where assets/ lies. A run from the build tree reads ATTN_SOURCE_ASSETS; an installed program reads
# ATTN_INSTALL_ASSETS, which is relative to the folder of the executable, so that the install can be moved.
include(GNUInstallDirs)
file(RELATIVE_PATH attn_install_assets
  ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/attnscope)
add_library(attn_paths INTERFACE)
target_compile_definitions(attn_paths INTERFACE
  ATTN_SOURCE_ASSETS="${PROJECT_SOURCE_DIR}/assets"
  ATTN_INSTALL_ASSETS="${attn_install_assets}"
  ATTN_VERSION="${PROJECT_VERSION}")
