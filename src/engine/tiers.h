// tiers: walks the store's tiers. No other part of the engine knows which there are.
#ifndef KEEL_ENGINE_TIERS_H_
#define KEEL_ENGINE_TIERS_H_

#include "engine/core.h"

// Opens the tiers that the settings ask for.
keel_status_t tiers_open(keel_engine_t *engine) KEEL_MUST_CHECK;

// For a rehearsal: what it writes is discarded (src/view), and so would be what a helper writes
// that it starts. Before the tiers are used.
void tiers_leave_remotes(keel_engine_t *engine);

// ---- entries -----------------------------------------------------------------------------------

// Puts the entry into every tier that takes it. Fails if none of those that persist has it; other
// failures are written to the journal.
keel_status_t tiers_put(keel_engine_t *engine, const keel_entry_t *entry) KEEL_MUST_CHECK;
// An entry was loaded from `tier`: puts it into the faster ones.
void tiers_promote(keel_engine_t *engine, const keel_tier_t *tier, const keel_entry_t *entry);
// An entry of `tier` does not load: takes it out of use there.
void tiers_quarantine(const keel_tier_t *tier, const keel_digest_t *key, const char *reason);

// ---- marks -------------------------------------------------------------------------------------

// Marks the load of an entry of `tier` (NULL: a proof). A tier without marks of its own uses those
// of another: a load that crashes is not tried again from anywhere. `script`: see keel_marks_t.
// False if nothing was marked.
bool tiers_mark(keel_engine_t *engine, const keel_tier_t *tier, const keel_digest_t *key,
                const char *script, keel_mark_t *out);
// See keel_marks_t.
unsigned tiers_crashes(keel_engine_t *engine, const keel_digest_t *key);
void tiers_forgive(keel_engine_t *engine, const keel_digest_t *key);

// ---- claims ------------------------------------------------------------------------------------

// One per tier that can claim, and of the remotes the first, always in the order of the list, so
// that two that want the same keys never wait for each other.
typedef struct claims_t {
    size_t count;
    keel_claim_t list[KEEL_TIERS_MOST];
} claims_t;

// Claims the key in each of these; `refused` is called with the reason for each that says that
// waiting is useless. True if it was claimed anywhere.
bool claims_take(keel_engine_t *engine, const keel_digest_t *key, const keel_claimant_t *claimant,
                 void (*refused)(void *context, const char *why), claims_t *out);
void claims_release(claims_t *claims);

#endif // KEEL_ENGINE_TIERS_H_
