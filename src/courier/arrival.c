#include "courier/arrival.h"

#include <stdio.h>

#include "sign/sign.h"
#include "store/seal.h"

// Where the envelope's parts are (store/entry.h).
enum { MAGIC = 8, AT_HEADER_SIZE = 16, AT_STORED_SIZE = 24 };

keel_status_t arrival_begin(const keel_tier_t *disk, uint64_t limit, const keel_digest_t *key,
                            arrival_t *out) {
    *out = (arrival_t){.limit = limit};
    return keel_store_disk_begin(disk, key, &out->draft);
}

void arrival_discard(arrival_t *arrival) {
    keel_draft_discard(&arrival->draft);
}

static bool refuse(arrival_t *arrival, const char *why) {
    if (!*arrival->why) snprintf(arrival->why, sizeof arrival->why, "%s", why);
    return false;
}

static bool refuse_status(arrival_t *arrival, keel_status_t why) {
    refuse(arrival, keel_status_message(why));
    keel_status_ignore(why);
    return false;
}

// ---- as it comes -------------------------------------------------------------------------------

static bool read_envelope(arrival_t *arrival) {
    static const uint8_t magic[MAGIC] = {0x89, 'K', 'E', 'E', 'L', '\r', '\n', 0x1a};
    uint64_t header = keel_load_u64(arrival->envelope + AT_HEADER_SIZE);
    uint64_t stored = keel_load_u64(arrival->envelope + AT_STORED_SIZE);
    if (memcmp(arrival->envelope, magic, MAGIC) != 0)
        return refuse(arrival, "what it sends is no entry");
    if (header < KEEL_ENTRY_ENVELOPE || header > KEEL_ENTRY_HEADER_LIMIT ||
        stored > KEEL_ENTRY_PAYLOAD_LIMIT)
        return refuse(arrival, "what it sends says that it has an impossible size");
    arrival->size = header + stored;
    if (arrival->limit && arrival->size > arrival->limit)
        return refuse(arrival, "an entry is larger than cache_limit");
    return true;
}

static bool gather(arrival_t *arrival, const uint8_t *data, size_t size) {
    size_t missing = KEEL_ENTRY_ENVELOPE - (size_t)arrival->have;
    size_t taken = size < missing ? size : missing;
    memcpy(arrival->envelope + arrival->have, data, taken);
    return taken < missing || read_envelope(arrival);
}

bool arrival_take(arrival_t *arrival, const void *data, size_t size) {
    if (*arrival->why) return false;
    if (!arrival->size && size && !gather(arrival, data, size)) return false;
    if (arrival->size && size > arrival->size - arrival->have)
        return refuse(arrival, "what it sends is longer than it says");
    keel_status_t status = keel_draft_write(&arrival->draft, keel_bytes(data, size));
    if (status) {
        arrival->disk_failed = true;
        return refuse_status(arrival, status);
    }
    arrival->have += size;
    return true;
}

static bool take(void *context, const void *data, size_t size) {
    return arrival_take(context, data, size);
}

static bool is_whole(void *context) {
    const arrival_t *arrival = context;
    return arrival->size && arrival->have == arrival->size;
}

sink_t arrival_sink(arrival_t *arrival) {
    return (sink_t){arrival, take, is_whole, arrival->why};
}

// ---- when it is whole --------------------------------------------------------------------------

static void name_key(const uint8_t key[KEEL_SEAL_KEY], arrival_t *arrival) {
    char hex[2 * KEEL_SEAL_KEY + 1], text[160];
    keel_hex(key, KEEL_SEAL_KEY, hex);
    snprintf(text, sizeof text, "an entry is signed by a key that is not trusted, %s", hex);
    refuse(arrival, text);
}

static bool is_own(const char *keys_dir, const uint8_t key[KEEL_SEAL_KEY]) {
    keel_signing_key_t own;
    keel_status_t status = keel_sign_load(keys_dir, &own);
    bool is_same = !status && memcmp(own.open.bytes, key, KEEL_SEAL_KEY) == 0;
    keel_status_ignore(status);
    keel_sign_forget(&own);
    return is_same;
}

// The list is read each time, so that a key that is not trusted any more counts at once.
static bool is_trusted(arrival_t *arrival, const char *keys_dir, const uint8_t key[KEEL_SEAL_KEY]) {
    keel_public_keys_t keys;
    bool found = is_own(keys_dir, key);
    if (found) return true;
    keel_status_t status = keel_sign_trusted(keys_dir, &keys);
    if (status) return refuse_status(arrival, status);
    for (size_t i = 0; i < keys.count && !found; ++i)
        found = memcmp(keys.keys[i].bytes, key, KEEL_SEAL_KEY) == 0;
    keel_sign_free(&keys);
    if (!found) name_key(key, arrival);
    return found;
}

static arrival_verdict_t check_seal(arrival_t *arrival, keel_bytes_t header, keel_bytes_t stored,
                                    const char *keys_dir) {
    keel_seal_t seal;
    if (!keel_seal_find(header, &seal)) {
        refuse(arrival, "an entry is not signed");
        return ARRIVAL_UNTRUSTED;
    }
    if (!is_trusted(arrival, keys_dir, seal.key)) return ARRIVAL_UNTRUSTED;
    if (!keel_sign_holds(seal.key, keel_bytes(seal.message.bytes, KEEL_DIGEST_SIZE),
                         seal.signature)) {
        refuse(arrival, "the signature of an entry is wrong");
        return ARRIVAL_UNTRUSTED;
    }
    keel_digest_t payload = keel_digest(stored);
    if (keel_digest_equal(&payload, &seal.payload)) return ARRIVAL_GOOD;
    refuse(arrival, "an entry is not what was signed");
    return ARRIVAL_REFUSED;
}

// One that nobody signed is unpacked here first, so that what cannot be unpacked never gets
// further.
static bool check_payload(arrival_t *arrival, keel_bytes_t file, const keel_entry_t *header) {
    keel_entry_t entry;
    uint64_t most = keel_limit_for(KEEL_LIMIT_REMOTE_LEAST, KEEL_LIMIT_REMOTE_RATIO, file.size);
    if (header->payload_size > most)
        return refuse(arrival, "an entry would unpack to far more than it has");
    keel_status_t status = keel_entry_decode(file, &entry);
    if (status) return refuse_status(arrival, status);
    keel_entry_deinitialize(&entry);
    return true;
}

static arrival_verdict_t check_entry(arrival_t *arrival, keel_bytes_t file,
                                     const keel_digest_t *key, const char *keys_dir, bool trusts) {
    keel_entry_t entry;
    size_t needed, size = (size_t)keel_load_u64(arrival->envelope + AT_HEADER_SIZE);
    keel_status_t status = keel_entry_decode_header(file, file.size, &entry, &needed);
    if (status) {
        refuse_status(arrival, status);
        return ARRIVAL_REFUSED;
    }
    arrival_verdict_t verdict = ARRIVAL_REFUSED;
    keel_bytes_t header = keel_bytes(file.data, size);
    keel_bytes_t stored = keel_bytes(file.data + size, file.size - size);
    if (!keel_digest_equal(&entry.key, key))
        refuse(arrival, "it sends the entry of another key");
    else if (keel_entry_is_record(&entry))
        refuse(arrival, "an entry has no program");
    else if (!trusts)
        verdict = check_seal(arrival, header, stored, keys_dir);
    else if (check_payload(arrival, file, &entry))
        verdict = ARRIVAL_GOOD;
    keel_entry_deinitialize(&entry);
    return verdict;
}

arrival_verdict_t arrival_check(arrival_t *arrival, const keel_digest_t *key, const char *keys_dir,
                                bool trusts) {
    keel_bytes_t file;
    if (*arrival->why) return ARRIVAL_REFUSED;
    if (!is_whole(arrival)) {
        refuse(arrival, "what it sends ends too early");
        return ARRIVAL_REFUSED;
    }
    keel_status_t status = keel_file_map(arrival->draft.temporary, &file);
    if (status) {
        refuse_status(arrival, status);
        return ARRIVAL_REFUSED;
    }
    arrival_verdict_t verdict = check_entry(arrival, file, key, keys_dir, trusts);
    keel_file_unmap(file);
    return verdict;
}
