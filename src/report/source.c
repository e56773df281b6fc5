#include "report/source.h"

enum { LARGEST = 4 << 20 };

void keel_source_close(keel_source_t *source) {
    keel_free(source->file);
    keel_free(source->data);
    *source = (keel_source_t){0};
}

// A journal can name any file.
static bool is_python(const char *file) {
    size_t size = strlen(file);
    return size > 3 && file[0] == '/' && strcmp(file + size - 3, ".py") == 0;
}

static keel_status_t load(keel_source_t *source, const char *file) {
    KEEL_TRY(keel_strdup(keel_str(file), &source->file));
    if (!is_python(file)) return NULL;
    keel_file_facts_t facts;
    KEEL_TRY(keel_file_read_with_facts(file, LARGEST, &source->data, &source->size, &facts));
    source->modified = (double)facts.modified * 1e-9;
    return NULL;
}

bool keel_source_open(keel_source_t *source, const char *file, double t) {
    if (!source->file || strcmp(source->file, file) != 0) {
        keel_source_close(source);
        keel_status_ignore(load(source, file));
    }
    return source->data && source->modified <= t;
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
