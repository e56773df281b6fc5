#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "key_build.h"

typedef struct call_t {
    const char *target;  // NULL: none
    const char *config;  // the string, NULL: none
    int64_t index;       // of mhlo.backend_config, -1: none
    const char *vouched; //
    int version;         // of the API
    bool hlo;
} call_t;

static keel_attr_id_t u64_attr(build_t *b, int64_t value) {
    uint32_t at = 0;
    MUST(keel_program_add_int(&b->program, value, &at));
    keel_type_id_t type =
        push_type(b, (keel_type_t){.kind = KEEL_TYPE_INTEGER, .a = 64, .aux = KEEL_UNSIGNED});
    return push_attr(b, (keel_attr_t){.kind = KEEL_ATTR_INT, .a = type, .b = at});
}

static keel_attr_id_t call_attributes(build_t *b, const call_t *call) {
    member_t members[4];
    uint32_t count = 0;
    const char *target = call->hlo ? "custom_call_target" : "call_target_name";
    if (call->target) members[count++] = (member_t){target, string_attr(b, call->target)};
    if (call->config) members[count++] = (member_t){"backend_config", string_attr(b, call->config)};
    if (call->index >= 0)
        members[count++] =
            (member_t){"mhlo.backend_config", DICT(b, {"index", u64_attr(b, call->index)})};
    if (call->version)
        members[count++] = (member_t){call->hlo ? "custom_call_api_version" : "api_version",
                                      push_attr(b, (keel_attr_t){.kind = KEEL_ATTR_ENUM,
                                                                 .klass = KEEL_ENUM_API_VERSION,
                                                                 .a = (uint32_t)call->version})};
    return dict(b, members, count);
}

static bool is_by_address(const call_t *call) {
    build_t b;
    build_begin(&b, call->hlo ? KEEL_FORMAT_HLO : KEEL_FORMAT_MLIR);
    bool is = keel_key_calls_by_address(&b.program, call_attributes(&b, call));
    keel_program_deinitialize(&b.program);
    return is;
}

static keel_cacheable_t check_op(const char *name,
                                 keel_attr_id_t (*attributes)(build_t *b, const void *context),
                                 const void *context, const char *vouched) {
    build_t b;
    build_begin(&b, KEEL_FORMAT_MLIR);
    op_name(&b, "vhlo", name, 1); // the first name of the table
    keel_type_id_t type = tensor_of(&b, f32(&b), 4);
    b.program.entry = begin_function(&b, (fn_t){"main", type, KEEL_NONE, true});
    keel_value_id_t x = argument_of(&b, b.program.entry);
    add_op(&b, (op_t){name, attributes(&b, context), type, {x}, 1});
    end_function(&b, b.program.entry);
    build_end(&b);
    keel_cacheable_t out;
    keel_key_cacheable(&b.program, vouched, &out);
    keel_program_deinitialize(&b.program);
    return out;
}

static keel_attr_id_t of_call(build_t *b, const void *context) {
    return call_attributes(b, context);
}

static keel_cacheable_t check(call_t call) {
    return check_op(call.hlo ? "custom-call" : "custom_call", of_call, &call, call.vouched);
}

#define CALL(...) check((call_t){.index = -1, .version = 1, __VA_ARGS__})
#define assert_kept(...) assert_true(CALL(__VA_ARGS__).yes)
#define assert_refused(...) assert_false(CALL(__VA_ARGS__).yes)

#pragma GCC diagnostic ignored "-Woverride-init"
#ifdef __clang__
#pragma clang diagnostic ignored "-Winitializer-overrides"
#endif

static void custom_partitioning_is_refused(void **state) {
    (void)state;
    keel_cacheable_t out = CALL(.target = "CustomSPMDPartitioning", .config = "140027");
    assert_false(out.yes);
    assert_string_equal(out.target, "CustomSPMDPartitioning");
    assert_string_equal(out.reason, "custom call 'CustomSPMDPartitioning' embeds the address of a "
                                    "host object");
    // Not even a user can vouch for it.
    assert_refused(.target = "CustomSPMDPartitioning", .vouched = "CustomSPMDPartitioning",
                   .version = 4);
}

static void inspect_sharding_is_refused(void **state) {
    (void)state;
    assert_refused(.target = "InspectSharding", .config = "\xff\xfe");
}

#define BY_ADDRESS(...) is_by_address(&(call_t){.index = -1, .version = 1, __VA_ARGS__})

static void what_a_call_finds_by_an_address_is_known(void **state) {
    (void)state;
    for (int hlo = 0; hlo < 2; ++hlo) {
        assert_true(BY_ADDRESS(.hlo = hlo, .target = "InspectSharding", .config = "\xff\xfe"));
        assert_true(BY_ADDRESS(.hlo = hlo, .target = "CustomSPMDPartitioning", .config = "14"));
        assert_true(BY_ADDRESS(.hlo = hlo, .target = "mine", .config = "140702427854704"));
        assert_false(BY_ADDRESS(.hlo = hlo, .target = "mine", .config = "140"));
        assert_false(BY_ADDRESS(.hlo = hlo, .target = "mine", .config = "\xff\xfe"));
        assert_false(BY_ADDRESS(.hlo = hlo, .target = "triton_kernel_call", .config = "k"));
        assert_false(BY_ADDRESS(.hlo = hlo, .target = "mine"));
    }
}

static void callbacks_with_a_pointer_are_refused(void **state) {
    (void)state;
    assert_refused(.target = "xla_python_cpu_callback", .config = "94210482");
    assert_refused(.target = "xla_python_gpu_callback");
    // What JAX once called "descriptor" was a pointer.
    assert_refused(.target = "xla_ffi_python_cpu_callback", .index = 0x7fde00000000);
    assert_refused(.target = "xla_ffi_python_cpu_callback");
}

static void callbacks_by_number_are_kept(void **state) {
    (void)state;
    const char *const targets[] = {"xla_ffi_python_cpu_callback", "xla_ffi_python_gpu_callback",
                                   "xla_ffi_partitioned_python_cpu_callback",
                                   "xla_buffer_python_cpu_callback"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; ++i)
        assert_kept(.target = targets[i], .index = 3);
    assert_kept(.target = "xla_ffi_python_cpu_callback", .config = "{index = 3 : ui64}",
                .hlo = true, .version = 4);
    // A number from 2^20 on may be a pointer, in both forms.
    assert_kept(.target = targets[0], .index = 0);
    assert_kept(.target = targets[0], .index = (1 << 20) - 1);
    assert_refused(.target = targets[0], .index = 1 << 20);
    assert_kept(.target = targets[0], .config = "{index = 1048575 : ui64}", .hlo = true,
                .version = 4);
    assert_refused(.target = targets[0], .config = "{index = 1048576 : ui64}", .hlo = true,
                   .version = 4);
    assert_refused(.target = "xla_ffi_python_cpu_callback", .config = "{index = 140027 : ui64, x}",
                   .hlo = true, .version = 4);
}

static keel_attr_id_t of_transfer(build_t *b, const void *context) {
    keel_attr_t is_host = {.kind = KEEL_ATTR_BOOL, .a = *(const bool *)context};
    return DICT(b, {"is_host_transfer", push_attr(b, is_host)});
}

// As the reader of HLO has it. What is not a number is not known to be harmless.
static keel_attr_id_t of_numbered_transfer(build_t *b, const void *context) {
    const int64_t *number = context;
    uint32_t list;
    keel_attr_t is_host = {.kind = KEEL_ATTR_UNIT};
    if (*number >= 0) {
        MUST(keel_program_add_ints(&b->program, number, 1, &list));
        is_host = (keel_attr_t){.kind = KEEL_ATTR_INT, .b = list + 1};
    }
    return DICT(b, {"is_host_transfer", push_attr(b, is_host)});
}

static void a_transfer_is_to_the_host_unless_it_says_no(void **state) {
    (void)state;
    for (int64_t number = -1; number < 3; ++number)
        assert_int_equal(check_op("send", of_numbered_transfer, &number, NULL).yes, number == 0);
}

static void transfers_to_the_host_are_refused(void **state) {
    (void)state;
    const char *const names[] = {"send", "recv"};
    for (size_t i = 0; i < 2; ++i) {
        bool host = true;
        keel_cacheable_t out = check_op(names[i], of_transfer, &host, NULL);
        assert_false(out.yes);
        assert_string_equal(out.target, "");
        host = false;
        assert_true(check_op(names[i], of_transfer, &host, NULL).yes);
    }
}

static void linear_algebra_is_kept(void **state) {
    (void)state;
    assert_kept(.target = "lapack_spotrf_ffi");
    assert_kept(.target = "lapack_zgesdd_ffi");
    assert_kept(.target = "lapack_dormqr_ffi");
    assert_kept(.target = "lapack_zunmqr_ffi");
    assert_kept(.target = "cusolver_getrf_ffi");
    assert_refused(.target = "lapack_xpotrf_ffi");
    assert_refused(.target = "lapack_spotrf");
    assert_refused(.target = "lapack_s_ffi");
}

static void an_unknown_target_is_refused_unless_it_is_vouched_for_and_typed(void **state) {
    (void)state;
    keel_cacheable_t out = CALL(.target = "my_kernel", .version = 4);
    assert_false(out.yes);
    assert_string_equal(out.reason, "custom call 'my_kernel' is not known to be safe to store");
    assert_kept(.target = "my_kernel", .version = 4, .vouched = "other, my_kernel");
    assert_kept(.target = "my_kernel", .index = 1, .vouched = "my_kernel");
    assert_refused(.target = "my_kernel", .version = 4, .vouched = "my_kernel2,my_");
    assert_refused(.target = "my_kernel", .version = 4, .vouched = "");
}

static void a_target_that_is_vouched_for_but_not_typed_is_refused(void **state) {
    (void)state;
    for (int version = 0; version <= 3; ++version) {
        keel_cacheable_t out =
            CALL(.target = "my_kernel", .version = version, .vouched = "my_kernel");
        assert_false(out.yes);
        assert_string_equal(out.reason,
                            "custom call 'my_kernel' is vouched for, but is not a typed FFI call");
    }
    assert_kept(.target = "my_kernel", .version = 4, .vouched = "my_kernel");
    // What is known needs nobody to vouch for it, and is not spoilt if somebody does.
    assert_kept(.target = "Sharding", .vouched = "Sharding");
}

static void a_number_is_a_pointer_from_nine_digits_on(void **state) {
    (void)state;
    assert_kept(.target = "Sharding", .config = "12345678");
    assert_refused(.target = "Sharding", .config = "123456789");
    assert_refused(.target = "Sharding", .config = "900000009");
    assert_kept(.target = "Sharding", .config = "123456789/");
    assert_kept(.target = "Sharding", .config = "123456789:");
    assert_kept(.target = "Sharding", .config = "12345678a");
    assert_kept(.target = "Sharding", .config = "0x1234567");
    assert_refused(.target = "Sharding", .config = "0x12345678");
    assert_refused(.target = "Sharding", .config = "0XAFafAFaf");
    assert_kept(.target = "Sharding", .config = "0xabcdefg0");
    assert_kept(.target = "Sharding", .config = "0xabcdef`0");
    assert_kept(.target = "Sharding", .config = "");
    // Hexadecimal is what begins with both of them.
    assert_refused(.target = "Sharding", .config = "012345678");
    assert_kept(.target = "Sharding", .config = "zx12345678");
    assert_kept(.target = "Sharding", .config = "0z12345678");
    assert_kept(.target = "Sharding", .config = "0x");
}

static void an_opaque_configuration_is_refused_even_if_vouched_for(void **state) {
    (void)state;
    for (int version = 1; version <= 3; ++version)
        assert_refused(.target = "my_kernel", .version = version, .vouched = "my_kernel",
                       .config = "0x7fde00001000");
}

static void marks_of_partitioners_are_kept(void **state) {
    (void)state;
    const char *const targets[] = {"Sharding",
                                   "SPMDFullToShardShape",
                                   "SPMDShardToFullShape",
                                   "annotate_device_placement",
                                   "xla.sdy.FuncResultSharding",
                                   "LayoutConstraint"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; ++i) {
        assert_kept(.target = targets[i]);
        assert_kept(.target = targets[i], .hlo = true);
    }
}

static void a_pointer_in_a_known_call_is_refused(void **state) {
    (void)state;
    assert_kept(.target = "Sharding", .config = "unspecified_dims=[1]");
    assert_kept(.target = "Sharding", .config = "12");
    assert_refused(.target = "Sharding", .config = "140027304432");
    assert_refused(.target = "Sharding", .config = "0x7fde00001000");
    assert_refused(.target = "Sharding", .config = "\x01\x80\xff");
}

static void kernels_that_xla_compiles_are_kept_and_others_are_not(void **state) {
    (void)state;
    assert_kept(.target = "tpu_custom_call", .config = "{\"custom_call_config\": {}}");
    assert_kept(.target = "__gpu$xla.gpu.triton");
    assert_refused(.target = "triton_kernel_call_ffi", .version = 4);
    assert_refused(.target = "mosaic_gpu_v2", .version = 4);
}

static void a_call_without_a_target_is_refused(void **state) {
    (void)state;
    keel_cacheable_t out = CALL(.target = NULL);
    assert_false(out.yes);
    assert_string_equal(out.reason, "custom call '' has no readable target");
}

static void a_program_of_nothing_but_calls_is_checked_too(void **state) {
    (void)state;
    build_t b;
    keel_cacheable_t out;
    const call_t call = {.target = "my_kernel", .index = -1, .hlo = true};
    build_begin(&b, KEEL_FORMAT_HLO);
    add_op(&b, (op_t){"custom-call", call_attributes(&b, &call), f32(&b), {0}, 0});
    build_end(&b);
    keel_key_cacheable(&b.program, NULL, &out);
    assert_false(out.yes);
    keel_program_deinitialize(&b.program);
}

static void a_program_without_calls_is_kept(void **state) {
    (void)state;
    bool host = true;
    assert_true(check_op("add", of_transfer, &host, NULL).yes);
}

// ---- kernels -----------------------------------------------------------------------------------

static keel_digest_t kernel(const char *target, const char *config) {
    build_t b;
    build_begin(&b, KEEL_FORMAT_MLIR);
    keel_type_id_t type = tensor_of(&b, f32(&b), 4);
    b.program.entry = begin_function(&b, (fn_t){"main", type, KEEL_NONE, true});
    keel_value_id_t x = argument_of(&b, b.program.entry);
    call_t call = {.target = target, .config = config, .index = -1};
    add_op(&b, (op_t){"custom_call", call_attributes(&b, &call), type, {x}, 1});
    end_function(&b, b.program.entry);
    build_end(&b);
    return digest_of(&b);
}

static bool same(const char *left, const char *right) {
    keel_digest_t a = kernel("tpu_custom_call", left), b = kernel("tpu_custom_call", right);
    return keel_digest_equal(&a, &b);
}

static void debug_locations_of_kernels_are_left_out(void **state) {
    (void)state;
    static const char without[] = "{\"custom_call_config\": {\"body\": \"QQ==\", \"x\": [1]}}";
    static const char first[] =
        "{\"custom_call_config\": {\"body\": \"QQ==\", \"x\": [1], \"debug_locations\": \"cA==\"}}";
    static const char other[] = "{\"custom_call_config\": {\"body\": \"QQ==\", \"debug_locations\" "
                                ": \"c\\\"x,}\", \"x\": [1]}}";
    assert_true(same(without, first));
    assert_true(same(without, other));
    // As the first member of several, and as the only one.
    assert_true(same(without, "{\"custom_call_config\": {\"debug_locations\": \"cA==\"  ,"
                              "\"body\": \"QQ==\", \"x\": [1]}}"));
    assert_true(same("{\"custom_call_config\": {\"debug_locations\": \"a\"}}",
                     "{\"custom_call_config\": {\"debug_locations\": \"b\"}}"));
    assert_false(same(without, "{\"custom_call_config\": {\"debug_locations\": \"cA==\", "
                               "\"body\": \"QR==\", \"x\": [1]}}"));
    keel_digest_t a = kernel("Sharding", without), b = kernel("Sharding", first);
    assert_false(keel_digest_equal(&a, &b));
}

// A real kernel is long, and then only its digest is in the key. Its length is that without the
// locations, so all lengths around the limit are tried.
static void long_kernels_differ_in_their_bodies_and_not_in_their_locations(void **state) {
    (void)state;
    for (int size = 150; size < 300; ++size) {
        char body[400], other[400], text[6][900];
        memset(body, 'Q', sizeof body);
        body[size] = 0;
        snprintf(other, sizeof other, "R%s", body + 1);
        static const char form[] = "{\"custom_call_config\": {\"body\": \"%s\"%s, \"x\": [%d]}}";
        snprintf(text[0], sizeof *text, form, body, "", 1);
        snprintf(text[1], sizeof *text, form, body, ", \"debug_locations\": \"cA==\"", 1);
        snprintf(text[2], sizeof *text, form, body, ", \"debug_locations\": \"longer\"", 1);
        snprintf(text[3], sizeof *text, form, other, ", \"debug_locations\": \"cA==\"", 1);
        snprintf(text[4], sizeof *text, form, body, ", \"debug_locations\": \"cA==\"", 2);
        snprintf(text[5], sizeof *text, form, body + 1, ", \"debug_locations\": \"cA==\"", 1);
        for (int i = 0; i < 6; ++i)
            if (same(text[1], text[i]) != (i < 3)) fail_msg("size %d, text %d", size, i);
    }
}

static void a_kernel_that_looks_otherwise_stays_whole(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        // Another place; two of them; no string; no JSON; text in a body.
        {"{\"debug_locations\": \"a\"}", "{\"debug_locations\": \"b\"}"},
        {"{\"c\": {\"debug_locations\": \"a\"}}", "{\"c\": {\"debug_locations\": \"b\"}}"},
        {"{\"custom_call_config\": {}, \"c\": {\"debug_locations\": \"a\"}}",
         "{\"custom_call_config\": {}, \"c\": {\"debug_locations\": \"b\"}}"},
        {"{\"custom_call_config\": [\"debug_locations\", \"a\"]}",
         "{\"custom_call_config\": [\"debug_locations\", \"b\"]}"},
        {"{\"c\": \"custom_call_config\", \"d\": {\"debug_locations\": \"a\"}}",
         "{\"c\": \"custom_call_config\", \"d\": {\"debug_locations\": \"b\"}}"},
        {"[\"custom_call_config\", {\"debug_locations\": \"a\"}]",
         "[\"custom_call_config\", {\"debug_locations\": \"b\"}]"},
        {"{\"custom_call_config\": {\"debug_locations\": \"a\", \"debug_locations\": \"a\"}}",
         "{\"custom_call_config\": {\"debug_locations\": \"a\", \"debug_locations\": \"b\"}}"},
        {"{\"custom_call_config\": {\"debug_locations\": \"a\" \"c\"}}",
         "{\"custom_call_config\": {\"debug_locations\": \"b\" \"c\"}}"},
        {"{\"custom_call_config\": {\"debug_locations\": 1}}",
         "{\"custom_call_config\": {\"debug_locations\": 2}}"},
        {"{\"custom_call_config\": {\"debug_locations\": \"a\"}",
         "{\"custom_call_config\": {\"debug_locations\": \"b\"}"},
        {"{\"custom_call_config\": {\"body\": \"debug_locations: a\"}}",
         "{\"custom_call_config\": {\"body\": \"debug_locations: b\"}}"},
        {"{\"custom_call_config\": {\"debug_locations\": \"a",
         "{\"custom_call_config\": {\"debug_locations\": \"b"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i)
        assert_false(same(pairs[i][0], pairs[i][1]));
}

// ---- libraries of the client's kernels ---------------------------------------------------------

// The client has callbacks, and kernels whose names begin with a k.
static keel_status_t build_of(void *context, keel_str_t kernel, bool *out_known,
                              keel_digest_t *out) {
    if (keel_str_is(kernel, context ? context : "none")) return keel_status_make(KEEL_IO, "no");
    *out_known = kernel.data[0] == 'k' || keel_str_contains(kernel, "callback");
    *out = keel_digest(keel_str_bytes(kernel));
    return NULL;
}

// A program that calls these, in order.
static void build_calls(build_t *b, const char *const *targets, bool hlo) {
    build_begin(b, KEEL_FORMAT_MLIR);
    keel_type_id_t type = f32(b);
    b->program.entry = begin_function(b, (fn_t){"main", type, KEEL_NONE, true});
    add_op(b, (op_t){"add", KEEL_NONE, type, {0}, 0});
    for (; *targets; ++targets) {
        call_t call = {.target = *targets, .index = -1, .hlo = hlo};
        add_op(
            b,
            (op_t){hlo ? "custom-call" : "custom_call", call_attributes(b, &call), type, {0}, 0});
    }
    add_op(b, (op_t){"custom_call", KEEL_NONE, type, {0}, 0}); // of nothing that can be read
    end_function(b, b->program.entry);
    build_end(b);
}

static keel_status_t set_kernels(keel_key_t *key, const char *const *targets, bool hlo,
                                 const char *failing) {
    build_t b;
    build_calls(&b, targets, hlo);
    keel_key_initialize(key);
    keel_status_t status =
        keel_key_set_kernels(key, &b.program, build_of, (void *)(uintptr_t)failing);
    keel_program_deinitialize(&b.program);
    return status;
}

static void each_kernel_of_the_client_counts_once_with_its_build(void **state) {
    (void)state;
    static const char *const targets[] = {"k2", "other", "k1", "k2", "xla_ffi_python_cpu_callback",
                                          NULL};
    for (int hlo = 0; hlo < 2; ++hlo) {
        keel_key_t key;
        char expected[200], hex[2][KEEL_DIGEST_HEX];
        for (int i = 0; i < 2; ++i) {
            keel_digest_t digest = keel_digest(keel_str_bytes(keel_str(i ? "k2" : "k1")));
            keel_digest_hex(&digest, hex[i]);
        }
        snprintf(expected, sizeof expected, "k1=%s\nk2=%s\n", hex[0], hex[1]);
        MUST(set_kernels(&key, targets, hlo, NULL));
        assert_string_equal(key.values[KEEL_COMPONENT_KERNELS], expected);
        keel_key_deinitialize(&key);
    }
}

static void each_name_that_a_program_calls_is_listed_once(void **state) {
    (void)state;
    static const char *const targets[] = {"k2", "xla_ffi_python_cpu_callback", "k1", "k2", NULL};
    static const char *const listed[] = {"k1", "k2", "xla_ffi_python_cpu_callback"};
    build_t b;
    keel_str_t *names;
    size_t count;
    build_calls(&b, targets, false);
    MUST(keel_key_calls(&b.program, &names, &count));
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; ++i)
        assert_true(keel_str_is(names[i], listed[i]));
    keel_free(names);
    keel_program_deinitialize(&b.program);
}

static void a_program_that_calls_none_of_the_clients_kernels_has_no_such_component(void **state) {
    (void)state;
    static const char *const targets[] = {"other", "Sharding", NULL}, *const failing[] = {"k1",
                                                                                          NULL};
    keel_key_t key;
    MUST(set_kernels(&key, targets, false, NULL));
    assert_null(key.values[KEEL_COMPONENT_KERNELS]);
    keel_key_deinitialize(&key);
    keel_status_t status = set_kernels(&key, failing, false, "k1");
    assert_int_equal(keel_status_code(status), KEEL_IO);
    assert_null(key.values[KEEL_COMPONENT_KERNELS]);
    keel_status_ignore(status);
    keel_key_deinitialize(&key);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_that_a_program_calls_is_listed_once),
        cmocka_unit_test(custom_partitioning_is_refused),
        cmocka_unit_test(inspect_sharding_is_refused),
        cmocka_unit_test(what_a_call_finds_by_an_address_is_known),
        cmocka_unit_test(callbacks_with_a_pointer_are_refused),
        cmocka_unit_test(callbacks_by_number_are_kept),
        cmocka_unit_test(transfers_to_the_host_are_refused),
        cmocka_unit_test(a_transfer_is_to_the_host_unless_it_says_no),
        cmocka_unit_test(linear_algebra_is_kept),
        cmocka_unit_test(an_unknown_target_is_refused_unless_it_is_vouched_for_and_typed),
        cmocka_unit_test(a_target_that_is_vouched_for_but_not_typed_is_refused),
        cmocka_unit_test(a_number_is_a_pointer_from_nine_digits_on),
        cmocka_unit_test(an_opaque_configuration_is_refused_even_if_vouched_for),
        cmocka_unit_test(marks_of_partitioners_are_kept),
        cmocka_unit_test(a_pointer_in_a_known_call_is_refused),
        cmocka_unit_test(kernels_that_xla_compiles_are_kept_and_others_are_not),
        cmocka_unit_test(a_call_without_a_target_is_refused),
        cmocka_unit_test(a_program_of_nothing_but_calls_is_checked_too),
        cmocka_unit_test(a_program_without_calls_is_kept),
        cmocka_unit_test(each_kernel_of_the_client_counts_once_with_its_build),
        cmocka_unit_test(a_program_that_calls_none_of_the_clients_kernels_has_no_such_component),
        cmocka_unit_test(debug_locations_of_kernels_are_left_out),
        cmocka_unit_test(long_kernels_differ_in_their_bodies_and_not_in_their_locations),
        cmocka_unit_test(a_kernel_that_looks_otherwise_stays_whole),
    };
    return cmocka_run_group_tests_name("key_custom_calls", tests, NULL, NULL);
}
