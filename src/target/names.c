// Targets by name: MODEL[:SHAPE[/PROCESSES]].
#include <stdlib.h>

#include "target/internal.h"
#include "target/models.h"

const char *const keel_target_platform_names[KEEL_TARGET_PLATFORM_COUNT] = {
#define NAME(platform, name) name,
    KEEL_TARGET_PLATFORMS(NAME)
#undef NAME
};

// ---- the list ----------------------------------------------------------------------------------

void keel_target_list(keel_buffer_t *out) {
    static const char *const shapes[] = {"", "", ":2x4", ":2x2x2"};
    static const struct {
        const char *name;
        uint32_t dims;
    } models[] = {
#define CPU(name) {name, 1},
#define GPU(name, ...) {name, 1},
#define TPU(name, kind, accelerator, type_scale, dims, ...) {name, dims},
        KEEL_TARGET_MODELS(CPU, GPU, TPU)
#undef CPU
#undef GPU
#undef TPU
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; ++i)
        keel_buffer_format(out, "%s%s%s", i ? ", " : "", models[i].name,
                           models[i].dims == 1 ? ":N" : shapes[models[i].dims]);
}

size_t keel_target_assumed(const keel_target_t *target, const char *out[KEEL_TARGET_ASSUMED_MOST]) {
    bool is_gpu = target->platform == KEEL_TARGET_CUDA;
    size_t count = 0;
    if (target->platform == KEEL_TARGET_CPU || *target->platform_version) return 0;
    out[count++] = is_gpu ? "driver" : "platform version";
    out[count++] = "memory limit";
    if (!target->topology.size) out[count++] = "topology";
    if (is_gpu) out[count++] = "autotuning";
    return count;
}

static keel_status_t unknown(const char *text) {
    keel_buffer_t list;
    keel_buffer_initialize(&list, 0);
    keel_target_list(&list);
    keel_status_t status = keel_buffer_status(&list);
    if (!status)
        status = keel_status_make(
            KEEL_NOT_FOUND,
            "target %s is unknown; give one of %s, or a JSON file that describes one", text,
            keel_buffer_cstr(&list));
    keel_buffer_deinitialize(&list);
    return status;
}

// ---- shapes ------------------------------------------------------------------------------------

static bool read_number(const char **at, uint32_t *out) {
    uint64_t value = 0;
    const char *start = *at;
    for (; keel_is_digit(**at); ++*at) {
        value = value * 10 + (uint64_t)(**at - '0');
        if (value > TARGET_DEVICES) return false;
    }
    *out = (uint32_t)value;
    return *at > start && value > 0;
}

// "8", "2x4", "2x2x2/1"; an absent shape is "1".
static bool read_shape(const char *text, target_shape_t *out) {
    *out = (target_shape_t){.dims = {1, 1, 1}, .dim_count = 1};
    if (!text) return true;
    uint64_t all = 1;
    for (out->dim_count = 0; out->dim_count < 3;) {
        if (!read_number(&text, &out->dims[out->dim_count])) return false;
        all *= out->dims[out->dim_count++];
        if (all > TARGET_DEVICES) return false;
        if (*text != 'x') break;
        ++text;
    }
    if (*text != '/') return !*text;
    ++text;
    return read_number(&text, &out->processes) && !*text;
}

// ---- reading -----------------------------------------------------------------------------------

static keel_status_t make_cpu(const target_shape_t *shape, keel_target_t *out) {
    uint32_t processes = shape->processes ? shape->processes : 1;
    if (shape->dim_count != 1)
        return keel_status_make(KEEL_INVALID,
                                "target %s: give a number of devices, such as cpu:8, and for "
                                "several processes theirs, such as cpu:8/2",
                                out->name);
    if (shape->dims[0] % processes)
        return keel_status_make(KEEL_INVALID,
                                "target %s: %u devices cannot be split evenly over %u processes",
                                out->name, shape->dims[0], processes);
    out->platform = KEEL_TARGET_CPU;
    out->device_kind = "cpu";
    out->topology_name = "";
    out->device_count = shape->dims[0];
    out->process_count = processes;
    return target_count_processors(out);
}

static keel_status_t read_name(const char *text, keel_target_t *out) {
    static const target_gpu_t gpus[] = {
#define CPU(name)
#define GPU(...) {__VA_ARGS__},
#define TPU(...)
        KEEL_TARGET_MODELS(CPU, GPU, TPU)
#undef GPU
#undef TPU
    };
    static const target_tpu_t tpus[] = {
#define GPU(...)
#define TPU(...) {__VA_ARGS__},
        KEEL_TARGET_MODELS(CPU, GPU, TPU)
#undef CPU
#undef GPU
#undef TPU
    };
    const char *colon = strchr(text, ':');
    keel_str_t model = {text, colon ? (size_t)(colon - text) : strlen(text)};
    target_shape_t shape;
    bool is_good = read_shape(colon ? colon + 1 : NULL, &shape);
    KEEL_TRY(target_keep(out, keel_str(text), &out->name));
    out->platform_version = out->build = "";
    if (is_good && keel_str_is(model, "cpu")) return make_cpu(&shape, out);
    for (size_t i = 0; is_good && i < sizeof gpus / sizeof *gpus; ++i)
        if (keel_str_is(model, gpus[i].name)) return target_make_gpu(&gpus[i], &shape, out);
    for (size_t i = 0; is_good && i < sizeof tpus / sizeof *tpus; ++i)
        if (keel_str_is(model, tpus[i].name)) return target_make_tpu(&tpus[i], &shape, out);
    return unknown(text);
}

// A file has a slash and no colon, or ends in .json.
static bool is_path(const char *text) {
    return strchr(text, '/') && !strchr(text, ':')
               ? true
               : keel_str_ends(keel_str(text), KEEL_STR(".json"));
}

keel_status_t keel_target_read(const char *text, keel_target_t *out) {
    *out = (keel_target_t){0};
    keel_arena_initialize(&out->arena, 0);
    if (!is_path(text)) return read_name(text, out);
    uint8_t *json;
    size_t size;
    KEEL_TRY(keel_status_annotate(keel_file_read(text, TARGET_JSON_LIMIT, &json, &size),
                                  "target %s", text));
    keel_status_t status = keel_target_parse(text, keel_bytes(json, size), out);
    keel_free(json);
    return status;
}

// ---- a part of a slice -------------------------------------------------------------------------

// "2,4,1". False if it is something else.
static bool read_bounds(const char *text, uint32_t out[3]) {
    for (int i = 0; i < 3; ++i) {
        if (!read_number(&text, &out[i])) return false;
        if (*text != (i < 2 ? ',' : 0)) return false;
        text += i < 2;
    }
    return true;
}

static keel_status_t name_part(const char *whole, const uint32_t processes[3],
                               const uint32_t chips[3], keel_buffer_t *out) {
    keel_str_t model = {whole, strcspn(whole, ":")};
    const char *dims = whole + model.size;
    bool is_flat = !strchr(dims, 'x') || strchr(dims, 'x') == strrchr(dims, 'x');
    if (is_path(whole) || (is_flat && processes[2] * chips[2] != 1))
        return keel_status_make(KEEL_UNSUPPORTED,
                                "target %s: TPU_PROCESS_BOUNDS divides it, and only a slice with a "
                                "name such as v6e:2x4 can be divided",
                                whole);
    keel_buffer_format(out, "%.*s:%ux%u", KEEL_STR_ARGS(model), processes[0] * chips[0],
                       processes[1] * chips[1]);
    if (!is_flat) keel_buffer_format(out, "x%u", processes[2] * chips[2]);
    keel_buffer_format(out, "/%u", processes[0] * processes[1] * processes[2]);
    return keel_buffer_status(out);
}

static keel_status_t read_part(const char *whole, const uint32_t processes[3],
                               const uint32_t chips[3], keel_target_t *out) {
    keel_buffer_t name;
    keel_buffer_initialize(&name, 256);
    keel_status_t status = name_part(whole, processes, chips, &name);
    if (!status) {
        keel_target_deinitialize(out);
        status = keel_target_read(keel_buffer_cstr(&name), out);
    }
    keel_buffer_deinitialize(&name);
    return status ? status : target_keep(out, keel_str(whole), &out->name);
}

keel_status_t keel_target_read_here(const char *text, keel_target_t *out) {
    static const char of_processes[] = "TPU_PROCESS_BOUNDS",
                      of_chips[] = "TPU_CHIPS_PER_PROCESS_BOUNDS";
    const char *given = getenv(of_processes), *each = getenv(of_chips);
    uint32_t processes[3], chips[3];
    KEEL_TRY(keel_target_read(text, out));
    if (out->platform != KEEL_TARGET_TPU || !given || !*given || !each || !*each) return NULL;
    if (!read_bounds(given, processes) || !read_bounds(each, chips))
        return keel_status_make(KEEL_INVALID,
                                "%s=%s, %s=%s: each must be three numbers, as in 2,4,1",
                                of_processes, given, of_chips, each);
    return read_part(text, processes, chips, out);
}
