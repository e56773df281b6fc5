// Digests. Identity (keys, entries, programs) is 32-byte BLAKE2b, from libsodium, and BLAKE3 for
// constants of many bytes. Quick lookup inside one process is XXH3, and so is the content of large
// files that nobody has a reason to forge.
#ifndef KEEL_BASE_HASH_H_
#define KEEL_BASE_HASH_H_

#include <sodium/crypto_generichash_blake2b.h>

#include "base/bytes.h"
#include "keel/status.h"

enum { KEEL_DIGEST_SIZE = 32, KEEL_DIGEST_HEX = 2 * KEEL_DIGEST_SIZE + 1 };

typedef struct keel_digest_t {
    uint8_t bytes[KEEL_DIGEST_SIZE];
} keel_digest_t;

typedef struct keel_hasher_t {
    crypto_generichash_blake2b_state state;
} keel_hasher_t;

void keel_hasher_initialize(keel_hasher_t *hasher);
void keel_hasher_update(keel_hasher_t *hasher, const void *data, size_t size);
keel_digest_t keel_hasher_finish(keel_hasher_t *hasher);

keel_digest_t keel_digest(keel_bytes_t bytes);
// For identity too, of large bytes: BLAKE3, which hashes several pieces at once. One and a half to
// four times as fast as keel_digest, depending on the processor.
keel_digest_t keel_bulk_digest(keel_bytes_t bytes);
// The same by other code, for a test and for comparison: it depends on the processor.
typedef enum keel_bulk_code_t {
    KEEL_BULK_FASTEST,
    KEEL_BULK_AVX2, // at most
    KEEL_BULK_ANYWHERE,
} keel_bulk_code_t;
keel_digest_t keel_bulk_digest_by(keel_bulk_code_t code, keel_bytes_t bytes);
// The digest of a file's content by its size and 128 bits of XXH3, about ten times as fast. Nothing
// but chance protects it: for what already runs with its user's rights, like a plugin.
keel_digest_t keel_content_digest(keel_bytes_t bytes);
// The same of a file, which is read piece by piece: mapped, it would count as this process's
// memory.
keel_status_t keel_file_content_digest(const char *path, keel_digest_t *out) KEEL_MUST_CHECK;
void keel_digest_hex(const keel_digest_t *digest, char out[KEEL_DIGEST_HEX]);
bool keel_digest_unhex(keel_str_t text, keel_digest_t *out);

static inline bool keel_digest_equal(const keel_digest_t *a, const keel_digest_t *b) {
    return memcmp(a->bytes, b->bytes, KEEL_DIGEST_SIZE) == 0;
}

uint64_t keel_quick_hash(keel_bytes_t bytes);

// What names a program's bytes: keel_digest; of several MiB, that of their content. Keys do not
// rest on it.
keel_digest_t keel_program_digest(keel_bytes_t bytes);

#endif // KEEL_BASE_HASH_H_
