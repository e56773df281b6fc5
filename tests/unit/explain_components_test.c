// Values as clients and plugins give them: those of XLA CPU plugins and of JAX are in the samples
// and below, as recorded.
#define _GNU_SOURCE // nftw
#include "place.h"

#include "explain/explain.h"
#include "key_build.h"

typedef struct stage_t {
    keel_key_t before, after;
    keel_explanation_t explanation;
} stage_t;

static void set(keel_key_t *key, keel_component_t component, const char *value) {
    assert_ok(keel_key_set(key, component, keel_str_bytes(keel_str(value)), keel_str(value)));
}

static void set_digest(keel_key_t *key, keel_component_t component, const char *canonical,
                       const char *value) {
    assert_ok(keel_key_set(key, component, keel_str_bytes(keel_str(canonical)), keel_str(value)));
}

static const char BUILD_A[] = "61c02c9a4c68b7788def7061da6d9a8e25771fb0dc93691c1e989d66a3205d5d";
static const char BUILD_B[] = "4f8eaf249311cb6592a2969d664e40a30f3444d7caaa355814b5cd265095919f";
static const char PLATFORM_A[] = "name=\"cpu\"\nversion=\"cpu\"\napi=0.81\n"
                                 "stablehlo_current_version=1,13,3\n"
                                 "stablehlo_minimum_version=0,9,0\nxla_version=2\n";
static const char PLATFORM_B[] = "name=\"cpu\"\nversion=\"cpu\"\napi=0.115\n"
                                 "stablehlo_current_version=1,20,0\n"
                                 "stablehlo_minimum_version=0,9,0\nxla_version=2\n";
static const char CPU[] = "vendor=AuthenticAMD\ncpuid.1.0=a10f10,0,7ffa3203,178bfbff\n"
                          "cpuid.7.0=0,f1bf07ab,405fc6,10\nxcr0=e7\ncpus=2\n";
static const char OPTIONS[] = "device_ordinal=-1\nnum_replicas=1\nnum_partitions=1\n"
                              "use_spmd_partitioning=1\nprocess_count=1\nprofile_version=-1\n"
                              "debug.31=3\ndebug.99=0\ndebug.122=1\ndebug.337=0\n";

static void set_all(keel_key_t *key) {
    keel_key_initialize(key);
    set(key, KEEL_COMPONENT_PROGRAM, "");
    set(key, KEEL_COMPONENT_OPTIONS, OPTIONS);
    set(key, KEEL_COMPONENT_XLA_FLAGS, "");
    set(key, KEEL_COMPONENT_LIBTPU_FLAGS, "");
    set(key, KEEL_COMPONENT_ENVIRONMENT, "");
    set(key, KEEL_COMPONENT_PLUGIN_BUILD, BUILD_A);
    set(key, KEEL_COMPONENT_PLATFORM, PLATFORM_A);
    set(key, KEEL_COMPONENT_TOPOLOGY, "1068 bytes serialized");
    set(key, KEEL_COMPONENT_DEVICE_KINDS, "4 x cpu\nprocesses=1\n");
    set_digest(key, KEEL_COMPONENT_DEVICE_ASSIGNMENT, "1 replicas, 1 computations: 0", "");
    set(key, KEEL_COMPONENT_CREATE_OPTIONS, "");
    set(key, KEEL_COMPONENT_CPU, CPU);
    assert_ok(keel_key_finish(key));
}

static void make(stage_t *stage) {
    set_all(&stage->before);
    set_all(&stage->after);
    keel_explanation_initialize(&stage->explanation);
}

static void explain(stage_t *stage) {
    keel_explanation_deinitialize(&stage->explanation);
    keel_explanation_initialize(&stage->explanation);
    assert_ok(
        keel_explain_components(&stage->before, &stage->after, KEEL_NONE, &stage->explanation));
}

static void release(stage_t *stage) {
    keel_key_deinitialize(&stage->before);
    keel_key_deinitialize(&stage->after);
    keel_explanation_deinitialize(&stage->explanation);
}

// A difference as "kind subject: old -> new (note)".
static void write_one(const keel_difference_t *d, char *out, size_t size) {
    snprintf(out, size, "%s %s: %s -> %s%s%s%s", keel_cause_facts(d->kind)->word, d->subject,
             d->old_value, d->new_value, *d->note ? " (" : "", d->note, *d->note ? ")" : "");
}

static void assert_difference(const keel_difference_t *d, const char *expected) {
    char text[1024];
    write_one(d, text, sizeof text);
    assert_string_equal(text, expected);
}

static void assert_counts(const stage_t *stage, size_t roots, size_t folded) {
    const keel_explanation_t *e = &stage->explanation;
    char text[1024];
    for (size_t i = 0; e->root_total != roots && i < e->root_count; ++i) {
        write_one(&e->roots[i], text, sizeof text);
        print_message("  root: %s\n", text);
    }
    for (size_t i = 0; e->folded_total != folded && i < e->folded_count; ++i) {
        write_one(&e->folded[i], text, sizeof text);
        print_message("  folded: %s\n", text);
    }
    assert_int_equal(e->root_total, roots);
    assert_int_equal(e->folded_total, folded);
    for (size_t i = 0; i < e->folded_count; ++i)
        assert_true(e->folded[i].follows < e->root_count);
}

static void assert_root(const stage_t *stage, size_t at, const char *expected) {
    assert_true(at < stage->explanation.root_count);
    assert_difference(&stage->explanation.roots[at], expected);
}

static void assert_folded(const stage_t *stage, size_t at, uint32_t under, const char *expected) {
    assert_true(at < stage->explanation.folded_count);
    assert_int_equal(stage->explanation.folded[at].follows, under);
    assert_difference(&stage->explanation.folded[at], expected);
}

// ---- nothing -----------------------------------------------------------------------------------

static void keys_that_are_the_same_have_no_difference(void **state) {
    (void)state;
    stage_t stage;
    make(&stage);
    explain(&stage);
    assert_counts(&stage, 0, 0);
    set(&stage.after, KEEL_COMPONENT_PROGRAM, "another"); // not of these components
    explain(&stage);
    assert_counts(&stage, 0, 0);
    release(&stage);
}

static void a_component_that_one_side_does_not_tell_has_not_moved(void **state) {
    (void)state;
    stage_t stage;
    make(&stage);
    set(&stage.after, KEEL_COMPONENT_XLA_FLAGS, "xla_a=1\n");
    memset(&stage.before.components[KEEL_COMPONENT_XLA_FLAGS], 0, KEEL_DIGEST_SIZE);
    explain(&stage);
    assert_counts(&stage, 0, 0);
    release(&stage);
}

// ---- flags and options -------------------------------------------------------------------------

static void a_flag_is_told_with_both_values(void **state) {
    (void)state;
    stage_t stage;
    make(&stage);
    set(&stage.before, KEEL_COMPONENT_LIBTPU_FLAGS, "xla_tpu_a=1\nxla_tpu_b=2\n");
    set(&stage.after, KEEL_COMPONENT_LIBTPU_FLAGS, "xla_tpu_a=1\nxla_tpu_b=3\nxla_tpu_c=\n");
    set(&stage.after, KEEL_COMPONENT_ENVIRONMENT, "TPU_MEGACORE=dense\n");
    explain(&stage);
    assert_counts(&stage, 3, 0);
    assert_root(&stage, 0, "flag xla_tpu_b: 2 -> 3");
    assert_root(&stage, 1, "flag xla_tpu_c: unset -> \"\"");
    assert_root(&stage, 2, "flag TPU_MEGACORE: unset -> dense");
    release(&stage);
}

static void an_option_that_a_flag_sets_follows_from_it(void **state) {
    (void)state;
    stage_t stage;
    make(&stage);
    set(&stage.after, KEEL_COMPONENT_XLA_FLAGS, "xla_cpu_enable_fast_math=true\n");
    set(&stage.after, KEEL_COMPONENT_OPTIONS,
        "device_ordinal=-1\nnum_replicas=1\nnum_partitions=1\nuse_spmd_partitioning=1\n"
        "process_count=1\nprofile_version=-1\ndebug.31=2\ndebug.99=1\ndebug.122=1\ndebug.337=0\n");
    explain(&stage);
    assert_counts(&stage, 2, 1);
    assert_root(&stage, 0, "option xla_backend_optimization_level: 3 -> 2");
    assert_root(&stage, 1, "flag xla_cpu_enable_fast_math: unset -> true");
    assert_folded(&stage, 0, 1, "option xla_cpu_enable_fast_math: 0 -> 1");
    assert_int_equal(stage.explanation.roots[1].folds, 1);
    release(&stage);
}

static void a_flag_that_moved_no_option_may_restate_the_default(void **state) {
    (void)state;
    stage_t stage;
    make(&stage);
    set(&stage.after, KEEL_COMPONENT_XLA_FLAGS, "xla_cpu_enable_fast_math=false\n");
    explain(&stage);
    assert_counts(&stage, 1, 0);
    assert_root(&stage, 0,
                "flag xla_cpu_enable_fast_math: unset -> false (the value may be the default: the "
                "compile options did not move)");
    // A client that sends no debug options leaves it to the plugin to read the flags.
    set(&stage.before, KEEL_COMPONENT_OPTIONS, "num_replicas=1\n");
    set(&stage.after, KEEL_COMPONENT_OPTIONS, "num_replicas=1\n");
    explain(&stage);
    assert_root(&stage, 0, "flag xla_cpu_enable_fast_math: unset -> false");
    release(&stage);
}

static void an_option_passed_to_the_compile_is_told_by_its_name(void **state) {
    (void)state;
    stage_t stage;
    char options[1024];
    make(&stage);
    snprintf(options, sizeof options,
             "env_option_overrides.xla_cpu_enable_fast_math=1\n"
             "matrix_unit_operand_precision=2\nuse_auto_spmd_partitioning=1\n%s",
             OPTIONS);
    set(&stage.after, KEEL_COMPONENT_OPTIONS, options);
    explain(&stage);
    assert_counts(&stage, 3, 0);
    assert_root(&stage, 0, "precision matrix_unit_operand_precision: DEFAULT -> HIGHEST");
    assert_root(&stage, 1,
                "option xla_cpu_enable_fast_math: unset -> 1 (passed to this compile "
                "(compiler_options))");
    assert_root(&stage, 2, "option use_auto_spmd_partitioning: unset -> 1");
    release(&stage);
}

// A client of another version sends dozens of options that the last one did not know.
static void options_that_only_one_client_knows_are_one_cause(void **state) {
    (void)state;
    stage_t stage;
    make(&stage);
    set(&stage.after, KEEL_COMPONENT_OPTIONS,
        "device_ordinal=-1\nnum_replicas=1\nnum_partitions=1\nuse_spmd_partitioning=1\n"
        "process_count=1\nprofile_version=-1\ndebug.31=3\ndebug.99=0\ndebug.122=1\n"
        "debug.9001=0\ndebug.9002=1\n");
    explain(&stage);
    assert_counts(&stage, 1, 2);
    assert_root(&stage, 0, "option debug.9001: unset -> 0");
    set(&stage.after, KEEL_COMPONENT_PLUGIN_BUILD, BUILD_B);
    explain(&stage);
    assert_counts(&stage, 1, 3);
    assert_root(&stage, 0, "backend plugin build: 61c02c9a4c68 -> 4f8eaf249311");
    release(&stage);
}

static keel_key_t key_of_options(const char *sample) {
    char path[512];
    uint8_t *bytes;
    size_t size;
    bool understood;
    keel_key_t key;
    keel_buffer_t canonical, assignment, readable;
    set_all(&key);
    keel_buffer_initialize(&canonical, 0);
    keel_buffer_initialize(&assignment, 0);
    keel_buffer_initialize(&readable, 0);
    snprintf(path, sizeof path, "%s/opts/%s", KEEL_TEST_SAMPLES, sample);
    assert_ok(keel_file_read(path, 1 << 20, &bytes, &size));
    assert_ok(keel_key_options(keel_bytes(bytes, size), KEEL_BACKEND_CPU, &canonical, &assignment,
                               &readable, &understood));
    assert_true(understood);
    assert_ok(keel_key_set(&key, KEEL_COMPONENT_OPTIONS, keel_buffer_bytes(&canonical),
                           keel_bytes_str(keel_buffer_bytes(&readable))));
    assert_ok(keel_key_set(&key, KEEL_COMPONENT_DEVICE_ASSIGNMENT, keel_buffer_bytes(&assignment),
                           KEEL_STR("")));
    keel_buffer_deinitialize(&canonical);
    keel_buffer_deinitialize(&assignment);
    keel_buffer_deinitialize(&readable);
    keel_free(bytes);
    return key;
}

// What JAX sent for one device with compiler_options, and for four with a mesh.
static void the_options_that_jax_sends_are_compared_by_field(void **state) {
    (void)state;
    stage_t stage = {.before = key_of_options("jax_compiler_options.opts"),
                     .after = key_of_options("jax_spmd_4.opts")};
    keel_explanation_initialize(&stage.explanation);
    explain(&stage);
    assert_root(&stage, 0, "devices num_partitions: 1 -> 4");
    assert_int_equal(stage.explanation.roots[0].folds, 1);
    assert_string_equal(stage.explanation.folded[0].subject, "device assignment");
    bool told = false;
    for (size_t i = 0; i < stage.explanation.root_count; ++i)
        told |= strcmp(stage.explanation.roots[i].subject, "xla_cpu_enable_fast_math") == 0 &&
                strcmp(stage.explanation.roots[i].new_value, "unset") == 0;
    assert_true(told);
    release(&stage);
}

static void a_precision_is_told_by_its_name(void **state) {
    (void)state;
    static const char *const names[][2] = {
        {"0", "DEFAULT"}, {"1", "HIGH"}, {"2", "HIGHEST"}, {"3", "PACKED_NIBBLE"},
        {"4", "4"},       {"10", "10"},  {"/", "/"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        stage_t stage;
        char options[1024], expected[128];
        make(&stage);
        snprintf(options, sizeof options, "matrix_unit_operand_precision=9\n%s", OPTIONS);
        set(&stage.before, KEEL_COMPONENT_OPTIONS, options);
        snprintf(options, sizeof options, "matrix_unit_operand_precision=%s\n%s", names[i][0],
                 OPTIONS);
        set(&stage.after, KEEL_COMPONENT_OPTIONS, options);
        snprintf(expected, sizeof expected, "precision matrix_unit_operand_precision: 9 -> %s",
                 names[i][1]);
        explain(&stage);
        assert_counts(&stage, 1, 0);
        assert_root(&stage, 0, expected);
        release(&stage);
    }
}

static void layouts_are_no_options(void **state) {
    (void)state;
    stage_t stage;
    char options[1024];
    make(&stage);
    snprintf(options, sizeof options, "argument_layouts=a\nresult_layout=b\nlayout=c\n%s", OPTIONS);
    set(&stage.after, KEEL_COMPONENT_OPTIONS, options);
    explain(&stage);
    assert_counts(&stage, 3, 0);
    assert_root(&stage, 0, "layout argument_layouts: unset -> a");
    assert_root(&stage, 1, "layout result_layout: unset -> b");
    assert_root(&stage, 2, "option layout: unset -> c");
    release(&stage);
}

// ---- devices and backend -----------------------------------------------------------------------

static void the_number_of_devices_is_one_cause_with_all_that_follows(void **state) {
    (void)state;
    stage_t stage;
    make(&stage);
    set(&stage.before, KEEL_COMPONENT_DEVICE_KINDS, "1 x cpu\nprocesses=1\n");
    set(&stage.after, KEEL_COMPONENT_DEVICE_KINDS, "2 x cpu\nprocesses=1\n");
    set(&stage.after, KEEL_COMPONENT_TOPOLOGY, "1400 bytes serialized");
    set(&stage.after, KEEL_COMPONENT_CREATE_OPTIONS, "cpu_device_count=2\n");
    set_digest(&stage.after, KEEL_COMPONENT_DEVICE_ASSIGNMENT, "1 replicas, 2 computations: 0; 1",
               "");
    explain(&stage);
    assert_counts(&stage, 1, 3);
    assert_root(&stage, 0, "devices device count: 1 -> 2");
    assert_folded(&stage, 1, 0, "devices topology: 1068 bytes serialized -> 1400 bytes serialized");
    assert_folded(&stage, 2, 0,
                  "option cpu_device_count: unset -> 2 (given when the client was made)");
    release(&stage);
}

static void another_kind_of_device_is_told_by_its_name(void **state) {
    (void)state;
    stage_t stage;
    make(&stage);
    set(&stage.before, KEEL_COMPONENT_DEVICE_KINDS, "8 x TPU v4\nprocesses=2\n");
    set(&stage.after, KEEL_COMPONENT_DEVICE_KINDS, "8 x TPU v5 lite\nprocesses=2\n");
    explain(&stage);
    assert_counts(&stage, 1, 0);
    assert_root(&stage, 0, "devices device kind: TPU v4 -> TPU v5 lite");
    set(&stage.after, KEEL_COMPONENT_DEVICE_KINDS, "8 x TPU v4\nprocesses=1\n");
    explain(&stage);
    assert_counts(&stage, 1, 0);
    assert_root(&stage, 0, "devices process count: 2 -> 1");
    // The same in another order shows only in the whole.
    set(&stage.before, KEEL_COMPONENT_DEVICE_KINDS, "1 x a\n1 x b\n1 x c\nprocesses=1\n");
    set(&stage.after, KEEL_COMPONENT_DEVICE_KINDS, "1 x a\n1 x c\n1 x b\nprocesses=1\n");
    explain(&stage);
    assert_counts(&stage, 1, 0);
    assert_root(&stage, 0,
                "devices device kinds: 1 x a;1 x b;1 x c;processes=1 -> 1 x a;1 x c;1 x "
                "b;processes=1");
    release(&stage);
}

static void explain_devices(const char *before, const char *after, const char *expected) {
    stage_t stage;
    make(&stage);
    set(&stage.before, KEEL_COMPONENT_DEVICE_ASSIGNMENT, before);
    set(&stage.after, KEEL_COMPONENT_DEVICE_ASSIGNMENT, after);
    explain(&stage);
    assert_counts(&stage, 1, 0);
    assert_root(&stage, 0, expected);
    release(&stage);
}

static void other_devices_are_told_as_users_count_them(void **state) {
    (void)state;
    explain_devices("1 replicas, 1 computations: 0", "1 replicas, 1 computations: 1",
                    "devices device assignment: device 0 -> device 1 (a program is compiled for "
                    "each device that holds its inputs)");
    explain_devices("1 replicas, 2 computations: 0; 1", "1 replicas, 2 computations: 1; 0",
                    "devices device assignment: devices 0; 1 -> devices 1; 0");
    explain_devices("1 replicas, 1 computations: 0", "1 replicas, 2 computations: 0; 1",
                    "devices device assignment: device 0 -> devices 0; 1");
    explain_devices("2 replicas, 1 computations: 0 1", "2 replicas, 1 computations: 1 0",
                    "devices device assignment: 2 replicas, 1 computations: 0 1 -> 2 replicas, 1 "
                    "computations: 1 0 (a program is compiled for each device that holds its "
                    "inputs)");
    explain_devices("1 replicas, 1", "1 replicas, 2",
                    "devices device assignment: 1 replicas, 1 -> 1 replicas, 2");
}

static void another_platform_is_told_by_its_fields(void **state) {
    (void)state;
    static const struct {
        const char *before, *after, *expected;
    } cases[] = {
        {"name=\"cpu\"\n", "name=\"tpu\"\n", "backend platform name: cpu -> tpu"},
        {"version=\"1,2\"\n", "version=\"1,3\"\n", "backend platform version: 1.2 -> 1.3"},
        {"name=\"a\"\n", "name=\"\"\n", "backend platform name: a -> \"\""},
        {"name=\"a\n", "name=\"b\n", "backend platform name: \"a -> \"b"},
        {"api=0,1\n", "api=0,2\n", "backend PJRT API: 0,1 -> 0,2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        stage_t stage;
        make(&stage);
        set(&stage.before, KEEL_COMPONENT_PLATFORM, cases[i].before);
        set(&stage.after, KEEL_COMPONENT_PLATFORM, cases[i].after);
        explain(&stage);
        assert_counts(&stage, 1, 0);
        assert_root(&stage, 0, cases[i].expected);
        release(&stage);
    }
}

static void another_plugin_is_one_cause_with_all_that_follows(void **state) {
    (void)state;
    stage_t stage;
    make(&stage);
    set(&stage.after, KEEL_COMPONENT_PLUGIN_BUILD, BUILD_B);
    set(&stage.after, KEEL_COMPONENT_PLATFORM, PLATFORM_B);
    set(&stage.after, KEEL_COMPONENT_TOPOLOGY, "1108 bytes serialized");
    explain(&stage);
    assert_counts(&stage, 1, 3);
    assert_root(&stage, 0, "backend plugin build: 61c02c9a4c68 -> 4f8eaf249311");
    assert_folded(&stage, 0, 0, "backend PJRT API: 0.81 -> 0.115");
    assert_folded(&stage, 1, 0, "backend stablehlo_current_version: 1.13.3 -> 1.20.0");
    assert_folded(&stage, 2, 0, "devices topology: 1068 bytes serialized -> 1108 bytes serialized");
    release(&stage);
}

static void an_option_that_only_one_plugin_takes_follows_from_the_plugin(void **state) {
    (void)state;
    static const char told[] =
        "option cpu_device_count: 1 -> unset (given when the client was made)";
    stage_t stage;
    make(&stage);
    set(&stage.before, KEEL_COMPONENT_CREATE_OPTIONS, "cpu_device_count=1\n");
    set(&stage.after, KEEL_COMPONENT_PLUGIN_BUILD, BUILD_B);
    explain(&stage);
    assert_counts(&stage, 1, 1);
    assert_root(&stage, 0, "backend plugin build: 61c02c9a4c68 -> 4f8eaf249311");
    assert_folded(&stage, 0, 0, told);
    // What both take was given otherwise.
    set(&stage.after, KEEL_COMPONENT_CREATE_OPTIONS, "cpu_device_count=2\n");
    explain(&stage);
    assert_counts(&stage, 2, 0);
    assert_root(&stage, 0, "option cpu_device_count: 1 -> 2 (given when the client was made)");
    // With one plugin it is the user's doing.
    set(&stage.after, KEEL_COMPONENT_CREATE_OPTIONS, "");
    set(&stage.after, KEEL_COMPONENT_PLUGIN_BUILD, BUILD_A);
    explain(&stage);
    assert_counts(&stage, 1, 0);
    assert_root(&stage, 0, told);
    release(&stage);
}

static void what_keel_rewrites_for_another_plugin_follows_from_it(void **state) {
    (void)state;
    static const char spread[] = "num_replicas=4\nnum_partitions=1\n";
    static const char any_device[] = "num_replicas=1\nnum_partitions=1\n"
                                     "compile_portable_executable=1\n";
    stage_t stage;
    make(&stage);
    set(&stage.before, KEEL_COMPONENT_OPTIONS, spread);
    set_digest(&stage.before, KEEL_COMPONENT_DEVICE_ASSIGNMENT, "4 replicas", "");
    set(&stage.after, KEEL_COMPONENT_OPTIONS, any_device);
    set(&stage.after, KEEL_COMPONENT_PLUGIN_BUILD, BUILD_B);
    explain(&stage);
    assert_counts(&stage, 1, 3);
    assert_root(&stage, 0, "backend plugin build: 61c02c9a4c68 -> 4f8eaf249311");
    assert_folded(&stage, 0, 0, "devices num_replicas: 4 -> 1");
    // With one plugin it is the client's doing.
    set(&stage.after, KEEL_COMPONENT_PLUGIN_BUILD, BUILD_A);
    explain(&stage);
    assert_counts(&stage, 2, 1);
    assert_root(&stage, 0, "devices num_replicas: 4 -> 1");
    assert_root(&stage, 1, "option compile_portable_executable: unset -> 1");
    release(&stage);
}

static void another_build_of_a_kernel_is_told_by_the_kernel(void **state) {
    (void)state;
    char before[400], after[400];
    snprintf(before, sizeof before, "lapack_sgetrf_ffi=%s\nlapack_strsm_ffi=%s\n", BUILD_A,
             BUILD_A);
    snprintf(after, sizeof after, "lapack_sgetrf_ffi=%s\nlapack_strsm_ffi=%s\n", BUILD_B, BUILD_B);
    stage_t stage;
    make(&stage);
    set(&stage.before, KEEL_COMPONENT_KERNELS, before);
    set(&stage.after, KEEL_COMPONENT_KERNELS, after);
    explain(&stage);
    assert_counts(&stage, 1, 1);
    assert_root(&stage, 0,
                "backend lapack_sgetrf_ffi: 61c02c9a4c68 -> 4f8eaf249311 "
                "(a different build of the client's library that has it)");
    assert_folded(&stage, 0, 0,
                  "backend lapack_strsm_ffi: 61c02c9a4c68 -> 4f8eaf249311 "
                  "(a different build of the client's library that has it)");
    // A kernel that only one of them calls came with its operations.
    snprintf(after, sizeof after, "lapack_spotrf_ffi=%s\n", BUILD_A);
    set(&stage.after, KEEL_COMPONENT_KERNELS, after);
    explain(&stage);
    assert_counts(&stage, 0, 0);
    release(&stage);
}

static void another_host_is_told_by_its_processor(void **state) {
    (void)state;
    stage_t stage;
    make(&stage);
    set(&stage.after, KEEL_COMPONENT_CPU,
        "vendor=GenuineIntel\ncpuid.1.0=a10f10,0,7ffa3203,178bfbff\n"
        "cpuid.7.0=0,f1bf07ab,0,0\nxcr0=e7\ncpus=8\n");
    explain(&stage);
    assert_counts(&stage, 2, 1);
    assert_root(&stage, 0, "backend cpu vendor: AuthenticAMD -> GenuineIntel");
    assert_root(&stage, 1, "backend cpu count: 2 -> 8");
    assert_folded(&stage, 0, 0, "backend cpu cpuid.7.0: 0,f1bf07ab,405fc6,10 -> 0,f1bf07ab,0,0");
    release(&stage);
}

static void another_key_version_is_told(void **state) {
    (void)state;
    stage_t stage;
    make(&stage);
    set(&stage.after, KEEL_COMPONENT_KEY_VERSION, "99");
    explain(&stage);
    assert_counts(&stage, 1, 0);
    assert_root(&stage, 0, "backend key version: 2 -> 99");
    release(&stage);
}

// A field may be repeated: then its values are compared in order, wherever they are.
static void the_values_of_a_repeated_field_are_compared_in_order(void **state) {
    (void)state;
    stage_t stage;
    make(&stage);
    set(&stage.before, KEEL_COMPONENT_OPTIONS, "q=0\nr=1\nr=2\n");
    set(&stage.after, KEEL_COMPONENT_OPTIONS, "r=0\nr=1\nq=0\n");
    explain(&stage);
    assert_counts(&stage, 1, 1);
    assert_root(&stage, 0, "option r: 1 -> 0");
    assert_folded(&stage, 0, 0, "option r: 2 -> 1");
    set(&stage.before, KEEL_COMPONENT_OPTIONS, "r=1\nr=1\nr=2\nq=0\n");
    set(&stage.after, KEEL_COMPONENT_OPTIONS, "r=1\nr=2\nr=1\nq=1\n");
    explain(&stage);
    assert_counts(&stage, 2, 1);
    assert_root(&stage, 0, "option q: 0 -> 1");
    assert_root(&stage, 1, "option r: 1 -> 2");
    assert_folded(&stage, 0, 1, "option r: 2 -> 1");
    release(&stage);
}

// ---- values that are not fields -----------------------------------------------------------------

static void values_that_are_no_fields_are_compared_whole(void **state) {
    (void)state;
    stage_t stage;
    make(&stage);
    set(&stage.after, KEEL_COMPONENT_OPTIONS, "not understood: 12 bytes, abcdef\n");
    set(&stage.before, KEEL_COMPONENT_TOPOLOGY, "unknown: it cannot");
    explain(&stage);
    assert_counts(&stage, 2, 0);
    assert_root(&stage, 0, "devices topology: unknown: it cannot -> 1068 bytes serialized");
    assert_string_equal(stage.explanation.roots[1].subject, "compile options");
    assert_string_equal(stage.explanation.roots[1].new_value, "not understood: 12 bytes, abcdef");
    release(&stage);
}

static void a_line_that_is_no_field_is_shown_though_both_have_it(void **state) {
    (void)state;
    stage_t stage;
    make(&stage);
    set(&stage.before, KEEL_COMPONENT_OPTIONS, "other fields\na=1\n");
    set(&stage.after, KEEL_COMPONENT_OPTIONS, "other fields\na=2\n");
    explain(&stage);
    assert_counts(&stage, 1, 0);
    assert_root(&stage, 0, "option compile options: other fields;a=1 -> other fields;a=2");
    release(&stage);
}

static void what_no_value_tells_is_told_by_the_digests(void **state) {
    (void)state;
    stage_t stage;
    make(&stage);
    set_digest(&stage.after, KEEL_COMPONENT_DEVICE_ASSIGNMENT, "1 replicas, 1 computations: 1", "");
    explain(&stage);
    assert_counts(&stage, 1, 0);
    const keel_difference_t *root = &stage.explanation.roots[0];
    assert_string_equal(root->subject, "device assignment");
    assert_int_equal(strlen(root->old_value), 12);
    assert_int_equal(strlen(root->new_value), 12);
    assert_string_not_equal(root->old_value, root->new_value);
    release(&stage);
}

static void long_values_are_cut_where_they_differ(void **state) {
    (void)state;
    stage_t stage;
    char before[400], after[400];
    make(&stage);
    snprintf(before, sizeof before, "xla_x=%0100d,one,%0100d\n", 0, 0);
    snprintf(after, sizeof after, "xla_x=%0100d,two,%0100d\n", 0, 0);
    set(&stage.before, KEEL_COMPONENT_LIBTPU_FLAGS, before);
    set(&stage.after, KEEL_COMPONENT_LIBTPU_FLAGS, after);
    explain(&stage);
    const keel_difference_t *root = &stage.explanation.roots[0];
    assert_non_null(strstr(root->old_value, ",one,"));
    assert_non_null(strstr(root->new_value, ",two,"));
    assert_int_equal(strlen(root->old_value), 64 + 2 * 3);
    assert_memory_equal(root->old_value, "\xe2\x80\xa6", 3);
    // Never within a character.
    memcpy(after, "xla_x=x", 7);
    for (size_t i = 0; i < 60; ++i)
        memcpy(after + 7 + 2 * i, "\xc3\xa9", 3);
    set(&stage.after, KEEL_COMPONENT_LIBTPU_FLAGS, after);
    explain(&stage);
    const char *shown = stage.explanation.roots[0].new_value;
    keel_str_t text = keel_str(shown);
    for (size_t at = 0, size; at < text.size; at += size)
        assert_int_not_equal(size = keel_utf8_length(text, at), 0);
    // The digest of a file's content is cut to what tells it from another one.
    snprintf(before, sizeof before, "xla_f=/a#%s\n", BUILD_A);
    snprintf(after, sizeof after, "xla_f=/a#%s\n", BUILD_B);
    set(&stage.before, KEEL_COMPONENT_LIBTPU_FLAGS, before);
    set(&stage.after, KEEL_COMPONENT_LIBTPU_FLAGS, after);
    explain(&stage);
    assert_root(&stage, 0, "flag xla_f: /a#61c02c9a4c68 -> /a#4f8eaf249311");
    release(&stage);
}

// A value that was cut when it was recorded: what is missing is not unset.
static void fields_that_were_cut_off_have_not_moved(void **state) {
    (void)state;
    stage_t stage;
    enum { SIZE = 2 * KEEL_KEY_VALUE_LIMIT };
    char before[SIZE], after[SIZE];
    size_t used = 0, also = 0;
    make(&stage);
    for (int i = 1000; i < 1000 + KEEL_KEY_VALUE_LIMIT / 8; ++i) {
        used += (size_t)snprintf(before + used, sizeof before - used, "debug.%d=0\n", i);
        // Longer from the first field on, so that it is cut elsewhere.
        also += (size_t)snprintf(after + also, sizeof after - also, "debug.%d=%s\n", i,
                                 i == 1003 ? "12345678901234567890" : "0");
    }
    set(&stage.before, KEEL_COMPONENT_OPTIONS, before);
    set(&stage.after, KEEL_COMPONENT_OPTIONS, after);
    explain(&stage);
    assert_counts(&stage, 1, 0);
    assert_root(&stage, 0, "option debug.1003: 0 -> 12345678901234567890");
    // What moved beyond the cut shows only in the component.
    snprintf(after, sizeof after, "%s", before);
    after[strlen(after) - 2] = '1';
    set(&stage.after, KEEL_COMPONENT_OPTIONS, after);
    explain(&stage);
    assert_counts(&stage, 1, 0);
    assert_string_equal(stage.explanation.roots[0].subject, "compile options");
    assert_string_equal(stage.explanation.roots[0].note, "only its digest is known");
    // Both are cut after the '=' of the same field.
    memmove(before + 5, before, strlen(before) + 1);
    memcpy(before, "q=10\n", 5);
    snprintf(after, sizeof after, "%s", before);
    after[2] = '2';
    set(&stage.before, KEEL_COMPONENT_OPTIONS, before);
    set(&stage.after, KEEL_COMPONENT_OPTIONS, after);
    explain(&stage);
    assert_counts(&stage, 1, 0);
    assert_root(&stage, 0, "option q: 10 -> 20");
    release(&stage);
}

static void more_roots_than_are_kept_are_counted(void **state) {
    (void)state;
    stage_t stage;
    char flags[4096], options[4096];
    size_t used = 0, also = 0;
    make(&stage);
    for (int i = 0; i < 50; ++i) {
        used += (size_t)snprintf(flags + used, sizeof flags - used, "xla_flag_%02d=1\n", i);
        also += (size_t)snprintf(options + also, sizeof options - also, "xla_flag_%02d=1\n", i);
    }
    set(&stage.after, KEEL_COMPONENT_XLA_FLAGS, flags);
    set(&stage.after, KEEL_COMPONENT_OPTIONS, options);
    set(&stage.before, KEEL_COMPONENT_OPTIONS, "");
    explain(&stage);
    // What follows from a root that is not kept is left out with it.
    assert_counts(&stage, 50, KEEL_ROOTS_KEPT);
    assert_int_equal(stage.explanation.root_count, KEEL_ROOTS_KEPT);
    assert_int_equal(stage.explanation.folded_count, KEEL_ROOTS_KEPT);
    release(&stage);
}

static void all_of_it_may_follow_from_a_root_of_the_program(void **state) {
    (void)state;
    stage_t stage;
    make(&stage);
    keel_difference_t shape = {.kind = KEEL_CAUSE_SHAPE, .subject = "x", .follows = KEEL_NONE};
    assert_ok(keel_explanation_add(&stage.explanation, &shape));
    set(&stage.after, KEEL_COMPONENT_PLUGIN_BUILD, BUILD_B);
    set(&stage.after, KEEL_COMPONENT_PLATFORM, PLATFORM_B);
    assert_ok(keel_explain_components(&stage.before, &stage.after, 0, &stage.explanation));
    assert_counts(&stage, 1, 3);
    assert_int_equal(stage.explanation.roots[0].folds, 3);
    release(&stage);
}

// f(x) that returns x, which is a vector of `size`. If JAX may move x to another device, it writes
// a sharding with an empty mesh.
static void build_identity(build_t *b, int64_t size, bool is_committed) {
    build_begin(b, KEEL_FORMAT_MLIR);
    keel_attr_id_t mesh = symbol_attr(b, "empty_mesh");
    keel_attr_id_t lone = DICT(b, {"sdy.sharding", DICT(b, {"mesh", mesh})}), none = KEEL_NONE;
    fn_t fn = {"main", tensor_of(b, f32(b), size),
               list_attr(b, KEEL_ATTR_ARRAY, is_committed ? &none : &lone, 1), true};
    uint32_t function = begin_function(b, fn);
    add_op(b, (op_t){.name = "return",
                     .attributes = KEEL_NONE,
                     .type = KEEL_NONE,
                     .operands = {argument_of(b, function)},
                     .operand_count = 1});
    end_function(b, function);
    build_end(b);
    b->program.entry = function;
}

// Explains the two programs, of which the second runs on another device.
static void explain_on_another_device(stage_t *stage, build_t *before, build_t *after) {
    make(stage);
    set(&stage->before, KEEL_COMPONENT_PROGRAM, "before");
    set(&stage->after, KEEL_COMPONENT_PROGRAM, "after");
    set(&stage->before, KEEL_COMPONENT_DEVICE_ASSIGNMENT, "1 replicas, 1 computations: 0");
    set(&stage->after, KEEL_COMPONENT_DEVICE_ASSIGNMENT, "1 replicas, 1 computations: 1");
    assert_ok(keel_explain(&(keel_side_t){.program = &before->program, .key = &stage->before},
                           &(keel_side_t){.program = &after->program, .key = &stage->after},
                           &stage->explanation));
    keel_program_deinitialize(&before->program);
    keel_program_deinitialize(&after->program);
}

// Otherwise the program's own change leads, and the client derived the devices from it.
static void another_device_is_the_cause_of_an_array_committed_to_it(void **state) {
    (void)state;
    stage_t stage;
    build_t before, after;
    build_identity(&before, 4, false);
    build_identity(&after, 4, true);
    explain_on_another_device(&stage, &before, &after);
    assert_counts(&stage, 1, 1);
    assert_int_equal(stage.explanation.roots[0].kind, KEEL_CAUSE_DEVICES);
    assert_int_equal(stage.explanation.folded[0].kind, KEEL_CAUSE_SHARDING);
    assert_true(keel_note_leads(stage.explanation.folded[0].note, KEEL_NOTE_COMMITTED));
    release(&stage);

    build_identity(&before, 4, true);
    build_identity(&after, 5, true);
    explain_on_another_device(&stage, &before, &after);
    assert_counts(&stage, 1, 1);
    assert_int_equal(stage.explanation.roots[0].kind, KEEL_CAUSE_SHAPE);
    release(&stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_that_are_the_same_have_no_difference),
        cmocka_unit_test(a_component_that_one_side_does_not_tell_has_not_moved),
        cmocka_unit_test(a_flag_is_told_with_both_values),
        cmocka_unit_test(an_option_that_a_flag_sets_follows_from_it),
        cmocka_unit_test(a_flag_that_moved_no_option_may_restate_the_default),
        cmocka_unit_test(an_option_passed_to_the_compile_is_told_by_its_name),
        cmocka_unit_test(options_that_only_one_client_knows_are_one_cause),
        cmocka_unit_test(the_options_that_jax_sends_are_compared_by_field),
        cmocka_unit_test(the_number_of_devices_is_one_cause_with_all_that_follows),
        cmocka_unit_test(another_kind_of_device_is_told_by_its_name),
        cmocka_unit_test(a_precision_is_told_by_its_name),
        cmocka_unit_test(layouts_are_no_options),
        cmocka_unit_test(other_devices_are_told_as_users_count_them),
        cmocka_unit_test(another_platform_is_told_by_its_fields),
        cmocka_unit_test(another_plugin_is_one_cause_with_all_that_follows),
        cmocka_unit_test(an_option_that_only_one_plugin_takes_follows_from_the_plugin),
        cmocka_unit_test(what_keel_rewrites_for_another_plugin_follows_from_it),
        cmocka_unit_test(another_build_of_a_kernel_is_told_by_the_kernel),
        cmocka_unit_test(another_host_is_told_by_its_processor),
        cmocka_unit_test(the_values_of_a_repeated_field_are_compared_in_order),
        cmocka_unit_test(a_line_that_is_no_field_is_shown_though_both_have_it),
        cmocka_unit_test(another_key_version_is_told),
        cmocka_unit_test(values_that_are_no_fields_are_compared_whole),
        cmocka_unit_test(what_no_value_tells_is_told_by_the_digests),
        cmocka_unit_test(long_values_are_cut_where_they_differ),
        cmocka_unit_test(fields_that_were_cut_off_have_not_moved),
        cmocka_unit_test(more_roots_than_are_kept_are_counted),
        cmocka_unit_test(all_of_it_may_follow_from_a_root_of_the_program),
        cmocka_unit_test(another_device_is_the_cause_of_an_array_committed_to_it),
    };
    return cmocka_run_group_tests_name("explain components", tests, NULL, NULL);
}
