// What the files of this room share.
#ifndef KEEL_SIGNATURE_INTERNAL_H_
#define KEEL_SIGNATURE_INTERNAL_H_

#include "signature/signature.h"

// A copy in the signature's arena.
keel_status_t signature_keep(keel_signature_t *signature, keel_bytes_t bytes,
                             keel_bytes_t *out) KEEL_MUST_CHECK;
// Sets the part of the array that is on each device, from its sharding.
keel_status_t signature_cut(keel_signature_t *signature, keel_array_t *array) KEEL_MUST_CHECK;

#endif // KEEL_SIGNATURE_INTERNAL_H_
