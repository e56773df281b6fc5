// Two values that differ never read the same: if their short forms do, the part that differs is
// written out.
#include "explain/diff.h"
#include "read/print.h"

enum { APART_SIZE = 120, BEFORE_IT = 24 };

static bool set_values(keel_difference_t *out, const char *before, const char *after) {
    out->old_value = before;
    out->new_value = after;
    return strcmp(before, after) != 0;
}

static const char *cut_from(keel_diff_t *diff, keel_str_t text, size_t from) {
    size_t size = text.size - from < APART_SIZE ? text.size - from : APART_SIZE;
    return keel_diff_text(diff, "%s%.*s%s", from ? "..." : "", (int)size, text.data + from,
                          from + size < text.size ? "..." : "");
}

// They may differ only in that the shorter one ends.
void keel_diff_apart(keel_diff_t *diff, keel_str_t before, keel_str_t after,
                     keel_difference_t *out) {
    size_t same = 0;
    while (same < before.size && same < after.size && before.data[same] == after.data[same])
        ++same;
    bool is_short = before.size <= APART_SIZE && after.size <= APART_SIZE;
    size_t from = is_short || same < BEFORE_IT ? 0 : same - BEFORE_IT;
    set_values(out, cut_from(diff, before, from), cut_from(diff, after, from));
}

// ---- types -------------------------------------------------------------------------------------

// "{0,1}" of "tensor<4x8xf32, {0,1}>": the layout, or whatever else follows the dimensions.
static const char *behind_dims(keel_diff_t *diff, const keel_program_t *program,
                               keel_type_id_t id) {
    const keel_type_t *type = keel_program_type(program, id);
    uint32_t rank = keel_diff_dims(program, id).count;
    if (type->kind == KEEL_TYPE_TENSOR && type->c != KEEL_NONE)
        return keel_diff_attr(diff, program, type->c);
    const char *text = "{";
    for (uint32_t i = rank; i-- > 0;)
        text = keel_diff_text(diff, "%s%u%s", text, i, i ? "," : "");
    return keel_diff_text(diff, "%s}", text);
}

static const char *exact_type(keel_diff_t *diff, const keel_program_t *program,
                              keel_type_id_t type) {
    return keel_diff_text(diff, "%s%s", keel_diff_type(diff, program, type),
                          behind_dims(diff, program, type));
}

void keel_diff_types(keel_diff_t *diff, keel_type_id_t before, keel_type_id_t after,
                     keel_difference_t *out) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    if (set_values(out, keel_diff_type(diff, p, before), keel_diff_type(diff, q, after))) return;
    set_values(out, exact_type(diff, p, before), exact_type(diff, q, after));
}

// ---- attributes --------------------------------------------------------------------------------

static void print_whole(const keel_program_t *program, keel_attr_id_t attr, bool is_sharding,
                        keel_buffer_t *out) {
    enum { ELEMENTS = 1024 };
    if (is_sharding && keel_print_sharding(program, attr, true, out)) return;
    out->size = 0;
    keel_print_attribute(program, attr, ELEMENTS, out);
}

void keel_diff_attrs(keel_diff_t *diff, keel_attr_id_t before, keel_attr_id_t after,
                     keel_difference_t *out) {
    const keel_program_t *p = diff->before.program, *q = diff->after.program;
    bool differ = set_values(out, keel_diff_attr(diff, p, before), keel_diff_attr(diff, q, after));
    if (differ || before == KEEL_NONE || after == KEEL_NONE) return;
    for (unsigned is_sharding = 2; !differ && is_sharding-- > 0;) {
        keel_buffer_t x, y;
        keel_buffer_initialize(&x, 0);
        keel_buffer_initialize(&y, 0);
        print_whole(p, before, is_sharding, &x);
        print_whole(q, after, is_sharding, &y);
        keel_str_t a = {keel_buffer_cstr(&x), x.size}, b = {keel_buffer_cstr(&y), y.size};
        keel_diff_apart(diff, a, b, out);
        differ = strcmp(out->old_value, out->new_value) != 0;
        keel_buffer_deinitialize(&x);
        keel_buffer_deinitialize(&y);
    }
}
