// memory: what a run's journal says about memory: what each program needs, what devices had in use,
// and what the plugin does not report. What did not fit is in asides.h.
//
// In a rehearsal, what is in use on a device is known whenever a program begins. With what the
// program needs besides its arguments, that is the most that is in use while it runs.
//
// Ownership: texts live in the arena that was given with the events. Threads: no shared state.
#ifndef KEEL_RUN_MEMORY_H_
#define KEEL_RUN_MEMORY_H_

#include "base/base.h"
#include "journal/journal.h"
#include "run/texts.h"

// Texts are "" if unknown. Sizes are bytes on each device.
typedef struct keel_memory_program_t {
    const char *identity; // its key in hex, or its digest if it has no key
    const char *program, *name;
    const char *shown; // "train.py:88"
    uint64_t ops;      // 0: unknown
    bool is_known;     // false in a rehearsal that did not compile it: then the sizes are 0
    uint64_t arguments, outputs, aliased, temporaries, code, total;
    uint64_t host, peak; // 0: unknown
    // In a rehearsal: on its fullest device, in use when it began, with its arguments, and at most
    // while it ran, with the code of all programs; at least, if it is not known what it needs.
    bool has_run;
    uint64_t living, most;
} keel_memory_program_t;

typedef struct keel_memory_device_t {
    const char *device, *kind; // "TPU:18", "TPU v6 lite"
    uint64_t in_use;           // last
    uint64_t most;             // that was seen
    uint64_t peak, limit;      // 0: unknown
} keel_memory_device_t;

typedef struct keel_memory_t {
    keel_memory_program_t *programs; // the largest first, in a rehearsal by `most`
    size_t program_count;
    keel_memory_device_t *devices; // as they came
    size_t device_count;
    const char *programs_unknown, *devices_unknown; // why the plugin does not report it
} keel_memory_t;

// What is kept while events are added.
typedef struct keel_memory_reading_t {
    keel_memory_t *memory;
    bool is_rehearsal;
    keel_map_t programs; // identity -> programs
    keel_map_t asked;    // digest -> askers
    keel_map_t living;   // digest -> bytes
    keel_map_t added;    // digest -> bytes of its results beyond donated arguments
    struct keel_memory_asker_t {
        const char *program, *identity, *name, *shown;
        uint64_t ops;
    } * askers;
    size_t asker_count;
} keel_memory_reading_t;

struct json_t;
void keel_memory_begin(keel_memory_reading_t *reading, bool is_rehearsal, keel_memory_t *memory);
// One more event; others are skipped. `cwd` is the run's.
keel_status_t keel_memory_add(keel_memory_reading_t *reading, const struct json_t *event,
                              const char *cwd, keel_texts_t *texts) KEEL_MUST_CHECK;
keel_status_t keel_memory_settle(keel_memory_reading_t *reading) KEEL_MUST_CHECK;
void keel_memory_end(keel_memory_reading_t *reading);
void keel_memory_deinitialize(keel_memory_t *memory);

// The least memory that a device has; 0 if none reports it.
uint64_t keel_memory_limit(const keel_memory_t *memory);

#endif // KEEL_RUN_MEMORY_H_
