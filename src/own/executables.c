// What the client's side does for an executable. A loaded executable and the executable that is
// taken from it are handles of one object.
#include <stdatomic.h>

#include "own/internal.h"

typedef struct program_t {
    size_t size;
    uint8_t *bytes;
} program_t;

typedef struct executable_t {
    uint64_t number;
    atomic_uint handles;
    _Atomic(program_t *) program; // whoever asked for its size asks for its bytes next
} executable_t;

static keel_own_calls_t calls;
static _Atomic uint64_t made;
static atomic_bool has_ended;

void own_take_calls(const keel_own_calls_t *given) {
    calls = *given;
}

void keel_own_end(void) {
    atomic_store(&has_ended, true);
}

void keel_own_give(void *out, const void *data, size_t size) {
    keel_buffer_append(out, data, size);
}

uint64_t keel_own_number(const PJRT_LoadedExecutable *loaded) {
    return ((const executable_t *)loaded)->number;
}

// What a call returned; takes over its text.
static PJRT_Error *outcome(int code, keel_buffer_t *text) {
    if (code) return own_error(code, text);
    keel_buffer_deinitialize(text);
    return NULL;
}

static PJRT_Error *failure(int code, const char *why) {
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    keel_buffer_text(&text, why);
    return own_error(code, &text);
}

static PJRT_Error *no_room(keel_status_t status) {
    PJRT_Error *error = failure(PJRT_Error_Code_RESOURCE_EXHAUSTED, keel_status_message(status));
    keel_status_ignore(status);
    return error;
}

// NULL while the client's side can be called.
static PJRT_Error *check_ended(void) {
    if (!atomic_load(&has_ended)) return NULL;
    return failure(PJRT_Error_Code_UNAVAILABLE, "the client has ended");
}

static executable_t *make_executable(PJRT_Error **out_error) {
    void *memory;
    *out_error = check_ended();
    if (*out_error) return NULL;
    keel_status_t status = keel_calloc(1, sizeof(executable_t), &memory);
    if (status) {
        *out_error = no_room(status);
        return NULL;
    }
    executable_t *executable = memory;
    executable->number = atomic_fetch_add(&made, 1) + 1;
    atomic_init(&executable->handles, 1);
    atomic_init(&executable->program, NULL);
    return executable;
}

static void free_program(program_t *program) {
    if (!program) return;
    keel_free(program->bytes);
    keel_free(program);
}

static void release(executable_t *executable) {
    if (!executable || atomic_fetch_sub(&executable->handles, 1) != 1) return;
    if (!atomic_load(&has_ended)) calls.drop(executable->number);
    free_program(atomic_load(&executable->program));
    keel_free(executable);
}

PJRT_Error *own_compile(PJRT_Client_Compile_Args *args) {
    PJRT_Error *error;
    executable_t *executable = make_executable(&error);
    if (!executable) return error;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    error = outcome(calls.compile(executable->number, &text), &text);
    if (error)
        keel_free(executable);
    else
        args->executable = (PJRT_LoadedExecutable *)executable;
    return error;
}

PJRT_Error *own_load(PJRT_Executable_DeserializeAndLoad_Args *args) {
    PJRT_Error *error;
    executable_t *executable = make_executable(&error);
    if (!executable) return error;
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    error = outcome(calls.load(executable->number, (const uint8_t *)args->serialized_executable,
                               args->serialized_executable_size,
                               (const uint8_t *)args->overridden_serialized_compile_options,
                               args->overridden_serialized_compile_options_size, &text),
                    &text);
    if (error)
        keel_free(executable);
    else
        args->loaded_executable = (PJRT_LoadedExecutable *)executable;
    return error;
}

PJRT_Error *own_get_executable(PJRT_LoadedExecutable_GetExecutable_Args *args) {
    executable_t *executable = (executable_t *)args->loaded_executable;
    atomic_fetch_add(&executable->handles, 1);
    args->executable = (PJRT_Executable *)executable;
    return NULL;
}

PJRT_Error *own_loaded_destroy(PJRT_LoadedExecutable_Destroy_Args *args) {
    release((executable_t *)args->executable);
    return NULL;
}

PJRT_Error *own_executable_destroy(PJRT_Executable_Destroy_Args *args) {
    release((executable_t *)args->executable);
    return NULL;
}

static void free_serialized(PJRT_SerializedExecutable *serialized) {
    keel_free(serialized);
}

PJRT_Error *own_serialize(PJRT_Executable_Serialize_Args *args) {
    PJRT_Error *error = check_ended();
    if (error) return error;
    keel_buffer_t bytes;
    keel_buffer_initialize(&bytes, 0);
    int code = calls.serialize(((const executable_t *)args->executable)->number, &bytes);
    if (code) return own_error(code, &bytes);
    uint8_t *data;
    size_t size;
    keel_status_t status = keel_buffer_take(&bytes, &data, &size);
    keel_buffer_deinitialize(&bytes);
    if (status) return no_room(status);
    args->serialized_bytes = (const char *)data;
    args->serialized_bytes_size = size;
    args->serialized_executable = (PJRT_SerializedExecutable *)data;
    args->serialized_executable_deleter = free_serialized;
    return NULL;
}

PJRT_Error *own_memory(PJRT_Executable_GetCompiledMemoryStats_Args *args) {
    PJRT_Error *error = check_ended();
    if (error) return error;
    int64_t figures[KEEL_OWN_FIGURE_COUNT] = {0};
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    error = outcome(calls.memory(((const executable_t *)args->executable)->number, figures, &text),
                    &text);
    if (error) return error;
    size_t at = 0;
#define TAKE(name) args->name = figures[at++];
    KEEL_OWN_FIGURES(TAKE)
#undef TAKE
    return NULL;
}

static PJRT_Error *make_program(const executable_t *executable, program_t **out) {
    keel_buffer_t bytes;
    void *memory;
    PJRT_Error *error = check_ended();
    if (error) return error;
    keel_buffer_initialize(&bytes, 0);
    int code = calls.program(executable->number, &bytes);
    if (code) return own_error(code, &bytes);
    keel_status_t status = keel_calloc(1, sizeof(program_t), &memory);
    if (!status) {
        *out = memory;
        status = keel_buffer_take(&bytes, &(*out)->bytes, &(*out)->size);
        if (status) keel_free(memory);
    }
    keel_buffer_deinitialize(&bytes);
    return status ? no_room(status) : NULL;
}

// The size first, then the bytes.
PJRT_Error *own_optimized(PJRT_Executable_OptimizedProgram_Args *args) {
    static const char format[] = "hlo";
    executable_t *executable = (executable_t *)args->executable;
    PJRT_Program *asked = args->program;
    program_t *program = atomic_exchange(&executable->program, NULL);
    PJRT_Error *error = program ? NULL : make_program(executable, &program);
    if (error) return error;
    if (asked->code && asked->code_size < program->size)
        error = failure(PJRT_Error_Code_INVALID_ARGUMENT, "the program is larger than its room");
    else if (asked->code)
        memcpy(asked->code, program->bytes, program->size);
    asked->code_size = program->size;
    asked->format = format;
    asked->format_size = sizeof format - 1;
    if (!asked->code) program = atomic_exchange(&executable->program, program);
    free_program(program);
    return error;
}

keel_status_t keel_own_whole(keel_buffer_t *out) {
    if (atomic_load(&has_ended)) return keel_status_make(KEEL_UNSUPPORTED, "the client has ended");
    if (!calls.whole(out)) return keel_buffer_status(out);
    keel_status_t status =
        keel_status_make(KEEL_UNSUPPORTED, "the client gave no program: %s", keel_buffer_cstr(out));
    keel_buffer_deinitialize(out);
    return status;
}

PJRT_Error *own_execute(PJRT_LoadedExecutable_Execute_Args *args) {
    (void)args;
    return failure(PJRT_Error_Code_UNIMPLEMENTED, "the client executes its programs itself");
}
