// Readable values of two keys, which come from files: whatever they are, the differences are
// reported, and the report is consistent.
//
// A zero byte ends a value; each belongs to the next component, first of the one key and then of
// the other.
#include <stdlib.h>

#include "explain/explain.h"
#include "explain/fields.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) abort();
}

static void read_key(keel_bytes_t *rest, keel_key_t *out) {
    keel_key_initialize(out);
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i) {
        const uint8_t *end = rest->size ? memchr(rest->data, 0, rest->size) : NULL;
        size_t length = end ? (size_t)(end - rest->data) : rest->size;
        keel_bytes_t value = {rest->data, length};
        check(!keel_key_set(out, (keel_component_t)i, value, keel_bytes_str(value)));
        size_t taken = length + (end ? 1 : 0);
        *rest = (keel_bytes_t){rest->data + taken, rest->size - taken};
    }
}

static void check_difference(const keel_difference_t *difference) {
    enum { DOTS = 3 };
    check(difference->subject && difference->note);
    check(*difference->old_value && strlen(difference->old_value) <= KEEL_FIELD_SHOWN + 2 * DOTS);
    check(*difference->new_value && strlen(difference->new_value) <= KEEL_FIELD_SHOWN + 2 * DOTS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    keel_bytes_t rest = {data, size};
    keel_key_t before, after;
    keel_explanation_t e;
    read_key(&rest, &before);
    read_key(&rest, &after);
    keel_explanation_initialize(&e);
    check(!keel_explain_components(&before, &after, KEEL_NONE, &e));
    bool moved = false;
    for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
        moved |= i != KEEL_COMPONENT_PROGRAM &&
                 !keel_digest_equal(&before.components[i], &after.components[i]);
    check(moved == (e.root_total > 0));
    for (size_t i = 0; i < e.root_count; ++i)
        check_difference(&e.roots[i]);
    for (size_t i = 0; i < e.folded_count; ++i) {
        check_difference(&e.folded[i]);
        check(e.folded[i].follows < e.root_count);
    }
    keel_explanation_deinitialize(&e);
    keel_key_deinitialize(&before);
    keel_key_deinitialize(&after);
    return 0;
}
