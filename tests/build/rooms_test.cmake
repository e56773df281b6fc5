# The build refuses what the list of rooms does not allow: a small project of three rooms is
# configured and built with one line wrong each time.
#   cmake -DSOURCE=<project> -DWORK=<scratch> -P rooms_test.cmake

function(project_of_rooms store_line store_includes)
  file(REMOVE_RECURSE ${WORK})
  file(WRITE ${WORK}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\n"
    "project(rooms C)\nfind_package(Threads REQUIRED)\n"
    "list(APPEND CMAKE_MODULE_PATH ${SOURCE}/cmake)\ninclude(KeelRooms)\n"
    "foreach(room base key store engine)\n  add_subdirectory(\${room})\nendforeach()\n")
  foreach(room base key engine)
    file(WRITE ${WORK}/${room}/CMakeLists.txt "keel_room(${room})\n")
    file(WRITE ${WORK}/${room}/${room}.h "#define ${room}_HERE 1\n")
    file(WRITE ${WORK}/${room}/${room}.c "int ${room}_unused;\n")
  endforeach()
  file(WRITE ${WORK}/store/CMakeLists.txt "${store_line}\n")
  file(WRITE ${WORK}/store/store.c "#include \"${store_includes}\"\nint store_unused;\n")
endfunction()

function(try_build expected because)
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${WORK} -B ${WORK}/build
    RESULT_VARIABLE configured OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(configured EQUAL 0)
    execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build
      RESULT_VARIABLE configured OUTPUT_VARIABLE output ERROR_VARIABLE error)
  endif()
  if(configured EQUAL 0)
    set(got "built")
  else()
    set(got "refused")
  endif()
  if(NOT got STREQUAL expected OR NOT "${output}${error}" MATCHES "${because}")
    message(FATAL_ERROR "expected: ${expected} (${because}); got: ${got}\n${output}${error}")
  endif()
endfunction()

project_of_rooms("keel_room(store DEPS base key)" "key/key.h")
try_build(built "")

# A room that stands later in the list.
project_of_rooms("keel_room(store DEPS base engine)" "engine/engine.h")
try_build(refused "room store may not depend on engine")

# A room that it does not declare, though it could.
project_of_rooms("keel_room(store DEPS base)" "key/key.h")
try_build(refused "key/key.h")

# A folder that is no room of the list.
project_of_rooms("keel_room(attic DEPS base)" "base/base.h")
try_build(refused "attic is not in KEEL_ROOMS")
