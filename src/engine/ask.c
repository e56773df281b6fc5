#include "engine/ask.h"
#include "engine/background.h"
#include "engine/flow.h"

void ask_capture(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask) {
    bool is_known = ask->stack.count || ask->stack.skipped;
    if (!engine->journal || is_known) return;
    if (!engine->settings.stack) {
        ask->stack.skipped = "the setting stack is off";
        return;
    }
    uint64_t start = keel_clock_monotonic();
    keel_stack_read(arena, &ask->stack);
    ask->stack_seconds = keel_seconds(keel_clock_monotonic() - start);
}

void ask_names(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask, const keel_site_t *site) {
    bool is_worth_it = site->is_wrapped || site->is_traced;
    if (!engine->journal || !engine->settings.stack || !is_worth_it || ask->names) return;
    uint64_t start = keel_clock_monotonic();
    ask->names = keel_names_read(arena, site->is_wrapped);
    ask->stack_seconds += keel_seconds(keel_clock_monotonic() - start);
}

void ask_where(keel_engine_t *engine, keel_arena_t *arena, ask_t *ask, keel_site_t *site) {
    ask_capture(engine, arena, ask);
    ask->sent = flow_sent(engine);
    keel_site_asked(&ask->stack, arena, site);
}

const char *ask_miss(keel_miss_t miss) {
    switch (miss) {
        case KEEL_MISS_ABSENT:
            return "the cache has no such entry: it was never stored, or evicted, or cleared";
        case KEEL_MISS_DAMAGED:
            return "its entry was damaged, and is in quarantine";
        case KEEL_MISS_FOREIGN:
            return "its entry was written by another version of Keel";
        case KEEL_MISS_QUARANTINED:
            return "loading its entry ended an earlier process, so it is in quarantine";
        case KEEL_MISS_UNREADABLE:
            return "its entry could not be read";
    }
    return "";
}

// ---- in the background ------------------------------------------------------------------

typedef struct ask_task_t {
    task_t task;
    ask_t ask;
} ask_task_t;

// Texts of components are long, and the same in most programs: each is written once a process.
static void choose_values(keel_engine_t *engine, const keel_key_t *key,
                          bool out[KEEL_COMPONENT_COUNT]) {
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        struct {
            uint64_t component;
            keel_digest_t digest;
        } name = {(uint64_t)i, key->components[i]};
        keel_bytes_t bytes = keel_bytes(&name, sizeof name);
        out[i] = key->values[i] && *key->values[i] && !keel_map_find(&engine->told_values, bytes);
        if (!out[i]) continue;
        keel_status_t status = keel_map_put(&engine->told_values, bytes, 1);
        keel_status_ignore(status); // then it is written again
    }
}

static void run(keel_engine_t *engine, task_t *head) {
    const ask_t *ask = &((ask_task_t *)head)->ask;
    keel_journal_ask_t event = {
        .subject = {.program = &ask->program, .name = ask->name, .key = &ask->key.digest},
        .kind = ask->kind,
        .seconds = ask->seconds,
        .compile_seconds = ask->compile_seconds,
        .recompile = ask->recompile,
        .site = engine_site(&ask->site.place),
        .origin = ask->site.origin,
        .miss = ask->miss,
        .miss_note = ask->miss_note,
        .sent = ask->sent,
        .client = ask->backend->number,
        .key = &ask->key,
        .backend = &ask->backend->backend,
        .stack = &ask->stack,
        .names = ask->names,
        .stack_seconds = ask->stack_seconds};
    choose_values(engine, &ask->key, event.values);
    keel_journal_ask(engine->journal, &event);
}

static void deinitialize(ask_t *ask) {
    keel_key_deinitialize(&ask->key);
    keel_arena_deinitialize(&ask->arena);
}

static void destroy(task_t *head) {
    deinitialize(&((ask_task_t *)head)->ask);
    keel_free(head);
}

void ask_hand_over(keel_engine_t *engine, ask_t *ask) {
    void *memory;
    ask_task_t *task = NULL;
    keel_status_t status = keel_alloc(sizeof *task, &memory);
    if (!status) {
        task = memory;
        *task = (ask_task_t){{ask->client, run, destroy, NULL}, *ask};
        status = background_add(engine, &task->task);
    }
    if (!status) return;
    engine_fell_through(engine, "journal", NULL, status);
    deinitialize(ask);
    keel_free(task);
}
