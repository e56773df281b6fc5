// An arena: many small allocations, freed together. One thread at a time. Memory is not cleared.
#ifndef KEEL_BASE_ARENA_H_
#define KEEL_BASE_ARENA_H_

#include <stddef.h>

#include "base/bytes.h"
#include "base/poison.h"
#include "keel/status.h"

// Bytes between two pieces of a block. The address sanitizer sees blocks and not what is handed out
// of them: in its build each piece ends exactly where it should, and a gap that nobody may touch
// follows.
#define KEEL_ARENA_GAP (KEEL_POISONS ? 16 : 0)

typedef struct keel_arena_t {
    struct keel_arena_block_s *blocks;
    size_t used;
    size_t next_size;
} keel_arena_t;

// The first allocation takes a block of `first_size` bytes (0: 4 KiB); each later block is twice as
// large, up to 1 MiB.
void keel_arena_initialize(keel_arena_t *arena, size_t first_size);
void keel_arena_deinitialize(keel_arena_t *arena);

// Aligned to 8 bytes; lives as long as the arena.
keel_status_t keel_arena_alloc(keel_arena_t *arena, size_t size, void **out) KEEL_MUST_CHECK;
keel_status_t keel_arena_array(keel_arena_t *arena, size_t count, size_t size,
                               void **out) KEEL_MUST_CHECK;
// A copy, followed by a zero byte.
keel_status_t keel_arena_str(keel_arena_t *arena, keel_str_t text, keel_str_t *out) KEEL_MUST_CHECK;

#endif // KEEL_BASE_ARENA_H_
