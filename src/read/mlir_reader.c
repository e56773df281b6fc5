#include "read/mlir_reader.h"

keel_status_t keel_mlir_grow(void **data, uint32_t *capacity, uint32_t count, uint64_t more,
                             size_t item) {
    if (more <= *capacity - count) {
        keel_unpoison(*data, count * item, more * item);
        return NULL;
    }
    uint64_t wanted = count + more;
    if (*capacity || more == 1) wanted += wanted / 8 + 8;
    if (wanted >= KEEL_IN_TEXT)
        return keel_status_make(KEEL_UNSUPPORTED, "a program with %llu items of one kind",
                                (unsigned long long)wanted);
    KEEL_TRY(keel_realloc_array((size_t)wanted, item, data));
    keel_poison(*data, (count + more) * item, (wanted - count - more) * item);
    *capacity = (uint32_t)wanted;
    return NULL;
}

keel_status_t keel_mlir_name_string(keel_mlir_t *m, keel_mlir_name_t name, keel_string_id_t *out) {
    if (m->names[name] == KEEL_NONE) {
        keel_str_t text = keel_str(keel_mlir_name(name));
        keel_slice_t slice = {m->program->text.count | KEEL_IN_TEXT, (uint32_t)text.size};
        KEEL_TRY(keel_mlir_reserve(&m->program->text, text.size));
        memcpy(m->program->text.data + m->program->text.count, text.data, text.size);
        m->program->text.count += (uint32_t)text.size;
        m->names[name] = m->program->strings.count;
        KEEL_MLIR_PUSH(&m->program->strings, slice);
    }
    *out = m->names[name];
    return NULL;
}

keel_status_t keel_mlir_unknown_code(const char *what, uint64_t code) {
    return keel_status_make(KEEL_UNSUPPORTED, "%s code %llu is unknown", what,
                            (unsigned long long)code);
}
