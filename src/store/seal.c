#include "store/seal.h"

enum {
    TAG = 11, // SIGNATURE in entry.h
    FIELD = 8 + KEEL_SEAL,
    AT_HEADER_SIZE = 16,
    AT_DIGEST = 32,
    AFTER_DIGEST = AT_DIGEST + KEEL_DIGEST_SIZE,
};

// The header up to the signature, framed by what it is used for.
static keel_digest_t message_of(keel_bytes_t header) {
    static const char purpose[] = "keel: an entry that is signed, 1";
    keel_hasher_t hasher;
    keel_hasher_initialize(&hasher);
    keel_hasher_update(&hasher, purpose, sizeof purpose);
    keel_hasher_update(&hasher, header.data, AT_DIGEST);
    keel_hasher_update(&hasher, header.data + AFTER_DIGEST,
                       header.size - AFTER_DIGEST - KEEL_SEAL_SIGNATURE);
    return keel_hasher_finish(&hasher);
}

bool keel_seal_find(keel_bytes_t header, keel_seal_t *out) {
    if (header.size < KEEL_ENTRY_ENVELOPE + FIELD) return false;
    const uint8_t *field = header.data + header.size - FIELD;
    if (keel_load_u32(field) != TAG || keel_load_u32(field + 4) != KEEL_SEAL) return false;
    memcpy(out->key, field + 8, KEEL_SEAL_KEY);
    memcpy(out->payload.bytes, field + 8 + KEEL_SEAL_KEY, KEEL_DIGEST_SIZE);
    memcpy(out->signature, field + FIELD - KEEL_SEAL_SIGNATURE, KEEL_SEAL_SIGNATURE);
    out->message = message_of(header);
    return true;
}

static void store_u64(uint8_t *at, uint64_t value) {
    for (int i = 0; i < 8; ++i)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void put_digest(keel_buffer_t *header) {
    keel_digest_t digest = keel_entry_header_digest(header->data, header->size);
    memcpy(header->data + AT_DIGEST, digest.bytes, KEEL_DIGEST_SIZE);
}

keel_status_t keel_seal_begin(keel_bytes_t header, const uint8_t key[KEEL_SEAL_KEY],
                              const keel_digest_t *payload, keel_buffer_t *out,
                              keel_digest_t *out_message) {
    static const uint8_t none[KEEL_SEAL_SIGNATURE];
    KEEL_ASSERT(!out->size);
    if (header.size < KEEL_ENTRY_ENVELOPE || header.size > KEEL_ENTRY_HEADER_LIMIT - FIELD)
        return keel_status_make(KEEL_INVALID, "the header of an entry has no room for a signature");
    keel_buffer_append(out, header.data, header.size);
    keel_buffer_u32(out, TAG);
    keel_buffer_u32(out, KEEL_SEAL);
    keel_buffer_append(out, key, KEEL_SEAL_KEY);
    keel_buffer_append(out, payload->bytes, KEEL_DIGEST_SIZE);
    keel_buffer_append(out, none, sizeof none);
    KEEL_TRY(keel_buffer_status(out));
    store_u64(out->data + AT_HEADER_SIZE, out->size);
    *out_message = message_of(keel_buffer_bytes(out));
    put_digest(out);
    return NULL;
}

void keel_seal_finish(keel_buffer_t *header, const uint8_t signature[KEEL_SEAL_SIGNATURE]) {
    memcpy(header->data + header->size - KEEL_SEAL_SIGNATURE, signature, KEEL_SEAL_SIGNATURE);
    put_digest(header);
}
