// Arguments that JAX leaves out of a program because no operation takes them: of some, the function
// uses only the shape (jnp.zeros_like(x), jnp.arange(tokens.shape[1])). What was recorded of the
// calls has their types.
#include <stdlib.h>

#include "explain/diff.h"

enum { RANK = 8 };

typedef struct dims_t {
    int64_t items[RANK];
    uint32_t count;
} dims_t;

// "f32[8,512]", maybe with more behind it. False if it is not like that.
static bool read_dims(keel_str_t type, dims_t *out) {
    const char *at = memchr(type.data, '[', type.size), *end = type.data + type.size;
    out->count = 0;
    if (!at++) return false;
    while (at < end && *at != ']' && out->count < RANK) {
        char digits[24] = "";
        size_t size = 0;
        for (; at < end && *at >= '0' && *at <= '9' && size < 18; ++at)
            digits[size++] = *at;
        if (!size) return false;
        out->items[out->count++] = strtoll(digits, NULL, 10);
        at += at < end && *at == ',';
    }
    return at < end && *at == ']';
}

static bool is_passed_on(const keel_diff_t *diff, keel_str_t name, keel_str_t user) {
    for (uint32_t i = 0; i < diff->before_count; ++i)
        if (keel_str_equal(diff->arguments_before[i].name, name) ||
            keel_str_equal(diff->arguments_before[i].name, user))
            return true;
    for (uint32_t i = 0; i < diff->after_count; ++i)
        if (keel_str_equal(diff->arguments_after[i].name, name) ||
            keel_str_equal(diff->arguments_after[i].name, user))
            return true;
    return false;
}

static keel_status_t add_dropped(keel_diff_t *diff, keel_str_t name, keel_str_t before,
                                 keel_str_t after) {
    dims_t x, y;
    keel_str_t user = keel_names_find(diff->names_after, name);
    if (keel_str_equal(before, after) || is_passed_on(diff, name, user)) return NULL;
    if (!read_dims(before, &x) || !read_dims(after, &y) || x.count != y.count) return NULL;
    keel_ints_t old_dims = {x.items, x.count}, new_dims = {y.items, y.count};
    if (keel_ints_equal(old_dims, new_dims)) return NULL;
    const keel_difference_t difference =
        keel_diff_of_call(diff, KEEL_CAUSE_SHAPE, keel_diff_text(diff, "%.*s", KEEL_STR_ARGS(user)),
                          keel_diff_text(diff, "%.*s", KEEL_STR_ARGS(before)),
                          keel_diff_text(diff, "%.*s", KEEL_STR_ARGS(after)));
    uint32_t root, known = diff->root_count;
    KEEL_TRY(keel_diff_root(diff, &difference, &root));
    if (diff->root_count == known) return NULL;
    diff->roots[root].is_dropped = true;
    keel_sizes_add_dims(&diff->sizes, old_dims, new_dims, root);
    return NULL;
}

keel_status_t keel_diff_dropped(keel_diff_t *diff) {
    for (uint32_t i = 0; i < diff->columns.count; ++i) {
        const keel_column_t *column = &diff->columns.items[i];
        if (column->kind == 'l' && column->before.data && column->after.data)
            KEEL_TRY(add_dropped(diff, column->name, column->before, column->after));
    }
    return NULL;
}

bool keel_diff_is_idle(const keel_diff_t *diff, uint32_t root) {
    if (!diff->roots[root].is_dropped || diff->roots[root].folded) return false;
    for (uint32_t i = 0; i < diff->root_count; ++i)
        if (diff->roots[i].follows == root) return false;
    return true;
}
