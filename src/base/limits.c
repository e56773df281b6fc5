#include "base/limits.h"

#include <stdatomic.h>

#include "base/assert.h"

static _Atomic uint64_t values[] = {
#define LIMIT_VALUE(name, value, unit, sentence) value,
    KEEL_LIMITS(LIMIT_VALUE)
#undef LIMIT_VALUE
};

uint64_t keel_limit(keel_limit_t limit) {
    KEEL_ASSERT(limit < KEEL_LIMIT_COUNT);
    return atomic_load_explicit(&values[limit], memory_order_relaxed);
}

uint64_t keel_limit_time(keel_limit_t limit) {
    return keel_limit(limit) * 1000000u;
}

uint64_t keel_limit_for(keel_limit_t least, keel_limit_t ratio, uint64_t size) {
    uint64_t base = keel_limit(least), times = keel_limit(ratio);
    return size > (UINT64_MAX - base) / times ? UINT64_MAX : base + times * size;
}

void keel_limit_set(keel_limit_t limit, uint64_t value) {
    atomic_store(&values[limit], value);
}
