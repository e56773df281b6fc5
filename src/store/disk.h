// disk: what the disk tier is made of, by its folder: claims, marks, quarantine. For the tier, for
// `keel cache`, and for tests.
#ifndef KEEL_STORE_DISK_H_
#define KEEL_STORE_DISK_H_

#include "store/store.h"

// ---- one compile for one key -------------------------------------------------------------------

// Takes the claim on `key`; waits while another holds it. KEEL_REFUSED, with the reason, if waiting
// is useless: the holder is stopped, or has exited while a process that it forked still holds the
// lock, or the patience is used up.
keel_status_t keel_store_claim(const char *folder, const keel_digest_t *key,
                               const keel_claimant_t *claimant, keel_claim_t *out) KEEL_MUST_CHECK;

// ---- entries from elsewhere --------------------------------------------------------------------

// Opens a draft that may become the file of the key's entry in the disk tier.
keel_status_t keel_store_disk_begin(const keel_tier_t *tier, const keel_digest_t *key,
                                    keel_draft_t *out) KEEL_MUST_CHECK;
// What the draft holds is an entry of that key, and the caller has checked it: puts it in the place
// of what the tier has. Ends the draft. KEEL_REFUSED if it does not fit the tier.
keel_status_t keel_store_disk_adopt(const keel_tier_t *tier, const keel_digest_t *key,
                                    keel_draft_t *draft) KEEL_MUST_CHECK;

// ---- marks: a load that kills the process ------------------------------------------------------

// See keel_marks_t.
keel_status_t keel_store_mark(const char *folder, const keel_digest_t *key,
                              keel_mark_t *out) KEEL_MUST_CHECK;
keel_status_t keel_store_mark_ahead(const char *folder, const char *script,
                                    keel_mark_t *out) KEEL_MUST_CHECK;
// Quarantines each entry whose mark was left by a dead process; calls `found` (may be NULL) for
// each. If there is no such entry (its proof crashed), the crash is still recorded: until the
// record is cleared, a get of the key without an entry is KEEL_MISS_QUARANTINED. Removes a plan
// that was being loaded ahead: a program that crashes will crash again when it is asked for, and
// then the key is known.
keel_status_t keel_store_sweep_marks(const char *folder,
                                     void (*found)(void *context, const keel_digest_t *key),
                                     void *context) KEEL_MUST_CHECK;
unsigned keel_store_crashes(const char *folder, const keel_digest_t *key);
void keel_store_forgive(const char *folder, const keel_digest_t *key);

// Moves an entry to quarantine (a load that the plugin refused, a failed proof); `reason` becomes
// part of the file's name. A missing entry is not an error. Quarantine is bounded: the oldest go
// first.
keel_status_t keel_store_quarantine(const char *folder, const keel_digest_t *key,
                                    const char *reason) KEEL_MUST_CHECK;

#endif // KEEL_STORE_DISK_H_
