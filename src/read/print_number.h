// Exact text for numbers of every width that a program can contain.
#ifndef KEEL_READ_PRINT_NUMBER_H_
#define KEEL_READ_PRINT_NUMBER_H_

#include "program/program.h"

// "f32", "bf16", "f8E4M3FN"; "" if it is not a float type.
const char *keel_print_float_name(uint32_t kind);
// Bits of storage; 0 if it is not a float type.
uint32_t keel_print_float_bits(uint32_t kind);

// The shortest decimal that rounds to the same value of this type: "0.1", "-0.0", "1e-06", "inf",
// "-inf", "nan". Writes nothing and returns false for f80 and f128, whose values do not fit.
bool keel_print_float(keel_float_t kind, uint64_t bits, keel_buffer_t *out);

// The value, which a double holds exactly; false for f80 and f128.
bool keel_print_float_value(keel_float_t kind, uint64_t bits, double *out);

// The low `width` bits as a decimal number; width 1 to 64.
void keel_print_integer(uint64_t bits, uint32_t width, bool is_signed, keel_buffer_t *out);

#endif // KEEL_READ_PRINT_NUMBER_H_
