#define _GNU_SOURCE
#include "pjrt/kernels.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "key/key.h"
#include "pjrt/memory.h"

// ---- the structs of XLA's FFI ------------------------------------------------------------------

typedef struct extension_t {
    size_t size;
    int type;
    void *next;
} extension_t;

typedef struct version_t {
    size_t size;
    void *extensions;
    int major, minor;
} version_t;

typedef struct ffi_t {
    size_t size;
    void *extensions;
    version_t version;
} ffi_t;

// What a kernel is called with: a request for its metadata, or the arguments of an execution.
typedef struct call_frame_t {
    size_t size;
    extension_t *extensions;
    const ffi_t *ffi;
} call_frame_t;

typedef struct metadata_t {
    size_t size;
    version_t version;
} metadata_t;

typedef struct metadata_request_t {
    extension_t head;
    metadata_t *metadata;
} metadata_request_t;

enum { METADATA = 1 };

typedef void *kernel_function_t(call_frame_t *frame); // returns an XLA_FFI_Error *

// ---- the structs of PJRT's FFI extension -------------------------------------------------------

typedef struct register_args_t {
    size_t size;
    const char *name;
    size_t name_size;
    void *function;
    const char *platform;
    size_t platform_size;
    int traits;
} register_args_t;

typedef struct ffi_extension_t {
    PJRT_Extension_Base base;
    void *register_type, *add_user_data;
    PJRT_Error *(*register_handler)(register_args_t *args);
} ffi_extension_t;

enum { FFI_EXTENSION = 5, REGISTER_ARGS_SIZE = offsetof(register_args_t, traits) + sizeof(int) };

// ---- the kernels -------------------------------------------------------------------------------

typedef struct kernel_t {
    char *name;
    kernel_function_t *function; // NULL: of another process
    char *library;               // "" if unknown
    bool is_jaxlibs;             // of jaxlib itself
    bool has_build;              // under the lock
    keel_digest_t build;
    atomic_bool is_registered;
} kernel_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
KEEL_FORK_GUARD(lock);
static kernel_t kernels[KEEL_KERNEL_LIMIT]; // those below `count` do not change
static uint32_t count;
static const PJRT_Api *plugin; // NULL until it has a client on CPU

static kernel_t *find_kernel(keel_str_t name) {
    for (uint32_t i = 0; i < count; ++i)
        if (keel_str_is(name, kernels[i].name)) return &kernels[i];
    return NULL;
}

// ---- calls by the plugin -----------------------------------------------------------------------

// A plugin that gets a kernel of a later version says that it took it, and does not find it later.
static void check_version(const kernel_t *kernel, const version_t *own, const version_t *theirs) {
    if (own->major == theirs->major && own->minor <= theirs->minor) return;
    keel_log_once(kernel->name,
                  "the plugin does not take the kernel '%s', so it compiles no program that calls "
                  "it: it was built for FFI %d.%d, and the plugin has %d.%d; build it with the "
                  "plugin's headers, or run on the client's own backend",
                  kernel->name, own->major, own->minor, theirs->major, theirs->minor);
}

// The kernel may know a longer struct than the plugin has, and checks the size that it finds.
static void *answer_metadata(const kernel_t *kernel, call_frame_t *frame, metadata_t *asked) {
    union {
        metadata_t known;
        char room[256];
    } own = {.known.size = sizeof own};
    own.known.version = asked->version;
    metadata_request_t request = {{sizeof request, METADATA, NULL}, &own.known};
    extension_t *extensions = frame->extensions;
    frame->extensions = &request.head;
    void *error = kernel->function(frame);
    frame->extensions = extensions;
    const version_t *theirs = &frame->ffi->version;
    version_t *version = &own.known.version;
    if (kernel->is_jaxlibs && version->major == theirs->major && version->minor > theirs->minor)
        version->minor = theirs->minor;
    if (!error) check_version(kernel, version, theirs);
    version->size = asked->version.size;
    if (asked->size > sizeof asked->size && asked->size <= sizeof own)
        memcpy((char *)asked + sizeof asked->size, own.room + sizeof asked->size,
               asked->size - sizeof asked->size);
    return error;
}

static void *call(uint32_t at, call_frame_t *frame) {
    const kernel_t *kernel = &kernels[at];
    extension_t *extension = frame->extensions;
    if (extension && extension->type == METADATA)
        return answer_metadata(kernel, frame, ((metadata_request_t *)extension)->metadata);
    return kernel->function(frame);
}

// A kernel is called without a context, so each has a function of its own.
#define FOR_8(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define FOR_32(X, n) FOR_8(X, n##0) FOR_8(X, n##1) FOR_8(X, n##2) FOR_8(X, n##3)
#define FOR_EACH(X) FOR_32(X, 0) FOR_32(X, 1) FOR_32(X, 2)
#define AT(n) at_##n,
enum { FOR_EACH(AT) };
#define CALL(n)                                                                                    \
    static void *call_##n(call_frame_t *frame) {                                                   \
        return call(at_##n, frame);                                                                \
    }
FOR_EACH(CALL)
#define ENTRY(n) call_##n,
static kernel_function_t *const entries[] = {FOR_EACH(ENTRY)};
_Static_assert(sizeof entries / sizeof *entries == KEEL_KERNEL_LIMIT, "one for each kernel");

// ---- registering -------------------------------------------------------------------------------

static ffi_extension_t *ffi_of(const PJRT_Api *api) {
    PJRT_Extension_Base *at = api->extension_start;
    while (at && (int)at->type != FFI_EXTENSION)
        at = at->next;
    bool is_whole = at && at->struct_size >= sizeof(ffi_extension_t);
    return is_whole ? (ffi_extension_t *)at : NULL;
}

static void register_one(const PJRT_Api *api, uint32_t at) {
    static const char platform[] = "Host";
    ffi_extension_t *ffi = ffi_of(api);
    kernel_t *kernel = &kernels[at];
    if (!ffi || !kernel->function || atomic_exchange(&kernel->is_registered, true)) return;
    register_args_t args = {.size = REGISTER_ARGS_SIZE,
                            .name = kernel->name,
                            .name_size = strlen(kernel->name),
                            .platform = platform,
                            .platform_size = sizeof platform - 1};
    *(kernel_function_t **)&args.function = entries[at];
    PJRT_Error *error = ffi->register_handler(&args);
    bool is_the_plugins_own =
        error && keel_pjrt_code_of(api, error) == PJRT_Error_Code_ALREADY_EXISTS;
    keel_status_t status = keel_pjrt_status(api, error, "PJRT_FFI_Register_Handler");
    if (status && !is_the_plugins_own)
        keel_log_once(
            kernel->name,
            "the plugin does not take the client's kernel '%s', so it compiles no program "
            "that calls it: %s",
            kernel->name, keel_status_message(status));
    keel_status_ignore(status);
}

void keel_kernels_register(const PJRT_Api *api, PJRT_Client *client) {
    PJRT_Client_PlatformName_Args args = {KEEL_PJRT_SIZE(PJRT_Client_PlatformName),
                                          .client = client};
    keel_status_t status = KEEL_PJRT_CALL(api, PJRT_Client_PlatformName, args);
    keel_status_ignore(status);
    if (status || !keel_str_is((keel_str_t){args.platform_name, args.platform_name_size}, "cpu"))
        return;
    pthread_mutex_lock(&lock);
    plugin = api;
    uint32_t end = count;
    pthread_mutex_unlock(&lock);
    for (uint32_t i = 0; i < end; ++i)
        register_one(api, i);
}

// ---- the client's side -------------------------------------------------------------------------

static keel_status_t fill_kernel(const char *name, void *function, kernel_t *out) {
    Dl_info info;
    const char *library = dladdr(function, &info) && info.dli_fname ? info.dli_fname : "";
    KEEL_TRY(keel_strdup(keel_str(name), &out->name));
    keel_status_t status = keel_strdup(keel_str(library), &out->library);
    if (status) keel_free(out->name);
    if (status) return status;
    *(void **)&out->function = function;
    out->is_jaxlibs = strstr(library, "/jaxlib/") != NULL;
    return NULL;
}

keel_status_t keel_kernel_add(const char *name, void *function) {
    pthread_mutex_lock(&lock);
    bool is_new = !find_kernel(keel_str(name));
    uint32_t at = count;
    keel_status_t status = NULL;
    if (is_new && at == KEEL_KERNEL_LIMIT)
        status = keel_status_make(KEEL_UNSUPPORTED, "more than %d kernels of the client: '%s'",
                                  KEEL_KERNEL_LIMIT, name);
    else if (is_new)
        status = fill_kernel(name, function, &kernels[at]);
    if (is_new && !status) ++count;
    const PJRT_Api *api = plugin;
    pthread_mutex_unlock(&lock);
    if (is_new && !status && api) register_one(api, at);
    return status;
}

static keel_status_t fill_known(const char *name, const char *library, kernel_t *out) {
    KEEL_TRY(keel_strdup(keel_str(name), &out->name));
    keel_status_t status = keel_strdup(keel_str(library), &out->library);
    if (status) keel_free(out->name);
    return status;
}

keel_status_t keel_kernel_know(const char *name, const char *library) {
    pthread_mutex_lock(&lock);
    bool is_new = !find_kernel(keel_str(name)) && count < KEEL_KERNEL_LIMIT;
    keel_status_t status = is_new ? fill_known(name, library, &kernels[count]) : NULL;
    if (is_new && !status) ++count;
    pthread_mutex_unlock(&lock);
    return status;
}

keel_status_t keel_kernel_build(keel_str_t name, bool *out_known, keel_digest_t *out) {
    pthread_mutex_lock(&lock);
    kernel_t *kernel = find_kernel(name);
    bool has_build = kernel && kernel->has_build;
    if (has_build) *out = kernel->build;
    pthread_mutex_unlock(&lock);
    *out_known = kernel != NULL;
    if (!kernel || has_build) return NULL;
    keel_digest_t build;
    KEEL_TRY(keel_key_plugin_build(kernel->library, NULL, &build));
    pthread_mutex_lock(&lock);
    kernel->build = *out = build;
    kernel->has_build = true;
    pthread_mutex_unlock(&lock);
    return NULL;
}
