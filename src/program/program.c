#define _GNU_SOURCE // memmem
#include "program/program.h"

// The names of each class, ended by NULL.
#define VALUES(name, text, ...) static const char *const values_##name[] = {__VA_ARGS__, NULL};
KEEL_ENUM_CLASSES(VALUES)
#undef VALUES

const char *keel_enum_name(keel_enum_class_t enumeration, uint32_t value) {
    static const char *const *const values[] = {
#define VALUES(name, text, ...) [KEEL_ENUM_##name] = values_##name,
        KEEL_ENUM_CLASSES(VALUES)
#undef VALUES
    };
    if (enumeration >= KEEL_ENUM_CLASS_COUNT) return NULL;
    for (uint32_t i = 0; values[enumeration][i]; ++i)
        if (i == value) return values[enumeration][i][0] ? values[enumeration][i] : NULL;
    return NULL;
}

const char *keel_enum_class_name(keel_enum_class_t enumeration) {
    static const char *const names[] = {
#define NAME(name, text, ...) [KEEL_ENUM_##name] = text,
        KEEL_ENUM_CLASSES(NAME)
#undef NAME
    };
    return enumeration < KEEL_ENUM_CLASS_COUNT ? names[enumeration] : "";
}

const char *keel_record_name(uint16_t klass) {
    static const char *const names[] = {
#define NAME(name, text) text,
        KEEL_RECORDS(NAME)
#undef NAME
    };
    return klass < KEEL_RECORD_COUNT ? names[klass] : "";
}

const char *keel_format_name(keel_format_t format) {
    return format == KEEL_FORMAT_MLIR ? "mlir" : "hlo";
}

void keel_program_initialize(keel_program_t *program) {
    *program = (keel_program_t){.name = KEEL_NONE, .attributes = KEEL_NONE, .entry = KEEL_NONE};
    keel_arena_initialize(&program->owned, 64);
}

void keel_program_deinitialize(keel_program_t *program) {
    void *const tables[] = {
        program->strings.data,     program->types.data,      program->attrs.data,
        program->blobs.data,       program->ints.data,       program->pool.data,
        program->op_names.data,    program->operations.data, program->operands.data,
        program->value_types.data, program->regions.data,    program->blocks.data,
        program->functions.data,   program->text.data};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; ++i)
        keel_free(tables[i]);
    keel_arena_deinitialize(&program->owned);
    keel_program_initialize(program);
}

keel_status_t keel_table_grow(void **data, uint32_t *capacity, uint32_t count, uint64_t more,
                              size_t item) {
    if (more <= *capacity - count) {
        keel_unpoison(*data, count * item, more * item);
        return NULL;
    }
    uint64_t wanted = count + more;
    uint64_t half_more = *capacity ? (uint64_t)*capacity + *capacity / 2 : 0;
    if (*capacity && half_more > wanted) wanted = half_more;
    if (!*capacity && more == 1) wanted = 16;
    if (wanted >= KEEL_IN_TEXT)
        return keel_status_make(KEEL_UNSUPPORTED, "a program with %llu items of one kind",
                                (unsigned long long)wanted);
    KEEL_TRY(keel_realloc_array((size_t)wanted, item, data));
    keel_poison(*data, (count + more) * item, (wanted - count - more) * item);
    *capacity = (uint32_t)wanted;
    return NULL;
}

keel_status_t keel_program_add_text(keel_program_t *program, keel_str_t text,
                                    keel_string_id_t *out) {
    uint32_t at = program->text.count;
    KEEL_TRY(keel_table_reserve(&program->text, text.size));
    KEEL_TRY(keel_table_reserve(&program->strings, 1));
    if (text.size) memcpy(program->text.data + at, text.data, text.size);
    program->text.count += (uint32_t)text.size;
    *out = program->strings.count;
    program->strings.data[program->strings.count++] =
        (keel_slice_t){at | KEEL_IN_TEXT, (uint32_t)text.size};
    return NULL;
}

keel_status_t keel_program_add_attr(keel_program_t *program, keel_attr_t attr,
                                    keel_attr_id_t *out) {
    *out = program->attrs.count;
    KEEL_PUSH(&program->attrs, attr);
    return NULL;
}

keel_status_t keel_program_add_list(keel_program_t *program, const uint32_t *items, uint32_t count,
                                    uint32_t *out) {
    KEEL_TRY(keel_table_reserve(&program->pool, (uint64_t)count + 1));
    *out = program->pool.count;
    program->pool.data[program->pool.count++] = count;
    if (count) memcpy(program->pool.data + program->pool.count, items, count * sizeof *items);
    program->pool.count += count;
    return NULL;
}

keel_status_t keel_program_add_ints(keel_program_t *program, const int64_t *items, uint32_t count,
                                    uint32_t *out) {
    KEEL_TRY(keel_table_reserve(&program->ints, (uint64_t)count + 1));
    *out = program->ints.count;
    program->ints.data[program->ints.count++] = count;
    if (count) memcpy(program->ints.data + program->ints.count, items, count * sizeof *items);
    program->ints.count += count;
    return NULL;
}

keel_status_t keel_program_add_int(keel_program_t *program, int64_t value, uint32_t *out) {
    *out = program->ints.count;
    KEEL_PUSH(&program->ints, value);
    return NULL;
}

keel_status_t keel_program_add_blob(keel_program_t *program, keel_bytes_t blob, uint32_t *out) {
    *out = program->blobs.count;
    KEEL_PUSH(&program->blobs, blob);
    return NULL;
}

const keel_attr_t keel_attr_none = {.kind = KEEL_ATTR_NONE, .a = KEEL_NONE, .b = KEEL_NONE};
const keel_type_t keel_type_none = {
    .kind = KEEL_TYPE_NONE, .a = KEEL_NONE, .b = KEEL_NONE, .c = KEEL_NONE};

keel_str_t keel_program_str(const keel_program_t *program, keel_string_id_t id) {
    if (id >= program->strings.count) return (keel_str_t){"", 0};
    keel_slice_t slice = program->strings.data[id];
    KEEL_ASSERT((slice.at & ~KEEL_IN_TEXT) + (uint64_t)slice.size <=
                (slice.at & KEEL_IN_TEXT ? program->text.count : program->source.size));
    const char *base =
        slice.at & KEEL_IN_TEXT ? program->text.data : (const char *)program->source.data;
    return (keel_str_t){base + (slice.at & ~KEEL_IN_TEXT), slice.size};
}

static keel_str_t given_result_name(const keel_program_t *p, const keel_function_t *entry,
                                    uint32_t number) {
    keel_list_t dicts = keel_program_array(p, entry->result_attributes);
    if (number >= dicts.count) return KEEL_STR("");
    keel_attr_id_t id = keel_program_dict_find(p, dicts.items[number], "jax.result_info");
    const keel_attr_t *attr = keel_program_attr(p, id);
    return keel_program_str(p, attr->kind == KEEL_ATTR_STRING ? attr->a : KEEL_NONE);
}

// The first of the names, which are cut off.
static keel_str_t cut_name(keel_str_t *names) {
    const keel_str_t separator = KEEL_STR(KEEL_RESULT_SEPARATOR);
    const char *end = memmem(names->data, names->size, separator.data, separator.size);
    keel_str_t name = {names->data, end ? (size_t)(end - names->data) : names->size};
    size_t cut = end ? name.size + separator.size : name.size;
    *names = (keel_str_t){names->data + cut, names->size - cut};
    return name;
}

keel_str_t keel_program_result_name(const keel_program_t *p, uint32_t number) {
    const keel_str_t head = KEEL_STR(KEEL_RESULT_NAMES);
    KEEL_ASSERT(p->entry < p->functions.count);
    const keel_function_t *entry = &p->functions.data[p->entry];
    if (p->format != KEEL_FORMAT_HLO) return given_result_name(p, entry, number);
    if (entry->root >= keel_program_op_count(p)) return KEEL_STR("");
    keel_str_t names = keel_program_parameter_name(p, entry->root), found = KEEL_STR("");
    if (!keel_str_starts(names, head)) return found;
    names = (keel_str_t){names.data + head.size, names.size - head.size};
    uint32_t count = 0;
    for (; names.size; ++count) {
        keel_str_t name = cut_name(&names);
        if (count == number) found = name;
    }
    return count == keel_program_operands(p, entry->root).count ? found : KEEL_STR("");
}

uint32_t keel_program_first_region(const keel_program_t *program, keel_op_id_t op) {
    uint32_t low = 0, high = program->regions.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (program->regions.data[middle].parent < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

keel_region_run_t keel_program_regions(const keel_program_t *program, keel_op_id_t op) {
    KEEL_ASSERT(op < program->operations.count);
    if (!(program->operations.data[op].name & KEEL_OP_HAS_REGIONS))
        return (keel_region_run_t){NULL, 0};
    uint32_t low = keel_program_first_region(program, op), end = low;
    while (end < program->regions.count && program->regions.data[end].parent == op)
        ++end;
    return (keel_region_run_t){program->regions.data + low, end - low};
}

keel_type_id_t keel_program_value_type(const keel_program_t *program, keel_value_id_t value) {
    return value < program->value_types.count ? program->value_types.data[value] : KEEL_NONE;
}

keel_op_id_t keel_program_next(const keel_program_t *program, keel_op_id_t op) {
    keel_region_run_t run = keel_program_regions(program, op);
    KEEL_ASSERT(!run.count ||
                run.items[run.count - 1].end > op); // a region is behind its operation
    return run.count ? run.items[run.count - 1].end : op + 1;
}

keel_attr_id_t keel_program_dict_find(const keel_program_t *program, keel_attr_id_t dict,
                                      const char *name) {
    KEEL_ASSERT(dict == KEEL_NONE || dict < program->attrs.count);
    if (dict == KEEL_NONE || program->attrs.data[dict].kind != KEEL_ATTR_DICT) return KEEL_NONE;
    keel_list_t pairs = keel_program_list(program, program->attrs.data[dict].b);
    for (uint32_t i = 0; i + 1 < pairs.count; i += 2)
        if (keel_str_is(keel_program_str(program, pairs.items[i]), name)) return pairs.items[i + 1];
    return KEEL_NONE;
}

uint32_t keel_program_function(const keel_program_t *program, keel_str_t name) {
    for (uint32_t i = 0; i < program->functions.count; ++i)
        if (keel_str_equal(keel_program_str(program, program->functions.data[i].name), name))
            return i;
    return KEEL_NONE;
}
