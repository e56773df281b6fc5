// An HLO program that is written and read again is the same program: for every test that has one.
#ifndef KEEL_TESTS_ROUND_TRIP_H_
#define KEEL_TESTS_ROUND_TRIP_H_

#include "key/key.h"
#include "read/print.h"
#include "read/read.h"
#include "read/write.h"

// NULL if the two have the same key, and the same JSON: every attribute, type, constant and
// location. What has no key or no JSON is compared by the other.
static inline keel_status_t compare_programs(const keel_program_t *one,
                                             const keel_program_t *other) {
    const keel_program_t *const both[] = {one, other};
    keel_buffer_t texts[2];
    keel_digest_t keys[2] = {0};
    keel_code_t codes[2], key_codes[2];
    for (int i = 0; i < 2; ++i) {
        keel_buffer_initialize(&texts[i], (size_t)256 << 20);
        keel_status_t status = keel_print_json(both[i], &texts[i]);
        codes[i] = keel_status_code(status);
        keel_status_ignore(status);
        status = keel_key_program(both[i], &keys[i]);
        key_codes[i] = keel_status_code(status);
        keel_status_ignore(status);
    }
    bool is_same =
        codes[0] == codes[1] && key_codes[0] == key_codes[1] &&
        (codes[0] || keel_bytes_equal(keel_buffer_bytes(&texts[0]), keel_buffer_bytes(&texts[1])));
    bool is_same_key = key_codes[0] || keel_digest_equal(&keys[0], &keys[1]);
    keel_buffer_deinitialize(&texts[0]);
    keel_buffer_deinitialize(&texts[1]);
    if (!is_same)
        return keel_status_make(KEEL_INTERNAL, "a different program was read than written");
    if (is_same_key) return NULL;
    return keel_status_make(KEEL_INTERNAL, "the program that was written has another key");
}

// Writes the program, reads it, compares, and writes it again: the same bytes. The status of
// writing if that is refused; KEEL_INTERNAL for anything that must not be.
static inline keel_status_t round_trip(const keel_program_t *program) {
    keel_buffer_t first, second;
    keel_program_t again;
    keel_buffer_initialize(&first, 0);
    keel_buffer_initialize(&second, 0);
    keel_status_t status = keel_write_hlo(program, &first);
    bool is_written = !status;
    if (is_written) {
        status = keel_read_hlo(keel_buffer_bytes(&first), &again);
        if (!status) status = compare_programs(program, &again);
        if (!status) status = keel_write_hlo(&again, &second);
        if (!status && !keel_bytes_equal(keel_buffer_bytes(&first), keel_buffer_bytes(&second)))
            status = keel_status_make(KEEL_INTERNAL, "written twice, with different bytes");
        keel_program_deinitialize(&again);
    }
    keel_buffer_deinitialize(&first);
    keel_buffer_deinitialize(&second);
    if (!is_written || !status || keel_status_code(status) == KEEL_INTERNAL) return status;
    keel_status_t wrong = keel_status_make(KEEL_INTERNAL, "what was written is not read: %s",
                                           keel_status_message(status));
    keel_status_ignore(status);
    return wrong;
}

#endif // KEEL_TESTS_ROUND_TRIP_H_
