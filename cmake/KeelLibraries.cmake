# The libraries as static ones, compiled from the sources in KEEL_LIBRARY_SOURCES (one folder a Debian
# source package, from tools/setup --wheel), for a wheel that must not need the system's. They take
# the place of the targets that pkg-config makes.
#
# Their own build systems are not used: what Keel calls is plain C, and only the files that are
# called end up in it.
include(GNUInstallDirs)

function(keel_library name package)
  cmake_parse_arguments(LIBRARY "" "INCLUDE" "SOURCES;OPTIONS" ${ARGN})
  set(folder ${KEEL_LIBRARY_SOURCES}/${package})
  if(NOT LIBRARY_SOURCES)
    message(FATAL_ERROR "${folder}: no sources; run tools/setup --wheel")
  endif()
  add_library(keel_own_${name} STATIC ${LIBRARY_SOURCES})
  target_include_directories(keel_own_${name} SYSTEM PUBLIC ${folder}/${LIBRARY_INCLUDE})
  target_compile_options(keel_own_${name} PRIVATE -w -D_GNU_SOURCE ${LIBRARY_OPTIONS})
  add_library(PkgConfig::${name} ALIAS keel_own_${name})
  install(FILES ${folder}/debian/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/libraries RENAME ${package}.txt
    COMPONENT documentation)
endfunction()

set(own ${CMAKE_BINARY_DIR}/libraries) # for headers that their build systems would write

keel_library(xxhash xxhash INCLUDE . SOURCES ${KEEL_LIBRARY_SOURCES}/xxhash/xxhash.c)

enable_language(ASM) # zstd decodes faster with it
file(GLOB sources ${KEEL_LIBRARY_SOURCES}/libzstd/lib/common/*.c
  ${KEEL_LIBRARY_SOURCES}/libzstd/lib/compress/*.c ${KEEL_LIBRARY_SOURCES}/libzstd/lib/decompress/*.[cS])
keel_library(zstd libzstd INCLUDE lib SOURCES ${sources})

file(GLOB sources ${KEEL_LIBRARY_SOURCES}/jansson/src/*.c)
set(json_inline inline)
set(json_have_long_long 1)
set(json_have_localeconv 1)
set(json_have_atomic_builtins 1)
set(json_have_sync_builtins 1)
file(CONFIGURE OUTPUT ${own}/jansson_private_config.h CONTENT "/* OPTIONS, below */\n")
configure_file(${KEEL_LIBRARY_SOURCES}/jansson/src/jansson_config.h.in ${own}/jansson_config.h @ONLY)
keel_library(jansson jansson INCLUDE src SOURCES ${sources} OPTIONS -DHAVE_STDINT_H -DHAVE_STRTOLL
  -DHAVE_LOCALE_H -DHAVE_SYS_TYPES_H -DHAVE_SYS_STAT_H -DHAVE_SYS_TIME_H -DHAVE_UNISTD_H
  -DHAVE_FCNTL_H -DHAVE_SCHED_H -DHAVE_OPEN -DHAVE_CLOSE -DHAVE_READ -DHAVE_GETPID -DHAVE_GETTIMEOFDAY
  -DHAVE_SCHED_YIELD -DHAVE_ATOMIC_BUILTINS -DHAVE_SYNC_BUILTINS -DUSE_URANDOM)
target_include_directories(keel_own_jansson SYSTEM PUBLIC ${own})

set(hiredis ${KEEL_LIBRARY_SOURCES}/hiredis)
keel_library(hiredis hiredis INCLUDE .
  SOURCES ${hiredis}/alloc.c ${hiredis}/hiredis.c ${hiredis}/net.c ${hiredis}/read.c ${hiredis}/sds.c
  # It expects POSIX's strerror_r, and creates arrays with a size_t for an int.
  OPTIONS -U_GNU_SOURCE -Wno-incompatible-function-pointer-types)

# BLAKE2b has variants for several processors, one of which is chosen when it starts.
file(GLOB_RECURSE sources ${KEEL_LIBRARY_SOURCES}/libsodium/src/libsodium/*.c)
file(STRINGS ${KEEL_LIBRARY_SOURCES}/libsodium/configure.ac found REGEX "^AC_INIT")
string(REGEX REPLACE ".*\\[libsodium\\],\\[([0-9.]+)\\].*" "\\1" VERSION "${found}")
foreach(part MAJOR MINOR)
  file(STRINGS ${KEEL_LIBRARY_SOURCES}/libsodium/configure.ac found
    REGEX "^SODIUM_LIBRARY_VERSION_${part}=")
  string(REGEX REPLACE ".*=" "" SODIUM_LIBRARY_VERSION_${part} "${found}")
endforeach()
set(SODIUM_LIBRARY_MINIMAL_DEF "")
configure_file(${KEEL_LIBRARY_SOURCES}/libsodium/src/libsodium/include/sodium/version.h.in
  ${own}/sodium/version.h @ONLY)
keel_library(sodium libsodium INCLUDE src/libsodium/include SOURCES ${sources}
  OPTIONS -DCONFIGURED=1 -DSODIUM_STATIC -DNATIVE_LITTLE_ENDIAN=1 -DHAVE_CPUID=1 -DHAVE_TI_MODE=1
  -DHAVE_MMINTRIN_H=1 -DHAVE_EMMINTRIN_H=1 -DHAVE_PMMINTRIN_H=1 -DHAVE_TMMINTRIN_H=1
  -DHAVE_SMMINTRIN_H=1 -DHAVE_AVXINTRIN_H=1 -DHAVE_AVX2INTRIN_H=1 -DHAVE_C11_MEMORY_FENCES=1
  -DHAVE_GETRANDOM=1 -DHAVE_LINUX_COMPATIBLE_GETRANDOM=1 -DHAVE_SYS_RANDOM_H=1
  -DHAVE_EXPLICIT_BZERO=1 -DHAVE_MMAP=1 -DHAVE_MLOCK=1 -DHAVE_MADVISE=1 -DHAVE_MPROTECT=1
  -DHAVE_SYS_MMAN_H=1 -DHAVE_SYS_PARAM_H=1 -DHAVE_PTHREAD=1 -DHAVE_GETPID=1
  -DHAVE_POSIX_MEMALIGN=1 -DHAVE_NANOSLEEP=1 -DHAVE_WEAK_SYMBOLS=1 -DHAVE_ATOMIC_OPS=1)
target_include_directories(keel_own_sodium SYSTEM PUBLIC ${own}
  PRIVATE ${KEEL_LIBRARY_SOURCES}/libsodium/src/libsodium/include/sodium ${own}/sodium)
foreach(source IN LISTS sources)
  get_filename_component(stem ${source} NAME_WE)
  foreach(set ssse3 sse4.1 avx2)
    string(REPLACE "." "" word ${set})
    if(stem MATCHES ${word})
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -m${set})
    endif()
  endforeach()
endforeach()
