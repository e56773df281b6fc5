// The sizes of a dimension, and types: "i32[8,128..2048 step 128]".
#include "contract/internal.h"

#include <inttypes.h>
#include <stdlib.h>

// ---- looking -----------------------------------------------------------------------------------

bool keel_sizes_vary(const keel_sizes_t *sizes) {
    return sizes->list || sizes->low != sizes->high;
}

static int rising(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

bool keel_sizes_has(const keel_sizes_t *sizes, int64_t size) {
    if (sizes->list) return bsearch(&size, sizes->list, sizes->count, sizeof size, rising);
    if (sizes->low == sizes->high) return size == sizes->low;
    return size >= sizes->low && size <= sizes->high && (size - sizes->low) % sizes->step == 0;
}

bool keel_sizes_equal(const keel_sizes_t *a, const keel_sizes_t *b) {
    if (a->count != b->count) return false;
    if (a->count) return memcmp(a->list, b->list, a->count * sizeof *a->list) == 0;
    return a->low == b->low && a->high == b->high && (a->low == a->high || a->step == b->step);
}

uint64_t contract_size_count(const keel_sizes_t *sizes) {
    if (sizes->list) return sizes->count;
    return sizes->low == sizes->high ? 1 : (uint64_t)((sizes->high - sizes->low) / sizes->step) + 1;
}

void keel_sizes_write(const keel_sizes_t *sizes, keel_buffer_t *out) {
    for (uint32_t i = 0; i < sizes->count; ++i)
        keel_buffer_format(out, "%s%" PRId64, i ? "|" : "", sizes->list[i]);
    if (sizes->list) return;
    if (sizes->low == KEEL_DYNAMIC) {
        keel_buffer_byte(out, '?');
        return;
    }
    keel_buffer_format(out, "%" PRId64, sizes->low);
    if (sizes->low == sizes->high) return;
    keel_buffer_format(out, "..%" PRId64, sizes->high);
    if (sizes->step != 1) keel_buffer_format(out, " step %" PRId64, sizes->step);
}

void keel_contract_type(const keel_contract_argument_t *argument, keel_buffer_t *out) {
    keel_buffer_str(out, argument->element);
    if (!argument->is_array) return;
    keel_buffer_byte(out, '[');
    for (uint32_t i = 0; i < argument->rank; ++i) {
        if (i) keel_buffer_byte(out, ',');
        keel_sizes_write(&argument->dims[i], out);
    }
    keel_buffer_byte(out, ']');
}

// ---- making ------------------------------------------------------------------------------------

static bool is_range(const int64_t *values, uint32_t count) {
    enum { LEAST = 3 }; // two sizes say nothing about those between them
    for (uint32_t i = 2; i < count; ++i)
        if (values[i] - values[i - 1] != values[1] - values[0]) return false;
    return count >= LEAST;
}

keel_status_t contract_sizes_of(const int64_t *values, uint32_t count, keel_arena_t *arena,
                                keel_sizes_t *out) {
    void *memory;
    KEEL_TRY(keel_arena_array(arena, count, sizeof *values, &memory));
    int64_t *sorted = memory;
    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, rising);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i)
        if (!kept || sorted[i] != sorted[kept - 1]) sorted[kept++] = sorted[i];
    *out = (keel_sizes_t){.low = sorted[0], .high = sorted[kept - 1], .step = 1};
    if (kept == 1) return NULL;
    if (is_range(sorted, kept)) {
        out->step = sorted[1] - sorted[0];
        return NULL;
    }
    *out = (keel_sizes_t){.list = sorted, .count = kept};
    return NULL;
}

// ---- reading -----------------------------------------------------------------------------------

static keel_status_t no_size(keel_str_t text) {
    return keel_status_make(KEEL_INVALID,
                            "'%.*s' is not a size; write 8, 128..2048, 128..2048 step 128 or 64|96",
                            KEEL_STR_ARGS(text));
}

static bool split_around(keel_str_t text, const char *part, keel_str_t *out_before,
                         keel_str_t *out_behind) {
    size_t size = strlen(part);
    for (size_t i = 0; i + size <= text.size; ++i) {
        if (memcmp(text.data + i, part, size) != 0) continue;
        *out_before = contract_trim((keel_str_t){text.data, i});
        *out_behind = contract_trim((keel_str_t){text.data + i + size, text.size - i - size});
        return true;
    }
    return false;
}

static keel_status_t read_list(keel_str_t text, keel_arena_t *arena, keel_sizes_t *out) {
    void *memory;
    keel_str_t rest = text, item;
    uint32_t most = 1;
    for (size_t i = 0; i < text.size; ++i)
        most += text.data[i] == '|';
    KEEL_TRY(keel_arena_array(arena, most, sizeof *out->list, &memory));
    int64_t *list = memory;
    uint32_t count = 0;
    for (bool more = true; more; ++count) {
        keel_str_t behind = {NULL, 0};
        more = split_around(rest, "|", &item, &behind);
        if (!more) item = contract_trim(rest);
        if (!contract_read_number(item, &list[count])) return no_size(text);
        if (count && list[count] <= list[count - 1])
            return keel_status_make(KEEL_INVALID,
                                    "sizes rise from one to the next: '%.*s' does not",
                                    KEEL_STR_ARGS(text));
        rest = behind;
    }
    *out = (keel_sizes_t){.list = list, .count = count};
    return NULL;
}

static keel_status_t read_range(keel_str_t text, keel_str_t low, keel_str_t high,
                                keel_sizes_t *out) {
    keel_str_t end = high, step = KEEL_STR("1");
    split_around(high, "step", &end, &step);
    *out = (keel_sizes_t){.step = 1};
    if (!contract_read_number(low, &out->low) || !contract_read_number(end, &out->high) ||
        !contract_read_number(step, &out->step) || !out->step)
        return no_size(text);
    if (out->low >= out->high)
        return keel_status_make(KEEL_INVALID, "'%.*s' ends before it begins", KEEL_STR_ARGS(text));
    if ((out->high - out->low) % out->step)
        return keel_status_make(
            KEEL_INVALID, "'%.*s' never reaches %" PRId64 "; end it at %" PRId64,
            KEEL_STR_ARGS(text), out->high, out->high - (out->high - out->low) % out->step);
    return NULL;
}

static keel_status_t read_sizes(keel_str_t text, keel_arena_t *arena, keel_sizes_t *out) {
    keel_str_t low, high;
    if (memchr(text.data, '|', text.size)) return read_list(text, arena, out);
    if (split_around(text, "..", &low, &high)) return read_range(text, low, high, out);
    *out = (keel_sizes_t){.step = 1};
    if (keel_str_is(text, "?"))
        out->low = KEEL_DYNAMIC;
    else if (!contract_read_number(text, &out->low))
        return no_size(text);
    out->high = out->low;
    return NULL;
}

static keel_status_t read_dims(keel_str_t text, keel_arena_t *arena,
                               keel_contract_argument_t *out) {
    void *memory;
    keel_str_t item, behind;
    if (!contract_trim(text).size) return NULL;
    uint32_t most = 1;
    for (size_t i = 0; i < text.size; ++i)
        most += text.data[i] == ',';
    if (most > KEEL_CONTRACT_RANK)
        return keel_status_make(KEEL_INVALID, "more than %d dimensions", KEEL_CONTRACT_RANK);
    KEEL_TRY(keel_arena_array(arena, most, sizeof *out->dims, &memory));
    keel_sizes_t *dims = memory;
    for (bool more = true; more; ++out->rank) {
        more = split_around(text, ",", &item, &behind);
        if (!more) item = contract_trim(text);
        if (!item.size) return no_size(item);
        KEEL_TRY(read_sizes(item, arena, &dims[out->rank]));
        text = behind;
    }
    out->dims = dims;
    return NULL;
}

keel_status_t contract_take_type(keel_str_t *rest, keel_arena_t *arena,
                                 keel_contract_argument_t *out) {
    size_t size = 0;
    *rest = contract_trim(*rest);
    while (size < rest->size && rest->data[size] != '[' && rest->data[size] != ' ')
        ++size;
    if (!size) return keel_status_make(KEEL_INVALID, "a type such as i32[8,128] is missing");
    KEEL_TRY(keel_arena_str(arena, (keel_str_t){rest->data, size}, &out->element));
    out->rank = 0;
    out->is_array = size < rest->size && rest->data[size] == '[';
    if (out->is_array) {
        const char *end = memchr(rest->data + size, ']', rest->size - size);
        if (!end)
            return keel_status_make(KEEL_INVALID, "the type '%.*s' has no ']'",
                                    KEEL_STR_ARGS(*rest));
        keel_str_t dims = {rest->data + size + 1, (size_t)(end - rest->data) - size - 1};
        KEEL_TRY(read_dims(dims, arena, out));
        size = (size_t)(end - rest->data) + 1;
    }
    *rest = (keel_str_t){rest->data + size, rest->size - size};
    return NULL;
}
