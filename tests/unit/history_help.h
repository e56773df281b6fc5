// Records for the tests of the history.
#ifndef KEEL_TESTS_HISTORY_HELP_H_
#define KEEL_TESTS_HISTORY_HELP_H_

#include "place.h"

#include "history/history.h"

// Owns what its record points to.
typedef struct made_t {
    keel_history_record_t record;
    keel_key_t key;
} made_t;

static inline keel_digest_t digest_of(const char *text, uint64_t number) {
    char bytes[128];
    int size = snprintf(bytes, sizeof bytes, "%s %llu", text, (unsigned long long)number);
    return keel_digest(keel_bytes(bytes, (size_t)size));
}

static inline void set_component(keel_key_t *key, keel_component_t component, const char *value) {
    assert_ok(keel_key_set(key, component, keel_str_bytes(keel_str(value)), keel_str(value)));
}

// As a process of now opens it.
static inline keel_status_t open_history(const char *folder, const char *script, const char *run,
                                         keel_history_t **out) {
    double began = keel_process_began();
    return keel_history_open(folder, script, run, began, out);
}

// Notes a record, and keeps it in the file.
static inline keel_status_t add_and_keep(keel_history_t *history,
                                         const keel_history_record_t *record) {
    KEEL_TRY(keel_history_add(history, record));
    return keel_history_keep(history);
}

// A program of that name and number: other numbers are other programs of much the same look.
static inline void make_record(made_t *made, const char *name, uint64_t number) {
    *made = (made_t){.record = {.program = digest_of(name, number),
                                .name = name,
                                .origin = "/home/u/train.py:step",
                                .run = "run-1",
                                .seconds = 1 + (double)number,
                                .when = 1700000000 + (double)number}};
    char program[64];
    snprintf(program, sizeof program, "%.40s %llu", name, (unsigned long long)number);
    keel_key_initialize(&made->key);
    set_component(&made->key, KEEL_COMPONENT_PROGRAM, program);
    set_component(&made->key, KEEL_COMPONENT_OPTIONS, "num_replicas=1\nnum_partitions=1\n");
    set_component(&made->key, KEEL_COMPONENT_XLA_FLAGS, "");
    set_component(&made->key, KEEL_COMPONENT_PLUGIN_BUILD, "61c02c9a4c68b778");
    set_component(&made->key, KEEL_COMPONENT_PLATFORM, "name=\"cpu\"\nversion=\"cpu\"\n");
    assert_ok(keel_key_finish(&made->key));
    made->record.key = &made->key;
    keel_sketch_t *sketch = &made->record.sketch;
    *sketch = (keel_sketch_t){.signature = 7, .names = 9, .arguments = 3, .operations = 100};
    for (int i = 0; i < 10; ++i)
        sketch->counts[i] = 10;
}

// Another value of one component, and so another key.
static inline void move_component(made_t *made, keel_component_t component, const char *value) {
    set_component(&made->key, component, value);
    assert_ok(keel_key_finish(&made->key));
}

static inline void free_record(made_t *made) {
    keel_key_deinitialize(&made->key);
}

static inline keel_history_query_t query_of(const made_t *made) {
    return (keel_history_query_t){.name = made->record.name,
                                  .origin = made->record.origin,
                                  .sketch = &made->record.sketch,
                                  .key = &made->key};
}

#endif // KEEL_TESTS_HISTORY_HELP_H_
