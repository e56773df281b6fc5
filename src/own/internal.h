#ifndef KEEL_OWN_INTERNAL_H_
#define KEEL_OWN_INTERNAL_H_

#include "own/own.h"

void own_take_calls(const keel_own_calls_t *calls);

// Takes over the text; never NULL.
PJRT_Error *own_error(int code, keel_buffer_t *text);

// The table's functions for executables.
PJRT_Error *own_compile(PJRT_Client_Compile_Args *args);
PJRT_Error *own_load(PJRT_Executable_DeserializeAndLoad_Args *args);
PJRT_Error *own_get_executable(PJRT_LoadedExecutable_GetExecutable_Args *args);
PJRT_Error *own_loaded_destroy(PJRT_LoadedExecutable_Destroy_Args *args);
PJRT_Error *own_executable_destroy(PJRT_Executable_Destroy_Args *args);
PJRT_Error *own_serialize(PJRT_Executable_Serialize_Args *args);
PJRT_Error *own_memory(PJRT_Executable_GetCompiledMemoryStats_Args *args);
PJRT_Error *own_optimized(PJRT_Executable_OptimizedProgram_Args *args);
PJRT_Error *own_execute(PJRT_LoadedExecutable_Execute_Args *args);

#endif // KEEL_OWN_INTERNAL_H_
