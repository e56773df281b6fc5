// ranks: the processes of one job see that all have the same program before any of them compiles
// it. Otherwise they would wait for each other in its collectives forever.
//
// They meet in a place that all of them reach (meet/meet.h), chosen at the first program. Processes
// that execute a program together are a group, and the first of them leads it. For the group's n-th
// program there are:
//
//   <group>-<n>-<process>: by each: "ask <fingerprint> <options> <digest> <name>", or "off <why>":
//   it does not compare any more
//
//   <group>-<n>-said: by the first: "same", "off <why>", or "differ <a> <b>\n<message>"
//
//   <group>-<n>-<process>-<i>: by a and b, if it is "differ": the pieces of their programs
//   (differ.h)
//
//   <group>-<n>-why: by the first: the message, with what differs
//
// So each process puts one value and gets one, and all stop with the same message. A program on
// which a group agreed is not compared again.
//
// A process that has executables for all its programs asks for none. So one that has waited for a
// second puts "waits <process> <executions>" as <group>-<n>-waits, with how many of the group's
// executions it has begun. The others' watches look for that: a process that has begun more of them
// is not about to ask for this program, and says so instead of its own: "goes". Then it is "differ
// <a> <a>", and the group stops for good.
//
// Threads: any; if a second thread of a process asks, the order of programs is not the same
// everywhere, and from then on no process compares any more.
#ifndef KEEL_ENFORCE_RANKS_H_
#define KEEL_ENFORCE_RANKS_H_

#include "contract/contract.h"
#include "meet/meet.h"
#include "settings/settings.h"

typedef struct ranks_t ranks_t;

// A program that a process asks for.
typedef struct ranks_ask_t {
    const char *name; // of its module
    keel_bytes_t code;
    keel_digest_t digest;                   // of the code
    char fingerprint[KEEL_FINGERPRINT_HEX]; // of the program, as far as it matters
    char options[KEEL_FINGERPRINT_HEX];     // of what it is compiled with
    const uint32_t *members;                // the processes that execute it, ascending
    size_t member_count;
    uint32_t process; // this one
} ranks_ask_t;

// How often this process began to execute a program. Any thread.
typedef struct ranks_executions_t {
    uint64_t (*count)(void *context, const keel_digest_t *program);
    void *context;
} ranks_executions_t;

// `folder` is that of the run, or "".
keel_status_t ranks_create(const keel_settings_t *settings, const char *folder,
                           const ranks_executions_t *executions, ranks_t **out) KEEL_MUST_CHECK;
// Only if nothing uses it any more. NULL is allowed.
void ranks_destroy(ranks_t *ranks);

// The process ends: nothing runs in the background any more.
void ranks_end(ranks_t *ranks);

// A client was made, is about to be destroyed: it may have a key-value service.
void ranks_client_created(ranks_t *ranks, const PJRT_Client_Create_Args *args);
void ranks_client_closing(ranks_t *ranks, const PJRT_Client *client);

// NULL if all members ask for this program, or if that cannot be known; then the latter is said
// once. Waits for the others as long as they run, but not longer than ten minutes.
keel_status_t ranks_check(ranks_t *ranks, const ranks_ask_t *ask) KEEL_MUST_CHECK;

// This process loaded a program of that name from elsewhere: another may have traced it, and the
// two cannot be compared. From now on it compares none, and says so, to the others too.
void ranks_leave(ranks_t *ranks, const char *name);

#endif // KEEL_ENFORCE_RANKS_H_
