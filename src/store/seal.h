// seal: the signature in an entry file, as a field of its header (entry.h), the last one:
//
//    0  32  the public key of who signed
//   32  32  BLAKE2b-256 of the payload as stored; the envelope's digest may be one that can be
//   forged 64  64  the signature over keel_seal_t's message
//
// The message is a digest over the header from its first byte to the signature, except the header's
// own digest. So it covers the key, all other fields, all sizes and, by its digest, the payload.
// Keels that do not know the field skip it.
//
// What a signature means is not the store's business (src/sign).
#ifndef KEEL_STORE_SEAL_H_
#define KEEL_STORE_SEAL_H_

#include "store/entry.h"

enum { KEEL_SEAL_KEY = 32, KEEL_SEAL_SIGNATURE = 64, KEEL_SEAL = 128 };

typedef struct keel_seal_t {
    uint8_t key[KEEL_SEAL_KEY];
    keel_digest_t payload;
    uint8_t signature[KEEL_SEAL_SIGNATURE];
    keel_digest_t message; // what is signed
} keel_seal_t;

// Of the whole header of an entry file. False if it has none, or is no header.
bool keel_seal_find(keel_bytes_t header, keel_seal_t *out);
// Appends to `out` the header with a seal that lacks only its signature, and gives the message to
// sign. `header` must be one that has no seal.
keel_status_t keel_seal_begin(keel_bytes_t header, const uint8_t key[KEEL_SEAL_KEY],
                              const keel_digest_t *payload, keel_buffer_t *out,
                              keel_digest_t *out_message) KEEL_MUST_CHECK;
// Puts the signature into that header.
void keel_seal_finish(keel_buffer_t *header, const uint8_t signature[KEEL_SEAL_SIGNATURE]);

#endif // KEEL_STORE_SEAL_H_
