#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "store/layout.h"

// A mark is made, locked and then described; only a described one counts, so one whose maker was
// killed before its load began accuses nobody.

static keel_status_t lock_mark(const char *path, keel_file_lock_t *out) {
    keel_status_t status = keel_file_lock(path, true, out);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status);
    KEEL_TRY(keel_store_make_folder_of(path));
    return keel_file_lock(path, true, out);
}

static keel_status_t describe(const keel_file_lock_t *lock) {
    char text[64];
    int size = snprintf(text, sizeof text, "pid %d\n", (int)getpid());
    return keel_file_lock_describe(lock, keel_bytes(text, (size_t)size));
}

keel_status_t keel_store_mark(const char *folder, const keel_digest_t *key, keel_mark_t *out) {
    static atomic_uint counter;
    char hex[KEEL_DIGEST_HEX], *path;
    keel_digest_hex(key, hex);
    KEEL_TRY(keel_path(&path, "%s/marks/%s.%d.%llu-%u", folder, hex, (int)getpid(),
                       (unsigned long long)keel_clock_monotonic(), atomic_fetch_add(&counter, 1)));
    keel_mark_t mark = {.lock = {-1}, .path = path};
    keel_status_t status = lock_mark(path, &mark.lock);
    if (!status) status = describe(&mark.lock);
    if (status) {
        keel_store_unmark(&mark);
        return status;
    }
    *out = mark;
    return NULL;
}

void keel_store_unmark(keel_mark_t *mark) {
    if (!mark->path) return;
    keel_file_unlock(&mark->lock, mark->path);
    keel_free(mark->path);
    mark->path = NULL;
}

// ---- sweeping ----------------------------------------------------------------------------------

typedef struct sweep_t {
    const char *folder;
    const char *marks;
    void (*found)(void *context, const keel_digest_t *key);
    void *context;
} sweep_t;

static keel_status_t accuse(const sweep_t *sweep, const char *path, const keel_digest_t *key) {
    uint8_t byte;
    size_t size;
    keel_file_facts_t facts;
    KEEL_TRY(keel_file_read_head(path, &byte, 1, &size, &facts));
    if (!size) return NULL;
    KEEL_TRY(keel_store_set_aside(sweep->folder, key, "crashed", NULL));
    if (sweep->found) sweep->found(sweep->context, key);
    return NULL;
}

// Where setting aside fails the mark stays for the next start.
static keel_status_t sweep_mark(void *context, const char *name) {
    const sweep_t *sweep = context;
    keel_digest_t key;
    const char *rest;
    if (!keel_store_parse_name(name, &key, &rest)) return NULL;
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s", sweep->marks, name));
    keel_file_lock_t lock = {-1};
    keel_status_t status = keel_file_lock(path, false, &lock);
    if (keel_status_code(status) == KEEL_REFUSED) { // its maker lives
        keel_status_ignore(status);
        status = NULL;
    } else if (!status) {
        status = accuse(sweep, path, &key);
        if (status)
            keel_file_let_go(&lock);
        else
            keel_file_unlock(&lock, path);
    }
    keel_free(path);
    return status;
}

keel_status_t keel_store_sweep_marks(const char *folder,
                                     void (*found)(void *context, const keel_digest_t *key),
                                     void *context) {
    char *marks;
    KEEL_TRY(keel_path(&marks, "%s/marks", folder));
    sweep_t sweep = {folder, marks, found, context};
    keel_status_t status = keel_directory_walk(marks, sweep_mark, &sweep);
    keel_free(marks);
    return status;
}
