# One folder that runs where it is unpacked: the program, its assets and fonts, and the licences of all that is in it.
#   cpack -G ZIP in the build folder, or tools/windows.sh
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
set(attn_share ${CMAKE_INSTALL_DATADIR}/attnscope)
install(TARGETS attnscope RUNTIME)
install(DIRECTORY assets/exercises assets/glossary assets/lectures assets/models assets/presets assets/questions assets/tours DESTINATION ${attn_share} OPTIONAL)

set(ATTN_FONTS /usr/share/fonts CACHE PATH "Folder of the fonts that the program for Windows brings")
foreach(font Inter-Regular.otf Inter-Bold.otf JetBrainsMono-Regular.ttf STIXGeneral-Regular.otf STIXGeneral-Italic.otf
             DejaVuSans.ttf DejaVuSans-Bold.ttf DejaVuSansMono.ttf)
  file(GLOB_RECURSE found ${ATTN_FONTS}/${font})
  if(NOT found)
    message(FATAL_ERROR "${font} is not in ATTN_FONTS (${ATTN_FONTS}): install fonts-dejavu-core, fonts-stix, fonts-inter and fonts-jetbrains-mono")
  endif()
  list(GET found 0 found)
  install(FILES ${found} DESTINATION ${attn_share}/fonts)
  file(COPY ${found} DESTINATION ${PROJECT_BINARY_DIR}/${attn_share}/fonts)  # for the program of the build folder
endforeach()

install(FILES LICENSE DESTINATION licences RENAME attnscope)
foreach(name eigen cli11 json expected hwy fmt libzip utf8proc pcre2 zlib png imgui glfw epoxy)
  FetchContent_GetProperties(${name} SOURCE_DIR folder)
  file(GLOB licences ${folder}/LICEN[SC]E* ${folder}/COPYING* ${folder}/debian/copyright)
  foreach(licence IN LISTS licences)
    if(NOT IS_DIRECTORY ${licence})
      get_filename_component(file ${licence} NAME)
      install(FILES ${licence} DESTINATION licences RENAME ${name}-${file})
    endif()
  endforeach()
endforeach()

set(CPACK_GENERATOR ZIP)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};${PROJECT_NAME};program;/")
set(CPACK_PACKAGE_FILE_NAME attnscope-${PROJECT_VERSION}-windows-x86_64)
set(CPACK_STRIP_FILES ON)
include(CPack)
