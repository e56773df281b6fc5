#include "why/source.h"

#include <string.h>

#include "host/source.h"
#include "journal/journal.h"

void keel_source_close(keel_source_t *source) {
    keel_free(source->file);
    keel_free(source->data);
    *source = (keel_source_t){0};
}

static void drop(keel_source_t *source) {
    keel_free(source->data);
    source->data = NULL;
    source->size = 0;
}

static bool is_as_read(const keel_source_t *source, const keel_run_t *run) {
    return source->data && keel_source_was_read(&run->sources, source->file,
                                                keel_bytes(source->data, source->size));
}

// The digest of its text in a line of sources.tsv; false if the line is of another file.
static bool is_listed(keel_str_t line, const char *file, keel_str_t *out) {
    keel_str_t path;
    keel_digest_t digest;
    return keel_source_line_read(line, out, &path) && keel_str_is(path, file) &&
           keel_digest_unhex(*out, &digest);
}

static keel_status_t read_kept(keel_source_t *source, int folder, const char *run,
                               keel_str_t digest) {
    char *path;
    KEEL_TRY(
        keel_path(&path, "%.*s/../sources/%.*s.zst", folder, run, (int)digest.size, digest.data));
    keel_status_t status = keel_journal_read_program(path, &source->data, &source->size);
    keel_free(path);
    return status;
}

// What the analysis kept of it.
static keel_status_t load_kept(keel_source_t *source, const keel_run_t *run) {
    enum { LIST_LIMIT = 1 << 20 };
    const char *slash = run->path ? strrchr(run->path, '/') : NULL;
    if (!slash) return NULL;
    int folder = (int)(slash - run->path);
    char *path;
    uint8_t *list = NULL;
    size_t size = 0;
    KEEL_TRY(keel_path(&path, "%.*s/sources.tsv", folder, run->path));
    keel_status_t status = keel_file_read(path, LIST_LIMIT, &list, &size);
    keel_free(path);
    keel_str_t rest = {(const char *)list, size}, line, digest;
    while (!status && !source->data && keel_str_line(&rest, &line))
        if (is_listed(line, source->file, &digest))
            status = read_kept(source, folder, run->path, digest);
    keel_free(list);
    return status;
}

static keel_status_t load_source(keel_source_t *source, const char *file, const keel_run_t *run) {
    KEEL_TRY(keel_strdup(keel_str(file), &source->file));
    if (!keel_source_is_noted(&run->sources, file)) return NULL;
    keel_status_ignore(keel_source_read(file, &source->data, &source->size));
    if (is_as_read(source, run)) return NULL;
    drop(source);
    keel_status_t status = load_kept(source, run);
    if (!is_as_read(source, run)) drop(source);
    return status;
}

bool keel_source_open(keel_source_t *source, const char *file, const keel_run_t *run) {
    if (!source->file || strcmp(source->file, file) != 0) {
        keel_source_close(source);
        keel_status_ignore(load_source(source, file, run));
    }
    return source->data;
}

keel_str_t keel_source_line(const keel_source_t *source, uint32_t number) {
    const char *at = (const char *)source->data, *end = at + source->size;
    for (uint32_t line = 1; at < end; ++line) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        if (!next) next = end;
        if (line == number) return (keel_str_t){at, (size_t)(next - at)};
        at = next + 1;
    }
    return KEEL_STR("");
}
