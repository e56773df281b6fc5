#include "host/source.h"

#include <string.h>

static bool is_source(const char *path) {
    static const char *const endings[] = {".py",  ".pyx", ".pyw", ".ipynb", ".c",  ".cc",
                                          ".cpp", ".cxx", ".h",   ".hpp",   ".jl", ".rs"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; ++i)
        if (strcmp(dot, endings[i]) == 0) return true;
    return false;
}

keel_status_t keel_source_read(const char *path, uint8_t **out, size_t *out_size) {
    return keel_file_read_if(path, is_source, KEEL_SOURCE_LIMIT, out, out_size);
}

// The file's name, a zero, and the digest if there is one. The caller frees *out.
static keel_status_t make_name(const char *file, const keel_digest_t *digest, uint8_t **out,
                               size_t *out_size) {
    size_t length = strlen(file) + 1;
    void *memory;
    KEEL_TRY(keel_alloc(length + KEEL_DIGEST_SIZE, &memory));
    *out = memory;
    memcpy(*out, file, length);
    if (digest) memcpy(*out + length, digest->bytes, KEEL_DIGEST_SIZE);
    *out_size = length + (digest ? KEEL_DIGEST_SIZE : 0);
    return NULL;
}

static keel_status_t put_digest(keel_map_t *read, const char *file, const keel_digest_t *digest) {
    uint8_t *name;
    size_t size;
    KEEL_TRY(make_name(file, digest, &name, &size));
    keel_status_t status = keel_map_put(read, keel_bytes(name, size), 1);
    keel_free(name);
    return status;
}

static bool has(const keel_map_t *read, const char *file, const keel_digest_t *digest) {
    uint8_t *name;
    size_t size;
    keel_status_t status = make_name(file, digest, &name, &size);
    bool found = !status && keel_map_find(read, keel_bytes(name, size));
    if (!status) keel_free(name);
    keel_status_ignore(status);
    return found;
}

keel_status_t keel_source_note(keel_map_t *read, const char *file, const char *digest) {
    keel_digest_t known;
    if (!keel_digest_unhex(keel_str(digest), &known)) return NULL;
    KEEL_TRY(put_digest(read, file, NULL));
    return put_digest(read, file, &known);
}

bool keel_source_is_noted(const keel_map_t *read, const char *file) {
    return has(read, file, NULL);
}

bool keel_source_was_read(const keel_map_t *read, const char *file, keel_bytes_t text) {
    keel_digest_t digest = keel_digest(text);
    return has(read, file, &digest);
}

bool keel_source_line_read(keel_str_t line, keel_str_t *out_mark, keel_str_t *out_path) {
    const char *tab = line.size ? memchr(line.data, '\t', line.size) : NULL;
    if (!tab) return false;
    *out_mark = (keel_str_t){line.data, (size_t)(tab - line.data)};
    *out_path = (keel_str_t){tab + 1, (size_t)(line.data + line.size - tab) - 1};
    return true;
}
