// The sets of devices on which a process has the listed programs.
#include "contract/contract.h"

typedef struct placed_t {
    uint32_t pin;
    keel_fingerprint_t placement;
} placed_t;

void keel_placements_deinitialize(keel_placements_t *placements) {
    keel_map_deinitialize(&placements->known);
    keel_free(placements->counts);
    placements->counts = NULL;
}

keel_status_t keel_placements_add(keel_placements_t *placements, const keel_contract_t *contract,
                                  const keel_contract_pin_t *pin,
                                  const keel_fingerprint_t *placement, bool *out) {
    const placed_t placed = {pin->number, *placement};
    const keel_bytes_t key = keel_bytes(&placed, sizeof placed);
    void *memory;
    if (!placements->counts) {
        KEEL_TRY(keel_calloc(contract->pin_count, sizeof(uint32_t), &memory));
        placements->counts = memory;
    }
    *out = true;
    if (keel_map_find(&placements->known, key)) return NULL;
    *out = placements->counts[pin->number] < keel_contract_placements(contract, pin);
    if (!*out) return NULL;
    KEEL_TRY(keel_map_put(&placements->known, key, 1));
    ++placements->counts[pin->number];
    return NULL;
}
