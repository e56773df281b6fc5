// steps: the programs of a run, and the step that each compile or load delayed.
//
// Two passes over the journal, neither of which keeps an event: keel_steps_read meets the programs
// and finds the leading family (run.h says what that is), because steps can be counted only once it
// is known. Then the caller reads the events again and hands each to keel_steps_advance.
//
// Of a run with more programs or requests than KEEL_LIMIT_REQUESTS, the first are kept one by one.
//
// For the files of this room. Texts belong to the steps.
#ifndef KEEL_RUN_STEPS_H_
#define KEEL_RUN_STEPS_H_

#include <jansson.h>

#include "base/base.h"
#include "journal/journal.h"
#include "run/outcomes.h"
#include "run/run.h"
#include "run/warmups.h"

// ---- fields of an event that are kept -----------------------------------------------------------

// A member of an event or an object; "" if it is not a string.
keel_status_t keel_event_keep_field(keel_texts_t *texts, const json_t *object, const char *name,
                                    const char **out) KEEL_MUST_CHECK;
// The words of a list, joined by blanks.
keel_status_t keel_event_joined(keel_texts_t *texts, const json_t *list,
                                const char **out) KEEL_MUST_CHECK;
// "train.py:88": relative to `folder` if the file is in it; "flax/nnx/x.py:5": in a package; "" for
// no file.
keel_status_t keel_event_place(keel_texts_t *texts, const char *file, uint32_t line,
                               const char *folder, const char **out) KEEL_MUST_CHECK;
// True if what an "explain" event is about was compiled.
bool keel_event_compiled(const json_t *explain);
// What distinguishes programs: the key, or the digest of a program without one.
const char *keel_event_identity(const json_t *event);
// A place with its call and the library's line, from an event's "site" or a difference.
keel_status_t keel_event_site(keel_texts_t *texts, const json_t *site, const char *folder,
                              keel_run_place_t *out) KEEL_MUST_CHECK;

// entries.c: what an "explain" event says; its step and operation are set already.
keel_status_t keel_run_read_entry(const json_t *event, const char *folder, keel_texts_t *texts,
                                  keel_run_entry_t *entry) KEEL_MUST_CHECK;

// retraces.c: adds the retraces that are not explained themselves to those that are. Of requests
// that are not kept, those of one line are one here.
struct keel_steps_t;
typedef struct keel_retraces_t {
    keel_run_request_t *sums; // what they took, with Keel's own time, and the last step
    size_t count, capacity;
    keel_map_t index; // -> sums
} keel_retraces_t;

void keel_retraces_begin(keel_retraces_t *retraces);
void keel_retraces_end(keel_retraces_t *retraces);
// One that is counted and not kept.
keel_status_t keel_retraces_sum(keel_retraces_t *retraces, const keel_run_t *run,
                                const keel_run_request_t *request) KEEL_MUST_CHECK;
// The entries are complete.
keel_status_t keel_retraces_add(const keel_retraces_t *retraces, const struct keel_steps_t *steps,
                                keel_run_t *run) KEEL_MUST_CHECK;

// ---- steps -------------------------------------------------------------------------------------

typedef struct keel_steps_process_t {
    json_int_t pid;
    uint64_t steps; // that were marked so far, or executions of the leading family, without `warm`
    uint64_t ran;   // all of these
    uint64_t counted;  // as far as events count them
    uint64_t warm;     // those of a warm-up
    uint64_t requests; // so far
    uint64_t settled;  // one more than `steps` when its last new program came; 0: none came
    double wall;       // from its end; 0 before
    bool ended;
    bool is_rehearsal;
    bool marks; // its steps: `step` events
} keel_steps_process_t;

// One program: what shares a key, or, without a key, the bytes.
typedef struct keel_steps_program_t {
    const char *identity;
    const char *digest; // of the bytes that were asked for first
    const char *name;
    uint64_t ops, executes;
    bool is_cut; // a host read cuts the step there, so it does not end one
    size_t family;
    bool is_eager; // an operation that ran by itself, outside jit
} keel_steps_program_t;

// A compile or load, to which an explanation may follow.
typedef struct keel_steps_request_t {
    uint64_t step;           // the step it delayed, from 1
    size_t program;          // SIZE_MAX: not kept
    bool is_summed;          // not kept: valid until the next event
    double seconds;          // as the event has it, by which its explanation is found
    double overhead_seconds; // Keel's own
    bool is_counted;         // one or several retraces beyond those that are explained one by one
    bool is_rehearsed;
    keel_took_t took; // for a rehearsed load, what compiling it had cost
    keel_run_fate_t fate;
    size_t next;      // the same program's next one in that process; SIZE_MAX: none
    size_t operation; // an operation that ran by itself; SIZE_MAX: none
    bool explained;
} keel_steps_request_t;

// An operation of JAX's that ran by itself at one line of the user's.
typedef struct keel_steps_operation_t {
    uint64_t programs; // that were compiled or loaded for it
    uint64_t steps;    // in how many of them one was
    uint64_t last_step;
} keel_steps_operation_t;

// What one process did with one program.
typedef struct keel_steps_use_t {
    uint64_t asked;  // number of the event that asked first, from 1; 0: none
    uint64_t ran;    // of the last event that counts executions of it
    uint64_t before; // executions of its family until it was asked for
    uint64_t others; // programs of its family that were asked for until then
    bool is_partial; // more may have run: the event had no room for all
} keel_steps_use_t;

typedef struct keel_steps_t {
    keel_texts_t texts;
    keel_map_t by_number; // process's number and the program's in it -> programs
    keel_map_t use_of;    // process and program -> uses
    keel_map_t family_of; // process and family -> executions
    keel_map_t asked_of;  // the same -> programs that were asked for
    keel_steps_use_t *uses;
    size_t use_count, use_room;
    uint64_t event;         // number of the current one, from 1
    keel_map_t by_identity; // -> programs
    keel_map_t by_program;  // digest in hex -> programs, the last one with those bytes
    keel_map_t by_name;     // -> families
    keel_map_t by_pid;      // -> processes
    keel_map_t requests_of; // process, program, kind -> the oldest that is not explained
    keel_map_t last_of;     // the same -> the newest
    keel_outcomes_t outcomes;
    keel_warmups_t warmups;
    keel_steps_program_t *programs;
    size_t program_count;
    struct keel_steps_family_t {
        double work, uncut_work; // operations times executions
        uint64_t executes, uncut_executes;
        bool is_eager, has_gradient, is_recorded;
    } * families;
    size_t family_count;
    size_t leading;                     // SIZE_MAX: nothing ran
    keel_steps_operation_t *operations; // that ran by themselves, by name and line
    size_t operation_count;
    keel_map_t by_operation;
    keel_map_t frozen_at;  // process -> event with which its code froze it
    keel_map_t refused_at; // process and program -> the step that its first refusal delayed
    keel_steps_process_t *processes;
    size_t process_count;
    bool is_rehearsal; // of one of them
    keel_steps_request_t *requests;
    size_t request_count;
    keel_steps_request_t summed; // the last one that is not kept
} keel_steps_t;

// The first pass. Deinitialize `out` even on failure.
keel_status_t keel_steps_read(const keel_journal_source_t *source,
                              keel_steps_t *out) KEEL_MUST_CHECK;
void keel_steps_deinitialize(keel_steps_t *steps);

// The program that an event's count names; NULL if the journal lacks it.
keel_steps_program_t *keel_steps_counted(const keel_steps_t *steps, const json_t *event,
                                         const keel_counted_t *counted);

// True if an operation that ran by itself has new programs until the run ends. Known after
// keel_steps_advance has had all events.
bool keel_steps_is_endless(const keel_steps_t *steps, size_t operation);

// The module's name of the last program with those bytes; "" if the journal has none.
const char *keel_steps_name(const keel_steps_t *steps, const char *digest);

// True if a program with those bytes was executed in that process after the compile or load of
// `other`.
bool keel_steps_runs_behind(const keel_steps_t *steps, const char *digest, const char *other,
                            int64_t pid);

// True if that program, or others that the same line asks for, ran more than once in that process
// since its compile or load.
bool keel_steps_goes_on(const keel_steps_t *steps, const char *digest, int64_t pid);

keel_run_uses_t keel_steps_uses(const keel_steps_t *steps, const char *digest, int64_t pid);

bool keel_steps_is_rehearsed(const keel_steps_t *steps, int64_t pid);

// True if the process's code froze it after it had asked for the program.
bool keel_steps_is_seen(const keel_steps_t *steps, const char *digest, int64_t pid);

// The step at which the client was first refused the program of an `explain` event; 0: it was not.
keel_status_t keel_steps_refused(const keel_steps_t *steps, const json_t *event,
                                 uint64_t *out) KEEL_MUST_CHECK;

// The program that a compile or load of the journal is about; SIZE_MAX if it is not kept.
size_t keel_steps_program(const keel_steps_t *steps, const json_t *event);

// The second pass: counts one more event. *out_process is its process, and *out_request the request
// of a compile or load, NULL for other events; both are valid until the next call.
keel_status_t keel_steps_advance(keel_steps_t *steps, const json_t *event,
                                 keel_steps_process_t **out_process,
                                 keel_steps_request_t **out_request) KEEL_MUST_CHECK;

// The earlier request that an `explain` event explains; NULL if the journal lacks it. Returns each
// request once while there are others.
keel_status_t keel_steps_explained(keel_steps_t *steps, const json_t *event,
                                   keel_steps_request_t **out) KEEL_MUST_CHECK;

#endif // KEEL_RUN_STEPS_H_
