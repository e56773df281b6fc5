// Memory that is allocated and not in use: the rest of a block, of a table, of a buffer. In a build
// with the address sanitizer nobody may touch it; in others these functions do nothing.
#ifndef KEEL_BASE_POISON_H_
#define KEEL_BASE_POISON_H_

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEL_POISONS 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define KEEL_POISONS 1
#endif
#ifndef KEEL_POISONS
#define KEEL_POISONS 0
#endif

#if KEEL_POISONS
#include <sanitizer/asan_interface.h>
#endif

// `size` bytes behind the first `used` of `data` are not in use. Memory that is freed or given to
// realloc needs no call.
static inline void keel_poison(void *data, size_t used, size_t size) {
#if KEEL_POISONS
    if (size) ASAN_POISON_MEMORY_REGION((char *)data + used, size);
#else
    (void)data, (void)used, (void)size;
#endif
}

// Now they are.
static inline void keel_unpoison(void *data, size_t used, size_t size) {
#if KEEL_POISONS
    if (size) ASAN_UNPOISON_MEMORY_REGION((char *)data + used, size);
#else
    (void)data, (void)used, (void)size;
#endif
}

#endif // KEEL_BASE_POISON_H_
