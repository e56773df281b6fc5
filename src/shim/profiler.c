// A profiler that has nothing to tell, for XLA's CPU plugins, which have none. torch_xla warns
// about a plugin without a profiler, and crashes as soon as one profiles. With this one it records
// what the host does, as with its own CPU client.
//
// Structs: pjrt_c_api_profiler_extension.h and profiler_c_api.h of XLA.
#include "shim/shim.h"

typedef struct profiler_args_t {
    size_t size;
    void *profiler;
} profiler_args_t;

typedef struct create_args_t {
    size_t size;
    const char *options;
    size_t options_size;
    void *profiler; // out
} create_args_t;

typedef struct data_args_t {
    size_t size;
    void *profiler;
    uint8_t *buffer; // out
    size_t buffer_size;
} data_args_t;

typedef struct error_t error_t; // never made

typedef struct profiler_t {
    size_t size;
    void *data;
    void (*error_destroy)(void *args), (*error_message)(void *args);
    error_t *(*error_code)(void *args);
    error_t *(*create)(create_args_t *args);
    error_t *(*destroy)(profiler_args_t *args), *(*start)(profiler_args_t *args);
    error_t *(*stop)(profiler_args_t *args);
    error_t *(*collect)(data_args_t *args);
} profiler_t;

typedef struct extension_t {
    PJRT_Extension_Base base;
    profiler_t *profiler;
    int64_t context; // of arguments
} extension_t;

static void ignore_error(void *args) {
    (void)args;
}

static error_t *no_code(void *args) {
    (void)args;
    return NULL;
}

static error_t *do_nothing(profiler_args_t *args) {
    (void)args;
    return NULL;
}

static error_t *create(create_args_t *args) {
    static int profiler;
    args->profiler = &profiler;
    return NULL;
}

static error_t *collect(data_args_t *args) {
    args->buffer = NULL;
    args->buffer_size = 0;
    return NULL;
}

void keel_shim_take_profiler(PJRT_Api *table) {
    static profiler_t profiler = {.size = sizeof profiler,
                                  .error_destroy = ignore_error,
                                  .error_message = ignore_error,
                                  .error_code = no_code,
                                  .create = create,
                                  .destroy = do_nothing,
                                  .start = do_nothing,
                                  .stop = do_nothing,
                                  .collect = collect};
    static extension_t extension = {
        .base = {.struct_size = sizeof extension, .type = PJRT_Extension_Type_Profiler},
        .profiler = &profiler};
    for (const PJRT_Extension_Base *at = table->extension_start; at; at = at->next)
        if (at->type == PJRT_Extension_Type_Profiler) return;
    extension.base.next = table->extension_start;
    table->extension_start = &extension.base;
}
