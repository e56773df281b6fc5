#include "base/hash.h"

#include <pthread.h>
#include <sodium/core.h>
#include <xxhash.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"

// libsodium picks code for this processor only if it is initialized (1.7 times as fast with AVX2).
// If that fails, its portable code gives the same digests.
static void pick_code(void) {
    int ignored = sodium_init();
    (void)ignored;
}

static void initialize_sodium(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, pick_code);
}

void keel_hasher_initialize(keel_hasher_t *hasher) {
    initialize_sodium();
    crypto_generichash_blake2b_init(&hasher->state, NULL, 0, KEEL_DIGEST_SIZE);
}

void keel_hasher_update(keel_hasher_t *hasher, const void *data, size_t size) {
    crypto_generichash_blake2b_update(&hasher->state, data, size);
}

keel_digest_t keel_hasher_finish(keel_hasher_t *hasher) {
    keel_digest_t digest;
    crypto_generichash_blake2b_final(&hasher->state, digest.bytes, KEEL_DIGEST_SIZE);
    return digest;
}

keel_digest_t keel_digest(keel_bytes_t bytes) {
    initialize_sodium();
    keel_digest_t digest;
    crypto_generichash_blake2b(digest.bytes, KEEL_DIGEST_SIZE, bytes.data, bytes.size, NULL, 0);
    return digest;
}

static keel_digest_t content_digest(uint64_t count, XXH128_hash_t hash) {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, hash);
    uint8_t size[8];
    for (int i = 0; i < 8; ++i)
        size[i] = (uint8_t)(count >> 8 * i);
    keel_hasher_t hasher;
    keel_hasher_initialize(&hasher);
    keel_hasher_update(&hasher, size, sizeof size);
    keel_hasher_update(&hasher, canonical.digest, sizeof canonical.digest);
    return keel_hasher_finish(&hasher);
}

keel_digest_t keel_content_digest(keel_bytes_t bytes) {
    return content_digest(bytes.size, XXH3_128bits(bytes.data, bytes.size));
}

static keel_status_t hash_file(const keel_input_file_t *file, XXH3_state_t *state, uint8_t *room,
                               size_t size) {
    XXH3_128bits_reset(state);
    for (uint64_t at = 0; at < file->size; at += size) {
        if (size > file->size - at) size = (size_t)(file->size - at);
        KEEL_TRY(keel_input_file_read(file, at, room, size));
        XXH3_128bits_update(state, room, size);
    }
    return NULL;
}

keel_status_t keel_file_content_digest(const char *path, keel_digest_t *out) {
    enum { SIZE = 1 << 18 };
    keel_input_file_t file;
    void *room = NULL;
    KEEL_TRY(keel_input_file_open(path, &file));
    keel_status_t status = keel_alloc(SIZE, &room);
    XXH3_state_t *state = XXH3_createState();
    if (!status && !state) status = keel_status_make(KEEL_NO_MEMORY, "no memory to read %s", path);
    if (!status) status = hash_file(&file, state, room, SIZE);
    if (!status) *out = content_digest(file.size, XXH3_128bits_digest(state));
    XXH3_freeState(state);
    keel_free(room);
    keel_input_file_close(&file);
    return status;
}

void keel_digest_hex(const keel_digest_t *digest, char out[KEEL_DIGEST_HEX]) {
    keel_hex(digest->bytes, KEEL_DIGEST_SIZE, out);
}

bool keel_digest_unhex(keel_str_t text, keel_digest_t *out) {
    return keel_unhex(text, out->bytes, KEEL_DIGEST_SIZE);
}

keel_digest_t keel_program_digest(keel_bytes_t bytes) {
    enum { LARGE = 4 << 20 };
    return bytes.size < LARGE ? keel_digest(bytes) : keel_content_digest(bytes);
}

uint64_t keel_quick_hash(keel_bytes_t bytes) {
    return XXH3_64bits(bytes.data, bytes.size);
}
