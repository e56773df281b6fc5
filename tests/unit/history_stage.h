// A history in a folder of its own, for tests.
#ifndef KEEL_TESTS_HISTORY_STAGE_H_
#define KEEL_TESTS_HISTORY_STAGE_H_

#include "history_help.h"

typedef struct stage_t {
    place_t place;
    char folder[320], path[400];
    keel_history_t *history;
    keel_arena_t arena;
} stage_t;

static const char SCRIPT[] = "train.py-0011223344556677";

static inline void open_stage(stage_t *stage) {
    assert_ok(open_history(stage->folder, SCRIPT, "run-9", &stage->history));
}

static inline void make_stage(stage_t *stage) {
    place_make(&stage->place);
    snprintf(stage->folder, sizeof stage->folder, "%s/history", stage->place.root);
    snprintf(stage->path, sizeof stage->path, "%s/%s.ndjson", stage->folder, SCRIPT);
    keel_arena_initialize(&stage->arena, 0);
    open_stage(stage);
}

// As a later process does.
static inline void reopen(stage_t *stage) {
    keel_history_close(stage->history);
    open_stage(stage);
}

static inline void remove_stage(stage_t *stage) {
    keel_history_close(stage->history);
    keel_arena_deinitialize(&stage->arena);
    place_remove(&stage->place);
}

static inline void add(stage_t *stage, const char *name, uint64_t number) {
    made_t made;
    make_record(&made, name, number);
    assert_ok(add_and_keep(stage->history, &made.record));
    free_record(&made);
}

// The program that is nearest to `made`, as its digest; all zero where there is none.
static inline keel_digest_t nearest_to(stage_t *stage, const made_t *made) {
    keel_history_query_t query = query_of(made);
    keel_history_record_t found = {0};
    bool any = keel_history_nearest(stage->history, &query, &stage->arena, &found);
    return any ? found.program : (keel_digest_t){0};
}

static inline void assert_nearest(stage_t *stage, const made_t *made, const char *name,
                                  uint64_t number) {
    keel_digest_t found = nearest_to(stage, made), expected = digest_of(name, number);
    assert_memory_equal(&found, &expected, sizeof found);
}

static inline void assert_none(stage_t *stage, const made_t *made) {
    keel_digest_t found = nearest_to(stage, made), none = {0};
    assert_memory_equal(&found, &none, sizeof found);
}

#endif // KEEL_TESTS_HISTORY_STAGE_H_
