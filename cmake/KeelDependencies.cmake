# Keel's dependencies, and the PJRT header that the embedded plugin's wheel ships.
find_package(Threads REQUIRED)
set(KEEL_LIBRARY_SOURCES "" CACHE PATH
  "Folder with the libraries' sources, to compile and link them in (default: the system's libraries)")
if(KEEL_LIBRARY_SOURCES)
  include(KeelLibraries)
else()
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)
  pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
  pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
  pkg_check_modules(jansson REQUIRED IMPORTED_TARGET jansson)
  pkg_check_modules(hiredis IMPORTED_TARGET hiredis) # without it, Redis is no remote, and no meeting place
  pkg_check_modules(curl IMPORTED_TARGET libcurl) # without it, remotes are folders, or Redis without TLS
endif()

# Set-up leaves .venv/keel-plugin: "library=" and "include=", relative to .venv.
set(KEEL_VENV ${CMAKE_SOURCE_DIR}/.venv)
set(KEEL_PJRT_INCLUDE "" CACHE PATH "Folder that holds pjrt_c_api.h (default: the wheel's own)")
set(KEEL_EMBEDDED_PLUGIN "" CACHE FILEPATH "PJRT plugin used when none is named (default: the wheel's)")
if(EXISTS ${KEEL_VENV}/keel-plugin)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${KEEL_VENV}/keel-plugin)
  file(STRINGS ${KEEL_VENV}/keel-plugin facts)
  foreach(fact IN LISTS facts)
    if(fact MATCHES "^library=(.*)$" AND NOT KEEL_EMBEDDED_PLUGIN)
      set(KEEL_EMBEDDED_PLUGIN ${KEEL_VENV}/${CMAKE_MATCH_1})
    elseif(fact MATCHES "^include=(.*)$" AND NOT KEEL_PJRT_INCLUDE)
      set(KEEL_PJRT_INCLUDE ${KEEL_VENV}/${CMAKE_MATCH_1})
    endif()
  endforeach()
endif()
if(NOT EXISTS ${KEEL_PJRT_INCLUDE}/pjrt_c_api.h)
  message(FATAL_ERROR "pjrt_c_api.h was not found: run tools/setup, or name its folder with "
    "-DKEEL_PJRT_INCLUDE=DIR")
endif()
