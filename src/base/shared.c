#include "base/shared.h"

#include <stdatomic.h>

#include "base/assert.h"
#include "base/memory.h"

struct keel_shared_t {
    atomic_uint references;
    keel_bytes_t bytes;
};

keel_status_t keel_shared_take(uint8_t *data, size_t size, keel_shared_t **out) {
    void *memory;
    keel_status_t status = keel_alloc(sizeof(keel_shared_t), &memory);
    if (status) {
        keel_free(data);
        return status;
    }
    *out = memory;
    **out = (keel_shared_t){.bytes = keel_bytes(data, size)};
    atomic_init(&(*out)->references, 1);
    return NULL;
}

keel_bytes_t keel_shared_bytes(const keel_shared_t *shared) {
    return shared->bytes;
}

keel_shared_t *keel_shared_retain(keel_shared_t *shared) {
    atomic_fetch_add(&shared->references, 1);
    return shared;
}

void keel_shared_release(keel_shared_t *shared) {
    KEEL_ASSERT(!shared || atomic_load(&shared->references));
    if (!shared || atomic_fetch_sub(&shared->references, 1) != 1) return;
    keel_free((void *)(uintptr_t)shared->bytes.data);
    keel_free(shared);
}
