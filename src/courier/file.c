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

static keel_status_t read_pieces(const keel_input_file_t *file, const sink_t *sink) {
    void *piece;
    keel_status_t status = NULL;
    KEEL_TRY(keel_alloc(PIECE, &piece));
    for (uint64_t at = 0; at < file->size && !status; at += PIECE) {
        size_t size = file->size - at < PIECE ? (size_t)(file->size - at) : PIECE;
        status = keel_input_file_read(file, at, piece, size);
        if (!status && !sink->take(sink->context, piece, size))
            status = keel_status_make(KEEL_CORRUPT, "%s", sink->why);
    }
    keel_free(piece);
    return status;
}

static keel_status_t file_get(void *context, const char *name, const sink_t *sink) {
    char *path;
    keel_input_file_t file;
    KEEL_TRY(check_folder(context));
    KEEL_TRY(path_of(context, name, &path));
    keel_status_t status = keel_input_file_open(path, &file);
    keel_free(path);
    KEEL_TRY(status);
    status = read_pieces(&file, sink);
    keel_input_file_close(&file);
    return status;
}

static facts_t facts_of(const keel_file_facts_t *file) {
    uint64_t now = keel_clock_wall();
    return (facts_t){file->size, now > file->modified ? now - file->modified : 0};
}

static keel_status_t file_head(void *context, const char *name, facts_t *out) {
    char *path;
    keel_file_facts_t file;
    KEEL_TRY(check_folder(context));
    KEEL_TRY(path_of(context, name, &path));
    keel_status_t status = keel_file_facts(path, &file);
    keel_free(path);
    KEEL_TRY(status);
    *out = facts_of(&file);
    return file.is_file ? NULL : keel_status_make(KEEL_NOT_FOUND, "%s is no file", name);
}

static keel_status_t write_to(const char *path, put_t how, keel_bytes_t head, keel_bytes_t rest) {
    keel_draft_t draft;
    KEEL_TRY(keel_draft_open_public(path, &draft));
    keel_status_t status = keel_draft_write(&draft, head);
    if (!status) status = keel_draft_write(&draft, rest);
    if (!status)
        return how == PUT_IF_ABSENT ? keel_draft_publish_new(&draft, path)
                                    : keel_draft_publish(&draft, path);
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

static keel_status_t file_put(void *context, const char *name, put_t how, keel_bytes_t head,
                              keel_bytes_t rest) {
    char *path;
    KEEL_TRY(check_folder(context));
    KEEL_TRY(path_of(context, name, &path));
    keel_status_t status = make_folders(path);
    if (!status) status = write_to(path, how, head, rest);
    keel_free(path);
    return status;
}

static keel_status_t file_remove(void *context, const char *name) {
    char *path;
    KEEL_TRY(check_folder(context));
    KEEL_TRY(path_of(context, name, &path));
    keel_status_t status = keel_file_remove(path);
    keel_free(path);
    return status;
}

// ---- listing -----------------------------------------------------------------------------------

// A folder in a listing; `prefix` is its name with a slash, or empty.
typedef struct listing_t {
    void *context;
    const char *prefix;
    visit_t visit;
    void *visitor;
} listing_t;

static keel_status_t list_folder(const listing_t *listing);

static keel_status_t list_one(void *context, const char *base) {
    const listing_t *listing = context;
    char *name = NULL, *path = NULL, *below = NULL;
    keel_file_facts_t file = {0};
    long pid;
    if (keel_draft_is_temporary(base, &pid)) return NULL;
    keel_status_t status = keel_path(&name, "%s%s", listing->prefix, base);
    if (!status) status = path_of(listing->context, name, &path);
    if (!status) status = keel_file_facts(path, &file);
    if (!status && file.is_directory) {
        status = keel_path(&below, "%s/", name);
        const listing_t inner = {listing->context, below, listing->visit, listing->visitor};
        if (!status) status = list_folder(&inner);
    } else if (!status && file.is_file) {
        const facts_t facts = facts_of(&file);
        status = listing->visit(listing->visitor, name, &facts);
    }
    keel_free(below);
    keel_free(path);
    keel_free(name);
    if (keel_status_code(status) != KEEL_NOT_FOUND) return status;
    keel_status_ignore(status); // removed meanwhile
    return NULL;
}

static keel_status_t list_folder(const listing_t *listing) {
    char *path;
    KEEL_TRY(path_of(listing->context, listing->prefix, &path));
    keel_status_t status = keel_directory_walk(path, list_one, (void *)(uintptr_t)listing);
    keel_free(path);
    return status;
}

static keel_status_t file_list(void *context, const char *prefix, visit_t visit, void *visitor) {
    KEEL_TRY(check_folder(context));
    return list_folder(&(listing_t){context, prefix, visit, visitor});
}

static void file_close(void *context) {
    (void)context;
}

keel_status_t backend_file(const keel_remote_t *remote, backend_t *out) {
    static const backend_kind_t kind = {.get = file_get,
                                        .head = file_head,
                                        .put = file_put,
                                        .list = file_list,
                                        .remove = file_remove,
                                        .close = file_close};
    *out = (backend_t){(void *)(uintptr_t)remote, &kind};
    return NULL;
}
