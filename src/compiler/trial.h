// Room-internal: the arguments of a trial, which are the same on every machine and in every
// version.
#ifndef KEEL_COMPILER_TRIAL_H_
#define KEEL_COMPILER_TRIAL_H_

#include "signature/signature.h"

// KEEL_UNSUPPORTED, with the type, if there are no values for an array like that.
keel_status_t trial_check(const keel_array_shape_t *shape) KEEL_MUST_CHECK;
// Bytes of such an array on the host.
size_t trial_bytes(const keel_array_shape_t *shape);
// Fills so many bytes with the values of argument `number`.
void trial_fill(const keel_array_shape_t *shape, uint64_t seed, uint32_t number, bool are_positive,
                uint8_t *out);

#endif // KEEL_COMPILER_TRIAL_H_
