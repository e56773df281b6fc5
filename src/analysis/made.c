#include "analysis/made.h"

#include <stdlib.h>
#include <string.h>

void made_initialize(made_t *made) {
    *made = (made_t){.count = 0};
    keel_map_initialize(&made->last);
    keel_arena_initialize(&made->texts, 0);
}

void made_deinitialize(made_t *made) {
    keel_map_deinitialize(&made->last);
    keel_arena_deinitialize(&made->texts);
}

static bool is_same(const keel_made_t *a, const keel_made_t *b) {
    return a->place.line == b->place.line && strcmp(a->type, b->type) == 0 &&
           strcmp(a->place.file, b->place.file) == 0;
}

static keel_status_t keep(made_t *made, const keel_made_t *one, keel_made_t *out) {
    const char *texts[] = {one->type, one->place.file, one->place.function};
    keel_str_t kept[3];
    for (int i = 0; i < 3; ++i)
        KEEL_TRY(keel_arena_str(&made->texts, keel_str(texts[i]), &kept[i]));
    *out = (keel_made_t){
        kept[0].data,
        {.file = kept[1].data, .line = one->place.line, .function = kept[2].data, .call_file = ""}};
    return NULL;
}

// Where a new one goes: at the end, or in the place of the oldest.
static uint32_t place_for(made_t *made) {
    uint32_t oldest = 0;
    if (made->count < MADE_KEPT) return made->count++;
    for (uint32_t at = 1; at < made->count; ++at)
        if (made->entries[at].asked < made->entries[oldest].asked) oldest = at;
    return oldest;
}

static keel_status_t note(made_t *made, const keel_made_t *one) {
    uint32_t at = 0;
    while (at < made->count && !is_same(&made->entries[at].made, one))
        ++at;
    if (at == made->count) {
        keel_made_t kept;
        KEEL_TRY(keep(made, one, &kept));
        at = place_for(made);
        made->entries[at].made = kept;
    }
    made->entries[at].asked = made->asked;
    return NULL;
}

keel_status_t made_sent(made_t *made, const asked_t *asked) {
    ++made->asked;
    for (uint32_t i = 0; i < asked->made_count; ++i)
        KEEL_TRY(note(made, &asked->made[i]));
    return NULL;
}

// The newest first. Many have one age, and sorts order equal ones differently: so by their places.
static int by_age(const void *a, const void *b) {
    const made_entry_t *x = *(made_entry_t *const *)a, *y = *(made_entry_t *const *)b;
    if (x->asked != y->asked) return x->asked > y->asked ? -1 : 1;
    return x < y ? -1 : x > y;
}

keel_status_t made_since(const made_t *made, const char *origin, keel_arena_t *arena,
                         const keel_made_t **out, uint32_t *out_count) {
    const made_entry_t *found[MADE_KEPT];
    uint32_t count = 0;
    void *memory;
    const uint64_t *last = keel_map_find(&made->last, keel_str_bytes(keel_str(origin)));
    *out = NULL;
    *out_count = 0;
    if (!last) return NULL;
    for (uint32_t i = 0; i < made->count; ++i)
        if (made->entries[i].asked > *last) found[count++] = &made->entries[i];
    if (!count) return NULL;
    qsort(found, count, sizeof *found, by_age);
    KEEL_TRY(keel_arena_array(arena, count, sizeof **out, &memory));
    keel_made_t *list = memory;
    for (uint32_t i = 0; i < count; ++i)
        list[i] = found[i]->made;
    *out = list;
    *out_count = count;
    return NULL;
}

keel_status_t made_asked(made_t *made, const char *origin, const keel_program_t *program) {
    enum { ORIGINS = 4096 };
    keel_bytes_t key = keel_str_bytes(keel_str(origin));
    uint64_t *last = keel_map_find(&made->last, key);
    if (last)
        *last = made->asked;
    else if (made->last.count < ORIGINS)
        KEEL_TRY(keel_map_put(&made->last, key, made->asked));
    keel_arena_t arena;
    keel_made_t list[KEEL_MADE_MOST];
    uint32_t count = 0;
    keel_arena_initialize(&arena, 0);
    keel_status_t status = program ? keel_explain_made(program, &arena, list, &count) : NULL;
    ++made->asked; // what it makes, the next program of its own may take
    for (uint32_t i = 0; !status && i < count; ++i)
        status = note(made, &list[i]);
    keel_arena_deinitialize(&arena);
    return status;
}
