#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "history/internal.h"

static uint64_t hash_with(uint64_t hash, const void *data, size_t size) {
    uint64_t pair[2] = {hash, keel_quick_hash(keel_bytes(data, size))};
    return keel_quick_hash(keel_bytes(pair, sizeof pair));
}

keel_str_t text_cut(const char *text, size_t limit) {
    keel_str_t whole = keel_str(text ? text : "");
    if (whole.size <= limit) return whole;
    while (limit && ((uint8_t)whole.data[limit] & 0xc0) == 0x80)
        --limit;
    return (keel_str_t){whole.data, limit};
}

uint64_t name_hash_of(const char *name) {
    // PyTorch/XLA numbers its graphs: "SyncTensorsGraph.42".
    keel_str_t base = keel_str_without_number(text_cut(name, NAME_LIMIT), '.');
    return hash_with(1, base.data, base.size);
}

uint64_t who_of(const char *name, const char *origin) {
    keel_str_t where = keel_origin_place(text_cut(origin, ORIGIN_LIMIT));
    return hash_with(name_hash_of(name), where.data, where.size);
}

bool names_function(const char *origin) {
    keel_str_t whole = text_cut(origin, ORIGIN_LIMIT);
    return keel_origin_function(whole).size < whole.size;
}

uint64_t function_of(const char *name, const char *origin) {
    keel_str_t where = keel_origin_function(text_cut(origin, ORIGIN_LIMIT));
    return hash_with(name_hash_of(name), where.data, where.size);
}

// ---- values ------------------------------------------------------------------------------------

// By the component's name, because its number changes when the list of components grows. The text
// does not count, because a file may not preserve every byte of it (if it is not UTF-8).
uint64_t value_id(uint8_t component, const keel_digest_t *digest) {
    keel_str_t name = keel_str(keel_component_name(component));
    uint64_t id = hash_with(1, name.data, name.size);
    return hash_with(id, digest->bytes, sizeof digest->bytes);
}

value_t *table_find_value(const table_t *table, uint64_t id) {
    value_t *value = table->values[id % BUCKETS];
    while (value && value->id != id)
        value = value->next;
    return value;
}

keel_status_t table_value(table_t *table, uint8_t component, const keel_digest_t *digest,
                          keel_str_t text, value_t **out) {
    uint64_t id = value_id(component, digest);
    *out = table_find_value(table, id);
    if (*out) return NULL;
    void *memory;
    KEEL_TRY(keel_alloc(sizeof(value_t) + text.size + 1, &memory));
    value_t *value = memory;
    *value = (value_t){.next = table->values[id % BUCKETS],
                       .id = id,
                       .component = component,
                       .digest = *digest,
                       .size = (uint32_t)text.size};
    if (text.size) memcpy(value->text, text.data, text.size);
    value->text[text.size] = 0;
    table->values[id % BUCKETS] = value;
    table->bytes += sizeof *value + text.size + 1;
    *out = value;
    return NULL;
}

static void drop_value(table_t *table, value_t *value) {
    value_t **link = &table->values[value->id % BUCKETS];
    while (*link != value)
        link = &(*link)->next;
    *link = value->next;
    table->bytes -= sizeof *value + value->size + 1;
    keel_free(value);
}

void table_drop_unused(table_t *table) {
    for (size_t i = 0; i < BUCKETS; ++i)
        for (value_t *value = table->values[i], *next; value; value = next) {
            next = value->next;
            if (!value->uses) drop_value(table, value);
        }
}

void table_forget_file(table_t *table) {
    for (size_t i = 0; i < BUCKETS; ++i)
        for (value_t *value = table->values[i]; value; value = value->next)
            value->in_file = false;
}

void table_take_file(table_t *table, const table_t *other) {
    for (size_t i = 0; i < BUCKETS; ++i)
        for (value_t *value = table->values[i]; value; value = value->next) {
            const value_t *theirs = table_find_value(other, value->id);
            value->in_file = theirs && theirs->in_file;
        }
}

// ---- the order of age --------------------------------------------------------------------------

static void take_out(table_t *table, record_t *record) {
    *(record->older ? &record->older->newer : &table->oldest) = record->newer;
    *(record->newer ? &record->newer->older : &table->newest) = record->older;
}

static void put_newest(table_t *table, record_t *record) {
    record->older = table->newest;
    record->newer = NULL;
    *(table->newest ? &table->newest->newer : &table->oldest) = record;
    table->newest = record;
}

static void evict(table_t *table, record_t *record) {
    take_out(table, record);
    record_t **link = &table->records[record->id % BUCKETS];
    while (*link != record)
        link = &(*link)->next;
    *link = record->next;
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        if (record->values[i] && !--record->values[i]->uses) drop_value(table, record->values[i]);
    table->bytes -= record->bytes;
    --table->count;
    keel_free(record);
}

void table_evict(table_t *table) {
    while (!table->is_reading && table->oldest != table->newest &&
           (table->count > KEEL_HISTORY_LIMIT || table->bytes > MEMORY_LIMIT))
        evict(table, table->oldest);
}

void table_clear(table_t *table) {
    while (table->oldest)
        evict(table, table->oldest);
    table_drop_unused(table);
}

// ---- records -----------------------------------------------------------------------------------

uint64_t record_id(const keel_digest_t *program, const keel_digest_t *key) {
    return hash_with(hash_with(1, program->bytes, KEEL_DIGEST_SIZE), key->bytes, KEEL_DIGEST_SIZE);
}

record_t *table_find(const table_t *table, uint64_t id) {
    record_t *record = table->records[id % BUCKETS];
    while (record && record->id != id)
        record = record->next;
    return record;
}

static keel_status_t make(const keel_history_record_t *from, record_t **out) {
    keel_str_t name = text_cut(from->name, NAME_LIMIT);
    keel_str_t origin = text_cut(from->origin, ORIGIN_LIMIT);
    size_t bytes = sizeof(record_t) + name.size + origin.size + 2;
    void *memory;
    KEEL_TRY(keel_calloc(1, bytes, &memory));
    record_t *record = memory;
    record->bytes = bytes;
    record->program = from->program;
    record->key = from->key->digest;
    record->id = record_id(&record->program, &record->key);
    record->name_hash = name_hash_of(from->name);
    record->who = who_of(from->name, from->origin);
    record->function = function_of(from->name, from->origin);
    record->is_traced = names_function(from->origin);
    record->sketch = from->sketch;
    record->name = record->text;
    record->origin = record->text + name.size + 1;
    memcpy(record->text, name.data, name.size);
    memcpy(record->text + name.size + 1, origin.data, origin.size);
    *out = record;
    return NULL;
}

static void copy_cut(char *out, const char *text, size_t limit) {
    keel_str_t cut = text_cut(text, limit);
    memcpy(out, cut.data, cut.size);
    out[cut.size] = 0;
}

void record_seen(record_t *record, const keel_history_record_t *seen) {
    copy_cut(record->run, seen->run, RUN_LIMIT);
    copy_cut(record->target, seen->target ? seen->target : "", TARGET_LIMIT);
    record->when = seen->when;
    if (seen->seconds > 0) record->seconds = seen->seconds;
    record->is_ours |= seen->is_ours;
}

void table_renew(table_t *table, record_t *record) {
    take_out(table, record);
    put_newest(table, record);
}

keel_status_t table_add(table_t *table, const keel_history_record_t *from,
                        value_t *const values[KEEL_COMPONENT_COUNT], record_t **out) {
    record_t *record = table_find(table, record_id(&from->program, &from->key->digest));
    if (record) {
        table_renew(table, record);
    } else {
        KEEL_TRY(make(from, &record));
        for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
            record->values[i] = values[i];
            if (values[i]) ++values[i]->uses;
        }
        record->next = table->records[record->id % BUCKETS];
        table->records[record->id % BUCKETS] = record;
        put_newest(table, record);
        table->bytes += record->bytes;
        ++table->count;
    }
    record_seen(record, from);
    table_evict(table);
    *out = record;
    return NULL;
}

static bool is_set(const keel_key_t *key, int component) {
    static const keel_digest_t zero;
    return !keel_digest_equal(&key->components[component], &zero);
}

keel_status_t table_add_key(table_t *table, const keel_history_record_t *from, record_t **out) {
    value_t *values[KEEL_COMPONENT_COUNT] = {NULL};
    keel_status_t status = NULL;
    bool known = table_find(table, record_id(&from->program, &from->key->digest)) != NULL;
    for (int i = 0; i < KEEL_COMPONENT_COUNT && !status && !known; ++i)
        if (is_set(from->key, i))
            status = table_value(table, (uint8_t)i, &from->key->components[i],
                                 text_cut(from->key->values[i], KEEL_KEY_VALUE_LIMIT), &values[i]);
    if (!status) status = table_add(table, from, values, out);
    if (status) table_drop_unused(table);
    return status;
}

void record_show(const record_t *record, keel_key_t *key, keel_history_record_t *out) {
    *key = (keel_key_t){.digest = record->key};
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        if (!record->values[i]) continue;
        key->components[i] = record->values[i]->digest;
        key->values[i] = record->values[i]->text;
    }
    *out = (keel_history_record_t){.program = record->program,
                                   .name = record->name,
                                   .origin = record->origin,
                                   .run = record->run,
                                   .sketch = record->sketch,
                                   .key = key,
                                   .target = record->target,
                                   .seconds = record->seconds,
                                   .when = record->when,
                                   .is_ours = record->is_ours};
}
