// courier: the helper that reaches remotes (remote/remote.h says what it is asked), the program
// keel-remote. It fetches entries into the disk tier's folder, checks them on the way, and sends
// those that are to be stored elsewhere.
//
// What a remote answers is foreign. Nothing of it becomes an entry of the disk tier until it is
// whole, is an entry of the key that was asked for, and is signed by a trusted key, or comes from a
// remote that is trusted without. Bytes go to a file as they come, so memory does not grow with
// them.
//
//   backend.h   what a remote is: a struct of functions; each kind has a file
//   arrival.h   an entry on its way in: where it stops, and whether it may be loaded
//   fetch.c     one download for all who ask for a key
//   send.c      the queue of what is to be stored, and the threads that send it
//   lease.h     a name that one process holds among all that use a remote
//   claim.c     one compile among all of them
//   export.h    entries in one file, written and read
//   plans.c     what a script asked for elsewhere, fetched before it is asked for here
//   serve.c     requests, and the end when there are none for a while
//
// Threads: one for each request, and a few that send.
#ifndef KEEL_COURIER_COURIER_H_
#define KEEL_COURIER_COURIER_H_

#include <pthread.h>
#include <stdatomic.h>

#include "courier/backend.h"
#include "settings/settings.h"
#include "store/store.h"

// Of one remote, since the helper started.
typedef struct figures_t {
    atomic_ullong found, none, untrusted, refused, failed, fetched_bytes, fetch_nanoseconds;
    atomic_ullong stored, there, unstored, sent_bytes;
} figures_t;

typedef struct place_t {
    const keel_remote_t *remote;
    backend_t backend;
    bool is_open;
    char *why;                // if it is not: what is missing; owned
    atomic_ullong down_until; // by keel_clock_monotonic: it failed and is not asked
    atomic_bool has_no_leases;
    figures_t figures;
} place_t;

typedef struct courier_t {
    keel_settings_t settings;
    const char *cache_dir, *keys_dir;
    keel_tier_t disk;
    place_t places[KEEL_REMOTES_MOST];
    size_t count;
    uint64_t idle; // nanoseconds without a request until it ends
    struct fetches_t *fetches;
    struct sends_t *sends;
    struct plans_t *plans;
} courier_t;

keel_status_t courier_open(const char *const flags[KEEL_SETTING_COUNT],
                           courier_t *out) KEEL_MUST_CHECK;
void courier_close(courier_t *courier);

// Answers requests at the listening socket until nobody asks any more.
void courier_serve(courier_t *courier, int listening);

// A failure of the remote itself: it is left alone for a while.
void place_failed(place_t *place);
bool place_is_down(place_t *place);

// "entries/ab/<key>.keel" and "claims/ab/<key>", below the remote's namespace. The caller frees it.
keel_status_t courier_name(const keel_remote_t *remote, const keel_digest_t *key,
                           char **out) KEEL_MUST_CHECK;
keel_status_t courier_claim_name(const keel_remote_t *remote, const keel_digest_t *key,
                                 char **out) KEEL_MUST_CHECK;

// ---- fetch.c -----------------------------------------------------------------------------------

keel_status_t fetches_create(struct fetches_t **out) KEEL_MUST_CHECK;
void fetches_destroy(struct fetches_t *fetches);
// Writes the answer to a `get`.
void courier_fetch(courier_t *courier, place_t *place, const keel_digest_t *key,
                   keel_buffer_t *answer);

// ---- send.c ------------------------------------------------------------------------------------

// An entry of the disk tier as it is sent: the header, signed if there is a key to sign with, and
// the payload as stored.
typedef struct outgoing_t {
    keel_bytes_t file; // mapped, or
    uint8_t *owned;
    keel_buffer_t head;
    keel_bytes_t rest;
} outgoing_t;
// KEEL_REFUSED if it is not signed, there is no key, and who gets it trusts nothing without.
keel_status_t outgoing_open(const courier_t *courier, bool trusted, const keel_digest_t *key,
                            outgoing_t *out) KEEL_MUST_CHECK;
// The same of an entry that is no file yet.
keel_status_t outgoing_make(const courier_t *courier, bool trusted, const keel_entry_t *entry,
                            outgoing_t *out) KEEL_MUST_CHECK;
void outgoing_close(outgoing_t *outgoing);

keel_status_t sends_create(courier_t *courier, struct sends_t **out) KEEL_MUST_CHECK;
// Waits for what is being sent, and drops the rest.
void sends_destroy(struct sends_t *sends);
keel_status_t sends_add(struct sends_t *sends, place_t *place,
                        const keel_digest_t *key) KEEL_MUST_CHECK;
// Waits until nothing is queued. How many were not stored since the last time, and why the last of
// them was not.
unsigned sends_finish(struct sends_t *sends, char why[512]);
// What that remote has under this key is no good: it may be replaced.
void sends_replace(struct sends_t *sends, const place_t *place, const keel_digest_t *key);
bool sends_are_idle(struct sends_t *sends);
// Whether that entry is sent, or not to be, by that time of keel_clock_monotonic.
bool sends_await(struct sends_t *sends, const place_t *place, const keel_digest_t *key,
                 uint64_t until);

// ---- plans.c -----------------------------------------------------------------------------------

keel_status_t plans_create(courier_t *courier, struct plans_t **out) KEEL_MUST_CHECK;
void plans_destroy(struct plans_t *plans);
// The script's newest plan there is fetched, and what it names. False: that is no script.
bool plans_ahead(struct plans_t *plans, place_t *place, keel_str_t script);
// This machine's plan of the script is stored there.
bool plans_keep(struct plans_t *plans, place_t *place, keel_str_t script);
// Answers a `plan`: writes the plan for this machine's client, and begins to fetch what it names.
void plans_follow(struct plans_t *plans, place_t *place, keel_str_t script, keel_buffer_t *answer);
// Waits until nothing of that goes on.
void plans_finish(struct plans_t *plans);
bool plans_are_idle(struct plans_t *plans);

// ---- claim.c -----------------------------------------------------------------------------------

typedef struct claim_t {
    const char *holder; // for people
    uint64_t patience;  // nanoseconds
} claim_t;

// Answers a `claim`, and holds it as long as the other end of the socket does.
void courier_claim(courier_t *courier, place_t *place, const keel_digest_t *key,
                   const claim_t *wanted, int socket);

#endif // KEEL_COURIER_COURIER_H_
