// history: the programs seen in this process and in earlier runs of the same script, and which of
// them is nearest to a new one. It knows programs by a sketch; the journal keeps their bytes.
//
//   run_dir/history/<script>.ndjson   one line per program, newest last; shared by its runs
//
// A history belongs to one process of a run. Processes of one run overlap in time, and so may runs
// of several hosts: nothing is compared with what the file says about this run, or about the time
// since this process began.
//
// Bounded: at most KEEL_HISTORY_LIMIT records in memory, the oldest go first; the file is rewritten
// with the newer half when it exceeds KEEL_HISTORY_FILE_LIMIT. If the file cannot be read or
// written, only the memory of earlier runs is lost. Damaged lines are skipped.
//
// A rehearsal's programs are compared with those of earlier runs only if these were for the same
// devices and the same plugin; another target is not a change of the user's. A run on real devices
// is compared with a rehearsal of those devices if that compiled the program: then it should have
// been in the cache.
//
// Ownership: the history owns its records. Threads: any; it has its own lock.
#ifndef KEEL_HISTORY_HISTORY_H_
#define KEEL_HISTORY_HISTORY_H_

#include "base/base.h"
#include "key/key.h"
#include "program/program.h"

enum { KEEL_HISTORY_LIMIT = 4096, KEEL_HISTORY_FILE_LIMIT = 4 << 20, KEEL_SKETCH_BUCKETS = 48 };
enum { KEEL_HISTORY_CANDIDATES = 4 };

// A summary of a program.
typedef struct keel_sketch_t {
    uint64_t signature; // of the entry's argument and result types
    uint64_t types;     // the same types counted, by their hash: 16 times four bits, saturating
    uint64_t names;     // of the entry's argument names, in order
    uint32_t arguments, operations;
    // Operations by their name's hash, saturating; without constants, which come and go with their
    // users.
    uint16_t counts[KEEL_SKETCH_BUCKETS];
} keel_sketch_t;

void keel_sketch_of(const keel_program_t *program, keel_sketch_t *out);
// From 0 (nothing in common) to 1.
double keel_sketch_alike(const keel_sketch_t *a, const keel_sketch_t *b);

typedef struct keel_history_t keel_history_t;

// `folder` is run_dir/history; NULL: keeps nothing beyond the process. `began`: the process's start
// in seconds since 1970. Reads nothing yet.
keel_status_t keel_history_open(const char *folder, const char *script, const char *run,
                                double began, keel_history_t **out) KEEL_MUST_CHECK;
void keel_history_close(keel_history_t *history);

typedef struct keel_history_record_t {
    keel_digest_t program; // of its raw bytes, by which the journal finds it
    const char *name;      // of the module
    const char *origin;    // keel_site_t; ""
    const char *run;       // the run that saw it
    keel_sketch_t sketch;
    const keel_key_t *key; // its components and their values
    const char *target;    // of a rehearsal; "" or NULL: the devices were there
    double seconds;        // what compiling it took; 0: it was not compiled
    double when;           // seconds since 1970
    bool is_ours;          // seen by this process
} keel_history_record_t;

// Records a program, copying everything. A program whose key and bytes are known moves to the
// front. The first call reads the file.
keel_status_t keel_history_add(keel_history_t *history,
                               const keel_history_record_t *record) KEEL_MUST_CHECK;

// What compiling a program took that was recorded before the compiler of a rehearsal was done.
void keel_history_compiled(keel_history_t *history, const keel_digest_t *program,
                           const keel_digest_t *key, double seconds);

// Appends this process's programs that the file does not list for this run yet, in the order in
// which they were recorded, in one write.
keel_status_t keel_history_keep(keel_history_t *history) KEEL_MUST_CHECK;

// The sketch of a program with these bytes and this key, if it is known.
bool keel_history_sketch(keel_history_t *history, const keel_digest_t *program,
                         const keel_digest_t *key, keel_sketch_t *out);

// The query; `name`, `origin`, `sketch` and `target` as in a record.
typedef struct keel_history_query_t {
    const char *name, *origin;
    const char *target;
    const keel_sketch_t *sketch;
    const keel_key_t *key;
    // That an earlier run had the very program does not tell why it is refused in this one: then
    // only others are near.
    bool is_refused;
} keel_history_query_t;

// The nearest record. First come those with the same program component (fewest other components
// changed), then those of this process with the same name and origin, then those of earlier runs
// with the same, wherever the function was in its file, then any whose sketch is near enough (names
// change). Among equals: the most alike, then the fewest changed components, then the newest. False
// if none is near: then it is the first of its kind. Text and key of *out are copied into `arena`.
// Failing to read the file is not a failure here.
bool keel_history_nearest(keel_history_t *history, const keel_history_query_t *query,
                          keel_arena_t *arena, keel_history_record_t *out);

// The best records to compare a new program with: the nearest first; then, if that is another
// program with the same name and origin, the next nearest of this process, and the most recent, or
// of that earlier run. `out` has room for KEEL_HISTORY_CANDIDATES; returns how many there are.
size_t keel_history_candidates(keel_history_t *history, const keel_history_query_t *query,
                               keel_arena_t *arena, keel_history_record_t *out);

// Calls `visit` for each record in a history file's bytes, oldest first; what a record points to is
// borrowed. Unreadable lines are skipped and counted. A status from `visit` ends the reading and is
// returned.
keel_status_t keel_history_parse(keel_bytes_t bytes,
                                 keel_status_t (*visit)(void *context,
                                                        const keel_history_record_t *record),
                                 void *context, uint64_t *out_damaged) KEEL_MUST_CHECK;

#endif // KEEL_HISTORY_HISTORY_H_
