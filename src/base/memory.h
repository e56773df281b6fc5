// Allocation. All of Keel allocates here (or in an arena, which allocates here), so that a test can
// make each allocation fail and a benchmark can read the peak.
#ifndef KEEL_BASE_MEMORY_H_
#define KEEL_BASE_MEMORY_H_

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "keel/status.h"

// Each of these leaves *out untouched if it fails, with KEEL_NO_MEMORY. A size of 0 gives a pointer
// that may be freed. keel_alloc does not clear, keel_calloc does.
keel_status_t keel_alloc(size_t size, void **out) KEEL_MUST_CHECK;
keel_status_t keel_calloc(size_t count, size_t size, void **out) KEEL_MUST_CHECK;
// Grows or shrinks *inout to count * size bytes (checked for overflow); *inout may be NULL.
keel_status_t keel_realloc_array(size_t count, size_t size, void **inout) KEEL_MUST_CHECK;
// Makes room for one more item: if `count` has reached *capacity, doubles that and grows *inout,
// which may be NULL. Leaves both untouched on failure. The rest is poisoned: call it for each item.
keel_status_t keel_grow_array(size_t count, size_t size, size_t *capacity,
                              void **inout) KEEL_MUST_CHECK;
// Frees memory from those above; NULL is allowed.
void keel_free(void *pointer);

// Copies into memory that nobody has written yet. Large memory gets huge pages if the system has
// them for those who ask, as it also does from keel_alloc: to touch 50 MB for the first time page
// by page takes four times as long as to copy them.
void keel_memory_copy_large(void *to, const void *from, size_t size);

// A copy, followed by a zero byte.
keel_status_t keel_strdup(keel_str_t text, char **out) KEEL_MUST_CHECK;
keel_status_t keel_bytes_dup(keel_bytes_t bytes, uint8_t **out) KEEL_MUST_CHECK;

// Bytes in use and their peak, by the allocator's own count of usable sizes. Counted only between
// keel_memory_watch(true) and (false); for benchmarks and tests.
void keel_memory_watch(int on);
size_t keel_memory_peak(void);
size_t keel_memory_in_use(void);

#endif // KEEL_BASE_MEMORY_H_
