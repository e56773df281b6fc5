// Constants by value: the same numbers give the same form, however they are stored.
#include "key/form.h"

// How the elements are written in the form.
enum { RAW, FULL, SAME, BITS };

static bool all_same(const keel_tensor_view_t *view) {
    size_t size = view->element_size;
    return view->bytes.size == size ||
           memcmp(view->bytes.data, view->bytes.data + size, view->bytes.size - size) == 0;
}

// One-byte bools hold 0, 1 or 0xff; other values are not interpreted.
static bool is_plain_bools(const keel_tensor_view_t *view) {
    if (view->is_packed) return true;
    for (size_t i = 0; i < view->bytes.size; ++i)
        if (view->bytes.data[i] > 1 && view->bytes.data[i] != 0xff) return false;
    return true;
}

static bool all_same_bools(const keel_tensor_view_t *view) {
    if (view->is_splat) return true;
    bool first = keel_tensor_bool(view, 0);
    for (uint64_t i = 1; i < view->count; ++i)
        if (keel_tensor_bool(view, i) != first) return false;
    return true;
}

static void form_bits(keel_canon_t *canon, const keel_tensor_view_t *view) {
    keel_hasher_t hasher;
    keel_hasher_initialize(&hasher);
    uint8_t chunk[512];
    size_t used = 0;
    memset(chunk, 0, sizeof chunk);
    for (uint64_t i = 0; i < view->count; ++i) {
        chunk[used / 8] |= (uint8_t)(keel_tensor_bool(view, i) << (used % 8));
        if (++used == 8 * sizeof chunk || i + 1 == view->count) {
            keel_hasher_update(&hasher, chunk, (used + 7) / 8);
            memset(chunk, 0, sizeof chunk);
            used = 0;
        }
    }
    keel_digest_t digest = keel_hasher_finish(&hasher);
    keel_form_digest(canon, &digest);
}

static void form_bools(keel_canon_t *canon, const keel_tensor_view_t *view) {
    if (!is_plain_bools(view)) {
        keel_form_byte(canon, RAW);
        keel_form_content(canon, view->bytes);
    } else if (all_same_bools(view)) {
        keel_form_byte(canon, SAME);
        keel_form_byte(canon, keel_tensor_bool(view, 0));
    } else {
        keel_form_byte(canon, BITS);
        form_bits(canon, view);
    }
}

void keel_form_tensor(keel_canon_t *canon, keel_type_id_t type, keel_bytes_t blob) {
    if (canon->status) return;
    keel_tensor_view_t view;
    keel_status_t status = keel_program_tensor(canon->program, type, blob, &view);
    if (status || view.count == 0) {
        keel_status_ignore(status);
        keel_form_byte(canon, RAW);
        keel_form_content(canon, blob);
    } else if (view.is_bool) {
        form_bools(canon, &view);
    } else if (all_same(&view)) {
        keel_form_byte(canon, SAME);
        keel_form_bytes(canon, view.bytes.data, view.element_size);
    } else {
        keel_form_byte(canon, FULL);
        keel_form_content(canon, blob);
    }
}
