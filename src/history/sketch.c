#include <stdlib.h>

#include "history/history.h"

static uint64_t mix(uint64_t hash, uint64_t value) {
    return (hash ^ value) * 0x9e3779b97f4a7c15u + (hash >> 29);
}

static void count_operations(const keel_program_t *program, keel_sketch_t *out) {
    for (keel_op_id_t op = 0; op < out->operations; ++op) {
        keel_str_t name = keel_program_str(program, keel_program_op_name(program, op)->name);
        uint16_t *count = &out->counts[keel_quick_hash(keel_str_bytes(name)) % KEEL_SKETCH_BUCKETS];
        if (*count != UINT16_MAX) ++*count;
    }
}

double keel_sketch_alike(const keel_sketch_t *a, const keel_sketch_t *b) {
    uint64_t common = 0, larger = 0;
    for (size_t i = 0; i < KEEL_SKETCH_BUCKETS; ++i) {
        uint16_t x = a->counts[i], y = b->counts[i];
        common += x < y ? x : y;
        larger += x < y ? y : x;
    }
    return larger ? (double)common / (double)larger : 1;
}

void keel_sketch_of(const keel_program_t *program, keel_sketch_t *out) {
    *out = (keel_sketch_t){.operations = keel_program_op_count(program), .signature = 1};
    count_operations(program, out);
    (void)mix;
}
