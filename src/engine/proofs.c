#include "engine/proofs.h"

struct proofs_t {
    atomic_bool began, failed;
    atomic_size_t used; // bytes
};

keel_status_t proofs_create(keel_engine_t *engine) {
    void *memory;
    KEEL_TRY(keel_calloc(1, sizeof(proofs_t), &memory));
    engine->proofs = memory;
    return NULL;
}

void proofs_destroy(proofs_t *proofs) {
    keel_free(proofs);
}

static bool fits(proofs_t *proofs, size_t size) {
    size_t used = atomic_load(&proofs->used);
    do {
        if (size > PROOFS_SIZE - used) return false;
    } while (!atomic_compare_exchange_weak(&proofs->used, &used, used + size));
    return true;
}

bool proofs_take(keel_engine_t *engine, size_t size) {
    proofs_t *proofs = engine->proofs;
    if (!engine->plugin->client_has_programs || atomic_load(&proofs->failed)) return true;
    bool is_first = !atomic_exchange(&proofs->began, true);
    return fits(proofs, size) || is_first;
}

void proofs_failed(keel_engine_t *engine) {
    atomic_store(&engine->proofs->failed, true);
}
