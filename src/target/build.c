#include "target/internal.h"

keel_status_t target_keep(keel_target_t *target, keel_str_t text, const char **out) {
    keel_str_t kept;
    KEEL_TRY(keel_arena_str(&target->arena, text, &kept));
    *out = kept.data;
    return NULL;
}

void keel_target_deinitialize(keel_target_t *target) {
    keel_arena_deinitialize(&target->arena);
    *target = (keel_target_t){0};
}

// ---- options -----------------------------------------------------------------------------------

// Room for all of them is taken at once: an arena does not grow what it gave.
static keel_status_t make_room(keel_target_t *target, size_t count, size_t size, void **list) {
    if (count == TARGET_VALUES)
        return keel_status_make(KEEL_INVALID, "target %s: more than %d options of one kind",
                                target->name, TARGET_VALUES);
    if (count) return NULL;
    return keel_arena_array(&target->arena, TARGET_VALUES, size, list);
}

static keel_status_t keep_contents(keel_target_t *target, PJRT_NamedValue *value) {
    void *numbers;
    if (value->type == PJRT_NamedValue_kString)
        return target_keep(target, (keel_str_t){value->string_value, value->value_size},
                           &value->string_value);
    if (value->type != PJRT_NamedValue_kInt64List) return NULL;
    KEEL_TRY(keel_arena_array(&target->arena, value->value_size, sizeof(int64_t), &numbers));
    if (value->value_size)
        memcpy(numbers, value->int64_array_value, value->value_size * sizeof(int64_t));
    value->int64_array_value = numbers;
    return NULL;
}

keel_status_t target_add_value(keel_target_t *target, keel_target_values_t *values,
                               const PJRT_NamedValue *value) {
    PJRT_NamedValue kept = *value;
    void *list = values->list;
    KEEL_TRY(target_keep(target, (keel_str_t){value->name, value->name_size}, &kept.name));
    KEEL_TRY(keep_contents(target, &kept));
    KEEL_TRY(make_room(target, values->count, sizeof *values->list, &list));
    values->list = list;
    values->list[values->count++] = kept;
    return NULL;
}

keel_status_t target_add_text(keel_target_t *target, keel_target_values_t *values, const char *name,
                              keel_str_t text) {
    const PJRT_NamedValue value = {.struct_size = PJRT_NamedValue_STRUCT_SIZE,
                                   .name = name,
                                   .name_size = strlen(name),
                                   .type = PJRT_NamedValue_kString,
                                   .string_value = text.data,
                                   .value_size = text.size};
    return target_add_value(target, values, &value);
}

keel_status_t target_add_variable(keel_target_t *target, const char *name, const char *value) {
    keel_target_variable_t kept;
    void *list = target->environment;
    KEEL_TRY(target_keep(target, keel_str(name), &kept.name));
    KEEL_TRY(target_keep(target, keel_str(value), &kept.value));
    KEEL_TRY(make_room(target, target->variable_count, sizeof kept, &list));
    target->environment = list;
    target->environment[target->variable_count++] = kept;
    return NULL;
}

static keel_status_t check_count(const keel_target_t *target, const PJRT_NamedValue *option) {
    if (option->type == PJRT_NamedValue_kInt64 && option->int64_value == target->device_count)
        return NULL;
    return keel_status_make(KEEL_INVALID,
                            "target %s: devices is %u, and " KEEL_CPU_DEVICES_OPTION
                            " of create_options is another number; correct one of them",
                            target->name, target->device_count);
}

keel_status_t target_count_processors(keel_target_t *target) {
    const keel_target_values_t *options = &target->create_options;
    for (size_t i = 0; i < options->count; ++i)
        if (keel_str_is((keel_str_t){options->list[i].name, options->list[i].name_size},
                        KEEL_CPU_DEVICES_OPTION))
            return check_count(target, &options->list[i]);
    const PJRT_NamedValue value = keel_pjrt_cpu_devices(target->device_count);
    return target_add_value(target, &target->create_options, &value);
}
