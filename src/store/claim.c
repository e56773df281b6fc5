#define _GNU_SOURCE
#include <time.h>

#include "store/layout.h"

enum { HOLDER_LIMIT = 4096 };

static const uint64_t say_after = 2000000000u;
static const uint64_t longest_nap = 50000000u;

static void nap(uint64_t *nanoseconds) {
    struct timespec t = {.tv_nsec = (long)*nanoseconds};
    nanosleep(&t, NULL);
    *nanoseconds *= 2;
    if (*nanoseconds > longest_nap) *nanoseconds = longest_nap;
}

// Whoever holds the lock may be writing its description just now, or be gone: then it is empty.
static void say_who(const char *path, void (*waiting)(void *context, const char *holder),
                    void *context) {
    uint8_t text[HOLDER_LIMIT + 1];
    size_t size = 0;
    keel_file_facts_t facts;
    keel_status_ignore(keel_file_read_head(path, text, HOLDER_LIMIT, &size, &facts));
    while (size && text[size - 1] == '\n')
        --size;
    text[size] = 0;
    waiting(context, size ? (const char *)text : "another process");
}

static keel_status_t try_lock(const char *path, keel_file_lock_t *out) {
    keel_status_t status = keel_file_lock(path, false, out);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    KEEL_TRY(keel_store_make_folder_of(path));
    return keel_file_lock(path, false, out);
}

static keel_status_t wait_for(const char *path, void (*waiting)(void *context, const char *holder),
                              void *context, keel_file_lock_t *out) {
    uint64_t start = keel_clock_monotonic(), pause = 1000000u;
    for (;;) {
        keel_status_t status = try_lock(path, out);
        if (keel_status_code(status) != KEEL_REFUSED) return status;
        keel_status_ignore(status);
        if (waiting && keel_clock_monotonic() - start >= say_after) {
            say_who(path, waiting, context);
            waiting = NULL;
        }
        nap(&pause);
    }
}

keel_status_t keel_store_claim(const char *folder, const keel_digest_t *key, const char *holder,
                               void (*waiting)(void *context, const char *holder), void *context,
                               keel_claim_t *out) {
    char *path;
    KEEL_TRY(keel_store_lock_path(folder, key, &path));
    keel_claim_t claim = {.lock = {-1}, .path = path};
    keel_status_t status = wait_for(path, waiting, context, &claim.lock);
    if (status) {
        keel_free(path);
        return status;
    }
    // Only people read it.
    keel_status_ignore(keel_file_lock_describe(&claim.lock, keel_str_bytes(keel_str(holder))));
    *out = claim;
    return NULL;
}

void keel_store_release(keel_claim_t *claim) {
    if (!claim->path) return;
    keel_file_unlock(&claim->lock, claim->path);
    keel_free(claim->path);
    claim->path = NULL;
}
