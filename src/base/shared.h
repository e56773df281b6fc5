// Bytes that several owners read: the last one that releases them frees them. Large ones are a
// mapping of a file, so that nobody copies them.
//
// Threads: any may retain and release. The bytes do not change.
#ifndef KEEL_BASE_SHARED_H_
#define KEEL_BASE_SHARED_H_

#include "base/files.h"

typedef struct keel_shared_t keel_shared_t;

// Takes over `data` (from keel_alloc), also on failure.
keel_status_t keel_shared_take(uint8_t *data, size_t size, keel_shared_t **out) KEEL_MUST_CHECK;
// The whole file. One of at least `least` bytes that a disk of this machine has is mapped; others
// are read into memory, because a file that another machine removes would end the process that
// reads its mapping. For files that are only ever replaced. Otherwise as keel_file_read_with_facts.
keel_status_t keel_shared_read(const char *path, uint64_t least, uint64_t limit,
                               keel_shared_t **out, keel_file_facts_t *out_facts) KEEL_MUST_CHECK;
keel_bytes_t keel_shared_bytes(const keel_shared_t *shared);
bool keel_shared_is_mapped(const keel_shared_t *shared);
keel_shared_t *keel_shared_retain(keel_shared_t *shared);
// NULL is allowed.
void keel_shared_release(keel_shared_t *shared);

#endif // KEEL_BASE_SHARED_H_
