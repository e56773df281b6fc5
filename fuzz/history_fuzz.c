// Histories: whatever a file contains, its records are complete, and writing the history gives a
// file with the same records.
#include <stdlib.h>
#include <unistd.h>

#include "history/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

static keel_status_t look(void *context, const keel_history_record_t *record) {
    check(record->name && record->origin && record->run);
    check(strlen(record->name) <= NAME_LIMIT && strlen(record->run) <= RUN_LIMIT);
    check(record->seconds >= 0 && record->when >= 0);
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        check(!record->key->values[i] || strlen(record->key->values[i]) <= KEEL_KEY_VALUE_LIMIT);
    double alike = keel_sketch_alike(&record->sketch, &record->sketch);
    check(alike > 0.999 && alike < 1.001);
    ++*(uint64_t *)context;
    return NULL;
}

static void parse(keel_buffer_t *bytes, table_t *table, uint64_t *damaged) {
    *damaged = 0;
    *table = (table_t){0};
    check(!file_parse(bytes->data, bytes->size, table, damaged));
    check(table->count <= KEEL_HISTORY_LIMIT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint64_t count = 0, damaged;
    check(!keel_history_parse(keel_bytes(data, size), look, &count, &damaged));
    table_t first, second;
    keel_buffer_t bytes, again;
    keel_buffer_initialize(&bytes, 0);
    keel_buffer_initialize(&again, 0);
    keel_buffer_append(&bytes, data, size);
    parse(&bytes, &first, &damaged);
    check(first.count == count);
    check(!file_put_newest(&first, &again));
    parse(&again, &second, &damaged);
    check(damaged == 0);
    check(second.count <= first.count &&
          (again.size < 1 << 20 ? second.count == first.count : true));
    for (const record_t *record = second.oldest; record; record = record->newer) {
        const record_t *was = table_find(&first, record->id);
        check(was && was->who == record->who);
    }
    const record_t *newest = first.newest;
    if (newest) {
        keel_key_t key;
        keel_history_record_t shown;
        record_show(newest, &key, &shown);
        keel_history_query_t query = {.name = shown.name,
                                      .origin = shown.origin,
                                      .target = shown.target,
                                      .sketch = &shown.sketch,
                                      .key = &key};
        const record_t *nearest[KEEL_HISTORY_CANDIDATES];
        size_t found = nearest_records(&first, &query, nearest);
        check(found > 0 && found <= KEEL_HISTORY_CANDIDATES);
    }
    table_clear(&first);
    table_clear(&second);
    keel_buffer_deinitialize(&bytes);
    keel_buffer_deinitialize(&again);
    return 0;
}
