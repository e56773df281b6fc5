#define _GNU_SOURCE
#include "key/content.h"

#include <limits.h>

enum { CHUNK = 1 << 20, DEPTH = 32, NAMES = 100000 };
static const uint64_t largest_file = (uint64_t)4 << 30, largest_folder = 64 << 20;

typedef struct content_t {
    keel_hasher_t hasher;
    const char *folder; // the folder being walked; NULL: a single file
    uint64_t names, bytes;
    unsigned depth;
    bool by_times;
} content_t;

static void put_number(content_t *content, uint64_t number) {
    keel_hasher_update(&content->hasher, &number, sizeof number);
}

static keel_status_t put_file(content_t *content, const char *path, uint64_t size) {
    if (size > largest_file)
        return keel_status_make(KEEL_UNSUPPORTED, "%s is larger than 4 GiB", path);
    put_number(content, size);
    for (uint64_t at = 0; at < size;) {
        uint8_t *data;
        size_t got;
        KEEL_TRY(keel_file_read_from(path, at, CHUNK, &data, &got));
        keel_hasher_update(&content->hasher, data, got);
        keel_free(data);
        if (!got) return keel_status_make(KEEL_UNSUPPORTED, "%s shrank while it was read", path);
        at += got;
    }
    return NULL;
}

static keel_status_t put_folder(content_t *content, const char *path);

static keel_status_t put_named(content_t *content, const char *path) {
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(path, &facts);
    if (keel_status_code(status) == KEEL_NOT_FOUND) { // a dangling link
        keel_status_ignore(status);
        return NULL;
    }
    if (status) return status;
    if (facts.is_directory) return put_folder(content, path);
    content->bytes += facts.size;
    if (!facts.is_file || content->bytes > largest_folder) content->by_times = true;
    if (!content->by_times) return put_file(content, path, facts.size);
    put_number(content, facts.size);
    put_number(content, facts.modified);
    return NULL;
}

static keel_status_t put_name(void *context, const char *name) {
    content_t *content = context;
    if (++content->names > NAMES)
        return keel_status_make(KEEL_UNSUPPORTED, "%s has more than %d files", content->folder,
                                NAMES);
    keel_hasher_update(&content->hasher, name, strlen(name) + 1);
    char *path;
    KEEL_TRY(keel_path(&path, "%s/%s", content->folder, name));
    keel_status_t status = put_named(content, path);
    keel_free(path);
    return status;
}

// Names come in byte order. The depth precedes a folder's names and 0 follows them, so two trees
// with the same names stay distinct.
static keel_status_t put_folder(content_t *content, const char *path) {
    if (content->depth == DEPTH)
        return keel_status_make(KEEL_UNSUPPORTED, "%s: folders nest too deep", path);
    const char *above = content->folder;
    content->folder = path;
    put_number(content, ++content->depth);
    keel_status_t status = keel_directory_walk(path, put_name, content);
    put_number(content, 0);
    --content->depth;
    content->folder = above;
    return status;
}

static keel_status_t put_path(content_t *content, const char *path, const keel_file_facts_t *facts,
                              keel_buffer_t *out) {
    KEEL_TRY(facts->is_file ? put_file(content, path, facts->size) : put_folder(content, path));
    keel_digest_t digest = keel_hasher_finish(&content->hasher);
    keel_buffer_byte(out, '#');
    keel_buffer_hex(out, keel_bytes(digest.bytes, sizeof digest.bytes));
    return NULL;
}

// A word that happens to name a folder here ("data") is not a path.
static bool counts(const keel_file_facts_t *facts, const char *path) {
    return facts->is_file || (facts->is_directory && strchr(path, '/'));
}

keel_status_t keel_key_content(keel_str_t value, keel_buffer_t *out) {
    char path[PATH_MAX];
    if (!value.size || value.size >= sizeof path || memchr(value.data, 0, value.size)) return NULL;
    memcpy(path, value.data, value.size);
    path[value.size] = 0;
    keel_file_facts_t facts;
    keel_status_t status = keel_file_facts(path, &facts);
    if (keel_status_code(status) == KEEL_NOT_FOUND || (status && !strchr(path, '/'))) {
        keel_status_ignore(status); // usually a name too long for a file
        return NULL;
    }
    if (!status && !counts(&facts, path)) return NULL;
    content_t content = {0};
    keel_hasher_initialize(&content.hasher);
    if (!status) status = put_path(&content, path, &facts, out);
    if (!status || keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_t unsupported = keel_status_make(
        KEEL_UNSUPPORTED, "a flag names %s, whose content cannot become part of a key: %s", path,
        keel_status_message(status));
    keel_status_ignore(status);
    return unsupported;
}
