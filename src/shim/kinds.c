// The memory that results lie in, for XLA's CPU plugins, which do not say. TorchTPU asks for it and
// does not go on without an answer; JAX takes the silence for the default.
#include <pthread.h>

#include "shim/shim.h"

// All results' answers are the same, so one list serves all executables: it grows by another one,
// and those before stay, because clients hold them.
enum { SHORTEST = 64 };
typedef struct list_t {
    size_t count;
    const char **kinds;
    size_t *sizes;
} list_t;

static const PJRT_Api *plugin;
static const char *kind; // NULL: no client asked for answers. Stays for good
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static list_t longest;

void keel_shim_name_kind(const char *name) {
    char *copy;
    if (kind) return;
    keel_status_t status = keel_strdup(keel_str(name), &copy);
    if (!status) kind = copy;
    keel_status_ignore(status);
}

static keel_status_t lengthen(size_t least) {
    void *kinds, *sizes;
    size_t count = longest.count ? longest.count : SHORTEST;
    while (count < least)
        count *= 2;
    KEEL_TRY(keel_calloc(count, sizeof *longest.kinds, &kinds));
    keel_status_t status = keel_calloc(count, sizeof *longest.sizes, &sizes);
    if (status) {
        keel_free(kinds);
        return status;
    }
    longest = (list_t){count, kinds, sizes};
    for (size_t i = 0; i < count; ++i) {
        longest.kinds[i] = kind;
        longest.sizes[i] = strlen(kind);
    }
    return NULL;
}

static keel_status_t answer(PJRT_Executable_OutputMemoryKinds_Args *args, size_t count) {
    pthread_mutex_lock(&lock);
    keel_status_t status = count > longest.count || !longest.count ? lengthen(count) : NULL;
    args->num_outputs = count;
    args->memory_kinds = longest.kinds;
    args->memory_kind_sizes = longest.sizes;
    pthread_mutex_unlock(&lock);
    return status;
}

static PJRT_Error *output_kinds(PJRT_Executable_OutputMemoryKinds_Args *args) {
    PJRT_Executable_NumOutputs_Args outputs = {KEEL_PJRT_SIZE(PJRT_Executable_NumOutputs),
                                               .executable = args->executable};
    PJRT_Error *error = plugin->PJRT_Executable_OutputMemoryKinds(args);
    if (!error) return NULL;
    keel_status_t status = KEEL_PJRT_CALL(plugin, PJRT_Executable_NumOutputs, outputs);
    if (!status) status = answer(args, outputs.num_outputs);
    if (status) {
        keel_status_ignore(status);
        return error;
    }
    keel_status_ignore(keel_pjrt_status(plugin, error, "PJRT_Executable_OutputMemoryKinds"));
    return NULL;
}

void keel_shim_take_kinds(keel_plugin_t *taken) {
    PJRT_Api *own;
    if (!kind) return;
    keel_status_t status = keel_shim_copy_table(taken->api, &own);
    keel_status_ignore(status);
    if (status) return;
    plugin = taken->api;
    own->PJRT_Executable_OutputMemoryKinds = output_kinds;
    taken->api = own;
}
