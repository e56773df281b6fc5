#include <pthread.h>

#include "shim/shim.h"

// A client is fixed when its code is imported, often long before it makes a PJRT client and there
// is a journal to write to: reports from before that wait here.
enum { WAITING_LIMIT = 32 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
KEEL_FORK_GUARD(lock);
static keel_engine_t *writes_to; // NULL until there is a client
static keel_journal_fix_t *waiting[WAITING_LIMIT];
static size_t waiting_count;

// One block: the event, then its texts.
static keel_status_t copy_fix(const keel_journal_fix_t *fix, keel_journal_fix_t **out) {
    const char *texts[] = {fix->name,      fix->state,  fix->label,
                           fix->reference, fix->client, fix->why};
    enum { COUNT = sizeof texts / sizeof *texts };
    size_t sizes[COUNT], size = sizeof *fix;
    for (size_t i = 0; i < COUNT; ++i)
        size += sizes[i] = texts[i] ? strlen(texts[i]) + 1 : 0;
    void *memory;
    KEEL_TRY(keel_alloc(size, &memory));
    char *at = (char *)memory + sizeof *fix;
    for (size_t i = 0; i < COUNT; ++i) {
        if (!texts[i]) continue;
        memcpy(at, texts[i], sizes[i]);
        texts[i] = at;
        at += sizes[i];
    }
    *out = memory;
    **out = (keel_journal_fix_t){texts[0], texts[1], texts[2], texts[3], texts[4], texts[5]};
    return NULL;
}

static keel_status_t keep_fix(const keel_journal_fix_t *fix) {
    if (waiting_count == WAITING_LIMIT)
        return keel_status_make(KEEL_UNSUPPORTED, "more than %d fixes in one process",
                                WAITING_LIMIT);
    KEEL_TRY(copy_fix(fix, &waiting[waiting_count]));
    ++waiting_count;
    return NULL;
}

void keel_shim_note_fix(const keel_journal_fix_t *fix) {
    pthread_mutex_lock(&lock);
    keel_status_t status = NULL;
    if (writes_to)
        keel_engine_note_fix(writes_to, fix);
    else
        status = keep_fix(fix);
    pthread_mutex_unlock(&lock);
    if (!status) return;
    keel_log_once("fix", "%s; a fix is missing from the journal%s", keel_status_message(status),
                  keel_status_place(status));
    keel_status_ignore(status);
}

void keel_shim_note_left(uint64_t read, const keel_journal_left_t *left) {
    pthread_mutex_lock(&lock);
    if (writes_to) keel_engine_note_left(writes_to, read, left);
    pthread_mutex_unlock(&lock);
}

void keel_shim_write_fixes(keel_engine_t *engine) {
    pthread_mutex_lock(&lock);
    writes_to = engine;
    for (size_t i = 0; i < waiting_count; ++i) {
        keel_engine_note_fix(engine, waiting[i]);
        keel_free(waiting[i]);
    }
    waiting_count = 0;
    pthread_mutex_unlock(&lock);
}
