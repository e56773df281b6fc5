#include "base/arena.h"

#include "base/assert.h"
#include "base/memory.h"

enum { FIRST_SIZE = 4 << 10, LARGEST_STEP = 1 << 20 };

typedef struct keel_arena_block_s {
    struct keel_arena_block_s *next;
    size_t size;
    uint8_t data[];
} block_t;

void keel_arena_initialize(keel_arena_t *arena, size_t first_size) {
    *arena = (keel_arena_t){.next_size = first_size ? first_size : FIRST_SIZE};
}

void keel_arena_deinitialize(keel_arena_t *arena) {
    for (block_t *block = arena->blocks; block;) {
        block_t *next = block->next;
        keel_free(block);
        block = next;
    }
    *arena = (keel_arena_t){.next_size = arena->next_size};
}

keel_status_t keel_arena_alloc(keel_arena_t *arena, size_t size, void **out) {
    if (size > SIZE_MAX - 64) return keel_status_make(KEEL_NO_MEMORY, "%zu bytes", size);
    size_t asked = size;
    size = ((size + 7) & ~(size_t)7) + KEEL_ARENA_GAP;
    block_t *block = arena->blocks;
    if (!block || block->size - arena->used < size) {
        size_t capacity = size > arena->next_size ? size : arena->next_size;
        void *fresh;
        KEEL_TRY(keel_alloc(sizeof *block + capacity, &fresh));
        block = fresh;
        block->next = arena->blocks;
        block->size = capacity;
        arena->blocks = block;
        arena->used = 0;
        keel_poison(block->data, 0, capacity);
        if (arena->next_size < LARGEST_STEP) arena->next_size *= 2;
    }
    *out = block->data + arena->used;
    keel_unpoison(*out, 0, asked);
    arena->used += size;
    KEEL_ASSERT(arena->used <= arena->blocks->size);
    return NULL;
}

keel_status_t keel_arena_array(keel_arena_t *arena, size_t count, size_t size, void **out) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        return keel_status_make(KEEL_NO_MEMORY, "%zu items of %zu bytes", count, size);
    return keel_arena_alloc(arena, total, out);
}

keel_status_t keel_arena_str(keel_arena_t *arena, keel_str_t text, keel_str_t *out) {
    void *copy = NULL;
    KEEL_TRY(keel_arena_alloc(arena, text.size + 1, &copy));
    if (text.size) memcpy(copy, text.data, text.size);
    ((char *)copy)[text.size] = 0;
    *out = (keel_str_t){copy, text.size};
    return NULL;
}
