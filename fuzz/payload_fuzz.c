// Payloads of entries. The input is used once as it is, and once with the mark of a large payload
// at its end. What is read lies within the input, and what is unpacked can be packed again.
#include <stdlib.h>

#include "engine/payload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MARK = 8, UNPACKED_MOST = 1 << 20 };

static void check(bool good) {
    if (!good) abort();
}

static void check_within(keel_bytes_t all, const void *data, size_t size) {
    const uint8_t *at = data;
    check(!size || (at >= all.data && size <= (size_t)(all.data + all.size - at)));
}

static void pack_again(const keel_payload_t *payload) {
    uint8_t *data;
    size_t size;
    keel_payload_t again;
    check(keel_bytes_dup(payload->executable, &data) == NULL);
    check(keel_payload_pack_large(payload, &data, &size) == NULL);
    check(keel_payload_unpack(keel_bytes(data, size), &again) == NULL);
    check(keel_bytes_equal(again.executable, payload->executable));
    check(keel_bytes_equal(again.options, payload->options));
    check(keel_payload_program_size(&again) == payload->program.size);
    uint8_t *owned;
    check(keel_payload_expand(&again, &owned) == NULL);
    check(keel_bytes_equal(again.program, payload->program));
    keel_free(owned);
    keel_free(data);
}

static void read_payload(keel_bytes_t bytes) {
    keel_payload_t payload;
    keel_status_t status = keel_payload_unpack(bytes, &payload);
    bool is_read = !status;
    check(is_read || keel_status_code(status) == KEEL_CORRUPT);
    keel_status_ignore(status);
    if (!is_read) return;
    check_within(bytes, payload.executable.data, payload.executable.size);
    check_within(bytes, payload.program.data, payload.program.size);
    check_within(bytes, payload.format.data, payload.format.size);
    check_within(bytes, payload.options.data, payload.options.size);
    if (keel_payload_program_size(&payload) > UNPACKED_MOST) return;
    uint8_t *owned;
    status = keel_payload_expand(&payload, &owned);
    if (!status) pack_again(&payload);
    keel_status_ignore(status);
    keel_free(owned);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_payload(keel_bytes(data, size));
    uint8_t *marked = malloc(size + MARK);
    if (!marked) return 0;
    if (size) memcpy(marked, data, size);
    memcpy(marked + size, "KEELPAY4", MARK);
    read_payload(keel_bytes(marked, size + MARK));
    free(marked);
    return 0;
}
