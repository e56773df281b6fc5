// Any program that a reader accepts can be keyed or is refused, and the same bytes give the same
// key.
#include <stdlib.h>

#include "key/key.h"
#include "read/read.h"

static keel_code_t key_of(const keel_program_t *program, keel_digest_t *out) {
    keel_status_t status = keel_key_program(program, out);
    keel_code_t code = keel_status_code(status);
    keel_status_ignore(status);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_program_t program;
    keel_status_t status = keel_read(keel_bytes(data, size), &program);
    if (status) {
        keel_status_ignore(status);
        return 0;
    }
    keel_digest_t first, second;
    keel_code_t code = key_of(&program, &first);
    if (code != KEEL_OK && code != KEEL_UNSUPPORTED) abort();
    if (key_of(&program, &second) != code) abort();
    if (code == KEEL_OK && !keel_digest_equal(&first, &second)) abort();
    keel_cacheable_t cacheable;
    keel_key_cacheable(&program, "my_call,other", &cacheable);
    keel_program_deinitialize(&program);
    return 0;
}
