// lease: a name that one process holds among all that use a remote, for as long as it renews that.
//
// Where a kind of remote has no leases of its own, one is an object, put if it is absent:
//
//   keel lease 1
//   TOKEN        of the holder alone, 32 hexadecimal digits
//   MILLISECONDS how long it lasts without being renewed
//   COUNT        how often it was renewed
//   HOLDER       for people
//
// No two clocks are compared: whoever waits reads it again and again, and what has not changed for
// its length, by the reader's own clock, has ended. The next holder then puts NAME.TOKEN if absent,
// with the token of the one that ended, so of several that see the end one succeeds, and a holder
// that comes back finds it. So leases are a chain; the last one counts. Who releases his removes
// the chain.
//
// Threads: one.
#ifndef KEEL_COURIER_LEASE_H_
#define KEEL_COURIER_LEASE_H_

#include "courier/backend.h"

typedef enum lease_state {
    LEASE_HELD,  // by the one who asked
    LEASE_TAKEN, // by another, `other`
    LEASE_LEFT,  // by another that has released it since it was looked at last
} lease_state_t;

typedef struct leasing_t {
    const backend_t *backend;
    char *name;
    lease_t mine, other;
    bool waited;   // another held it
    uint64_t ends; // if the kind has leases: when the other's does, unless it is renewed
    // Of leases that are objects: where this one stands, how often it was renewed, what was read
    // last and since when.
    char *at;
    uint64_t count;
    keel_digest_t seen;
    uint64_t since; // of keel_clock_monotonic
} leasing_t;

// `length`: nanoseconds.
keel_status_t lease_begin(const backend_t *backend, const char *name, const char *holder,
                          uint64_t length, leasing_t *out) KEEL_MUST_CHECK;
// Takes it, or looks who has it. KEEL_UNSUPPORTED: the remote offers no leases.
keel_status_t lease_try(leasing_t *leasing, lease_state_t *out) KEEL_MUST_CHECK;
// KEEL_NOT_FOUND: it has ended, and another may hold it.
keel_status_t lease_renew(leasing_t *leasing) KEEL_MUST_CHECK;
// Only what is still held.
keel_status_t lease_release(leasing_t *leasing) KEEL_MUST_CHECK;
void lease_end(leasing_t *leasing);

#endif // KEEL_COURIER_LEASE_H_
