#include <pthread.h>

#include "shim/shim.h"

// The live errors that Keel made. There are rarely any, so a list is enough; a mark inside the
// object would mean reading foreign objects.
typedef struct own_error_t {
    struct own_error_t *next;
    keel_status_t status;
} own_error_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
KEEL_FORK_GUARD(lock);
static own_error_t *own;
static const PJRT_Api *plugin_api;
// Reports that there was no memory for an error; never destroyed.
static own_error_t no_memory;

PJRT_Error *keel_shim_error(keel_status_t status) {
    void *memory;
    keel_status_t failed = keel_alloc(sizeof(own_error_t), &memory);
    if (failed) {
        keel_status_ignore(failed);
        keel_status_ignore(status);
        return (PJRT_Error *)&no_memory;
    }
    own_error_t *error = memory;
    error->status = status;
    pthread_mutex_lock(&lock);
    error->next = own;
    own = error;
    pthread_mutex_unlock(&lock);
    return (PJRT_Error *)error;
}

// Unlinks it if `unlink` is set. NULL if it is not Keel's.
static own_error_t *find_own(const PJRT_Error *error, bool unlink) {
    if (error == (const PJRT_Error *)&no_memory) return &no_memory;
    pthread_mutex_lock(&lock);
    own_error_t **link = &own;
    while (*link && (const PJRT_Error *)*link != error)
        link = &(*link)->next;
    own_error_t *found = *link;
    if (found && unlink) *link = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

bool keel_shim_is_own(const PJRT_Error *error) {
    return find_own(error, false) != NULL;
}

static void destroy(PJRT_Error_Destroy_Args *args) {
    own_error_t *error = args->error ? find_own(args->error, true) : NULL;
    if (!error) {
        if (plugin_api && args->error) plugin_api->PJRT_Error_Destroy(args);
        return;
    }
    if (error == &no_memory) return;
    keel_status_ignore(error->status);
    keel_free(error);
}

static void message(PJRT_Error_Message_Args *args) {
    const own_error_t *error = find_own(args->error, false);
    if (!error) {
        if (plugin_api) plugin_api->PJRT_Error_Message(args);
        return;
    }
    args->message =
        error == &no_memory ? "keel: out of memory" : keel_status_message(error->status);
    args->message_size = strlen(args->message);
}

static PJRT_Error_Code code_of(const own_error_t *error) {
    if (error == &no_memory) return PJRT_Error_Code_RESOURCE_EXHAUSTED;
    switch (keel_status_code(error->status)) {
        case KEEL_INVALID:
            return PJRT_Error_Code_INVALID_ARGUMENT;
        case KEEL_NOT_FOUND:
            return PJRT_Error_Code_NOT_FOUND;
        case KEEL_UNSUPPORTED:
            return PJRT_Error_Code_UNIMPLEMENTED;
        case KEEL_CORRUPT:
            return PJRT_Error_Code_DATA_LOSS;
        case KEEL_NO_MEMORY:
            return PJRT_Error_Code_RESOURCE_EXHAUSTED;
        case KEEL_REFUSED:
            return PJRT_Error_Code_FAILED_PRECONDITION;
        case KEEL_IO:
            return PJRT_Error_Code_UNAVAILABLE;
        default:
            return PJRT_Error_Code_INTERNAL;
    }
}

static PJRT_Error *get_code(PJRT_Error_GetCode_Args *args) {
    const own_error_t *error = find_own(args->error, false);
    if (!error) return plugin_api ? plugin_api->PJRT_Error_GetCode(args) : NULL;
    args->code = code_of(error);
    return NULL;
}

// PJRT_Error_ForEachPayload is newer than the header that Keel is built with. Its place in the
// table was read from plugins of PJRT 0.106 and 0.115. Only the error among its arguments is
// needed, and it has the same place as in every call on errors. Clients call it for each error.
enum { PAYLOADS_PLACE = 1096 };
typedef PJRT_Error *for_each_payload_t(PJRT_Error_GetCode_Args *args);

static for_each_payload_t *plugin_for_each_payload;

static PJRT_Error *for_each_payload(PJRT_Error_GetCode_Args *args) {
    return find_own(args->error, false) ? NULL : plugin_for_each_payload(args);
}

static void take_payloads(PJRT_Api *table) {
    char *place = (char *)table + PAYLOADS_PLACE;
    for_each_payload_t *own_function = for_each_payload;
    if (table->struct_size < PAYLOADS_PLACE + sizeof own_function) return;
    memcpy(&plugin_for_each_payload, place, sizeof own_function);
    if (plugin_for_each_payload) memcpy(place, &own_function, sizeof own_function);
}

void keel_shim_take_errors(PJRT_Api *table, const PJRT_Api *plugin) {
    plugin_api = plugin;
    take_payloads(table);
    table->PJRT_Error_Destroy = destroy;
    table->PJRT_Error_Message = message;
    table->PJRT_Error_GetCode = get_code;
}
