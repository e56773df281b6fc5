#define _GNU_SOURCE
#include "base/memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fault.h"
#include "base/poison.h"

static atomic_int watching;
static atomic_size_t in_use;
static atomic_size_t peak;

static void count_in(void *pointer) {
    if (!atomic_load_explicit(&watching, memory_order_relaxed) || !pointer) return;
    size_t size = malloc_usable_size(pointer);
    size_t now = atomic_fetch_add(&in_use, size) + size;
    size_t high = atomic_load(&peak);
    while (now > high && !atomic_compare_exchange_weak(&peak, &high, now)) {
    }
}

static void count_out(void *pointer) {
    if (!atomic_load_explicit(&watching, memory_order_relaxed) || !pointer) return;
    atomic_fetch_sub(&in_use, malloc_usable_size(pointer));
}

static keel_status_t out_of_memory(size_t size) {
    return keel_status_make(KEEL_NO_MEMORY, "out of memory: %zu bytes", size);
}

// So much is always a mapping of its own, so no other memory is meant. It is only advice.
static void advise(void *pointer, size_t size) {
    enum { LARGE = 32 << 20, PAGE = 4096 };
    if (size < LARGE) return;
    uintptr_t begin = ((uintptr_t)pointer + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    uintptr_t end = ((uintptr_t)pointer + size) & ~(uintptr_t)(PAGE - 1);
    int ignored = madvise((void *)begin, end - begin, MADV_HUGEPAGE);
    (void)ignored;
}

void keel_memory_copy_large(void *to, const void *from, size_t size) {
    advise(to, size);
    if (size) memcpy(to, from, size);
}

keel_status_t keel_alloc(size_t size, void **out) {
    void *pointer = keel_fault_hit(KEEL_FAULT_ALLOC) ? NULL : malloc(size ? size : 1);
    if (!pointer) return out_of_memory(size);
    advise(pointer, size);
    count_in(pointer);
    *out = pointer;
    return NULL;
}

keel_status_t keel_calloc(size_t count, size_t size, void **out) {
    void *pointer =
        keel_fault_hit(KEEL_FAULT_ALLOC) ? NULL : calloc(count ? count : 1, size ? size : 1);
    if (!pointer) return out_of_memory(size);
    count_in(pointer);
    *out = pointer;
    return NULL;
}

keel_status_t keel_realloc_array(size_t count, size_t size, void **inout) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) return out_of_memory(SIZE_MAX);
    if (keel_fault_hit(KEEL_FAULT_ALLOC)) return out_of_memory(total);
    count_out(*inout);
    void *pointer = realloc(*inout, total ? total : 1);
    if (!pointer) {
        count_in(*inout);
        return out_of_memory(total);
    }
    count_in(pointer);
    *inout = pointer;
    return NULL;
}

keel_status_t keel_grow_array(size_t count, size_t size, size_t *capacity, void **inout) {
    enum { FIRST = 32 };
    size_t more;
    if (count < *capacity) {
        keel_unpoison(*inout, count * size, size);
        return NULL;
    }
    if (__builtin_mul_overflow(*capacity, 2, &more)) return out_of_memory(SIZE_MAX);
    if (!more) more = FIRST;
    KEEL_TRY(keel_realloc_array(more, size, inout));
    keel_poison(*inout, (count + 1) * size, (more - count - 1) * size);
    *capacity = more;
    return NULL;
}

void keel_free(void *pointer) {
    count_out(pointer);
    free(pointer);
}

keel_status_t keel_strdup(keel_str_t text, char **out) {
    void *copy = NULL;
    KEEL_TRY(keel_alloc(text.size + 1, &copy));
    if (text.size) memcpy(copy, text.data, text.size);
    ((char *)copy)[text.size] = 0;
    *out = copy;
    return NULL;
}

keel_status_t keel_bytes_dup(keel_bytes_t bytes, uint8_t **out) {
    void *copy = NULL;
    KEEL_TRY(keel_alloc(bytes.size, &copy));
    if (bytes.size) memcpy(copy, bytes.data, bytes.size);
    *out = copy;
    return NULL;
}

void keel_memory_watch(int on) {
    atomic_store(&in_use, 0);
    atomic_store(&peak, 0);
    atomic_store(&watching, on);
}

size_t keel_memory_peak(void) {
    return atomic_load(&peak);
}

size_t keel_memory_in_use(void) {
    return atomic_load(&in_use);
}
