// Between the files of this room.
//
//   table.c    records and their values in memory, bounded
//   line.c     one line of a file: a flat JSON object
//   file.c     lines of records and values
//   nearest.c  which record is nearest
//   history.c  table, file and locks together
#ifndef KEEL_HISTORY_INTERNAL_H_
#define KEEL_HISTORY_INTERNAL_H_

#include "history/history.h"
#include "host/host.h"

enum {
    NAME_LIMIT = 256, // of a module; longer ones are cut, here and when they are looked for
    ORIGIN_LIMIT = 1024,
    RUN_LIMIT = 64,
    MEMORY_LIMIT = 16 << 20, // of a table: records go, oldest first, when it is passed
    READ_LIMIT = 2 * KEEL_HISTORY_FILE_LIMIT, // some processes append before one rewrites
    BUCKETS = 1024,
};

// One component of keys: its digest and its readable text. Shared by the records that have it.
typedef struct value_t {
    struct value_t *next; // of its bucket
    uint64_t id;          // hash of component and digest: files call it by that
    uint32_t uses;
    uint8_t component;
    bool in_file;
    keel_digest_t digest;
    uint32_t size;
    char text[];
} value_t;

typedef struct record_t {
    struct record_t *next;  // of its bucket
    struct record_t *older; // NULL: the oldest
    struct record_t *newer; // NULL: the newest
    uint64_t id;            // hash of program and key
    keel_digest_t program, key;
    uint64_t name_hash, who; // of the name, and of name and origin
    uint64_t function;       // of name and origin, whatever its line
    keel_sketch_t sketch;
    value_t *values[KEEL_COMPONENT_COUNT]; // NULL: the key lacks it
    double seconds, when;
    bool is_ours;
    bool is_traced; // the origin names a function
    bool is_of_now; // another process had it first, that runs at the same time as this one
    bool in_file;   // has a line of its own there
    bool is_told;   // the file tells it of this run
    const char *name, *origin; // in `text`
    size_t bytes;              // of this allocation
    char run[RUN_LIMIT + 1];
    char text[];
} record_t;

typedef struct table_t {
    record_t *records[BUCKETS];
    value_t *values[BUCKETS];
    record_t *oldest, *newest;
    uint32_t count;
    size_t bytes;
    bool is_reading; // nothing is evicted: what a file tells later may need it
    // What a file tells of this run, or of later than this, is of now. NULL and 0: nothing is.
    const char *run;
    double since;
} table_t;

// At most `limit` bytes, cut between characters.
keel_str_t text_cut(const char *text, size_t limit);
// Of the module's name without the number that a client may count up behind it.
uint64_t name_hash_of(const char *name);
// Of a function: as it stands in the source now, and as it may stand after an edit above it.
uint64_t who_of(const char *name, const char *origin);
uint64_t function_of(const char *name, const char *origin);
// True where the origin names a function, and not only the line that asked for one operation.
bool names_function(const char *origin);

// ---- table.c -----------------------------------------------------------------------------------

void table_clear(table_t *table);
void table_evict(table_t *table);
// No value is in the file as far as is known.
void table_forget_file(table_t *table);
// Those are that are for `other`.
void table_take_file(table_t *table, const table_t *other);
// Frees the values that no record has.
void table_drop_unused(table_t *table);
uint64_t value_id(uint8_t component, const keel_digest_t *digest);
// Finds the value, or adds it with this text.
keel_status_t table_value(table_t *table, uint8_t component, const keel_digest_t *digest,
                          keel_str_t text, value_t **out) KEEL_MUST_CHECK;
value_t *table_find_value(const table_t *table, uint64_t id);
record_t *table_find(const table_t *table, uint64_t id);
uint64_t record_id(const keel_digest_t *program, const keel_digest_t *key);
// Adds a record of these values (NULL where the key lacks one), newest of all; or, where its
// program and key are known, brings what is known up to date. `from->key` counts for its digest
// only. Evicts the oldest.
keel_status_t table_add(table_t *table, const keel_history_record_t *from,
                        value_t *const values[KEEL_COMPONENT_COUNT],
                        record_t **out) KEEL_MUST_CHECK;
// The same, with the values of `from->key`.
keel_status_t table_add_key(table_t *table, const keel_history_record_t *from,
                            record_t **out) KEEL_MUST_CHECK;
// Makes a record the newest.
void table_renew(table_t *table, record_t *record);
void record_seen(record_t *record, const char *run, double when, double seconds, bool is_ours);
// What a record says, its text borrowed from the table; `key` is filled in for it.
void record_show(const record_t *record, keel_key_t *key, keel_history_record_t *out);

// ---- line.c ------------------------------------------------------------------------------------

enum { FIELD_LIMIT = 24 };

typedef struct field_t {
    keel_str_t name;
    keel_str_t text; // of a string: unescaped, zero-terminated; of anything else as it stands
    bool is_string;
} field_t;

typedef struct line_t {
    field_t fields[FIELD_LIMIT];
    uint32_t count;
} line_t;

// Reads {"name":"text","name":number,...}: no objects or lists within. Overwrites the line's bytes
// with what strings mean, and a zero byte behind each; false where it is no such line.
bool line_read(char *data, size_t size, line_t *out);
// "" where there is no string of that name.
keel_str_t line_text(const line_t *line, const char *name);
bool line_has(const line_t *line, const char *name);
// 0 where there is no such number, or one that is not whole, or too large for 64 bits.
uint64_t line_number(const line_t *line, const char *name);

// ---- file.c ------------------------------------------------------------------------------------

// Adds what the lines tell to the table. `data` is overwritten. Fails for want of memory only.
keel_status_t file_parse(uint8_t *data, size_t size, table_t *table,
                         uint64_t *out_damaged) KEEL_MUST_CHECK;
// The line of a record, with those of its values before it that are not in the file yet.
void file_put_record(const record_t *record, keel_buffer_t *out);
// That a record was seen again.
void file_put_seen(const record_t *record, keel_buffer_t *out);
// All that fits in half of the file's limit, newest first out of what is there; in order of age.
keel_status_t file_put_newest(table_t *table, keel_buffer_t *out) KEEL_MUST_CHECK;

// ---- nearest.c ---------------------------------------------------------------------------------

// At most KEEL_HISTORY_CANDIDATES, as keel_history_candidates tells.
size_t nearest_records(const table_t *table, const keel_history_query_t *query,
                       const record_t **out);

#endif // KEEL_HISTORY_INTERNAL_H_
