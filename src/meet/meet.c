#include "meet/meet.h"

keel_status_t keel_meet_put(keel_meet_t *meet, const char *key, keel_bytes_t value) {
    if (value.size > KEEL_MEET_VALUE)
        return keel_status_make(KEEL_INTERNAL, "%s: a value of %zu bytes", key, value.size);
    return meet->kind->put(meet, key, value);
}

keel_status_t keel_meet_get(keel_meet_t *meet, const char *key, uint64_t until, uint8_t **out,
                            size_t *out_size) {
    return meet->kind->get(meet, key, until, out, out_size);
}

bool keel_meet_is_gone(keel_meet_t *meet, const char *process) {
    return keel_process_state(keel_str(process)) == KEEL_PROCESS_GONE ||
           (meet->kind->is_gone && meet->kind->is_gone(meet, process));
}

void keel_meet_destroy(keel_meet_t *meet) {
    if (meet) meet->kind->destroy(meet);
}
