# A room is a folder of src/: one static library, its dependencies declared in one line.
#
#   keel_room(read DEPS base program SYSTEM zstd)
#
# A room may depend only on rooms before it in KEEL_ROOMS, so there can be no cycle, and
# its sources see only the headers of the rooms it declares: each room's headers are reached
# through a separate folder that contains only a link to the room.
set(KEEL_ROOMS base sign view pysource settings redis program needs signature read key store remote courier host history contract
  explain journal metrics analysis pack pjrt own target compiler bundle probe rehearse engine meet enforce
  shim tensor model library run why text page lint cli)

set(KEEL_ROOM_LINKS ${CMAKE_BINARY_DIR}/rooms)

function(keel_room name)
  cmake_parse_arguments(ROOM "" "" "DEPS;SYSTEM" ${ARGN})
  list(FIND KEEL_ROOMS ${name} own)
  if(own EQUAL -1)
    message(FATAL_ERROR "${name} is not in KEEL_ROOMS (cmake/KeelRooms.cmake)")
  endif()
  foreach(dep IN LISTS ROOM_DEPS)
    list(FIND KEEL_ROOMS ${dep} place)
    if(place EQUAL -1 OR NOT place LESS own)
      message(FATAL_ERROR "room ${name} may not depend on ${dep}: dependencies point up the list "
        "${KEEL_ROOMS}")
    endif()
  endforeach()

  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
  list(FILTER sources EXCLUDE REGEX "/(main|door)[.]c$") # of a program, or of a shared library
  file(MAKE_DIRECTORY ${KEEL_ROOM_LINKS}/${name})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${KEEL_ROOM_LINKS}/${name}/${name} SYMBOLIC)
  add_library(keel_${name} STATIC ${sources})
  target_include_directories(keel_${name} PUBLIC ${KEEL_ROOM_LINKS}/${name}
    ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(keel_${name} PUBLIC Threads::Threads)
  foreach(dep IN LISTS ROOM_DEPS)
    target_link_libraries(keel_${name} PUBLIC keel_${dep})
  endforeach()
  foreach(system IN LISTS ROOM_SYSTEM)
    if(TARGET PkgConfig::${system})
      target_link_libraries(keel_${name} PUBLIC PkgConfig::${system})
    else()
      target_link_libraries(keel_${name} PUBLIC ${system})
    endif()
  endforeach()
endfunction()

# Rooms of the client's process that do nothing often.
function(keel_small)
  foreach(room IN LISTS ARGN)
    target_compile_options(keel_${room} PRIVATE $<$<CONFIG:Release>:-Os>)
  endforeach()
endfunction()

# Rooms link in one order, whatever the order in which their folders are read.
function(keel_link target)
  foreach(room IN LISTS ARGN)
    target_link_libraries(${target} PRIVATE keel_${room})
  endforeach()
endfunction()

# The label of a test, so that `ctest -L store` runs those of a room: the room at the start of its
# name, otherwise the first one that it links.
function(keel_room_label out name)
  string(REGEX MATCH "^[a-z]+" room ${name})
  if(NOT room IN_LIST KEEL_ROOMS)
    list(GET ARGN 0 room)
  endif()
  set(${out} ${room} PARENT_SCOPE)
endfunction()
