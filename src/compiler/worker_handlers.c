// A child's handlers: from their places to the plugin. A GPU's plugin has an extension of its own
// for calls, which takes all stages (type 0); others have FFI's (type 5), for execution only.
// Structs: xla/pjrt/c/pjrt_c_api_gpu_extension.h, pjrt_c_api_ffi_extension.h.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

#include "compiler/worker.h"
#include "pjrt/kernels.h"

// ---- the structs of the extensions -------------------------------------------------------------

enum { GPU_EXTENSION = 0, FFI_EXTENSION = 5 };

typedef struct handler_args_t {
    size_t struct_size;
    const char *name;
    size_t name_size;
    int api_version;
    void *handler;
    const char *platform;
    size_t platform_size;
    int traits;
} handler_args_t;

typedef struct type_args_t {
    size_t struct_size;
    void *extension_start;
    const char *name;
    size_t name_size;
    int64_t type_id;  // 0: the plugin chooses one
    void **functions; // PJRT_FFI_Type_Info: deleter, serialize, deserialize
} type_args_t;

typedef struct ffi_extension_t {
    PJRT_Extension_Base base;
    PJRT_Error *(*register_type)(type_args_t *args);
    void *add_user_data;
    PJRT_Error *(*register_handler)(handler_args_t *args);
} ffi_extension_t;

typedef struct custom_call_args_t {
    size_t struct_size;
    const char *name;
    size_t name_size;
    int api_version;
    void *stages[KEEL_HANDLER_PLACES];
    uint32_t traits; // of version 3 on
} custom_call_args_t;

typedef struct gpu_extension_t {
    PJRT_Extension_Base base;
    PJRT_Error *(*register_custom_call)(custom_call_args_t *args);
    bool takes_traits; // of version 3 on
} gpu_extension_t;

#define SIZE_TO(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

static void *find_extension(const PJRT_Api *api, int type, size_t least) {
    PJRT_Extension_Base *at = api->extension_start;
    while (at && (int)at->type != type)
        at = at->next;
    return at && at->struct_size >= least ? at : NULL;
}

// ---- places ------------------------------------------------------------------------------------

static keel_status_t open_library(keel_str_t path, char **out_base) {
    char *name;
    struct link_map *map;
    Dl_info info;
    KEEL_TRY(keel_strdup(path, &name));
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char *why = library ? NULL : dlerror();
    keel_free(name);
    if (!library)
        return keel_status_make(KEEL_NOT_FOUND, "%s", why ? why : "its library cannot be opened");
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) || !dladdr((void *)map->l_ld, &info))
        return keel_status_make(KEEL_INTERNAL, "the place of its library is unknown");
    *out_base = info.dli_fbase;
    return NULL;
}

static keel_status_t find_place(keel_str_t library, uint64_t offset, void **out) {
    char *base = NULL;
    Dl_info info;
    *out = NULL;
    if (!library.size) return NULL;
    KEEL_TRY(open_library(library, &base));
    if (!dladdr(base + offset, &info) || info.dli_fbase != base)
        return keel_status_make(KEEL_NOT_FOUND, "its library has changed");
    *out = base + offset;
    return NULL;
}

// ---- registering -------------------------------------------------------------------------------

static keel_status_t register_ffi(const worker_t *worker, const wire_handler_t *handler,
                                  void *function) {
    const ffi_extension_t *ffi =
        find_extension(worker->api, FFI_EXTENSION, SIZE_TO(ffi_extension_t, register_handler));
    handler_args_t args = {.struct_size = SIZE_TO(handler_args_t, traits),
                           .name = handler->name.data,
                           .name_size = handler->name.size,
                           .api_version = (int)handler->api_version,
                           .handler = function,
                           .platform = handler->platform.data,
                           .platform_size = handler->platform.size,
                           .traits = (int)handler->traits};
    if (!ffi) return keel_status_make(KEEL_UNSUPPORTED, "the plugin takes no functions");
    return keel_pjrt_status(worker->api, ffi->register_handler(&args), "PJRT_FFI_Register_Handler");
}

static keel_status_t register_call(const worker_t *worker, const wire_handler_t *handler,
                                   void *const *stages) {
    const gpu_extension_t *gpu =
        find_extension(worker->api, GPU_EXTENSION, SIZE_TO(gpu_extension_t, register_custom_call));
    custom_call_args_t args = {.struct_size = SIZE_TO(custom_call_args_t, traits),
                               .name = handler->name.data,
                               .name_size = handler->name.size,
                               .api_version = (int)handler->api_version,
                               .traits = (uint32_t)handler->traits};
    if (!gpu) return register_ffi(worker, handler, stages[KEEL_HANDLER_EXECUTE]);
    memcpy(args.stages, stages, sizeof args.stages);
    return keel_pjrt_status(worker->api, gpu->register_custom_call(&args),
                            "PJRT_Gpu_Register_Custom_Call");
}

// The number is written into the library, as the client's extension does in the client.
static keel_status_t register_type(const worker_t *worker, const wire_handler_t *handler,
                                   void *const *places) {
    const ffi_extension_t *ffi =
        find_extension(worker->api, FFI_EXTENSION, SIZE_TO(ffi_extension_t, register_type));
    void *functions[] = {places[1], places[2], places[3]};
    type_args_t args = {.struct_size = sizeof args,
                        .name = handler->name.data,
                        .name_size = handler->name.size,
                        .functions = functions};
    if (!ffi) return keel_status_make(KEEL_UNSUPPORTED, "the plugin takes no types");
    KEEL_TRY(keel_pjrt_status(worker->api, ffi->register_type(&args), "PJRT_FFI_Type_Register"));
    if (places[0]) memcpy(places[0], &args.type_id, sizeof args.type_id);
    return NULL;
}

// Those for the processor go through pjrt/kernels.h, which knows what its plugins refuse.
static keel_status_t add_kernel(const wire_handler_t *handler, void *function) {
    char *name;
    KEEL_TRY(keel_strdup(handler->name, &name));
    keel_status_t status = keel_kernel_add(name, function);
    keel_free(name);
    return status;
}

static keel_status_t add_callable(const worker_t *worker, const wire_handler_t *handler) {
    void *places[KEEL_HANDLER_PLACES];
    for (int i = 0; i < KEEL_HANDLER_PLACES; ++i)
        KEEL_TRY(find_place(handler->libraries[i], handler->offsets[i], &places[i]));
    if (handler->kind == KEEL_HANDLER_TYPE) return register_type(worker, handler, places);
    if (worker->client) return add_kernel(handler, places[KEEL_HANDLER_EXECUTE]);
    return register_call(worker, handler, places);
}

void worker_add_handler(worker_t *worker, const wire_handler_t *handler) {
    keel_status_t status = add_callable(worker, handler);
    if (status && !*worker->trouble)
        snprintf(worker->trouble, sizeof worker->trouble, "handler %.*s was not registered: %s",
                 KEEL_STR_ARGS(handler->name), keel_status_message(status));
    keel_status_ignore(status);
}
