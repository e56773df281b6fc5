// arrival: an entry on its way in. Its bytes go to a draft in the disk tier's folder. They stop at
// the first that shows that they are no entry, or more than the entry says that it has.
//
// Threads: one.
#ifndef KEEL_COURIER_ARRIVAL_H_
#define KEEL_COURIER_ARRIVAL_H_

#include "courier/backend.h"
#include "store/disk.h"
#include "store/entry.h"

typedef struct arrival_t {
    keel_draft_t draft;
    uint64_t limit; // bytes of a file; 0: none
    uint8_t envelope[KEEL_ENTRY_ENVELOPE];
    uint64_t have;
    uint64_t size;    // as the envelope says; 0: not known yet
    char why[256];    // it is refused; "" so far
    bool disk_failed; // not the remote's fault
} arrival_t;

keel_status_t arrival_begin(const keel_tier_t *disk, uint64_t limit, const keel_digest_t *key,
                            arrival_t *out) KEEL_MUST_CHECK;
// False: no more is wanted, for `why`.
bool arrival_take(arrival_t *arrival, const void *data, size_t size);
sink_t arrival_sink(arrival_t *arrival);

typedef enum arrival_verdict {
    ARRIVAL_GOOD,
    ARRIVAL_UNTRUSTED, // nobody who is trusted signed it
    ARRIVAL_REFUSED,   // it is not what was asked for, or not whole
} arrival_verdict_t;

// Whether what came is the entry of `key`, and may be loaded: if it is signed by a key of
// `keys_dir`, or, if `trusts` is set, anyhow. `why` says why not.
arrival_verdict_t arrival_check(arrival_t *arrival, const keel_digest_t *key, const char *keys_dir,
                                bool trusts);
void arrival_discard(arrival_t *arrival);

#endif // KEEL_COURIER_ARRIVAL_H_
