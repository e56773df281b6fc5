// history: the programs that were seen, in this process and in earlier runs of the same script, and
// which of them is nearest to a new one. It knows programs by a sketch; their bytes are kept by the
// journal.
//
//   run_dir/history/<script>.ndjson   one line a program, newest last; shared by runs of one script
//
// A history is that of one process of a run. Processes of one run go on at the same time, and so
// may runs of several hosts: nothing is compared with what the file tells of this run, or of the
// time since this process began.
//
// Bounded: at most KEEL_HISTORY_LIMIT records in memory, oldest out first; the file is rewritten
// with the newer half when it outgrows KEEL_HISTORY_FILE_LIMIT. A file that cannot be read or
// written costs the memory of earlier runs, nothing else. Damaged lines are passed over.
//
// Ownership: the history owns its records. Threads: any; it has a lock of its own.
#ifndef KEEL_HISTORY_HISTORY_H_
#define KEEL_HISTORY_HISTORY_H_

#include "base/base.h"
#include "key/key.h"
#include "program/program.h"

enum { KEEL_HISTORY_LIMIT = 4096, KEEL_HISTORY_FILE_LIMIT = 4 << 20, KEEL_SKETCH_BUCKETS = 48 };
enum { KEEL_HISTORY_CANDIDATES = 4 };

// What a program looks like from afar.
typedef struct keel_sketch_t {
    uint64_t signature; // of the entry's argument and result types
    uint64_t types;     // the same ones counted, by their hash: 16 times four bits, saturating
    uint64_t names;     // of the entry's argument names, in order
    uint32_t arguments, operations;
    uint16_t counts[KEEL_SKETCH_BUCKETS]; // operations by their name's hash, saturating; without
                                          // constants, which come and go with what uses them
} keel_sketch_t;

void keel_sketch_of(const keel_program_t *program, keel_sketch_t *out);
// From 0 (nothing in common) to 1.
double keel_sketch_alike(const keel_sketch_t *a, const keel_sketch_t *b);

typedef struct keel_history_t keel_history_t;

// `folder` is run_dir/history; NULL: nothing is kept beyond the process. `began`: when the process
// did, in seconds since 1970. Reads nothing yet.
keel_status_t keel_history_open(const char *folder, const char *script, const char *run,
                                double began, keel_history_t **out) KEEL_MUST_CHECK;
void keel_history_close(keel_history_t *history);

typedef struct keel_history_record_t {
    keel_digest_t program; // of its raw bytes: the journal finds it by that
    const char *name;      // of the module
    const char *origin;    // keel_site_t; ""
    const char *run;       // the run that saw it
    keel_sketch_t sketch;
    const keel_key_t *key; // its components and their values
    double seconds;        // what compiling it took
    double when;           // seconds since 1970
    bool is_ours;          // seen by this process
} keel_history_record_t;

// Notes a program. Copies all. A program whose key and bytes are known already moves to the front.
// The first call reads the file.
keel_status_t keel_history_add(keel_history_t *history,
                               const keel_history_record_t *record) KEEL_MUST_CHECK;

// Appends the programs of this process that the file does not tell of this run yet, in the order
// in which they were noted, in one write.
keel_status_t keel_history_keep(keel_history_t *history) KEEL_MUST_CHECK;

// The sketch of a program that is known by its bytes and key.
bool keel_history_sketch(keel_history_t *history, const keel_digest_t *program,
                         const keel_digest_t *key, keel_sketch_t *out);

// What is looked for; `name`, `origin` and `sketch` as in a record.
typedef struct keel_history_query_t {
    const char *name, *origin;
    const keel_sketch_t *sketch;
    const keel_key_t *key;
} keel_history_query_t;

// The nearest record. Those with the same program component come first (fewest other components
// that moved), then those of this process that share name and origin, then those of earlier runs
// that do, wherever in its file the function stood, then any whose sketch is near enough (names
// change). Among equals the most alike, then the fewest components that moved, then the newest.
// False where none is near: it is the first of its kind. Text and key of *out are copied into
// `arena`. A failure to read the file is no failure here.
bool keel_history_nearest(keel_history_t *history, const keel_history_query_t *query,
                          keel_arena_t *arena, keel_history_record_t *out);

// The records that a new program is best compared with: the nearest first, then, where that is of
// this process, shares name and origin and is another program, the most recent such one and the
// next nearest. `out` has room for KEEL_HISTORY_CANDIDATES; gives how many there are.
size_t keel_history_candidates(keel_history_t *history, const keel_history_query_t *query,
                               keel_arena_t *arena, keel_history_record_t *out);

// Calls `visit` for each record that a history file's bytes tell, oldest first; what a record
// points to is borrowed. Lines that cannot be read are passed over and counted. A status from
// `visit` ends the reading and is returned.
keel_status_t keel_history_parse(keel_bytes_t bytes,
                                 keel_status_t (*visit)(void *context,
                                                        const keel_history_record_t *record),
                                 void *context, uint64_t *out_damaged) KEEL_MUST_CHECK;

#endif // KEEL_HISTORY_HISTORY_H_
