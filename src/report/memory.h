// memory: what a run's journal says of memory: what each program needs, what devices had in use,
// what did not fit, and what the plugin does not tell.
//
// Ownership: a keel_memory_t owns all it points to. Threads: no shared state.
#ifndef KEEL_REPORT_MEMORY_H_
#define KEEL_REPORT_MEMORY_H_

#include "base/base.h"
#include "journal/journal.h"
#include "report/asides.h"

// Texts live in the arena of keel_memory_t; "" where unknown. Sizes are bytes on each device.
typedef struct keel_memory_program_t {
    const char *identity; // its key in hex, or its digest where it has no key
    const char *program, *name;
    const char *shown; // "train.py:88"
    uint64_t arguments, outputs, aliased, temporaries, code, total;
    uint64_t host, peak; // 0: not told
} keel_memory_program_t;

typedef struct keel_memory_device_t {
    const char *device, *kind; // "TPU:18", "TPU v6 lite"
    uint64_t in_use;           // last
    uint64_t most;             // that was seen
    uint64_t peak, limit;      // 0: not told
} keel_memory_device_t;

typedef struct keel_memory_t {
    const char *id, *command, *cwd;
    keel_memory_program_t *programs; // the largest first
    size_t program_count;
    keel_memory_device_t *devices; // as they came
    size_t device_count;
    keel_asides_t asides;
    const char *programs_unknown, *devices_unknown; // why the plugin does not tell
    bool has_client;                                // a process of the run made one
    const char *path;                               // of the journal
    keel_journal_damage_t damage;
    keel_arena_t texts;
} keel_memory_t;

keel_status_t keel_memory_read(const char *run_dir, const char *id,
                               keel_memory_t *out) KEEL_MUST_CHECK;
// The same from a journal's bytes.
keel_status_t keel_memory_parse(keel_bytes_t bytes, const char *id,
                                keel_memory_t *out) KEEL_MUST_CHECK;
void keel_memory_deinitialize(keel_memory_t *memory);

// The least memory that a device has; 0 where none tells.
uint64_t keel_memory_limit(const keel_memory_t *memory);

// `program`: that alone, in full; NULL: all of the run, for people.
void keel_memory_text(const keel_memory_t *memory, const keel_memory_program_t *program,
                      keel_buffer_t *out);
void keel_memory_json(const keel_memory_t *memory, const keel_memory_program_t *program,
                      keel_buffer_t *out);

#endif // KEEL_REPORT_MEMORY_H_
