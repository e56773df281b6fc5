// texts: the strings of a run, each kept once: files, functions and names come with every event.
//
// Ownership: strings and arrays live as long as the texts. Threads: no shared state.
#ifndef KEEL_RUN_TEXTS_H_
#define KEEL_RUN_TEXTS_H_

#include "base/base.h"

typedef struct keel_texts_t {
    keel_arena_t arena; // for arrays, too
    keel_map_t known;   // text -> its copy
} keel_texts_t;

void keel_texts_initialize(keel_texts_t *texts);
void keel_texts_deinitialize(keel_texts_t *texts);
// A copy; "" for an empty text.
keel_status_t keel_texts_keep(keel_texts_t *texts, const char *text,
                              const char **out) KEEL_MUST_CHECK;
keel_status_t keel_texts_array(keel_texts_t *texts, size_t count, size_t size,
                               void **out) KEEL_MUST_CHECK;

#endif // KEEL_RUN_TEXTS_H_
