#include "store/store.h"

keel_status_t keel_tiers_add(keel_tiers_t *tiers, const keel_tier_t *tier) {
    KEEL_ASSERT(tiers->count <= KEEL_TIERS_MOST);
    KEEL_ASSERT(tier->get && tier->put && tier->close);
    if (tiers->count == KEEL_TIERS_MOST) {
        tier->close(tier->context);
        return keel_status_make(KEEL_UNSUPPORTED, "more than %d tiers", KEEL_TIERS_MOST);
    }
    tiers->list[tiers->count++] = *tier;
    return NULL;
}

void keel_tiers_close(keel_tiers_t *tiers) {
    while (tiers->count) {
        const keel_tier_t *tier = &tiers->list[--tiers->count];
        tier->close(tier->context);
    }
}

void keel_claim_release(keel_claim_t *claim) {
    if (claim->release) claim->release(claim->held);
    *claim = (keel_claim_t){0};
}
