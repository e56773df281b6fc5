// Works on programs with the embedded plugin, for run.py: worker PLUGIN. Each line of its input is
// a task, answered by lines of which the last one is ".":
//
//   rewrite PATH      compiles the program as it is and as keel_write_* writes it, and compares the
//                     optimized programs: "same", "differs: WHERE", "refused: WHY" (both forms),
//                     "only written refused: WHY", "only original refused: WHY", "not written: WHY"
//   slices PATH MOST  for at most MOST results: "slice R: WHAT", one of "same" (bits), "near",
//   "differs: HOW",
//                     "compiled" (the whole program does not run), "obstacle: WHAT", "refused: WHY"
//
// A task that ends the process is run.py's to tell.
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "needs/needs.h"
#include "read/read.h"
#include "read/write.h"

// A program that costs more is compiled, but not run.
static const double most_work = 3e8;
static const uint64_t most_bytes = 1u << 28;

typedef struct source_t {
    uint8_t *bytes;
    size_t size;
    keel_program_t program;
} source_t;

static keel_status_t open_source(const char *path, source_t *out) {
    KEEL_TRY(keel_file_read(path, KEEL_READ_SIZE_LIMIT, &out->bytes, &out->size));
    keel_status_t status = keel_read(keel_bytes(out->bytes, out->size), &out->program);
    if (status) keel_free(out->bytes);
    return status;
}

static void close_source(source_t *source) {
    keel_program_deinitialize(&source->program);
    keel_free(source->bytes);
}

// One line, whatever the message has.
static void answer(const char *what, keel_status_t status) {
    const char *text = keel_status_message(status);
    printf("%s", what);
    for (size_t i = 0; text[i] && i < 400; ++i)
        putchar(text[i] == '\n' ? ' ' : text[i]);
    putchar('\n');
    keel_status_ignore(status);
}

static const char *format_of(const keel_program_t *program) {
    return keel_format_name(program->format);
}

static keel_status_t put_program(const keel_program_t *program, keel_buffer_t *out) {
    return program->format == KEEL_FORMAT_HLO ? keel_write_hlo(program, out)
                                              : keel_write_mlir(program, out);
}

// ---- written programs --------------------------------------------------------------------------

static unsigned partitions_of(const keel_program_t *program) {
    int64_t count = keel_program_number(
        program, keel_program_dict_find(program, program->attributes, "mhlo.num_partitions"), 1);
    return count > 0 && count <= 4 ? (unsigned)count : 1;
}

static keel_status_t compile_and_print(const device_t *device, const char *format,
                                       keel_bytes_t code, unsigned partitions, keel_buffer_t *out) {
    PJRT_LoadedExecutable *loaded;
    KEEL_TRY(device_compile(device, format, code, partitions, &loaded));
    keel_status_t status = device_optimized(device, loaded, out);
    keel_pjrt_destroy_loaded(device->plugin.api, loaded);
    return status;
}

static void say_difference(const keel_buffer_t *a, const keel_buffer_t *b) {
    keel_str_t left = keel_bytes_str(keel_buffer_bytes(a)), x = {0};
    keel_str_t right = keel_bytes_str(keel_buffer_bytes(b)), y = {0};
    bool more = keel_str_line(&left, &x), also = keel_str_line(&right, &y);
    while (more && also && keel_str_equal(x, y)) {
        more = keel_str_line(&left, &x);
        also = keel_str_line(&right, &y);
    }
    if (!more && !also)
        printf("same\n");
    else
        printf("differs: %.*s | %.*s\n", more ? (int)(x.size < 200 ? x.size : 200) : 0, x.data,
               also ? (int)(y.size < 200 ? y.size : 200) : 0, y.data);
}

static void rewrite(const device_t *device, const source_t *source) {
    const char *format = format_of(&source->program);
    unsigned partitions = partitions_of(&source->program);
    keel_buffer_t code, before, after;
    keel_buffer_initialize(&code, 0);
    keel_buffer_initialize(&before, 0);
    keel_buffer_initialize(&after, 0);
    keel_status_t status = put_program(&source->program, &code);
    if (status) {
        answer("not written: ", status);
    } else {
        keel_status_t original = compile_and_print(
            device, format, keel_bytes(source->bytes, source->size), partitions, &before);
        keel_status_t written =
            compile_and_print(device, format, keel_buffer_bytes(&code), partitions, &after);
        if (original && written) {
            keel_status_ignore(original);
            answer("refused: ", written);
        } else if (written) {
            answer("only written refused: ", written);
        } else if (original) {
            answer("only original refused: ", original);
        } else {
            say_difference(&before, &after);
        }
    }
    keel_buffer_deinitialize(&code);
    keel_buffer_deinitialize(&before);
    keel_buffer_deinitialize(&after);
}

// ---- random arguments --------------------------------------------------------------------------

static uint64_t next_random(uint64_t *state) { // splitmix64
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void put_random(uint8_t *at, PJRT_Buffer_Type type, size_t size, uint64_t *state) {
    uint64_t bits = next_random(state), small = bits >> 32 & 7;
    double number = (double)(bits >> 11) * 0x1p-52 - 1; // in [-1, 1)
    float single = (float)number;
    uint32_t word;
    memcpy(&word, &single, 4);
    switch (type) {
        case PJRT_Buffer_Type_F64:
        case PJRT_Buffer_Type_C128:
            memcpy(at, &number, 8);
            if (size == 16) memcpy(at + 8, &number, 8);
            return;
        case PJRT_Buffer_Type_F32:
        case PJRT_Buffer_Type_C64:
            memcpy(at, &single, 4);
            if (size == 8) memcpy(at + 4, &single, 4);
            return;
        case PJRT_Buffer_Type_BF16:
            word >>= 16;
            memcpy(at, &word, 2);
            return;
        case PJRT_Buffer_Type_F16: // some number in [0.25, 4)
            word = 0x3400 + (uint32_t)(bits & 0xfff);
            memcpy(at, &word, 2);
            return;
        case PJRT_Buffer_Type_F8E5M2:
        case PJRT_Buffer_Type_F8E4M3FN:
            *at = (uint8_t)(0x30 + (bits & 7));
            return;
        case PJRT_Buffer_Type_PRED:
            *at = bits & 1;
            return;
        case PJRT_Buffer_Type_U32:
            memcpy(at, &bits, 4); // keys of random numbers are such
            return;
        default:
            memcpy(at, &small, size); // indices and counters
    }
}

static void make_random(const keel_program_t *program, keel_type_id_t type, uint64_t seed,
                        array_t *out) {
    size_t size = device_size(program, type), count = 1, item;
    keel_ints_t dims = keel_program_ints(program, keel_program_type(program, type)->b);
    for (uint32_t i = 0; i < dims.count; ++i)
        count *= (size_t)dims.items[i];
    item = count ? size / count : 0;
    out->data = calloc(size + 1, 1);
    out->size = size;
    if (!out->data) abort();
    for (size_t i = 0; i < count; ++i)
        put_random(out->data + i * item, device_type(program, type), item, &seed);
}

// ---- comparing ---------------------------------------------------------------------------------

static double number_at(const array_t *array, PJRT_Buffer_Type type, size_t at) {
    uint32_t word = 0;
    uint16_t half;
    float single;
    double number;
    switch (type) {
        case PJRT_Buffer_Type_F64:
        case PJRT_Buffer_Type_C128:
            memcpy(&number, array->data + at * 8, 8);
            return number;
        case PJRT_Buffer_Type_BF16:
            memcpy(&half, array->data + at * 2, 2);
            word = (uint32_t)half << 16;
            memcpy(&single, &word, 4);
            return single;
        case PJRT_Buffer_Type_F16:
            memcpy(&half, array->data + at * 2, 2);
            if ((half >> 10 & 31) == 31)
                return half & 1023 ? NAN : half >> 15 ? -INFINITY : INFINITY;
            number = half >> 10 & 31 ? ldexp(1024 + (half & 1023), (half >> 10 & 31) - 25)
                                     : ldexp(half & 1023, -24);
            return half >> 15 ? -number : number;
        default:
            memcpy(&single, array->data + at * 4, 4);
            return single;
    }
}

// How much floats of a type may differ, as a share of the largest: what is fused and added in
// another order. 0 for types that are exact.
static double tolerance(PJRT_Buffer_Type type, size_t *out_size) {
    switch (type) {
        case PJRT_Buffer_Type_F64:
        case PJRT_Buffer_Type_C128:
            *out_size = 8;
            return 1e-13;
        case PJRT_Buffer_Type_F32:
        case PJRT_Buffer_Type_C64:
            *out_size = 4;
            return 1e-5;
        case PJRT_Buffer_Type_F16:
        case PJRT_Buffer_Type_BF16:
            *out_size = 2;
            return 0.01;
        default:
            return 0;
    }
}

static void compare(uint32_t result, PJRT_Buffer_Type type, const array_t *whole,
                    const array_t *slice) {
    size_t item = 1;
    double most = tolerance(type, &item), largest = 0, off = 0;
    bool is_same = whole->size == slice->size && !memcmp(whole->data, slice->data, whole->size);
    if (is_same || !most || whole->size != slice->size) {
        printf("slice %u: %s\n", result, is_same ? "same" : "differs: its bits");
        return;
    }
    for (size_t i = 0; i < whole->size / item; ++i) {
        double a = number_at(whole, type, i), b = number_at(slice, type, i);
        if ((isnan(a) && isnan(b)) || a == b) continue;
        double by = fabs(a - b);
        off = isfinite(by) ? fmax(off, by) : INFINITY;
    }
    for (size_t i = 0; i < whole->size / item; ++i) {
        double a = fabs(number_at(whole, type, i));
        if (isfinite(a)) largest = fmax(largest, a);
    }
    if (off <= most * largest)
        printf("slice %u: near: by %.2g of %.2g\n", result, off, largest);
    else
        printf("slice %u: differs: by %g of %g\n", result, off, largest);
}

// ---- slices ------------------------------------------------------------------------------------

typedef struct whole_t {
    const device_t *device;
    const source_t *source;
    keel_needs_t *needs;
    uint32_t argument_count, result_count;
    keel_type_id_t *argument_types, *result_types;
    array_t *arguments, *results;
    bool has_run;
} whole_t;

static void find_types(whole_t *w) {
    const keel_program_t *program = &w->source->program;
    const keel_block_t *body = keel_program_body(program, program->entry);
    const keel_function_t *entry = &program->functions.data[program->entry];
    bool is_hlo = program->format == KEEL_FORMAT_HLO;
    for (keel_op_id_t op = body->first_op; op < body->end_op && is_hlo; ++op) {
        if (!keel_str_is(keel_program_str(program, keel_program_op_name(program, op)->name),
                         "parameter"))
            continue;
        keel_attr_id_t number = keel_program_dict_find(
            program, program->operations.data[op].attributes, "parameter_number");
        w->argument_types[keel_program_number(program, number, 0)] = program->value_types.data[op];
    }
    for (uint32_t i = 0; i < w->argument_count && !is_hlo; ++i)
        w->argument_types[i] = program->value_types.data[body->first_argument + i];
    keel_type_id_t root = is_hlo ? program->value_types.data[entry->root] : KEEL_NONE;
    keel_list_t results =
        keel_program_list(program, is_hlo ? keel_program_type(program, root)->b
                                          : keel_program_type(program, entry->type)->c);
    bool is_tuple = !is_hlo || keel_program_type(program, root)->kind == KEEL_TYPE_TUPLE;
    for (uint32_t i = 0; i < w->result_count; ++i)
        w->result_types[i] = is_tuple ? results.items[i] : root;
}

// This client sends and reads arrays row by row.
static bool has_layouts(const keel_program_t *program, keel_attr_id_t attributes) {
    keel_list_t list = keel_program_array(program, attributes);
    for (uint32_t i = 0; i < list.count; ++i) {
        const keel_attr_t *mode = keel_program_attr(
            program, keel_program_dict_find(program, list.items[i], "mhlo.layout_mode"));
        if (mode->kind == KEEL_ATTR_STRING &&
            !keel_str_is(keel_program_str(program, mode->a), "default"))
            return true;
    }
    return false;
}

static bool can_run(const whole_t *w, const keel_need_t *need) {
    const keel_program_t *program = &w->source->program;
    const keel_function_t *entry = &program->functions.data[program->entry];
    if (has_layouts(program, entry->argument_attributes) ||
        has_layouts(program, entry->result_attributes))
        return false;
    bool can = !need->obstacle && !need->across && need->work <= most_work &&
               need->bytes <= most_bytes && need->is_bounded;
    for (uint32_t i = 0; i < w->argument_count && can; ++i)
        can = device_type(program, w->argument_types[i]) != PJRT_Buffer_Type_INVALID;
    for (uint32_t i = 0; i < w->result_count && can; ++i)
        can = device_type(program, w->result_types[i]) != PJRT_Buffer_Type_INVALID;
    return can;
}

// As it is, or if it is too new for the plugin, as Keel writes it.
static keel_status_t compile_whole(const whole_t *w, PJRT_LoadedExecutable **out) {
    const source_t *source = w->source;
    keel_buffer_t code;
    keel_status_t status = device_compile(w->device, format_of(&source->program),
                                          keel_bytes(source->bytes, source->size), 1, out);
    if (!status) return NULL;
    keel_status_ignore(status);
    keel_buffer_initialize(&code, 0);
    status = put_program(&source->program, &code);
    if (!status)
        status = device_compile(w->device, format_of(&source->program), keel_buffer_bytes(&code), 1,
                                out);
    keel_buffer_deinitialize(&code);
    return status;
}

static keel_status_t run_whole(whole_t *w) {
    uint32_t *all = calloc(w->result_count + 1, sizeof *all);
    keel_need_t need;
    PJRT_LoadedExecutable *loaded;
    if (!all) abort();
    for (uint32_t i = 0; i < w->result_count; ++i)
        all[i] = i;
    keel_status_t status = keel_needs_of(w->needs, all, w->result_count, UINT32_MAX, &need);
    free(all);
    if (status || !can_run(w, &need)) return status;
    const source_t *source = w->source;
    status = compile_whole(w, &loaded);
    if (status) {
        keel_status_ignore(status);
        return NULL;
    }
    for (uint32_t i = 0; i < w->argument_count; ++i)
        make_random(&source->program, w->argument_types[i], i, &w->arguments[i]);
    status = device_run(w->device, loaded, &source->program, w->argument_types, w->arguments,
                        w->argument_count, w->results, w->result_count);
    w->has_run = !status;
    keel_pjrt_destroy_loaded(w->device->plugin.api, loaded);
    return status ? keel_status_annotate(status, "the whole program") : NULL;
}

static keel_status_t run_slice(const whole_t *w, uint32_t result, const keel_need_t *need,
                               PJRT_LoadedExecutable *loaded) {
    uint32_t count = need->arguments.count;
    array_t *arguments = calloc(count + 1, sizeof *arguments), got = {0};
    keel_type_id_t *types = calloc(count + 1, sizeof *types);
    if (!arguments || !types) abort();
    for (uint32_t i = 0; i < count; ++i) {
        arguments[i] = w->arguments[need->arguments.items[i]];
        types[i] = w->argument_types[need->arguments.items[i]];
    }
    keel_status_t status =
        device_run(w->device, loaded, &w->source->program, types, arguments, count, &got, 1);
    if (!status)
        compare(result, device_type(&w->source->program, w->result_types[result]),
                &w->results[result], &got);
    keel_free(got.data);
    free(arguments);
    free(types);
    return status;
}

static keel_status_t compile_slice(const whole_t *w, uint32_t result, PJRT_LoadedExecutable **out) {
    keel_program_t slice;
    keel_buffer_t code;
    KEEL_TRY(keel_needs_program(w->needs, &result, 1, &slice));
    keel_buffer_initialize(&code, 0);
    keel_status_t status = put_program(&slice, &code);
    if (!status)
        status = device_compile(w->device, format_of(&slice), keel_buffer_bytes(&code), 1, out);
    keel_buffer_deinitialize(&code);
    keel_program_deinitialize(&slice);
    return status;
}

static void try_slice(const whole_t *w, uint32_t result) {
    PJRT_LoadedExecutable *loaded = NULL;
    keel_need_t need;
    char what[64];
    snprintf(what, sizeof what, "slice %u: refused: ", result);
    keel_status_t status = compile_slice(w, result, &loaded);
    keel_status_t asked = keel_needs_of(w->needs, &result, 1, UINT32_MAX, &need);
    if (asked) {
        answer(what, asked);
    } else if (status && (need.obstacle || need.across)) {
        printf("slice %u: obstacle: %s\n", result, need.obstacle ? need.obstacle : need.across);
        keel_status_ignore(status);
        status = NULL;
    } else if (!status && w->has_run) {
        status = run_slice(w, result, &need, loaded);
    } else if (!status) {
        printf("slice %u: compiled\n", result);
    }
    if (status) answer(what, status);
    if (loaded) keel_pjrt_destroy_loaded(w->device->plugin.api, loaded);
}

static void free_arrays(array_t *arrays, uint32_t count, bool is_received) {
    for (uint32_t i = 0; i < count; ++i)
        if (is_received)
            keel_free(arrays[i].data);
        else
            free(arrays[i].data);
    free(arrays);
}

static void slices(const device_t *device, const source_t *source, uint32_t most) {
    whole_t w = {.device = device, .source = source};
    keel_status_t status = keel_needs_create(&source->program, &w.needs);
    if (status) {
        answer("no slices: ", status);
        return;
    }
    w.argument_count = keel_needs_argument_count(w.needs);
    w.result_count = keel_needs_result_count(w.needs);
    w.argument_types = calloc(w.argument_count + 1, sizeof *w.argument_types);
    w.result_types = calloc(w.result_count + 1, sizeof *w.result_types);
    w.arguments = calloc(w.argument_count + 1, sizeof *w.arguments);
    w.results = calloc(w.result_count + 1, sizeof *w.results);
    if (!w.argument_types || !w.result_types || !w.arguments || !w.results) abort();
    find_types(&w);
    status = w.result_count ? run_whole(&w) : NULL;
    if (status) answer("whole: refused: ", status);
    // All of them, or as many spread over them.
    uint32_t count = w.result_count < most ? w.result_count : most;
    for (uint32_t i = 0; i < count; ++i)
        try_slice(&w, (uint32_t)((uint64_t)i * w.result_count / count));
    free_arrays(w.arguments, w.argument_count, false);
    free_arrays(w.results, w.result_count, true);
    free(w.argument_types);
    free(w.result_types);
    keel_needs_destroy(w.needs);
}

// ------------------------------------------------------------------------------------------------

static void work(const device_t *device, char *line) {
    char *path = strchr(line, ' '), *most = NULL;
    source_t source;
    if (!path) return;
    *path++ = 0;
    if (strcmp(line, "slices") == 0) most = strrchr(path, ' ');
    if (most) *most++ = 0;
    keel_status_t status = open_source(path, &source);
    if (status) {
        answer("not read: ", status);
        return;
    }
    if (most)
        slices(device, &source, (uint32_t)strtoul(most, NULL, 10));
    else
        rewrite(device, &source);
    close_source(&source);
}

int main(int count, char **arguments) {
    device_t device;
    char *line = NULL;
    size_t capacity = 0;
    if (count != 2) {
        fprintf(stderr, "usage: worker PLUGIN\n");
        return 2;
    }
    keel_status_t status = device_open(arguments[1], &device);
    if (status) {
        fprintf(stderr, "worker: %s\n", keel_status_message(status));
        return 1;
    }
    for (ssize_t size; (size = getline(&line, &capacity, stdin)) > 0;) {
        if (line[size - 1] == '\n') line[size - 1] = 0;
        work(&device, line);
        printf(".\n");
        fflush(stdout);
    }
    free(line);
    return 0;
}
