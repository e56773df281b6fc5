// Entry files of the cache. The input is used once as it is, and once with its digests corrected,
// so that the code after their check is reached too.
#include <stdlib.h>

#include "store/entry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    OLDEST_READER = 12,
    HEADER_SIZE = 16,
    STORED_SIZE = 24,
    HEADER_DIGEST = 32,
    PAYLOAD_DIGEST = 64
};

static void check(bool good) {
    if (!good) abort();
}

static void same_text(const char *a, const char *b) {
    check(strcmp(a, b) == 0);
}

// What was read can be written again, and reads back the same.
static void write_again(const keel_entry_t *entry) {
    uint8_t *data;
    size_t size;
    keel_status_t status = keel_entry_encode(entry, &data, &size);
    if (status) {
        check(keel_status_code(status) == KEEL_INVALID);
        keel_status_ignore(status);
        return;
    }
    keel_entry_t again;
    check(keel_entry_decode(keel_bytes(data, size), &again) == NULL);
    check(keel_digest_equal(&again.key, &entry->key));
    check(again.payload_size == entry->payload_size);
    check(memcmp(again.payload, entry->payload, entry->payload_size) == 0);
    same_text(again.name, entry->name);
    same_text(again.writer, entry->writer);
    same_text(again.components, entry->components);
    keel_entry_deinitialize(&again);
    keel_free(data);
}

static void read_entry(const uint8_t *data, size_t size) {
    keel_entry_t entry;
    size_t needed;
    keel_status_t status = keel_entry_decode(keel_bytes(data, size), &entry);
    keel_code_t code = keel_status_code(status);
    keel_status_ignore(status);
    check(code == KEEL_OK || code == KEEL_CORRUPT || code == KEEL_UNSUPPORTED);
    if (code == KEEL_OK) {
        write_again(&entry);
        keel_entry_deinitialize(&entry);
    }
    status = keel_entry_decode_header(keel_bytes(data, size), size, &entry, &needed);
    if (!status) {
        check(!needed);
        keel_entry_deinitialize(&entry);
    } else {
        check(code != KEEL_OK);
    }
    keel_status_ignore(status);
}

static void put_u64(uint8_t *at, uint64_t value) {
    for (int i = 0; i < 8; ++i)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void seal(uint8_t *data, size_t size) {
    uint64_t header = keel_load_u64(data + HEADER_SIZE);
    if (header < KEEL_ENTRY_ENVELOPE || header > size) header = size;
    put_u64(data + HEADER_SIZE, header);
    put_u64(data + STORED_SIZE, size - header);
    keel_bytes_t stored = keel_bytes(data + header, size - header);
    bool is_quick = keel_load_u32(data + OLDEST_READER) >= 2;
    keel_digest_t payload = is_quick ? keel_content_digest(stored) : keel_digest(stored);
    memcpy(data + PAYLOAD_DIGEST, payload.bytes, KEEL_DIGEST_SIZE);
    keel_digest_t digest = keel_entry_header_digest(data, (size_t)header);
    memcpy(data + HEADER_DIGEST, digest.bytes, KEEL_DIGEST_SIZE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_entry(data, size);
    if (size < KEEL_ENTRY_ENVELOPE || size > KEEL_ENTRY_HEADER_LIMIT) return 0;
    uint8_t *sealed = malloc(size);
    if (!sealed) return 0;
    memcpy(sealed, data, size);
    memcpy(sealed, "\x89KEEL\r\n\x1a", 8);
    seal(sealed, size);
    read_entry(sealed, size);
    free(sealed);
    return 0;
}
