// Reads bytes of either format.
#include "read/read.h"

keel_status_t keel_read(keel_bytes_t bytes, keel_program_t *out) {
    keel_program_initialize(out);
    if (!bytes.size)
        return keel_status_make(KEEL_CORRUPT, "the file is empty; expected MLIR bytecode or a "
                                              "serialized HloModuleProto");
    if (keel_read_is_mlir(bytes)) return keel_read_mlir(bytes, out);
    keel_status_t status = keel_read_hlo(bytes, out);
    bool unread =
        keel_status_code(status) == KEEL_CORRUPT || keel_status_code(status) == KEEL_UNSUPPORTED;
    // Checked last: HLO has no magic, and its first bytes may look like text.
    if (!unread || !keel_read_is_text(bytes)) return status;
    keel_status_ignore(status);
    return keel_status_make(KEEL_UNSUPPORTED,
                            "this program is in text form; Keel reads MLIR bytecode and serialized "
                            "HloModuleProto");
}
