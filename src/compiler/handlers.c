#define _GNU_SOURCE
#include "compiler/handlers.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <strings.h>

const char *const keel_handler_kinds[] = {
    [KEEL_HANDLER_CALL] = "call",
    [KEEL_HANDLER_TYPE] = "type",
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
KEEL_FORK_GUARD(lock);
static keel_handler_t **handlers; // each stays where it is
static size_t count, capacity;

// ---- places ------------------------------------------------------------------------------------

keel_status_t keel_handler_locate(const void *address, keel_handler_place_t *out) {
    Dl_info info;
    *out = (keel_handler_place_t){0};
    if (!address) return NULL;
    if (!dladdr(address, &info) || !info.dli_fname || !strchr(info.dli_fname, '/'))
        return keel_status_make(KEEL_UNSUPPORTED,
                                "it is in no library, so no other process can call it");
    *out = (keel_handler_place_t){info.dli_fname,
                                  (uint64_t)((const char *)address - (const char *)info.dli_fbase)};
    return NULL;
}

// ---- the list ----------------------------------------------------------------------------------

static bool is_known(const keel_handler_t *handler) {
    for (size_t i = 0; i < count; ++i)
        if (handlers[i]->kind == handler->kind && strcmp(handlers[i]->name, handler->name) == 0 &&
            strcmp(handlers[i]->platform, handler->platform) == 0)
            return true;
    return false;
}

static void destroy(keel_handler_t *handler) {
    keel_free((void *)(uintptr_t)handler->name);
    keel_free((void *)(uintptr_t)handler->platform);
    for (int i = 0; i < KEEL_HANDLER_PLACES; ++i)
        keel_free((void *)(uintptr_t)handler->places[i].library);
    keel_free(handler);
}

static keel_status_t dup_text(const char *text, const char **out) {
    char *copy;
    KEEL_TRY(keel_strdup(keel_str(text), &copy));
    *out = copy;
    return NULL;
}

// A relative path would be another one once the process changes its folder.
static keel_status_t dup_library(const char *library, const char **out) {
    char resolved[PATH_MAX];
    *out = NULL;
    if (!library) return NULL;
    return dup_text(realpath(library, resolved) ? resolved : library, out);
}

static keel_status_t fill(const keel_handler_t *handler, keel_handler_t *out) {
    *out = (keel_handler_t){
        .kind = handler->kind, .api_version = handler->api_version, .traits = handler->traits};
    KEEL_TRY(dup_text(handler->name, &out->name));
    KEEL_TRY(dup_text(handler->platform, &out->platform));
    for (int i = 0; i < KEEL_HANDLER_PLACES; ++i) {
        out->places[i].offset = handler->places[i].offset;
        KEEL_TRY(dup_library(handler->places[i].library, &out->places[i].library));
    }
    return NULL;
}

static keel_status_t add_handler(const keel_handler_t *handler) {
    void *list = handlers, *memory;
    if (is_known(handler)) return NULL;
    KEEL_TRY(keel_grow_array(count, sizeof *handlers, &capacity, &list));
    handlers = list;
    KEEL_TRY(keel_calloc(1, sizeof **handlers, &memory));
    keel_status_t status = fill(handler, memory);
    if (status)
        destroy(memory);
    else
        handlers[count++] = memory;
    return status;
}

keel_status_t keel_handler_add(const keel_handler_t *handler) {
    pthread_mutex_lock(&lock);
    keel_status_t status = add_handler(handler);
    pthread_mutex_unlock(&lock);
    return status;
}

// XLA's names are "Host", "CUDA" and "TPU".
bool keel_handler_fits(const keel_handler_t *handler, const char *platform) {
    return strcasecmp(handler->platform, strcmp(platform, "cpu") == 0 ? "Host" : platform) == 0;
}

size_t keel_handler_count(void) {
    pthread_mutex_lock(&lock);
    size_t all = count;
    pthread_mutex_unlock(&lock);
    return all;
}

const keel_handler_t *keel_handler_at(size_t index) {
    pthread_mutex_lock(&lock);
    const keel_handler_t *handler = index < count ? handlers[index] : NULL;
    pthread_mutex_unlock(&lock);
    return handler;
}
