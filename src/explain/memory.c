// The memory that an argument is in. JAX names that of each argument once one of them is not in the
// device's own.
#include "explain/diff.h"

static const char *memory_of(keel_diff_t *diff, const keel_program_t *program,
                             keel_attr_id_t kind) {
    return kind == KEEL_NONE ? "device" : keel_diff_attr(diff, program, kind);
}

bool keel_diff_memory(keel_diff_t *diff, keel_attr_id_t before, keel_attr_id_t after,
                      keel_difference_t *out) {
    out->old_value = memory_of(diff, diff->before.program, before);
    out->new_value = memory_of(diff, diff->after.program, after);
    out->note = keel_note_text(KEEL_NOTE_MEMORY);
    return strcmp(out->old_value, out->new_value) != 0;
}
