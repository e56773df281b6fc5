#include "run/fixes.h"

#include "run/steps.h"

enum { FIXES_LIMIT = 256 }; // Keel does not write more

static bool is_known(const keel_fixes_t *fixes, const json_t *event) {
    for (size_t i = 0; i < fixes->count; ++i)
        if (strcmp(fixes->list[i].name, keel_event_text(event, "name")) == 0 &&
            strcmp(fixes->list[i].state, keel_event_text(event, "state")) == 0)
            return true;
    return fixes->count >= FIXES_LIMIT;
}

keel_status_t keel_fixes_add(keel_fixes_t *fixes, const json_t *event, keel_texts_t *texts) {
    if (is_known(fixes, event)) return NULL;
    void *grown = fixes->list;
    KEEL_TRY(keel_realloc_array(fixes->count + 1, sizeof *fixes->list, &grown));
    fixes->list = grown;
    keel_fix_t *fix = &fixes->list[fixes->count];
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(event, "name"), &fix->name));
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(event, "state"), &fix->state));
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(event, "label"), &fix->label));
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(event, "reference"), &fix->reference));
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(event, "client"), &fix->client));
    KEEL_TRY(keel_texts_keep(texts, keel_event_text(event, "why"), &fix->why));
    ++fixes->count;
    return NULL;
}

void keel_fixes_deinitialize(keel_fixes_t *fixes) {
    keel_free(fixes->list);
    *fixes = (keel_fixes_t){0};
}
