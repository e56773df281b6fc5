#include "read/read.h"

bool keel_read_is_mlir(keel_bytes_t bytes) {
    return bytes.size >= 4 && memcmp(bytes.data, "ML\xefR", 4) == 0;
}

keel_status_t keel_read(keel_bytes_t bytes, keel_program_t *out) {
    return keel_read_is_mlir(bytes) ? keel_read_mlir(bytes, out) : keel_read_hlo(bytes, out);
}
