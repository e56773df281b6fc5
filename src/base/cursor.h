// Bounded reading of foreign bytes.
//
// A cursor that runs past its end, or meets an impossible encoding, fails for good: every later
// read gives zero and it stays failed. So a reader can read a whole record and check once. No read
// touches a byte outside the span.
#ifndef KEEL_BASE_CURSOR_H_
#define KEEL_BASE_CURSOR_H_

#include "base/assert.h"
#include "base/bytes.h"

typedef struct keel_cursor_t {
    const uint8_t *at;
    const uint8_t *end;
    bool failed;
} keel_cursor_t;

static inline keel_cursor_t keel_cursor(keel_bytes_t bytes) {
    // An empty span may be NULL, and arithmetic on NULL is undefined.
    const uint8_t *data = bytes.data ? bytes.data : (const uint8_t *)"";
    return (keel_cursor_t){data, data + bytes.size, false};
}

static inline size_t keel_cursor_left(const keel_cursor_t *c) {
    KEEL_ASSERT(c->at <= c->end);
    return (size_t)(c->end - c->at);
}

static inline void keel_cursor_fail(keel_cursor_t *c) {
    c->failed = true;
    c->at = c->end;
}

static inline uint8_t keel_cursor_byte(keel_cursor_t *c) {
    if (c->at == c->end) {
        c->failed = true;
        return 0;
    }
    return *c->at++;
}

static inline keel_bytes_t keel_cursor_take(keel_cursor_t *c, uint64_t size) {
    if (size > keel_cursor_left(c)) {
        keel_cursor_fail(c);
        return keel_bytes(c->at, 0);
    }
    keel_bytes_t taken = keel_bytes(c->at, (size_t)size);
    c->at += size;
    return taken;
}

static inline uint32_t keel_load_u32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t keel_load_u64(const uint8_t *p) {
    return (uint64_t)keel_load_u32(p) | (uint64_t)keel_load_u32(p + 4) << 32;
}

static inline uint32_t keel_cursor_u32(keel_cursor_t *c) {
    keel_bytes_t b = keel_cursor_take(c, 4);
    return b.size == 4 ? keel_load_u32(b.data) : 0;
}

static inline uint64_t keel_cursor_u64(keel_cursor_t *c) {
    keel_bytes_t b = keel_cursor_take(c, 8);
    return b.size == 8 ? keel_load_u64(b.data) : 0;
}

#endif // KEEL_BASE_CURSOR_H_
