// process: what one process of a run has had so far: the programs that it asked for, those from
// earlier runs of its script, and the parts of keys that its clients share.
#ifndef KEEL_ANALYSIS_PROCESS_H_
#define KEEL_ANALYSIS_PROCESS_H_

#include "analysis/asked.h"
#include "analysis/made.h"
#include "history/history.h"

typedef struct process_client_t {
    uint64_t number;
    keel_digest_t components[KEEL_COMPONENT_COUNT];
} process_client_t;

typedef struct process_t {
    int64_t pid;
    double began;       // seconds since 1970
    const char *target; // of a rehearsal; "": the devices are there
    keel_map_t took;    // in a rehearsal, key and program -> microseconds that compiling it took
    keel_history_t *history;
    process_client_t *clients;
    size_t client_count;
    keel_map_t values;    // component and digest -> its text, a pointer into `texts`
    keel_map_t names;     // program -> the user's names for its arguments, a pointer into `texts`
    keel_map_t calls;     // key and origin -> a process_call_t, the newest
    keel_map_t functions; // a library's function, by its identity -> its first origin, in `texts`
    keel_map_t callers;   // program -> a hash of the user's lines that led to the asking one
    keel_arena_t texts;
    made_t made;
} process_t;

// From its `start` event.
keel_status_t process_create(const char *run_dir, const char *run, const struct json_t *start,
                             process_t **out) KEEL_MUST_CHECK;
void process_destroy(process_t *process);
// Another `start` event of the process, for another client.
keel_status_t process_started(process_t *process, const struct json_t *start) KEEL_MUST_CHECK;
// True if the event belongs to this process, not to another with the same number.
bool process_is(const process_t *process, const struct json_t *start);
// The compiler of a rehearsal is done with a program.
keel_status_t process_compiled(process_t *process, const struct json_t *event) KEEL_MUST_CHECK;
// What compiling that program took; 0 if it was not compiled yet.
double process_took(const process_t *process, const asked_t *asked);
// Fills in the key's components and their texts.
keel_status_t process_key(process_t *process, const struct json_t *ask,
                          keel_key_t *key) KEEL_MUST_CHECK;

// The user's names for the arguments of a program that the process had, if known; otherwise NULL.
const char *process_names(const process_t *process, const keel_digest_t *program);
keel_status_t process_note_names(process_t *process, const keel_digest_t *program,
                                 const char *names) KEEL_MUST_CHECK;

// False if it is not known which lines of the user's led to the one that asked for the program.
bool process_callers(const process_t *process, const keel_digest_t *program, uint64_t *out);
// Keeps the lines that first led there.
keel_status_t process_note_callers(process_t *process, const keel_digest_t *program,
                                   uint64_t callers) KEEL_MUST_CHECK;

// A library's function has an origin for each line that asks for it. If this one was asked for on
// another line, it gets the origin that it had there.
keel_status_t process_settle_origin(process_t *process, asked_t *asked) KEEL_MUST_CHECK;

// What is known of earlier calls of the function that has that origin under that key
// (keel_call_read), the oldest first. Returns how many; text is the process's.
enum { PROCESS_CALLS = 16 };
uint32_t process_calls(const process_t *process, const asked_t *asked,
                       const char *out[PROCESS_CALLS]);
// The last of them, of the function with that origin under that key; NULL if it is not known.
const char *process_last_call(const process_t *process, const keel_digest_t *key,
                              const char *origin);
keel_status_t process_note_call(process_t *process, const asked_t *asked) KEEL_MUST_CHECK;
// The script's name from a `start` event, or its command line; the caller frees it. "" if the event
// has neither.
keel_status_t process_script(const struct json_t *start, char **out) KEEL_MUST_CHECK;

#endif // KEEL_ANALYSIS_PROCESS_H_
