// An entry that a remote sends, in pieces, to the folder of a cache: as it is, and once with its
// digests corrected. Without a trusted key none is good, whatever it says; of a remote that is
// trusted, what is good can be read.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "courier/arrival.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER_SIZE = 16, STORED_SIZE = 24, HEADER_DIGEST = 32, PAYLOAD_DIGEST = 64, KEY = 104 };

static char folder[64];
static keel_tier_t disk;

static void check(bool good) {
    if (!good) abort();
}

static void remove_folder(void) {
    char command[100];
    disk.close(disk.context);
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command)) fprintf(stderr, "%s is left\n", folder);
}

static void set_up(void) {
    if (*folder) return;
    snprintf(folder, sizeof folder, "/tmp/keel-fuzz-XXXXXX");
    check(mkdtemp(folder) != NULL);
    check(keel_store_disk(folder, 0, false, &disk) == NULL);
    atexit(remove_folder);
}

// The key that the entry names first, so that it is the one that was asked for.
static keel_digest_t key_of(const uint8_t *data, size_t size) {
    keel_digest_t key = {{0}};
    if (size >= KEY + KEEL_DIGEST_SIZE) memcpy(key.bytes, data + KEY, KEEL_DIGEST_SIZE);
    return key;
}

static void arrive(const uint8_t *data, size_t size, bool trusts) {
    arrival_t arrival;
    const keel_digest_t key = key_of(data, size);
    size_t piece = size / 3 + 1;
    bool takes = true;
    check(arrival_begin(&disk, 1 << 20, &key, &arrival) == NULL);
    for (size_t at = 0; at < size && takes; at += piece)
        takes = arrival_take(&arrival, data + at, size - at < piece ? size - at : piece);
    arrival_verdict_t verdict = arrival_check(&arrival, &key, folder, trusts);
    check(takes || verdict == ARRIVAL_REFUSED);
    check((verdict == ARRIVAL_GOOD) == !*arrival.why);
    check(trusts || verdict != ARRIVAL_GOOD);
    if (verdict == ARRIVAL_GOOD) {
        keel_entry_t entry;
        check(keel_entry_decode(keel_bytes(data, size), &entry) == NULL);
        check(keel_digest_equal(&entry.key, &key));
        keel_entry_deinitialize(&entry);
    }
    arrival_discard(&arrival);
}

static void put_u64(uint8_t *at, uint64_t value) {
    for (int i = 0; i < 8; ++i)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void correct(uint8_t *data, size_t size) {
    uint64_t header = keel_load_u64(data + HEADER_SIZE);
    if (header < KEEL_ENTRY_ENVELOPE || header > size) header = size;
    memcpy(data, "\x89KEEL\r\n\x1a", 8);
    put_u64(data + HEADER_SIZE, header);
    put_u64(data + STORED_SIZE, size - header);
    const keel_digest_t payload = keel_digest(keel_bytes(data + header, size - header));
    memcpy(data + PAYLOAD_DIGEST, payload.bytes, KEEL_DIGEST_SIZE);
    const keel_digest_t digest = keel_entry_header_digest(data, (size_t)header);
    memcpy(data + HEADER_DIGEST, digest.bytes, KEEL_DIGEST_SIZE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    set_up();
    arrive(data, size, false);
    arrive(data, size, true);
    if (size < KEEL_ENTRY_ENVELOPE || size > KEEL_ENTRY_HEADER_LIMIT) return 0;
    uint8_t *corrected = malloc(size);
    if (!corrected) return 0;
    memcpy(corrected, data, size);
    correct(corrected, size);
    arrive(corrected, size, false);
    arrive(corrected, size, true);
    free(corrected);
    return 0;
}
