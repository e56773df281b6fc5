// mlir_cursor: the numbers of MLIR bytecode, read with the bounds of base/cursor.h.
//
// The low bits of a number's first byte give its length: n trailing zero bits mean n more bytes; a
// first byte of zero means eight more. Source: mlir/lib/Bytecode/Encoding.h.
#ifndef KEEL_READ_MLIR_CURSOR_H_
#define KEEL_READ_MLIR_CURSOR_H_

#include "base/cursor.h"

typedef struct keel_mlir_number_t {
    uint64_t value;
    const uint8_t *next; // NULL if the number runs past the end
} keel_mlir_number_t;

// A longer number, or one at the end.
keel_mlir_number_t keel_mlir_long_number(const uint8_t *at, const uint8_t *end);

static inline uint64_t keel_mlir_varint(keel_cursor_t *c) {
    const uint8_t *at = c->at;
    if (__builtin_expect(at != c->end && (*at & 1), 1)) {
        c->at = at + 1;
        return *at >> 1;
    }
    if (__builtin_expect(c->end - at >= 2 && (*at & 2), 1)) {
        c->at = at + 2;
        return ((uint32_t)at[0] | (uint32_t)at[1] << 8) >> 2;
    }
    keel_mlir_number_t number = keel_mlir_long_number(at, c->end);
    if (!number.next) {
        keel_cursor_fail(c);
        return 0;
    }
    c->at = number.next;
    return number.value;
}

static inline int64_t keel_mlir_svarint(keel_cursor_t *c) {
    uint64_t value = keel_mlir_varint(c);
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

// A number and the flag in its lowest bit.
static inline uint64_t keel_mlir_flagged(keel_cursor_t *c, bool *out_flag) {
    uint64_t value = keel_mlir_varint(c);
    *out_flag = value & 1;
    return value >> 1;
}

// An index into a table of `count` items; 0 and a failed cursor if it is out of range.
static inline uint32_t keel_mlir_index(keel_cursor_t *c, uint32_t count) {
    uint64_t value = keel_mlir_varint(c);
    if (__builtin_expect(value >= count, 0)) {
        keel_cursor_fail(c);
        return 0;
    }
    return (uint32_t)value;
}

// The count of a list whose items take at least `least` bytes each; 0 and a failed cursor if too
// few bytes are left for that.
static inline uint32_t keel_mlir_count(keel_cursor_t *c, uint32_t least) {
    uint64_t value = keel_mlir_varint(c);
    if (__builtin_expect(value > keel_cursor_left(c) / least, 0)) {
        keel_cursor_fail(c);
        return 0;
    }
    return (uint32_t)value;
}

#endif // KEEL_READ_MLIR_CURSOR_H_
