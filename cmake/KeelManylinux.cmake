# A toolchain for programs that run on x86-64 Linux with glibc 2.28 or newer, whatever the machine that
# builds them has: zig's C compiler brings headers and symbols of each glibc (tools/setup --wheel).
set(CMAKE_C_COMPILER ${CMAKE_CURRENT_LIST_DIR}/../.venv-wheel/zig-cc)
set(CMAKE_ASM_COMPILER ${CMAKE_C_COMPILER})
set(CMAKE_EXE_LINKER_FLAGS_INIT -pie)
