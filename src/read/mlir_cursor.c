#include "read/mlir_cursor.h"

keel_mlir_number_t keel_mlir_long_number(const uint8_t *at, const uint8_t *end) {
    size_t left = (size_t)(end - at);
    if (left == 0) return (keel_mlir_number_t){0, NULL};
    unsigned more = *at ? (unsigned)__builtin_ctz(*at) : 8;
    if (left < more + 1) return (keel_mlir_number_t){0, NULL};
    if (more == 8) return (keel_mlir_number_t){keel_load_u64(at + 1), at + 9};
    uint64_t value = 0;
    for (unsigned i = 0; i <= more; ++i)
        value |= (uint64_t)at[i] << 8 * i;
    return (keel_mlir_number_t){value >> (more + 1), at + more + 1};
}
