// Which custom calls may be kept. This is an allow-list: unknown calls are refused, because a
// configuration may contain a pointer, a counter or a path that is valid in one process only.
#include "key/key.h"

#include <stdio.h>
#include <stdlib.h>

// These depend only on their content: names that JAX's export guarantees, including linear algebra
// on CPU and GPU by typed FFI; kernels whose code is in the call (tests/targets/keys.py); marks of
// the partitioners; Shardy's own operations, as XLA spells them for plugins that do not know its
// dialect; operations of MHLO written as calls.
static const char *const allowed[] = {
    // LAPACK on CPU: "lapack_" + s, d, c or z + routine + "_ffi" is looked up below.
    "cpu_csr_sparse_dense_ffi", // jaxlib's, as are those of LAPACK: its build is in the key
    "cu_lu_pivots_to_permutation", "hip_lu_pivots_to_permutation", "cusolver_getrf_ffi",
    "hipsolver_getrf_ffi", "cusolver_geqrf_ffi", "hipsolver_geqrf_ffi", "cusolver_orgqr_ffi",
    "hipsolver_orgqr_ffi", "cusolver_potrf_ffi", "hipsolver_potrf_ffi", "cusolver_syevd_ffi",
    "hipsolver_syevd_ffi", "cusolver_gesvd_ffi", "hipsolver_gesvd_ffi", "cusolver_gesvdj_ffi",
    "hipsolver_gesvdj_ffi", "hipsolver_gesdd_ffi", "cusolver_sytrd_ffi", "hipsolver_sytrd_ffi",
    "cusparse_gtsv2_ffi", "cu_threefry2x32_ffi", "hip_threefry2x32_ffi", "Sharding",
    "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement",
    "LayoutConstraint", // without a configuration: XLA assigns the layout and may copy
    "xla.sdy.FuncResultSharding", "xla.sdy.ShardingGroup", "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape", "local_xla.sdy.ManualComputation", "xla.sdy.PropagationBarrier",
    "Eigh", "Qr", "ProductOfElementaryHouseholderReflectors", "LuDecomposition", "ApproxTopK",
    "stablehlo.dynamic_approx_top_k", "stablehlo.dynamic_reduce_window",
    "stablehlo.dynamic_rng_bit_generator", "stablehlo.dynamic_top_k", "shape_assertion",
    "AllocateBuffer", "tpu_custom_call",
    "__gpu$xla.gpu.triton", // Pallas: the kernel's own code, which XLA compiles
                            // (tests/targets/keys.py)
    "TopK", "mhlo.topk", "mhlo.erf", "mhlo.erf_inv", "mhlo.tan", "mhlo.acos", "mhlo.acosh",
    "mhlo.asin", "mhlo.asinh", "mhlo.atan", "mhlo.atanh", "mhlo.cosh", "mhlo.sinh", NULL};

static const char *const lapack_routines[] = {"potrf", "geqrf", "orgqr", "ungqr", "ormqr", "unmqr",
                                              "syevd", "heevd", "geev",  "gesdd", "getrf", "sytrd",
                                              "hetrd", "gehrd", "gees",  "trsm",  "gtsv",  NULL};

// The function that such a call runs is passed at execution, by its number in the program.
static const char *const callbacks[] = {"xla_ffi_python_cpu_callback",
                                        "xla_ffi_python_gpu_callback",
                                        "xla_ffi_partitioned_python_cpu_callback",
                                        "xla_ffi_partitioned_python_gpu_callback",
                                        "xla_buffer_python_cpu_callback",
                                        "xla_buffer_python_gpu_callback",
                                        NULL};

static const struct {
    const char *target, *why;
    bool by_address;
} refused[] = {
    {"CustomSPMDPartitioning", "embeds the address of a host object", true},
    {"InspectSharding", "embeds host pointers and calls back while compiling", true},
    {"xla_python_cpu_callback", "embeds a host pointer", true},
    {"xla_python_gpu_callback", "embeds a host pointer", true},
    {"triton_kernel_call", "carries a kernel that is not known to be complete", false},
    {"triton_kernel_call_ffi", "carries a kernel that is not known to be complete", false},
    {"mosaic_gpu", "carries a kernel that is not known to be complete", false},
    {"mosaic_gpu_v2", "carries a kernel that is not known to be complete", false},
    {"tf.call_tf_function", "names a function that the client keeps", false},
};

static bool is_lapack(keel_str_t name) {
    static const char head[] = "lapack_", tail[] = "_ffi";
    if (name.size < 13 || memcmp(name.data, head, 7) != 0 || !memchr("sdcz", name.data[7], 4) ||
        memcmp(name.data + name.size - 4, tail, 4) != 0)
        return false;
    return keel_str_is_one_of((keel_str_t){name.data + 8, name.size - 12}, lapack_routines);
}

static bool is_listed_call(const char *list, keel_str_t name) {
    if (!list || !name.size) return false;
    for (const char *at = list;; ++at) {
        size_t size = strcspn(at, ",");
        const char *begin = at, *end = at + size;
        while (begin < end && strchr(" \t", *begin))
            ++begin;
        while (end > begin && strchr(" \t", end[-1]))
            --end;
        if (keel_str_equal(name, (keel_str_t){begin, (size_t)(end - begin)})) return true;
        at += size;
        if (!*at) return false;
    }
}

// ---- one call ----------------------------------------------------------------------------------

typedef struct call_t {
    const keel_program_t *program;
    keel_attr_id_t attributes;
    keel_str_t target;
    bool typed; // typed FFI: its configuration is a dictionary of typed attributes
} call_t;

static const keel_attr_t *find_attribute(const call_t *call, const char *name) {
    keel_attr_id_t id = keel_program_dict_find(call->program, call->attributes, name);
    return id == KEEL_NONE ? NULL : &call->program->attrs.data[id];
}

static bool find_str(const call_t *call, const char *name, keel_str_t *out) {
    const keel_attr_t *attr = find_attribute(call, name);
    if (!attr || attr->kind != KEEL_ATTR_STRING) return false;
    *out = keel_program_str(call->program, attr->a);
    return true;
}

enum { TYPED_FFI = 4 };

static bool is_typed(const call_t *call) {
    const keel_attr_t *version = find_attribute(call, "api_version");
    if (!version) version = find_attribute(call, "custom_call_api_version");
    if (version && version->kind == KEEL_ATTR_ENUM && version->a == TYPED_FFI) return true;
    // VHLO says ORIGINAL for these too, and stores the dictionary next to an empty string.
    const keel_attr_t *config = find_attribute(call, "mhlo.backend_config");
    return config && config->kind == KEEL_ATTR_DICT;
}

// Whether the text looks like a printed pointer: only a number, too large to be a count.
static bool is_pointer_text(keel_str_t text) {
    size_t at = 0, digits = 0;
    bool hex = text.size > 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x';
    for (at = hex ? 2 : 0; at < text.size; ++at, ++digits) {
        char c = text.data[at];
        bool is_digit = c >= '0' && c <= '9';
        if (!is_digit && !(hex && (c | 0x20) >= 'a' && (c | 0x20) <= 'f')) return false;
    }
    return digits >= (hex ? 8 : 9);
}

static bool is_utf8(keel_str_t text) {
    for (size_t at = 0, size; at < text.size; at += size)
        if (!(size = keel_utf8_length(text, at))) return false;
    return true;
}

// In a dictionary: {index = 3 : ui64}; in HLO: the same as text.
static bool has_only_a_small_index(const call_t *call) {
    enum { LIMIT = 1 << 20 };
    const keel_attr_t *config = find_attribute(call, "mhlo.backend_config");
    const keel_program_t *program = call->program;
    if (config && config->kind == KEEL_ATTR_DICT) {
        keel_list_t pairs = keel_program_list(program, config->b);
        if (pairs.count != 2 || !keel_str_is(keel_program_str(program, pairs.items[0]), "index"))
            return false;
        const keel_attr_t *index = &program->attrs.data[pairs.items[1]];
        return index->kind == KEEL_ATTR_INT && program->ints.data[index->b] >= 0 &&
               program->ints.data[index->b] < LIMIT;
    }
    keel_str_t text;
    if (!find_str(call, "backend_config", &text) || text.size > 40) return false;
    char copy[48];
    unsigned value;
    int end = 0;
    memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    bool matches = sscanf(copy, "{index = %7u : ui64}%n", &value, &end) == 1;
    return matches && (size_t)end == text.size && value < LIMIT;
}

// NULL if the call may be kept.
static const char *why_not(const call_t *call, const char *vouched) {
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i)
        if (keel_str_is(call->target, refused[i].target)) return refused[i].why;
    if (keel_str_is_one_of(call->target, callbacks))
        return has_only_a_small_index(call) ? NULL : "is configured by more than an index";
    bool known = is_lapack(call->target) || keel_str_is_one_of(call->target, allowed);
    bool listed = is_listed_call(vouched, call->target);
    if (!known && listed && !call->typed) return "is vouched for, but is not a typed FFI call";
    if (!known && !listed) return KEEL_KEY_UNKNOWN_CALL;
    keel_str_t config;
    if (find_str(call, "backend_config", &config) && (is_pointer_text(config) || !is_utf8(config)))
        return "may embed a pointer";
    return NULL;
}

static void refuse_call(keel_cacheable_t *out, keel_str_t target, const char *why) {
    out->yes = false;
    snprintf(out->target, sizeof out->target, "%.*s", KEEL_STR_ARGS(target));
    snprintf(out->reason, sizeof out->reason, "custom call '%.100s' %s", out->target, why);
}

static bool find_target(call_t *call) {
    return find_str(call, "call_target_name", &call->target) ||
           find_str(call, "custom_call_target", &call->target);
}

bool keel_key_calls_by_address(const keel_program_t *program, keel_attr_id_t attributes) {
    call_t call = {.program = program, .attributes = attributes};
    keel_str_t config;
    if (!find_target(&call)) return false;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i)
        if (refused[i].by_address && keel_str_is(call.target, refused[i].target)) return true;
    return find_str(&call, "backend_config", &config) && is_pointer_text(config);
}

static void check_call(const keel_program_t *program, keel_attr_id_t attributes,
                       const char *vouched, keel_cacheable_t *out) {
    call_t call = {.program = program, .attributes = attributes};
    if (!find_target(&call)) {
        refuse_call(out, KEEL_STR(""), "has no readable target");
        return;
    }
    call.typed = is_typed(&call);
    const char *why = why_not(&call, vouched);
    if (why) refuse_call(out, call.target, why);
}

// ---- all operations ----------------------------------------------------------------------------

typedef enum kind { PLAIN, CALL, TRANSFER } kind_t;

static kind_t kind_of(const keel_program_t *program, const keel_op_name_t *name) {
    static const char *const calls[] = {"custom_call", "custom-call", NULL};
    static const char *const transfers[] = {"send", "recv", "send-done", "recv-done", NULL};
    keel_str_t text = keel_program_str(program, name->name);
    return keel_str_is_one_of(text, calls)       ? CALL
           : keel_str_is_one_of(text, transfers) ? TRANSFER
                                                 : PLAIN;
}

// Few programs have any of them, and then only a few operation names match.
static bool has_any(const keel_program_t *program) {
    for (uint32_t i = 0; i < program->op_names.count; ++i)
        if (kind_of(program, &program->op_names.data[i]) != PLAIN) return true;
    return false;
}

static bool is_host_transfer(const keel_program_t *program, keel_attr_id_t attributes) {
    keel_attr_id_t id = keel_program_dict_find(program, attributes, "is_host_transfer");
    if (id == KEEL_NONE) return false;
    const keel_attr_t *attr = &program->attrs.data[id];
    if (attr->kind == KEEL_ATTR_BOOL) return attr->a != 0;
    return attr->kind != KEEL_ATTR_INT || program->ints.data[attr->b] != 0;
}

static void check_operation(const keel_program_t *program, keel_op_id_t op, const char *vouched,
                            keel_cacheable_t *out) {
    const keel_op_name_t *name = keel_program_op_name(program, op);
    keel_attr_id_t attributes = program->operations.data[op].attributes;
    kind_t kind = kind_of(program, name);
    if (kind == CALL) check_call(program, attributes, vouched, out);
    if (kind != TRANSFER || !is_host_transfer(program, attributes)) return;
    out->yes = false;
    snprintf(out->reason, sizeof out->reason,
             "operation '%.*s' moves data to or from host code that the client keeps",
             KEEL_STR_ARGS(keel_program_str(program, name->name)));
}

void keel_key_cacheable(const keel_program_t *program, const char *vouched, keel_cacheable_t *out) {
    *out = (keel_cacheable_t){.yes = true};
    if (!has_any(program)) return;
    uint32_t count = keel_program_op_count(program);
    for (keel_op_id_t op = 0; op < count && out->yes; ++op)
        check_operation(program, op, vouched, out);
}

// ---- functions of the client -------------------------------------------------------------------

static int compare_names(const void *a, const void *b) {
    return keel_str_compare(*(const keel_str_t *)a, *(const keel_str_t *)b);
}

keel_status_t keel_key_calls(const keel_program_t *program, keel_str_t **out, size_t *out_count) {
    void *memory;
    size_t count = 0, kept = 0;
    uint32_t op_count = has_any(program) ? keel_program_op_count(program) : 0;
    for (keel_op_id_t op = 0; op < op_count; ++op)
        count += kind_of(program, keel_program_op_name(program, op)) == CALL;
    KEEL_TRY(keel_calloc(count + 1, sizeof **out, &memory));
    keel_str_t *targets = *out = memory;
    count = 0;
    for (keel_op_id_t op = 0; op < op_count; ++op) {
        call_t call = {.program = program, .attributes = program->operations.data[op].attributes};
        if (kind_of(program, keel_program_op_name(program, op)) == CALL && find_target(&call))
            targets[count++] = call.target;
    }
    qsort(targets, count, sizeof *targets, compare_names);
    for (size_t i = 0; i < count; ++i)
        if (!kept || !keel_str_equal(targets[kept - 1], targets[i])) targets[kept++] = targets[i];
    *out_count = kept;
    return NULL;
}

keel_status_t keel_key_calls_back(const keel_program_t *program, bool *out) {
    keel_str_t *targets;
    size_t count;
    KEEL_TRY(keel_key_calls(program, &targets, &count));
    *out = false;
    for (size_t i = 0; i < count && !*out; ++i)
        *out = keel_str_is_one_of(targets[i], callbacks);
    keel_free(targets);
    return NULL;
}

// A callback's kernel only passes the call on to a function that is not part of the program.
static keel_status_t write_builds(const keel_str_t *targets, size_t count,
                                  keel_build_of_t *build_of, void *context, keel_buffer_t *out) {
    for (size_t i = 0; i < count; ++i) {
        bool is_known;
        keel_digest_t build;
        if (keel_str_is_one_of(targets[i], callbacks)) continue;
        KEEL_TRY(build_of(context, targets[i], &is_known, &build));
        if (!is_known) continue;
        char hex[KEEL_DIGEST_HEX];
        keel_digest_hex(&build, hex);
        keel_buffer_format(out, "%.*s=%s\n", KEEL_STR_ARGS(targets[i]), hex);
    }
    return keel_buffer_status(out);
}

keel_status_t keel_key_set_kernels(keel_key_t *key, const keel_program_t *program,
                                   keel_build_of_t *build_of, void *context) {
    if (!has_any(program)) return NULL;
    keel_str_t *targets;
    size_t count;
    keel_buffer_t text;
    KEEL_TRY(keel_key_calls(program, &targets, &count));
    keel_buffer_initialize(&text, 0);
    keel_status_t status = write_builds(targets, count, build_of, context, &text);
    if (!status && text.size)
        status = keel_key_set(key, KEEL_COMPONENT_KERNELS, keel_buffer_bytes(&text),
                              keel_bytes_str(keel_buffer_bytes(&text)));
    keel_buffer_deinitialize(&text);
    keel_free(targets);
    return status;
}
