# cmake --install, and cpack -G DEB (wants dpkg-dev and file). tools/try_deb.sh installs the package in a bare Debian.
# Two components: the program, which the package has, and for development core as a library (docs/core.md).
include(cmake/install_core.cmake)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
if(TARGET attnscope)
  install(TARGETS attnscope RUNTIME)
  # The page of the program that is installed, by itself; not where it cannot run here.
  find_program(ATTN_GZIP gzip)
  if(ATTN_GZIP AND NOT CMAKE_CROSSCOMPILING)
    set(attn_man ${PROJECT_BINARY_DIR}/attnscope.1)
    install(CODE "
      execute_process(COMMAND \"$<TARGET_FILE:attnscope>\" --man OUTPUT_FILE \"${attn_man}\" COMMAND_ERROR_IS_FATAL ANY)
      execute_process(COMMAND \"${ATTN_GZIP}\" -9nf \"${attn_man}\" COMMAND_ERROR_IS_FATAL ANY)")
    install(FILES ${attn_man}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
endif()
install(DIRECTORY assets/exercises assets/glossary assets/lectures assets/models assets/presets assets/questions assets/tours DESTINATION ${CMAKE_INSTALL_DATADIR}/attnscope OPTIONAL)
install(FILES assets/attnscope.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES assets/attnscope.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
install(FILES assets/attnscope.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages)
configure_file(assets/attnscope.metainfo.xml.in ${PROJECT_BINARY_DIR}/generated/attnscope.metainfo.xml @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/attnscope.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};${PROJECT_NAME};program;/")
set(CPACK_PACKAGE_CONTACT "The attnscope authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Opens toy sentences, tensors of real models (npz, npy, safetensors) and trained
models, computes attention stage by stage with gradients, and explains each
number by its arithmetic. Compares kernels with an exact reference, draws maps
of 131,072 tokens, and trains small transformers beside each other. The same
engine works without a window from the command line.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Loaded at run time, so invisible to shlibdeps.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "fonts-dejavu-core, libgl1, libegl1")
# The caches of menus, icons, types of files and man pages are brought up to date by the triggers of their own packages.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
  "libgl1-mesa-dri, fonts-stix, fonts-inter, fonts-jetbrains-mono, shared-mime-info, desktop-file-utils")
include(CPack)
