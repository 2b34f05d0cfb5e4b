# The package attnscope-web: the page in one file, which `attnscope page` puts documents into, and its form for a host.
set(attn_web_folder ${CMAKE_INSTALL_DATADIR}/attnscope/web)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME page)
install(FILES ${PROJECT_BINARY_DIR}/web/attnscope-page.html DESTINATION ${attn_web_folder})
install(DIRECTORY ${PROJECT_BINARY_DIR}/attnscope-web DESTINATION ${attn_web_folder})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/attnscope-web RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};${PROJECT_NAME};page;/")
set(CPACK_PACKAGE_NAME attnscope-web)
set(CPACK_PACKAGE_CONTACT "The attnscope authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION} (for browsers)")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "The same program as WebAssembly: a folder for any static host, and one HTML
file that opens from a disk, into which attnscope page puts what is open.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
include(CPack)
