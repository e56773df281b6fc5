// A folder, mounted or not: of several hosts, on NFS, or a bucket that is mounted as one.
#include "courier/backend.h"

enum { PIECE = 1 << 20, SCHEME = 7 }; // "file://"

static keel_status_t path_of(void *context, const char *name, char **out) {
    const keel_remote_t *remote = context;
    return keel_path(out, "%s/%s", remote->url + SCHEME, name);
}

// A folder that is not there is one that is not mounted, which would look like an empty one.
static keel_status_t check_folder(const keel_remote_t *remote) {
    if (keel_is_folder(remote->url + SCHEME)) return NULL;
    return keel_status_make(KEEL_IO, "the folder is not there; mount it, or make it");
}

static keel_status_t read_pieces(const keel_input_file_t *file, arrival_t *arrival) {
    void *piece;
    keel_status_t status = NULL;
    KEEL_TRY(keel_alloc(PIECE, &piece));
    for (uint64_t at = 0; at < file->size && !status; at += PIECE) {
        size_t size = file->size - at < PIECE ? (size_t)(file->size - at) : PIECE;
        status = keel_input_file_read(file, at, piece, size);
        if (!status && !arrival_take(arrival, piece, size))
            status = keel_status_make(KEEL_CORRUPT, "%s", arrival->why);
    }
    keel_free(piece);
    return status;
}

static keel_status_t file_get(void *context, const char *name, arrival_t *arrival) {
    char *path;
    keel_input_file_t file;
    KEEL_TRY(check_folder(context));
    KEEL_TRY(path_of(context, name, &path));
    keel_status_t status = keel_input_file_open(path, &file);
    keel_free(path);
    KEEL_TRY(status);
    status = read_pieces(&file, arrival);
    keel_input_file_close(&file);
    return status;
}

static keel_status_t file_has(void *context, const char *name, bool *out) {
    char *path;
    *out = false;
    KEEL_TRY(check_folder(context));
    KEEL_TRY(path_of(context, name, &path));
    *out = keel_is_file(path);
    keel_free(path);
    return NULL;
}

static keel_status_t write_to(const char *path, keel_bytes_t head, keel_bytes_t rest) {
    keel_draft_t draft;
    KEEL_TRY(keel_draft_open_public(path, &draft));
    keel_status_t status = keel_draft_write(&draft, head);
    if (!status) status = keel_draft_write(&draft, rest);
    if (!status) return keel_draft_publish(&draft, path);
    keel_draft_discard(&draft);
    return status;
}

static keel_status_t make_folders(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder;
    KEEL_TRY(keel_path(&folder, "%.*s", (int)(slash - path), path));
    keel_status_t status = keel_directory_make_public(folder);
    keel_free(folder);
    return status;
}

static keel_status_t file_put(void *context, const char *name, keel_bytes_t head,
                              keel_bytes_t rest) {
    char *path;
    KEEL_TRY(check_folder(context));
    KEEL_TRY(path_of(context, name, &path));
    keel_status_t status = make_folders(path);
    if (!status) status = write_to(path, head, rest);
    keel_free(path);
    return status;
}

static void file_close(void *context) {
    (void)context;
}

keel_status_t backend_file(const keel_remote_t *remote, backend_t *out) {
    *out = (backend_t){(void *)(uintptr_t)remote, file_get, file_has, file_put, file_close};
    return NULL;
}
