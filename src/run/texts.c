#include "run/texts.h"

#include <string.h>

void keel_texts_initialize(keel_texts_t *texts) {
    keel_arena_initialize(&texts->arena, 0);
    keel_map_initialize(&texts->known);
}

void keel_texts_deinitialize(keel_texts_t *texts) {
    keel_arena_deinitialize(&texts->arena);
    keel_map_deinitialize(&texts->known);
}

// The map's own copy of a key is followed by a zero byte.
keel_status_t keel_texts_keep(keel_texts_t *texts, const char *text, const char **out) {
    *out = "";
    if (!*text) return NULL;
    keel_bytes_t kept;
    KEEL_TRY(keel_map_keep(&texts->known, keel_str_bytes(keel_str(text)), &kept));
    *out = keel_bytes_str(kept).data;
    return NULL;
}

keel_status_t keel_texts_array(keel_texts_t *texts, size_t count, size_t size, void **out) {
    return keel_arena_array(&texts->arena, count, size, out);
}
