// Writing MLIR: the text of small programs, and what is refused.
// Whether it is the same program is for MLIR's own reader to say: tests/conformance.
#define _GNU_SOURCE
#include "small_program.h"

#include "read/read.h"
#include "read/write.h"

typedef struct version_t {
    const char *name;
    uint32_t version;
} version_t;

// Small programs have no versions; real ones have them, 1 unless the list says another.
static void give_versions(keel_program_t *program, const version_t *list, size_t count) {
    keel_string_id_t vhlo, sdy;
    assert_ok(keel_program_add_text(program, KEEL_STR("vhlo"), &vhlo));
    assert_ok(keel_program_add_text(program, KEEL_STR("sdy"), &sdy));
    for (uint32_t i = 0; i < program->op_names.count; ++i) {
        keel_op_name_t *op = &program->op_names.data[i];
        keel_str_t name = keel_program_str(program, op->name);
        bool is_sdy = keel_str_is(name, "mesh");
        op->dialect = is_sdy ? sdy : vhlo;
        op->version = !is_sdy;
        for (size_t v = 0; v < count; ++v)
            if (keel_str_is(name, list[v].name)) op->version = list[v].version;
    }
}

static void assert_written(const keel_program_t *program, const char *text) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    assert_ok(keel_write_mlir(program, &out));
    assert_string_equal(keel_buffer_cstr(&out), text);
    keel_buffer_deinitialize(&out);
}

static void assert_not_written(const keel_program_t *program, keel_code_t code, const char *words) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_buffer_text(&out, "before");
    keel_status_t status = keel_write_mlir(program, &out);
    assert_int_equal(keel_status_code(status), code);
    if (!strstr(keel_status_message(status), words))
        fail_msg("%s: does not say %s", keel_status_message(status), words);
    assert_string_equal(keel_buffer_cstr(&out), "before");
    keel_status_ignore(status);
    keel_buffer_deinitialize(&out);
}

static void types_attributes_and_regions_have_their_text(void **state) {
    (void)state;
    static const version_t versions[] = {{"exponential", 2}};
    keel_program_t program;
    small_program(
        "module m {mhlo.num_partitions=4 jax.x='a\\b\\c' n={a=1 b=[1,2] c=true d=unit e=f32[2] "
        "f=-1}}\n"
        "top mesh {sym_name='mesh' "
        "mesh=sdy.mesh{axes=[sdy.mesh_axis{name='x' size=2},sdy.mesh_axis{name='y' size=4}]}}\n"
        "x: f32[8] y: bf16[2,?] t: token z: c64[2]\n"
        "a = constant f8E4M3FN[2] 8\n"
        "b = constant i1[2,2] 1,0,1,1\n"
        "d = constant u4[3] 1,2,3\n"
        "e = constant f32[0] 1\n"
        "g = reduce f32[] x e {dimensions=[0]} { u: f32[] v: f32[]; w = add f32[] u v; return w }\n"
        "h = exponential f32[8] x {result_accuracy=result_accuracy{atol=0.0 rtol=0.25 "
        "mode=TOLERANCE} mhlo.sharding='{replicated}'}\n"
        "return h g",
        &program);
    give_versions(&program, versions, 1);
    assert_written(
        &program,
        "!v6 = !vhlo.tensor_v1<8x!vhlo.f32_v1>\n"
        "!v8 = !vhlo.tensor_v1<2x?x!vhlo.bf16_v1>\n"
        "!v12 = !vhlo.tensor_v1<2x!vhlo.complex_v1<!vhlo.f32_v1>>\n"
        "!v14 = !vhlo.tensor_v1<2x!vhlo.f8E4M3FN_v1>\n"
        "!v16 = !vhlo.tensor_v1<2x2x!vhlo.bool_v1>\n"
        "!v18 = !vhlo.tensor_v1<3x!vhlo.ui4_v1>\n"
        "!v20 = !vhlo.tensor_v1<0x!vhlo.f32_v1>\n"
        "!v22 = !vhlo.tensor_v1<!vhlo.f32_v1>\n"
        "\"builtin.module\"() <{sym_name = \"m\"}> ({\n"
        "\"sdy.mesh\"() <{sym_name = \"mesh\", mesh = #sdy.mesh<[\"x\"=2, \"y\"=4]>}> : () "
        "-> ()\n"
        "\"vhlo.func_v1\"() ({\n"
        "^bb0(%0: !v6, %1: !v8, %2: !vhlo.token_v1, %3: !v12):\n"
        "%4 = \"vhlo.constant_v1\"() <{value = #vhlo.tensor_v1<dense<\"0x08\"> : "
        "tensor<2xf8E4M3FN>>}> : () -> (!v14)\n"
        "%5 = \"vhlo.constant_v1\"() <{value = #vhlo.tensor_v1<dense<[[true, false], [true, "
        "true]]> : tensor<2x2xi1>>}> : () -> (!v16)\n"
        "%6 = \"vhlo.constant_v1\"() <{value = #vhlo.tensor_v1<dense<\"0x010203\"> : "
        "tensor<3xui4>>}> : () -> (!v18)\n"
        "%7 = \"vhlo.constant_v1\"() <{value = #vhlo.tensor_v1<dense<> : tensor<0xf32>>}> : "
        "() -> (!v20)\n"
        "%8 = \"vhlo.reduce_v1\"(%0, %7) <{dimensions = "
        "#vhlo.tensor_v1<dense<\"0x0000000000000000\"> : tensor<1xi64>>}> ({\n"
        "^bb0(%9: !v22, %10: !v22):\n"
        "%11 = \"vhlo.add_v1\"(%9, %10) : (!v22, !v22) -> (!v22)\n"
        "\"vhlo.return_v1\"(%11) : (!v22) -> ()\n"
        "}) : (!v6, !v20) -> (!v22)\n"
        "%12 = \"vhlo.exponential_v2\"(%0) <{result_accuracy = #vhlo.result_accuracy_v1<atol "
        "= 0x0000000000000000, rtol = 0x3FD0000000000000, mode = "
        "#vhlo<result_accuracy_mode_v1 TOLERANCE>>}> {mhlo.sharding = "
        "#vhlo.string_v1<\"{replicated}\">} : (!v6) -> (!v6)\n"
        "\"vhlo.return_v1\"(%12, %8) : (!v6, !v22) -> ()\n"
        "}) : () -> ()\n"
        "}) {mhlo.num_partitions = 4 : i64, jax.x = \"a\\5Cb\\5Cc\", n = {a = 1 : i64, b = "
        "dense<\"0x01000000000000000200000000000000\"> : tensor<2xi64>, c = true, d = unit, "
        "e = tensor<2xf32>, f = -1 : i64}} : () -> ()\n");
    keel_program_deinitialize(&program);
}

static void shardings_have_the_text_of_shardy(void **state) {
    (void)state;
    keel_program_t program;
    small_program("module m {a=1}\n"
                  "x: f32[8,8]\n"
                  "y = negate f32[8,8] x {sdy.sharding=sdy.sharding{mesh=&mesh dimensions=["
                  "sdy.dimension_sharding{axes=[sdy.axis_ref{name='x'},sdy.axis_ref{name='y' "
                  "sub_axis_info=sdy.sub_axis{pre_size=2 size=4}}] is_closed=true},"
                  "sdy.dimension_sharding{axes=[] is_closed=false priority=3},"
                  "sdy.dimension_sharding{axes=[sdy.axis_ref{name='z'}] is_closed=false}] "
                  "replicated=[sdy.axis_ref{name='r'}] unreduced=[sdy.axis_ref{name='u'}]} "
                  "manual_axes=sdy.manual_axes{axes=['x','y']}}\n"
                  "return y",
                  &program);
    give_versions(&program, NULL, 0);
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    assert_ok(keel_write_mlir(&program, &out));
    static const char expected[] =
        "sdy.sharding = #sdy.sharding<@mesh, [{\"x\", \"y\":(2)4}, {?}p3, {\"z\", ?}], "
        "replicated={\"r\"}, unreduced={\"u\"}>, manual_axes = #sdy<manual_axes{\"x\", \"y\"}>";
    if (!strstr(keel_buffer_cstr(&out), expected))
        fail_msg("%s\nlacks %s", keel_buffer_cstr(&out), expected);
    keel_buffer_deinitialize(&out);
    keel_program_deinitialize(&program);
}

static void what_text_cannot_hold_is_refused(void **state) {
    (void)state;
    keel_program_t program;
    small_program("hlo\nx: f32[]\nreturn x", &program);
    assert_not_written(&program, KEEL_UNSUPPORTED, "HLO");
    keel_program_deinitialize(&program);

    small_program("x: f32[]\ny = frobnicate f32[] x\nreturn y", &program);
    give_versions(&program, NULL, 0);
    assert_not_written(&program, KEEL_UNSUPPORTED, "vhlo.frobnicate_v1");
    keel_program_deinitialize(&program);

    small_program("x: i128[]\nreturn x", &program);
    give_versions(&program, NULL, 0);
    assert_not_written(&program, KEEL_UNSUPPORTED, "VHLO lacks");
    keel_program_deinitialize(&program);

    static const struct {
        keel_attr_t attr;
        const char *words;
    } attrs[] = {
        {{.kind = KEEL_ATTR_WIDE_INT}, "wider than 64 bits"},
        {{.kind = KEEL_ATTR_STRINGS}, "an array of strings"},
        {{.kind = KEEL_ATTR_SPARSE}, "a sparse constant"},
        {{.kind = KEEL_ATTR_DISTINCT}, "a distinct attribute"},
        {{.kind = KEEL_ATTR_LOC_UNKNOWN}, "a location"},
        {{.kind = KEEL_ATTR_BYTES}, "without a meaning of its own"},
        {{.kind = KEEL_ATTR_DICT, .klass = KEEL_RECORD_DENSE_RESOURCE}, "dense_resource"},
        {{.kind = KEEL_ATTR_DICT, .klass = KEEL_RECORD_SDY_AXIS_REF_LIST}, "sdy.axis_ref_list"},
        {{.kind = KEEL_ATTR_ENUM, .klass = KEEL_ENUM_PRECISION, .a = 9}, "its enumeration lacks"},
    };
    for (size_t i = 0; i < sizeof attrs / sizeof *attrs; ++i) {
        keel_attr_id_t id;
        small_program("x: f32[]\ny = negate f32[] x {odd=1}\nreturn y", &program);
        give_versions(&program, NULL, 0);
        assert_ok(keel_program_add_attr(&program, attrs[i].attr, &id));
        const keel_operation_t *op = &program.operations.data[1];
        program.pool.data[program.attrs.data[op->attributes].b + 2] = id;
        assert_not_written(&program, KEEL_UNSUPPORTED, attrs[i].words);
        keel_program_deinitialize(&program);
    }
}

static void a_value_that_does_not_exist_is_refused(void **state) {
    (void)state;
    keel_program_t program;
    small_program("x: f32[]\nreturn x", &program);
    give_versions(&program, NULL, 0);
    program.operands.data[0] = 99;
    assert_not_written(&program, KEEL_INVALID, "does not exist");
    keel_program_deinitialize(&program);
}

static void attributes_that_nest_too_deep_are_refused(void **state) {
    (void)state;
    keel_program_t program;
    keel_attr_t attr = {.kind = KEEL_ATTR_ARRAY};
    small_program("x: f32[]\ny = negate f32[] x {odd=1}\nreturn y", &program);
    give_versions(&program, NULL, 0);
    uint32_t *value = NULL;
    for (int i = 0; i <= KEEL_READ_ATTRIBUTE_DEPTH; ++i) {
        keel_attr_id_t id;
        value = &program.pool.data[program.attrs.data[program.operations.data[1].attributes].b + 2];
        uint32_t inner = *value;
        assert_ok(keel_program_add_list(&program, &inner, 1, &attr.b));
        assert_ok(keel_program_add_attr(&program, attr, &id));
        value = &program.pool.data[program.attrs.data[program.operations.data[1].attributes].b + 2];
        *value = id;
    }
    assert_not_written(&program, KEEL_UNSUPPORTED, "deep");
    keel_program_deinitialize(&program);
}

static void text_beyond_the_buffers_limit_is_refused(void **state) {
    (void)state;
    keel_program_t program;
    keel_buffer_t out;
    small_program("x: f32[]\ny = negate f32[] x\nreturn y", &program);
    give_versions(&program, NULL, 0);
    keel_buffer_initialize(&out, 100);
    keel_status_t status = keel_write_mlir(&program, &out);
    assert_non_null(status);
    assert_int_equal(out.size, 0);
    keel_status_ignore(status);
    keel_buffer_deinitialize(&out);
    keel_program_deinitialize(&program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_attributes_and_regions_have_their_text),
        cmocka_unit_test(shardings_have_the_text_of_shardy),
        cmocka_unit_test(what_text_cannot_hold_is_refused),
        cmocka_unit_test(a_value_that_does_not_exist_is_refused),
        cmocka_unit_test(attributes_that_nest_too_deep_are_refused),
        cmocka_unit_test(text_beyond_the_buffers_limit_is_refused),
    };
    return cmocka_run_group_tests_name("write mlir", tests, NULL, NULL);
}
