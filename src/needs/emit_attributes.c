#include "needs/emit.h"

keel_status_t needs_new_attr(needs_emit_t *e, keel_attr_t attr, keel_attr_id_t *out) {
    return keel_program_add_attr(e->to, attr, out);
}

static keel_status_t new_string(needs_emit_t *e, keel_str_t text, keel_attr_id_t *out) {
    keel_attr_t attr = {.kind = KEEL_ATTR_STRING, .b = KEEL_NONE};
    KEEL_TRY(keel_program_add_text(e->to, text, &attr.a));
    return needs_new_attr(e, attr, out);
}

static keel_status_t new_list(needs_emit_t *e, const keel_attr_t *like, const uint32_t *items,
                              uint32_t count, keel_attr_id_t *out) {
    keel_attr_t attr = *like;
    KEEL_TRY(keel_program_add_list(e->to, items, count, &attr.b));
    return needs_new_attr(e, attr, out);
}

keel_status_t needs_new_array(needs_emit_t *e, const uint32_t *items, uint32_t count,
                              keel_attr_id_t *out) {
    return new_list(e, &(keel_attr_t){.kind = KEEL_ATTR_ARRAY}, items, count, out);
}

// ---- dictionaries ------------------------------------------------------------------------------

keel_status_t needs_set_entry(needs_emit_t *e, keel_attr_id_t *inout, const char *name,
                              keel_attr_id_t attr) {
    keel_program_t *to = e->to;
    keel_attr_t like = {.kind = KEEL_ATTR_DICT};
    keel_list_t pairs = keel_program_entries(to, *inout);
    bool is_there = keel_program_dict_find(to, *inout, name) != KEEL_NONE;
    if (!is_there && attr == KEEL_NONE) return NULL;
    if (*inout != KEEL_NONE) like = to->attrs.data[*inout];
    e->list.count = 0;
    for (uint32_t i = 0; i + 1 < pairs.count; i += 2) {
        bool is_it = keel_str_is(keel_program_str(to, pairs.items[i]), name);
        if (is_it && attr == KEEL_NONE) continue;
        KEEL_PUSH(&e->list, pairs.items[i]);
        KEEL_PUSH(&e->list, is_it ? attr : pairs.items[i + 1]);
    }
    if (!is_there) {
        keel_string_id_t string;
        KEEL_TRY(keel_program_add_text(to, keel_str(name), &string));
        KEEL_PUSH(&e->list, string);
        KEEL_PUSH(&e->list, attr);
    }
    return new_list(e, &like, e->list.data, e->list.count, inout);
}

keel_status_t needs_keep_items(needs_emit_t *e, keel_attr_id_t array, const uint64_t *kept,
                               uint32_t all, keel_attr_id_t *out) {
    keel_list_t items = keel_program_array(e->to, array);
    *out = KEEL_NONE;
    if (items.count != all || array == KEEL_NONE) return NULL;
    e->list.count = 0;
    for (uint32_t i = 0; i < all; ++i)
        if (needs_has(kept, i)) KEEL_PUSH(&e->list, items.items[i]);
    return needs_new_array(e, e->list.data, e->list.count, out);
}

keel_status_t needs_keep_dictionaries(needs_emit_t *e, keel_attr_id_t array, const uint64_t *kept,
                                      uint32_t all, keel_attr_id_t *out) {
    static const char *const left_out[] = {"tf.aliasing_output", "jax.buffer_donor",
                                           "mhlo.layout_mode", "mhlo.memory_kind"};
    KEEL_TRY(needs_keep_items(e, array, kept, all, out));
    uint32_t count = keel_program_array(e->to, *out).count;
    for (uint32_t i = 0; i < count; ++i) {
        keel_attr_id_t dict = keel_program_array(e->to, *out).items[i];
        for (size_t n = 0; n < sizeof left_out / sizeof *left_out; ++n)
            KEEL_TRY(needs_set_entry(e, &dict, left_out[n], KEEL_NONE));
        // The array is a new one, so that its items may change.
        e->to->pool.data[e->to->attrs.data[*out].b + 1 + i] = dict;
    }
    return NULL;
}

// ---- shardings ---------------------------------------------------------------------------------

// The next item of "{devices=[2,1]0,1}, {replicated}".
static keel_str_t take_item(keel_str_t *rest) {
    size_t start = 0, end;
    int depth = 0;
    while (start < rest->size && (rest->data[start] == ' ' || rest->data[start] == ','))
        ++start;
    for (end = start; end < rest->size; ++end) {
        char c = rest->data[end];
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (c == ',' && !depth) break;
        // Commas also stand between the numbers of a sharding.
        if (c == '}' && !depth) {
            ++end;
            break;
        }
    }
    keel_str_t item = {rest->data + start, end - start};
    *rest = (keel_str_t){rest->data + end, rest->size - end};
    return item;
}

// XLA's text of a tuple's sharding: "{{maximal device=0}, {replicated}}". One item alone has no
// braces around it.
static keel_status_t keep_text_items(keel_str_t text, const uint64_t *kept, uint32_t all,
                                     keel_buffer_t *out) {
    keel_str_t rest = {text.data + 1, text.size - 2}, item;
    uint32_t count = 0, left = needs_rank(kept, all), written = 0;
    if (left > 1) keel_buffer_text(out, "{");
    while ((item = take_item(&rest)).size) {
        if (count < all && needs_has(kept, count)) {
            if (written++) keel_buffer_text(out, ", ");
            keel_buffer_str(out, item);
        }
        ++count;
    }
    if (left > 1) keel_buffer_text(out, "}");
    // Another number of items: it does not say which sharding is whose.
    if (count != all) out->size = 0;
    return keel_buffer_status(out);
}

static keel_status_t keep_text(needs_emit_t *e, keel_attr_id_t *inout, const uint64_t *kept,
                               uint32_t all) {
    const char *name = "mhlo.sharding";
    const keel_attr_t *attr = keel_program_attr(e->to, keel_program_dict_find(e->to, *inout, name));
    keel_str_t text = keel_program_str(e->to, attr->a);
    keel_attr_id_t changed = KEEL_NONE;
    keel_buffer_t out;
    if (attr->kind != KEEL_ATTR_STRING || !keel_str_starts(text, KEEL_STR("{{"))) return NULL;
    keel_buffer_initialize(&out, 0);
    keel_status_t status = keep_text_items(text, kept, all, &out);
    if (!status && out.size)
        status = new_string(e, keel_bytes_str(keel_buffer_bytes(&out)), &changed);
    if (!status) status = needs_set_entry(e, inout, name, changed);
    keel_buffer_deinitialize(&out);
    return status;
}

keel_status_t needs_drop_texts(needs_emit_t *e, keel_attr_id_t *inout, const char *name,
                               const uint64_t *kept, uint32_t all) {
    keel_attr_id_t texts = keel_program_dict_find(e->to, *inout, name);
    if (needs_rank(kept, all) == all ||
        keel_program_dict_find(e->to, texts, "xla.sdy.sharding") == KEEL_NONE)
        return NULL;
    KEEL_TRY(needs_set_entry(e, &texts, "xla.sdy.sharding", KEEL_NONE));
    return needs_set_entry(e, inout, name,
                           keel_program_entries(e->to, texts).count ? texts : KEEL_NONE);
}

keel_status_t needs_keep_shardings(needs_emit_t *e, keel_attr_id_t *inout, const uint64_t *kept,
                                   uint32_t all) {
    keel_attr_id_t of_values = keel_program_dict_find(e->to, *inout, "sdy.sharding"), items;
    if (*inout == KEEL_NONE || needs_rank(kept, all) == all) return NULL;
    if (of_values != KEEL_NONE) {
        KEEL_TRY(needs_keep_items(e, keel_program_dict_find(e->to, of_values, "shardings"), kept,
                                  all, &items));
        if (items == KEEL_NONE)
            of_values = KEEL_NONE;
        else
            KEEL_TRY(needs_set_entry(e, &of_values, "shardings", items));
        KEEL_TRY(needs_set_entry(e, inout, "sdy.sharding", of_values));
    }
    KEEL_TRY(needs_drop_texts(e, inout, "mhlo.frontend_attributes", kept, all));
    return keep_text(e, inout, kept, all);
}

keel_status_t needs_keep_sharding(needs_emit_t *e, keel_attr_id_t *inout, const char *name,
                                  const uint64_t *kept, uint32_t all) {
    keel_attr_id_t sharding = keel_program_dict_find(e->to, *inout, name), items;
    keel_attr_id_t of_elements = keel_program_dict_find(e->to, sharding, "tuple_shardings");
    if (of_elements == KEEL_NONE || needs_rank(kept, all) == all) return NULL;
    KEEL_TRY(needs_keep_items(e, of_elements, kept, all, &items));
    if (items == KEEL_NONE || !keel_program_array(e->to, items).count)
        sharding = KEEL_NONE;
    else
        KEEL_TRY(needs_set_entry(e, &sharding, "tuple_shardings", items));
    return needs_set_entry(e, inout, name, sharding);
}
