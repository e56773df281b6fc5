// Bytes that several owners read, so that nobody copies them: the last one that releases them frees
// them. A mapping of a file would not do: whoever writes over it changes bytes that were checked.
//
// Threads: any may retain and release. The bytes do not change.
#ifndef KEEL_BASE_SHARED_H_
#define KEEL_BASE_SHARED_H_

#include "base/bytes.h"
#include "keel/status.h"

typedef struct keel_shared_t keel_shared_t;

// Takes over `data` (from keel_alloc), also on failure.
keel_status_t keel_shared_take(uint8_t *data, size_t size, keel_shared_t **out) KEEL_MUST_CHECK;
keel_bytes_t keel_shared_bytes(const keel_shared_t *shared);
keel_shared_t *keel_shared_retain(keel_shared_t *shared);
// NULL is allowed.
void keel_shared_release(keel_shared_t *shared);

#endif // KEEL_BASE_SHARED_H_
