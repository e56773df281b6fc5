// Why a program cannot be run here, on one device, with arguments that nobody chose.
#define _GNU_SOURCE
#include <stdio.h>

#include "cli/replay.h"
#include "read/read.h"

// Operations that need somebody else while they run, or give other values each time.
static const struct {
    const char *operation, *why;
} unsuited[] = {
    {"infeed", "it reads from its host while it runs"},
    {"outfeed", "it writes to its host while it runs"},
    {"send", "it sends to others while it runs"},
    {"recv", "it receives from others while it runs"},
    {"rng", "it draws random numbers that no argument decides"},
};

static keel_status_t say(char **out, const char *format, ...) KEEL_PRINTF(2, 3) KEEL_MUST_CHECK;

static keel_status_t say(char **out, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return keel_strdup(keel_str(text), out);
}

static keel_str_t target_of(const keel_program_t *program, keel_op_id_t op) {
    static const char *const names[] = {"call_target_name", "custom_call_target"};
    keel_attr_id_t attributes = program->operations.data[op].attributes;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const keel_attr_t *attr =
            keel_program_attr(program, keel_program_dict_find(program, attributes, names[i]));
        if (attr->kind == KEEL_ATTR_STRING) return keel_program_str(program, attr->a);
    }
    return KEEL_STR("");
}

static keel_status_t look_at(const keel_program_t *program, keel_op_id_t op, char **out) {
    keel_str_t name = keel_program_str(program, keel_program_op_name(program, op)->name);
    for (size_t i = 0; i < sizeof unsuited / sizeof *unsuited; ++i)
        if (keel_str_is(name, unsuited[i].operation))
            return say(out, "%s (%s)", unsuited[i].why, unsuited[i].operation);
    if (!keel_str_is(name, "custom_call") && !keel_str_is(name, "custom-call")) return NULL;
    keel_str_t target = target_of(program, op);
    if (!keel_str_contains(target, "callback")) return NULL;
    return say(out, "it calls back into its client (%.*s)", KEEL_STR_ARGS(target));
}

static keel_status_t look_at_operations(const keel_program_t *program, char **out) {
    for (keel_op_id_t op = 0; op < keel_program_op_count(program) && !*out; ++op)
        KEEL_TRY(look_at(program, op, out));
    return NULL;
}

static keel_status_t look_at_arrays(const keel_signature_t *signature, char **out) {
    const uint64_t most = UINT64_C(1) << 30;
    uint64_t bytes = 0, devices = (uint64_t)signature->replicas * signature->partitions;
    char size[16];
    if (devices > 1)
        return say(out, "it runs on %llu devices together", (unsigned long long)devices);
    for (uint32_t i = 0; i < signature->parameter_count + signature->result_count; ++i) {
        const keel_array_t *array = i < signature->parameter_count
                                        ? &signature->parameters[i]
                                        : &signature->results[i - signature->parameter_count];
        bytes += keel_shape_bytes(&array->whole);
        if (array->memory.size)
            return say(out, "it has an array in memory of the kind %.*s",
                       KEEL_STR_ARGS(array->memory));
    }
    keel_format_size(bytes, size);
    if (bytes > most) return say(out, "its arguments and results have %s, more than 1 GiB", size);
    return NULL;
}

static keel_status_t look(const keel_program_t *program, keel_bytes_t options,
                          keel_signature_t *out_signature, char **out) {
    KEEL_TRY(look_at_operations(program, out));
    if (*out) return NULL;
    keel_status_t status = keel_signature_read(program, options, out_signature);
    if (keel_status_code(status) == KEEL_UNSUPPORTED) {
        keel_status_t said = say(out, "%s", keel_status_message(status));
        keel_status_ignore(status);
        return said;
    }
    KEEL_TRY(status);
    status = look_at_arrays(out_signature, out);
    if (status || *out) keel_signature_deinitialize(out_signature);
    return status;
}

keel_status_t replay_obstacle(keel_bytes_t code, keel_bytes_t options,
                              keel_signature_t *out_signature, char **out) {
    keel_program_t program;
    *out = NULL;
    keel_status_t status = keel_read(code, &program);
    if (!status) {
        status = look(&program, options, out_signature, out);
        keel_program_deinitialize(&program);
    }
    if (!status || keel_status_code(status) == KEEL_NO_MEMORY) return status;
    keel_status_t said = say(out, "it cannot be read: %s", keel_status_message(status));
    keel_status_ignore(status);
    return said;
}
