#include "pjrt/error.h"

#include <pthread.h>

#include "base/fork.h"

// The live errors that Keel made. There are rarely any, so a list is enough; a mark inside the
// object would mean reading foreign objects.
typedef struct own_error_t {
    struct own_error_t *next;
    keel_status_t status;
    PJRT_Error_Code code;
} own_error_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
KEEL_FORK_GUARD(lock);
static own_error_t *own;
// Reports that there was no memory for an error; never destroyed.
static own_error_t no_memory;

PJRT_Error *keel_pjrt_error_as(PJRT_Error_Code code, keel_status_t status) {
    void *memory;
    keel_status_t failed = keel_alloc(sizeof(own_error_t), &memory);
    if (failed) {
        keel_status_ignore(failed);
        keel_status_ignore(status);
        return (PJRT_Error *)&no_memory;
    }
    own_error_t *error = memory;
    error->status = status;
    error->code = code;
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

bool keel_pjrt_error_is_own(const PJRT_Error *error) {
    return error && find_own(error, false);
}

bool keel_pjrt_error_destroy(PJRT_Error *error) {
    own_error_t *found = error ? find_own(error, true) : NULL;
    if (!found) return false;
    if (found == &no_memory) return true;
    keel_status_ignore(found->status);
    keel_free(found);
    return true;
}

bool keel_pjrt_error_message(const PJRT_Error *error, keel_str_t *out) {
    const own_error_t *found = error ? find_own(error, false) : NULL;
    if (!found) return false;
    *out =
        keel_str(found == &no_memory ? "keel: out of memory" : keel_status_message(found->status));
    return true;
}

static PJRT_Error_Code code_of(keel_code_t code) {
    switch (code) {
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

bool keel_pjrt_error_number(const PJRT_Error *error, PJRT_Error_Code *out) {
    const own_error_t *found = error ? find_own(error, false) : NULL;
    if (found) *out = found == &no_memory ? PJRT_Error_Code_RESOURCE_EXHAUSTED : found->code;
    return found;
}

PJRT_Error *keel_pjrt_error(keel_status_t status) {
    return keel_pjrt_error_as(code_of(keel_status_code(status)), status);
}
