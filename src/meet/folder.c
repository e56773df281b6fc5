// In a folder that all processes write to: a value is a file, named by its key.
#include <stdatomic.h>
#include <stdio.h>

#include "meet/meet.h"
#include "meet/poll.h"

typedef struct folder_t {
    keel_meet_t meet;
    char *path;
    atomic_bool is_there; // this process has put something
} folder_t;

static keel_status_t put(keel_meet_t *self, const char *key, keel_bytes_t value) {
    folder_t *folder = (folder_t *)self;
    char *path;
    KEEL_TRY(keel_directory_make(folder->path));
    KEEL_TRY(keel_path(&path, "%s/%s", folder->path, key));
    keel_status_t status = keel_file_replace(path, value);
    if (!status) atomic_store(&folder->is_there, true);
    keel_free(path);
    return status;
}

// Nothing will come if someone has removed the folder.
static keel_status_t check_folder(folder_t *folder, keel_status_t status) {
    if (keel_status_code(status) != KEEL_NOT_FOUND || !atomic_load(&folder->is_there) ||
        keel_is_folder(folder->path))
        return status;
    keel_status_ignore(status);
    return keel_status_make(KEEL_IO, "%s: no longer a folder", folder->path);
}

static keel_status_t get(keel_meet_t *self, const char *key, uint64_t until, uint8_t **out,
                         size_t *out_size) {
    folder_t *folder = (folder_t *)self;
    poll_t poll = {.until = until};
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s", folder->path, key));
    keel_status_t status = keel_file_read(path, KEEL_MEET_VALUE, out, out_size);
    while (keel_status_code(status) == KEEL_NOT_FOUND && poll_again(&poll)) {
        keel_status_ignore(status);
        status = keel_file_read(path, KEEL_MEET_VALUE, out, out_size);
    }
    keel_free(path);
    return check_folder(folder, status);
}

static void destroy(keel_meet_t *self) {
    keel_free(((folder_t *)self)->path);
    keel_free(self);
}

keel_status_t keel_meet_in_folder(const char *path, keel_meet_t **out) {
    static const keel_meet_kind_t kind = {.put = put, .get = get, .destroy = destroy};
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(folder_t), &memory));
    folder_t *folder = memory;
    folder->meet.kind = &kind;
    snprintf(folder->meet.shown, sizeof folder->meet.shown, "%s", path);
    keel_status_t status = keel_strdup(keel_str(path), &folder->path);
    if (status)
        keel_free(memory);
    else
        *out = &folder->meet;
    return status;
}
