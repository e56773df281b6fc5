// Operations by themselves that have new programs until the run ends are recompiles, and a pattern.
#include "why/internal.h"

enum { NAMES_SHOWN = 6 };

// The pattern of the line, a new one if there is none yet.
static keel_status_t pattern_at(keel_why_t *why, const keel_why_entry_t *entry, uint32_t *out) {
    for (size_t i = 0; i < why->pattern_count; ++i) {
        *out = (uint32_t)i;
        if (strcmp(why->patterns[i].place.shown, entry->asked->site.shown) == 0) return NULL;
    }
    void *grown = why->patterns;
    KEEL_TRY(keel_realloc_array(why->pattern_count + 1, sizeof *why->patterns, &grown));
    why->patterns = grown;
    *out = (uint32_t)why->pattern_count++;
    why->patterns[*out] = (keel_why_pattern_t){.kind = KEEL_PATTERN_EAGER,
                                               .cause = KEEL_CAUSE_COUNT,
                                               .name = "",
                                               .subject = "",
                                               .values = "",
                                               .place = entry->asked->site};
    return NULL;
}

// "jit_exp, jit_subtract, jit_max, ... and 3 more"
static keel_status_t list_names(keel_why_t *why, uint32_t index) {
    keel_map_t met;
    keel_buffer_t names;
    keel_map_initialize(&met);
    keel_buffer_initialize(&names, 0);
    keel_status_t status = NULL;
    for (size_t i = 0; !status && i < why->entry_count; ++i) {
        const keel_why_entry_t *entry = &why->entries[i];
        keel_bytes_t name = keel_str_bytes(keel_str(entry->asked->name));
        if (entry->pattern_index != index || keel_map_find(&met, name)) continue;
        if (met.count < NAMES_SHOWN) {
            keel_buffer_text(&names, met.count ? ", " : "");
            keel_buffer_text(&names, entry->asked->name);
        }
        status = keel_map_put(&met, name, 0);
    }
    if (met.count > NAMES_SHOWN)
        keel_buffer_format(&names, ", ... and %zu more", met.count - NAMES_SHOWN);
    if (!status) status = keel_buffer_status(&names);
    if (!status)
        status =
            keel_texts_keep(&why->texts, keel_buffer_cstr(&names), &why->patterns[index].values);
    keel_buffer_deinitialize(&names);
    keel_map_deinitialize(&met);
    return status;
}

keel_status_t keel_why_find_eager(keel_why_t *why) {
    for (size_t i = 0; i < why->entry_count; ++i) {
        keel_why_entry_t *entry = &why->entries[i];
        bool is_again = entry->root_count && entry->roots[0].kind != KEEL_CAUSE_FIRST;
        bool is_told = entry->asked->is_eager && is_again && !entry->asked->unrelated &&
                       keel_run_is_endless(&why->run, entry->asked->operation);
        if (!is_told) continue;
        KEEL_TRY(pattern_at(why, entry, &entry->pattern_index));
        keel_why_pattern_t *pattern = &why->patterns[entry->pattern_index];
        entry->pattern = keel_pattern_word(KEEL_PATTERN_EAGER);
        entry->recompile = true;
        ++why->recompiles;
        keel_took_add(&pattern->took, &entry->asked->took);
        keel_eager_forget(&why->eager, entry->asked->site.shown);
    }
    keel_eager_settle(&why->eager);
    for (uint32_t i = 0; i < why->pattern_count; ++i)
        KEEL_TRY(list_names(why, i));
    return NULL;
}
