// What the files of this room share.
#ifndef KEEL_SIGNATURE_INTERNAL_H_
#define KEEL_SIGNATURE_INTERNAL_H_

#include "signature/signature.h"

// A copy in the signature's arena.
keel_status_t signature_keep(keel_signature_t *signature, keel_bytes_t bytes,
                             keel_bytes_t *out) KEEL_MUST_CHECK;
// Sets the part of the array that is on each device, from its sharding.
keel_status_t signature_cut(keel_signature_t *signature, keel_array_t *array) KEEL_MUST_CHECK;

// ---- apart.c -----------------------------------------------------------------------------------

// Whether anything in it says how something is sharded, or may.
bool signature_has_shardings(const keel_program_t *program);
// Takes every array as whole on each device, which it is if nothing says otherwise.
void signature_settle_apart(keel_signature_t *signature);

#endif // KEEL_SIGNATURE_INTERNAL_H_
