#include "why/source.h"

#include "host/source.h"

void keel_source_close(keel_source_t *source) {
    keel_free(source->file);
    keel_free(source->data);
    *source = (keel_source_t){0};
}

static keel_status_t load_source(keel_source_t *source, const char *file, const keel_map_t *read) {
    KEEL_TRY(keel_strdup(keel_str(file), &source->file));
    if (!keel_source_is_noted(read, file)) return NULL;
    KEEL_TRY(keel_source_read(file, &source->data, &source->size));
    if (keel_source_was_read(read, file, keel_bytes(source->data, source->size))) return NULL;
    keel_free(source->data);
    source->data = NULL;
    return NULL;
}

bool keel_source_open(keel_source_t *source, const char *file, const keel_map_t *read) {
    if (!source->file || strcmp(source->file, file) != 0) {
        keel_source_close(source);
        keel_status_ignore(load_source(source, file, read));
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
