#include "base/shared.h"

#include <stdatomic.h>

#include "base/assert.h"
#include "base/memory.h"

struct keel_shared_t {
    atomic_uint references;
    bool is_mapped;
    keel_bytes_t bytes;
};

static keel_status_t make(keel_bytes_t bytes, bool is_mapped, keel_shared_t **out) {
    void *memory;
    KEEL_TRY(keel_alloc(sizeof(keel_shared_t), &memory));
    *out = memory;
    **out = (keel_shared_t){.is_mapped = is_mapped, .bytes = bytes};
    atomic_init(&(*out)->references, 1);
    return NULL;
}

keel_status_t keel_shared_take(uint8_t *data, size_t size, keel_shared_t **out) {
    keel_status_t status = make(keel_bytes(data, size), false, out);
    if (status) keel_free(data);
    return status;
}

keel_status_t keel_shared_read(const char *path, uint64_t least, uint64_t limit,
                               keel_shared_t **out, keel_file_facts_t *out_facts) {
    keel_bytes_t mapping;
    KEEL_TRY(keel_file_map_local(path, least, limit, &mapping, out_facts));
    if (mapping.size) {
        keel_status_t status = make(mapping, true, out);
        if (status) keel_file_unmap(mapping);
        return status;
    }
    uint8_t *data;
    size_t size;
    KEEL_TRY(keel_file_read_with_facts(path, limit, &data, &size, out_facts));
    return keel_shared_take(data, size, out);
}

keel_bytes_t keel_shared_bytes(const keel_shared_t *shared) {
    return shared->bytes;
}

bool keel_shared_is_mapped(const keel_shared_t *shared) {
    return shared->is_mapped;
}

keel_shared_t *keel_shared_retain(keel_shared_t *shared) {
    atomic_fetch_add(&shared->references, 1);
    return shared;
}

void keel_shared_release(keel_shared_t *shared) {
    KEEL_ASSERT(!shared || atomic_load(&shared->references));
    if (!shared || atomic_fetch_sub(&shared->references, 1) != 1) return;
    if (shared->is_mapped)
        keel_file_unmap(shared->bytes);
    else
        keel_free((void *)(uintptr_t)shared->bytes.data);
    keel_free(shared);
}
