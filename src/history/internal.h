// Shared by the files of this room.
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
    NAME_LIMIT = 256, // of the module; longer names are cut, when stored and when looked up
    ORIGIN_LIMIT = 1024,
    RUN_LIMIT = 64,
    TARGET_LIMIT = 64,
    MEMORY_LIMIT = 16 << 20,                  // of a table: beyond it, the oldest records go first
    READ_LIMIT = 2 * KEEL_HISTORY_FILE_LIMIT, // some processes append before one rewrites
    BUCKETS = 1024,
};

// One component of keys: its digest and its readable text. Shared by its records.
typedef struct value_t {
    struct value_t *next; // of its bucket
    uint64_t id;          // hash of component and digest, by which files refer to it
    uint32_t uses;
    uint8_t component;
    bool in_file;
    keel_digest_t digest;
    uint32_t size;
    char text[];
} value_t;

typedef struct record_t {
    // A search looks at these of every record: they share a line of the processor's cache.
    struct record_t *older; // NULL: the oldest
    uint64_t function;      // of name and origin, without the line
    uint64_t who;           // of name and origin
    bool is_ours;
    bool is_traced; // the origin names a function
    bool is_of_now; // another process had it first, which runs at the same time as this one
    bool in_file;   // the file has a line for it
    bool is_told;   // the file lists it for this run
    value_t *values[KEEL_COMPONENT_COUNT]; // NULL: the key lacks it; the program is the first
    struct record_t *newer;                // NULL: the newest
    struct record_t *next;                 // of its bucket
    uint64_t id;                           // hash of program and key
    keel_digest_t program, key;
    uint64_t name_hash; // of the name
    keel_sketch_t sketch;
    double seconds, when;
    const char *name, *origin; // in `text`
    size_t bytes;              // of this allocation
    char run[RUN_LIMIT + 1];
    char target[TARGET_LIMIT + 1]; // of a rehearsal; "": none
    char text[];
} record_t;

typedef struct table_t {
    record_t *records[BUCKETS];
    value_t *values[BUCKETS];
    record_t *oldest, *newest;
    uint32_t count;
    size_t bytes;
    bool is_reading; // evict nothing: later lines of the file may need it
    // Records of the file from this run, or from after `since`, are of now. NULL and 0: none are.
    const char *run;
    double since;
} table_t;

// At most `limit` bytes, cut between characters.
keel_str_t text_cut(const char *text, size_t limit);
// Of the module's name without a number that the client may count up at its end.
uint64_t name_hash_of(const char *name);
// Of a function: with its line in the current source, and in a form that survives edits above it.
uint64_t who_of(const char *name, const char *origin);
uint64_t function_of(const char *name, const char *origin);
// True if the origin names a function, not only the line that asked for one operation.
bool names_function(const char *origin);

// ---- table.c -----------------------------------------------------------------------------------

void table_clear(table_t *table);
void table_evict(table_t *table);
// Assumes that no value is in the file.
void table_forget_file(table_t *table);
// Takes over which values `other` has in the file.
void table_take_file(table_t *table, const table_t *other);
// Frees the values without a record.
void table_drop_unused(table_t *table);
uint64_t value_id(uint8_t component, const keel_digest_t *digest);
// Finds the value, or adds it with this text.
keel_status_t table_value(table_t *table, uint8_t component, const keel_digest_t *digest,
                          keel_str_t text, value_t **out) KEEL_MUST_CHECK;
value_t *table_find_value(const table_t *table, uint64_t id);
record_t *table_find(const table_t *table, uint64_t id);
uint64_t record_id(const keel_digest_t *program, const keel_digest_t *key);
// Adds a record with these values (NULL if the key lacks one) as the newest; if its program and key
// are known, updates that record. Uses only the digest of `from->key`. Evicts the oldest.
keel_status_t table_add(table_t *table, const keel_history_record_t *from,
                        value_t *const values[KEEL_COMPONENT_COUNT],
                        record_t **out) KEEL_MUST_CHECK;
// The same, with the values of `from->key`.
keel_status_t table_add_key(table_t *table, const keel_history_record_t *from,
                            record_t **out) KEEL_MUST_CHECK;
// Makes a record the newest.
void table_renew(table_t *table, record_t *record);
// What changes with each run that has the program: `run`, `target`, `when`, `seconds`, `is_ours`.
void record_seen(record_t *record, const keel_history_record_t *seen);
// A record's content, with text borrowed from the table; fills in `key` for it.
void record_show(const record_t *record, keel_key_t *key, keel_history_record_t *out);

// ---- line.c ------------------------------------------------------------------------------------

enum { FIELD_LIMIT = 24 };

typedef struct field_t {
    keel_str_t name;
    keel_str_t text; // of a string: unescaped, zero-terminated; otherwise unchanged
    bool is_string;
} field_t;

typedef struct line_t {
    field_t fields[FIELD_LIMIT];
    uint32_t count;
} line_t;

// Reads {"name":"text","name":number,...}: no nested objects or lists. Overwrites the line's bytes
// with the unescaped strings, each followed by a zero byte; false if the line has another form.
bool line_read(char *data, size_t size, line_t *out);
// "" if there is no string of that name.
keel_str_t line_text(const line_t *line, const char *name);
bool line_has(const line_t *line, const char *name);
// 0 if there is no such number, or it is not whole, or too large for 64 bits.
uint64_t line_number(const line_t *line, const char *name);

// ---- file.c ------------------------------------------------------------------------------------

// Adds the records of the lines to the table. `data` is overwritten. Fails only for lack of memory.
keel_status_t file_parse(uint8_t *data, size_t size, table_t *table,
                         uint64_t *out_damaged) KEEL_MUST_CHECK;
// The line of a record, after those of its values that are not in the file yet.
void file_put_record(const record_t *record, keel_buffer_t *out);
// Records that a record was seen again.
void file_put_seen(const record_t *record, keel_buffer_t *out);
// Makes *out: as much as fits in half of the file's limit, picked newest first; in order of age.
keel_status_t file_put_newest(table_t *table, keel_buffer_t *out) KEEL_MUST_CHECK;

// ---- nearest.c ---------------------------------------------------------------------------------

// At most KEEL_HISTORY_CANDIDATES, chosen as keel_history_candidates says.
size_t nearest_records(const table_t *table, const keel_history_query_t *query,
                       const record_t **out);

#endif // KEEL_HISTORY_INTERNAL_H_
