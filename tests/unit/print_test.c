#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "read/print.h"
#include "read/read.h"

// ---- a small program made by hand --------------------------------------------------------------

static keel_program_t p;

static void must(keel_status_t status) {
    if (status) fail_msg("%s", keel_status_message(status));
}

static uint32_t str(const char *words) {
    keel_string_id_t id;
    must(keel_program_add_text(&p, keel_str(words), &id));
    return id;
}

static keel_status_t push_type(keel_type_t t) {
    KEEL_PUSH(&p.types, t);
    return NULL;
}

static uint32_t type(keel_type_t t) {
    must(push_type(t));
    return p.types.count - 1;
}

static uint32_t attr(uint8_t kind, uint16_t klass, uint32_t a, uint32_t b) {
    keel_attr_id_t id;
    must(keel_program_add_attr(&p, (keel_attr_t){.kind = kind, .klass = klass, .a = a, .b = b},
                               &id));
    return id;
}

static uint32_t list(const uint32_t *items, uint32_t count) {
    uint32_t at;
    must(keel_program_add_list(&p, items, count, &at));
    return at;
}
#define LIST(...)                                                                                  \
    list((const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static uint32_t ints(const int64_t *items, uint32_t count) {
    uint32_t at;
    must(keel_program_add_ints(&p, items, count, &at));
    return at;
}
#define INTS(...)                                                                                  \
    ints((const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static uint32_t number(int64_t value) {
    uint32_t at;
    must(keel_program_add_int(&p, value, &at));
    return at;
}

static uint32_t blob(const void *data, size_t size) {
    uint32_t at;
    must(keel_program_add_blob(&p, keel_bytes(data, size), &at));
    return at;
}

static uint32_t integer(uint32_t width, keel_sign_t sign) {
    return type((keel_type_t){KEEL_TYPE_INTEGER, (uint8_t)sign, width, 0, KEEL_NONE});
}

static uint32_t floating(keel_float_t kind) {
    return type((keel_type_t){KEEL_TYPE_FLOAT, 0, kind, 0, KEEL_NONE});
}

static uint32_t tensor(uint32_t element, uint32_t dims) {
    return type((keel_type_t){KEEL_TYPE_TENSOR, 0, element, dims, KEEL_NONE});
}

static keel_status_t push_operation(const char *dialect, const char *name, const uint32_t *operands,
                                    uint32_t count, const uint32_t *result_types, uint32_t results,
                                    uint32_t attributes, uint32_t location, bool has_regions) {
    keel_op_name_t op_name = {str(dialect), str(name), 1};
    keel_operation_t o = {p.operands.count,
                          p.value_types.count,
                          location,
                          attributes,
                          (uint16_t)(p.op_names.count | (has_regions ? KEEL_OP_HAS_REGIONS : 0)),
                          (uint16_t)results};
    KEEL_PUSH(&p.op_names, op_name);
    KEEL_PUSH(&p.operations, o);
    for (uint32_t i = 0; i < count; ++i)
        KEEL_PUSH(&p.operands, operands[i]);
    for (uint32_t i = 0; i < results; ++i)
        KEEL_PUSH(&p.value_types, (uint16_t)result_types[i]);
    return NULL;
}

static keel_status_t push_argument(uint32_t id) {
    KEEL_PUSH(&p.value_types, (uint16_t)id);
    return NULL;
}

static keel_status_t push_block(uint32_t parent, uint32_t first, uint32_t end, uint32_t argument,
                                uint32_t arguments, uint32_t locations) {
    KEEL_PUSH(&p.regions, ((keel_region_t){parent, p.blocks.count, 1, end}));
    KEEL_PUSH(&p.blocks, ((keel_block_t){first, end, argument, arguments, locations}));
    return NULL;
}

static keel_status_t push_function(keel_function_t function) {
    KEEL_PUSH(&p.functions, function);
    return NULL;
}

static void open_program(void) {
    keel_program_initialize(&p);
    p.producer = KEEL_STR("StableHLO_v1.13.3");
    p.bytecode_version = 6;
}

// func @main(x, w) { dot_general; while { cond } { body }; return }, with a mesh before it.
static void build(void) {
    open_program();
    p.name = str("jit_f");
    uint32_t f32 = floating(KEEL_FLOAT_F32);
    uint32_t square = tensor(f32, INTS(2, 2)), i64 = integer(64, KEEL_SIGNLESS);
    uint32_t one_i64 = tensor(i64, INTS(1));
    uint32_t i1 = tensor(integer(1, KEEL_SIGNLESS), ints(NULL, 0));
    uint32_t function_type =
        type((keel_type_t){KEEL_TYPE_FUNCTION, 0, 0, LIST(square, square), LIST(square)});
    static const int64_t dimension = 1;
    uint32_t dims = attr(KEEL_ATTR_TENSOR, 0, one_i64, blob(&dimension, 8));
    uint32_t i32 = integer(32, KEEL_SIGNLESS);
    uint32_t alias = attr(KEEL_ATTR_INT, 0, i32, number(0));
    uint32_t donated = attr(KEEL_ATTR_DICT, 0, 0, LIST(str("tf.aliasing_output"), alias));
    uint32_t empty = attr(KEEL_ATTR_DICT, 0, 0, list(NULL, 0));
    uint32_t unknown = attr(KEEL_ATTR_LOC_UNKNOWN, 0, 0, 0);
    uint32_t named = attr(KEEL_ATTR_LOC_NAME, 0, str("params['w']"), unknown);
    uint32_t place = attr(KEEL_ATTR_LOC_FILE, 0, str("/src/model.py"), LIST(41, 3));
    uint32_t frame = attr(KEEL_ATTR_LOC_NAME, 0, str("step"), place);
    uint32_t where = attr(KEEL_ATTR_LOC_NAME, 0, str("jit(f)/dot_general"), frame);
    uint32_t none = attr(KEEL_ATTR_NONE, 0, 0, 0);
    uint32_t dot =
        attr(KEEL_ATTR_DICT, 0, 0,
             LIST(str("lhs_contracting_dimensions"), dims, str("accumulation_type"), none));
    must(push_operation("sdy", "mesh", NULL, 0, NULL, 0, KEEL_NONE, unknown, false));
    must(push_operation("vhlo", "func", NULL, 0, NULL, 0, empty, unknown, true));
    must(push_argument(square));
    must(push_argument(square));
    must(push_operation("vhlo", "dot_general", (uint32_t[]){0, 1}, 2, (uint32_t[]){square}, 1, dot,
                        where, false));
    must(push_operation("vhlo", "while", (uint32_t[]){2}, 1, (uint32_t[]){square}, 1, KEEL_NONE,
                        unknown, true));
    must(push_argument(square));
    static const uint8_t yes = 0xff;
    uint32_t held = attr(KEEL_ATTR_TENSOR, 0, i1, blob(&yes, 1));
    uint32_t value = attr(KEEL_ATTR_DICT, 0, 0, LIST(str("value"), held));
    must(push_operation("vhlo", "constant", NULL, 0, (uint32_t[]){i1}, 1, value, unknown, false));
    must(push_operation("vhlo", "return", (uint32_t[]){5}, 1, NULL, 0, KEEL_NONE, unknown, false));
    must(push_argument(square));
    must(push_operation("vhlo", "return", (uint32_t[]){6}, 1, NULL, 0, KEEL_NONE, unknown, false));
    must(push_operation("vhlo", "return", (uint32_t[]){3}, 1, NULL, 0, KEEL_NONE, unknown, false));
    uint32_t count = p.operations.count;
    must(push_operation("", "", NULL, 0, NULL, 0, KEEL_NONE, KEEL_NONE, false));
    must(push_block(1, 2, count, 0, 2, LIST(unknown, named) + 1));
    must(push_block(3, 4, 6, 4, 1, KEEL_NONE));
    must(push_block(3, 6, 7, 6, 1, KEEL_NONE));
    must(push_function(
        (keel_function_t){.name = str("main"),
                          .operation = 1,
                          .region = 0,
                          .type = function_type,
                          .argument_attributes = attr(KEEL_ATTR_ARRAY, 0, 0, LIST(donated, empty)),
                          .result_attributes = KEEL_NONE,
                          .end_value = p.value_types.count,
                          .attributes = KEEL_NONE,
                          .root = KEEL_NONE,
                          .is_public = true}));
    p.entry = 0;
}

static void expect_text(const char *wanted) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_print_options_t options = {true, 16};
    must(keel_print_text(&p, &options, &out));
    assert_string_equal(keel_buffer_cstr(&out), wanted);
    keel_buffer_deinitialize(&out);
}

static void a_program_reads_like_mlir(void **state) {
    (void)state;
    build();
    expect_text("module @jit_f  // mlir, StableHLO_v1.13.3\n"
                "sdy.mesh : () -> ()\n"
                "\n"
                "func public @main(\n"
                "    %0: tensor<2x2xf32> {tf.aliasing_output = 0 : i32},\n"
                "    %1: tensor<2x2xf32>  // \"params['w']\"\n"
                ") -> (tensor<2x2xf32>) {\n"
                "  %2 = dot_general %0, %1 {lhs_contracting_dimensions = [1]} : tensor<2x2xf32>"
                "  // model.py:41\n"
                "  %3 = while %2 : tensor<2x2xf32> {\n"
                "    (%4: tensor<2x2xf32>):\n"
                "    %5 = constant dense<true> : tensor<i1>\n"
                "    return %5 : tensor<i1>\n"
                "  }, {\n"
                "    (%6: tensor<2x2xf32>):\n"
                "    return %6 : tensor<2x2xf32>\n"
                "  }\n"
                "  return %3 : tensor<2x2xf32>\n"
                "}\n");
    keel_program_deinitialize(&p);
}

static void json_holds_every_operation_with_its_values_types_attributes_and_frames(void **state) {
    (void)state;
    build();
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    must(keel_print_json(&p, &out));
    assert_string_equal(
        keel_buffer_cstr(&out),
        "{\"format\":\"mlir\",\"producer\":\"StableHLO_v1.13.3\",\"bytecode_version\":6,"
        "\"name\":\"jit_f\",\"entry\":\"main\",\"attributes\":{},\n"
        "\"functions\":[\n"
        "{\"name\":\"main\",\"visibility\":\"public\",\"attributes\":{},\"arguments\":[\n"
        "{\"type\":\"tensor<2x2xf32>\",\"attributes\":{\"tf.aliasing_output\":{\"int\":0,"
        "\"type\":\"i32\"}},\"name\":null},\n"
        "{\"type\":\"tensor<2x2xf32>\",\"attributes\":{},\"name\":\"params['w']\","
        "\"location_name\":\"params['w']\",\"locations\":[]}],\"results\":[\n"
        "{\"type\":\"tensor<2x2xf32>\",\"attributes\":{}}],\"operations\":[\n"
        "{\"name\":\"dot_general\",\"dialect\":\"vhlo\",\"version\":1,\"operands\":[0,1],"
        "\"operand_types\":[\"tensor<2x2xf32>\",\"tensor<2x2xf32>\"],\"results\":[2],"
        "\"result_types\":[\"tensor<2x2xf32>\"],\"attributes\":{\"lhs_contracting_dimensions\":"
        "{\"tensor\":\"tensor<1xi64>\",\"splat\":false,\"data\":\"0100000000000000\","
        "\"values\":[1]},\"accumulation_type\":null},\"location_name\":\"jit(f)/dot_general\","
        "\"locations\":[{\"file\":\"/src/model.py\",\"line\":41,\"column\":3,\"end_line\":0,"
        "\"end_column\":0,\"name\":\"step\"}],\"regions\":[]},\n"
        "{\"name\":\"while\",\"dialect\":\"vhlo\",\"version\":1,\"operands\":[2],"
        "\"operand_types\":[\"tensor<2x2xf32>\"],\"results\":[3],\"result_types\":"
        "[\"tensor<2x2xf32>\"],\"attributes\":{},\"regions\":[{\"blocks\":[{\"arguments\":"
        "[{\"value\":4,\"type\":\"tensor<2x2xf32>\"}],\"operations\":[\n"
        "{\"name\":\"constant\",\"dialect\":\"vhlo\",\"version\":1,\"operands\":[],"
        "\"operand_types\":[],\"results\":[5],\"result_types\":[\"tensor<i1>\"],\"attributes\":"
        "{\"value\":{\"tensor\":\"tensor<i1>\",\"splat\":false,\"data\":\"01\",\"values\":"
        "[true]}},\"regions\":[]},\n"
        "{\"name\":\"return\",\"dialect\":\"vhlo\",\"version\":1,\"operands\":[5],"
        "\"operand_types\":[\"tensor<i1>\"],\"results\":[],\"result_types\":[],\"attributes\":{},"
        "\"regions\":[]}]}]},{\"blocks\":[{\"arguments\":[{\"value\":6,\"type\":"
        "\"tensor<2x2xf32>\"}],\"operations\":[\n"
        "{\"name\":\"return\",\"dialect\":\"vhlo\",\"version\":1,\"operands\":[6],"
        "\"operand_types\":[\"tensor<2x2xf32>\"],\"results\":[],\"result_types\":[],"
        "\"attributes\":{},\"regions\":[]}]}]}]},\n"
        "{\"name\":\"return\",\"dialect\":\"vhlo\",\"version\":1,\"operands\":[3],"
        "\"operand_types\":[\"tensor<2x2xf32>\"],\"results\":[],\"result_types\":[],"
        "\"attributes\":{},\"regions\":[]}]}],\n"
        "\"operations\":[\n"
        "{\"name\":\"mesh\",\"dialect\":\"sdy\",\"version\":1,\"operands\":[],\"operand_types\":"
        "[],\"results\":[],\"result_types\":[],\"attributes\":{},\"regions\":[]}]}\n");
    keel_buffer_deinitialize(&out);
    keel_program_deinitialize(&p);
}

static void expect_operation(keel_op_id_t op, const char *wanted) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_print_operation(&p, op, 0, 4, &out);
    assert_string_equal(keel_buffer_cstr(&out), wanted);
    keel_buffer_deinitialize(&out);
}

// HLO does not write the number 0.
static void parameters_of_hlo_have_their_numbers(void **state) {
    (void)state;
    open_program();
    p.format = KEEL_FORMAT_HLO;
    uint32_t f32 = floating(KEEL_FLOAT_F32);
    uint32_t third = attr(KEEL_ATTR_INT, 0, integer(64, KEEL_SIGNLESS), number(2));
    uint32_t dict = attr(KEEL_ATTR_DICT, 0, 0, LIST(str("parameter_number"), third));
    must(push_operation("hlo", "parameter", NULL, 0, &f32, 1, KEEL_NONE, KEEL_NONE, false));
    must(push_operation("hlo", "parameter", NULL, 0, &f32, 1, dict, KEEL_NONE, false));
    must(push_operation("", "", NULL, 0, NULL, 0, KEEL_NONE, KEEL_NONE, false));
    expect_operation(0, "%0 = parameter 0 : f32");
    expect_operation(1, "%1 = parameter 2 : f32");
    keel_program_deinitialize(&p);
}

// What has no information is left out of an operation's text; what has some never is.
static void only_attributes_that_say_something_are_shown(void **state) {
    (void)state;
    open_program();
    p.format = KEEL_FORMAT_HLO;
    uint32_t f32 = floating(KEEL_FLOAT_F32), i64 = integer(64, KEEL_SIGNLESS);
    uint32_t one = attr(KEEL_ATTR_INT, 0, i64, number(1));
    static const int64_t value = 7;
    uint32_t none_of_i64 = tensor(i64, INTS(0)), one_of_i64 = tensor(i64, INTS(1));
    uint32_t usual = attr(KEEL_ATTR_ENUM, KEEL_ENUM_PRECISION, 0, 0);
    uint32_t high = attr(KEEL_ATTR_ENUM, KEEL_ENUM_PRECISION, 1, 0);
    uint32_t no_text = attr(KEEL_ATTR_STRING, 0, str(""), 0);
    const struct {
        const char *name;
        uint32_t attr;
        bool is_shown;
    } list_of[] = {
        {"no_text", no_text, false},
        {"text", attr(KEEL_ATTR_STRING, 0, str("x"), 0), true},
        {"no_type", attr(KEEL_ATTR_TYPE, 0, type((keel_type_t){.kind = KEEL_TYPE_NONE}), 0), false},
        {"type", attr(KEEL_ATTR_TYPE, 0, f32, 0), true},
        {"no_numbers", attr(KEEL_ATTR_INTS, 0, 0, ints(NULL, 0)), false},
        {"numbers", attr(KEEL_ATTR_INTS, 0, 0, INTS(0)), true},
        {"no_elements", attr(KEEL_ATTR_TENSOR, 0, none_of_i64, blob("", 0)), false},
        {"elements", attr(KEEL_ATTR_TENSOR, 0, one_of_i64, blob(&value, sizeof value)), true},
        {"no_entries", attr(KEEL_ATTR_DICT, KEEL_RECORD_DICTIONARY, 0, list(NULL, 0)), false},
        {"entries", attr(KEEL_ATTR_DICT, KEEL_RECORD_DICTIONARY, 0, LIST(str("k"), one)), true},
        {"no_axes", attr(KEEL_ATTR_DICT, KEEL_RECORD_SDY_AXIS_REF_LIST, 0, list(NULL, 0)), true},
        {"no_fields", attr(KEEL_ATTR_DICT, KEEL_RECORD_HLO_MESSAGE, 0, list(NULL, 0)), false},
        {"empty_fields", attr(KEEL_ATTR_DICT, KEEL_RECORD_HLO_MESSAGE, 0, LIST(str("k"), no_text)),
         false},
        {"fields", attr(KEEL_ATTR_DICT, KEEL_RECORD_HLO_MESSAGE, 0, LIST(str("k"), one)), true},
        {"usual_precision", attr(KEEL_ATTR_ARRAY, 0, 0, LIST(usual, usual)), false},
        {"one_precision", attr(KEEL_ATTR_ARRAY, 0, 0, LIST(usual, high)), true},
        {"numbers_in_a_list", attr(KEEL_ATTR_ARRAY, 0, 0, LIST(one)), true},
        {"zero", attr(KEEL_ATTR_INT, 0, i64, number(0)), true},
        {"flag", attr(KEEL_ATTR_BOOL, 0, 0, 0), true},
    };
    enum { COUNT = sizeof list_of / sizeof *list_of };
    uint32_t pairs[2 * COUNT];
    for (size_t i = 0; i < COUNT; ++i) {
        pairs[2 * i] = str(list_of[i].name);
        pairs[2 * i + 1] = list_of[i].attr;
    }
    uint32_t dict = attr(KEEL_ATTR_DICT, 0, 0, list(pairs, 2 * COUNT));
    must(push_operation("hlo", "add", NULL, 0, &f32, 1, dict, KEEL_NONE, false));
    must(push_operation("", "", NULL, 0, NULL, 0, KEEL_NONE, KEEL_NONE, false));
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_print_operation(&p, 0, 0, 4, &out);
    for (size_t i = 0; i < COUNT; ++i) {
        char before[64], first[64];
        snprintf(before, sizeof before, ", %s = ", list_of[i].name);
        snprintf(first, sizeof first, "{%s = ", list_of[i].name);
        bool is_there =
            strstr(keel_buffer_cstr(&out), before) || strstr(keel_buffer_cstr(&out), first);
        if (is_there != list_of[i].is_shown)
            fail_msg("%s is %s: %s", list_of[i].name, is_there ? "shown" : "left out",
                     keel_buffer_cstr(&out));
    }
    keel_buffer_deinitialize(&out);
    keel_program_deinitialize(&p);
}

// ---- types -------------------------------------------------------------------------------------

static void expect_type(uint32_t id, const char *wanted) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_print_type(&p, id, &out);
    assert_string_equal(keel_buffer_cstr(&out), wanted);
    keel_buffer_deinitialize(&out);
}

static void types_are_written_as_stablehlo_writes_them(void **state) {
    (void)state;
    open_program();
    uint32_t f32 = floating(KEEL_FLOAT_F32);
    uint32_t complex = type((keel_type_t){KEEL_TYPE_COMPLEX, 0, f32, 0, KEEL_NONE});
    uint32_t dynamic = tensor(integer(4, KEEL_UNSIGNED), INTS(KEEL_DYNAMIC, 4));
    uint32_t token = type((keel_type_t){KEEL_TYPE_TOKEN, 0, 0, 0, KEEL_NONE});
    uint32_t both = type((keel_type_t){KEEL_TYPE_TUPLE, 0, 0, LIST(f32, token), KEEL_NONE});
    expect_type(f32, "f32");
    expect_type(floating(KEEL_FLOAT_F8E4M3B11FNUZ), "f8E4M3B11FNUZ");
    expect_type(tensor(complex, INTS(2)), "tensor<2xcomplex<f32>>");
    expect_type(tensor(f32, ints(NULL, 0)), "tensor<f32>");
    expect_type(dynamic, "tensor<?x4xui4>");
    expect_type(type((keel_type_t){KEEL_TYPE_UNRANKED_TENSOR, 0, f32, 0, KEEL_NONE}),
                "tensor<*xf32>");
    expect_type(both, "tuple<f32, !token>");
    expect_type(type((keel_type_t){KEEL_TYPE_FUNCTION, 0, 0, LIST(f32, dynamic), LIST(both)}),
                "(f32, tensor<?x4xui4>) -> tuple<f32, !token>");
    expect_type(type((keel_type_t){KEEL_TYPE_FUNCTION, 0, 0, list(NULL, 0), list(NULL, 0)}),
                "() -> ()");
    keel_attr_id_t bounds =
        attr(KEEL_ATTR_INTS, KEEL_RECORD_TYPE_EXTENSIONS, 0, INTS(5, KEEL_DYNAMIC));
    expect_type(type((keel_type_t){KEEL_TYPE_TENSOR, 0, f32, INTS(KEEL_DYNAMIC, 2), bounds}),
                "tensor<?x2xf32, type_extensions<5, ?>>");
    expect_type(type((keel_type_t){KEEL_TYPE_QUANTIZED, 0, integer(8, KEEL_SIGNLESS), f32, bounds}),
                "!quant.uniform<i8:f32, type_extensions<5, ?>>");
    expect_type(KEEL_NONE, "none");
    keel_program_deinitialize(&p);
}

// The JSON of a program whose module has this one attribute, cut to the attribute.
static void expect_attr(uint32_t id, const char *wanted_text, const char *wanted_json) {
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_print_attribute(&p, id, 4, &out);
    assert_string_equal(keel_buffer_cstr(&out), wanted_text);
    keel_buffer_deinitialize(&out);
    p.attributes = attr(KEEL_ATTR_DICT, 0, 0, LIST(str("a"), id));
    keel_buffer_initialize(&out, 0);
    must(keel_print_json(&p, &out));
    const char *from = strstr(keel_buffer_cstr(&out), "{\"a\":") + 5;
    const char *to = strstr(from, "},\n\"functions\"");
    assert_non_null(to);
    char found[512];
    assert_true((size_t)(to - from) < sizeof found);
    memcpy(found, from, (size_t)(to - from));
    found[to - from] = 0;
    assert_string_equal(found, wanted_json);
    keel_buffer_deinitialize(&out);
}

static void layouts_of_hlo_are_shown_where_they_are_not_usual(void **state) {
    (void)state;
    open_program();
    p.format = KEEL_FORMAT_HLO;
    uint32_t f32 = floating(KEEL_FLOAT_F32), dims = INTS(2, 3), order = str("minor_to_major");
    uint32_t usual = attr(KEEL_ATTR_INTS, 0, 0, INTS(1, 0));
    uint32_t turned = attr(KEEL_ATTR_INTS, 0, 0, INTS(0, 1));
    uint32_t message = KEEL_RECORD_HLO_MESSAGE;
    uint32_t one = attr(KEEL_ATTR_INT, 0, KEEL_NONE, number(1));
    const uint32_t layouts[] = {
        attr(KEEL_ATTR_DICT, (uint16_t)message, 0, LIST(order, usual)),
        attr(KEEL_ATTR_DICT, (uint16_t)message, 0, LIST(order, turned)),
        attr(KEEL_ATTR_DICT, (uint16_t)message, 0, LIST(order, usual, str("memory_space"), one))};
    static const char *const wanted[] = {
        "tensor<2x3xf32>", "tensor<2x3xf32, {0,1}>",
        "tensor<2x3xf32, {minor_to_major = [1, 0], memory_space = 1}>"};
    static const char *const exact[] = {
        "tensor<2x3xf32, {1,0}>", "tensor<2x3xf32, {0,1}>",
        "tensor<2x3xf32, hlo.message{minor_to_major = [1, 0], memory_space = 1}>"};
    for (int i = 0; i < 3; ++i) {
        uint32_t id = type((keel_type_t){KEEL_TYPE_TENSOR, 0, f32, dims, layouts[i]});
        expect_type(id, wanted[i]);
        char json[128];
        snprintf(json, sizeof json, "{\"type\":\"%s\"}", exact[i]);
        expect_attr(attr(KEEL_ATTR_TYPE, 0, id, 0), wanted[i], json);
    }
    keel_program_deinitialize(&p);
}

// ---- attributes --------------------------------------------------------------------------------

static void expect_int(uint32_t type_id, int64_t value, const char *words, const char *json) {
    expect_attr(attr(KEEL_ATTR_INT, 0, type_id, number(value)), words, json);
}

static void whole_numbers_are_exact_at_every_width(void **state) {
    (void)state;
    open_program();
    expect_int(integer(64, KEEL_SIGNLESS), -5, "-5", "-5");
    expect_int(integer(64, KEEL_UNSIGNED), -1, "18446744073709551615 : ui64",
               "{\"int\":18446744073709551615,\"type\":\"ui64\"}");
    expect_int(integer(32, KEEL_SIGNLESS), -1, "-1 : i32", "{\"int\":-1,\"type\":\"i32\"}");
    expect_int(KEEL_NONE, INT64_MIN, "-9223372036854775808", "-9223372036854775808");
    expect_int(integer(1, KEEL_SIGNLESS), 1, "true", "true");
    expect_attr(attr(KEEL_ATTR_WIDE_INT, 0, integer(128, KEEL_SIGNLESS), INTS(1, 2)),
                "0x00000000000000020000000000000001 : i128",
                "{\"int\":\"0x00000000000000020000000000000001\",\"type\":\"i128\"}");
    keel_program_deinitialize(&p);
}

static void expect_float(keel_float_t kind, uint64_t bits, const char *words, const char *json) {
    expect_attr(attr(KEEL_ATTR_FLOAT, 0, floating(kind), number((int64_t)bits)), words, json);
}

static void floats_print_as_the_shortest_decimal_that_rounds_back(void **state) {
    (void)state;
    open_program();
    expect_float(KEEL_FLOAT_F32, 0x3dcccccd, "0.1 : f32",
                 "{\"float\":0.1,\"bits\":\"0x3dcccccd\",\"type\":\"f32\"}");
    expect_float(KEEL_FLOAT_F64, 0x3fb999999999999a, "0.1",
                 "{\"float\":0.1,\"bits\":\"0x3fb999999999999a\",\"type\":\"f64\"}");
    expect_float(KEEL_FLOAT_F64, 1, "5e-324",
                 "{\"float\":5e-324,\"bits\":\"0x0000000000000001\",\"type\":\"f64\"}");
    expect_float(KEEL_FLOAT_F32, 0x461c4000, "10000.0 : f32",
                 "{\"float\":10000.0,\"bits\":\"0x461c4000\",\"type\":\"f32\"}");
    expect_float(KEEL_FLOAT_F32, 0x7f7fffff, "3.4028235e+38 : f32",
                 "{\"float\":3.4028235e+38,\"bits\":\"0x7f7fffff\",\"type\":\"f32\"}");
    expect_float(KEEL_FLOAT_BF16, 0x3dcd, "0.1 : bf16",
                 "{\"float\":0.1,\"bits\":\"0x3dcd\",\"type\":\"bf16\"}");
    expect_float(KEEL_FLOAT_F16, 0x0001, "6e-08 : f16",
                 "{\"float\":6e-08,\"bits\":\"0x0001\",\"type\":\"f16\"}");
    expect_float(KEEL_FLOAT_F32, 0x80000000, "-0.0 : f32",
                 "{\"float\":-0.0,\"bits\":\"0x80000000\",\"type\":\"f32\"}");
    expect_float(KEEL_FLOAT_F32, 0xff800000, "-inf : f32",
                 "{\"float\":\"-inf\",\"bits\":\"0xff800000\",\"type\":\"f32\"}");
    expect_float(KEEL_FLOAT_F32, 0x7fc00001, "nan : f32",
                 "{\"float\":\"nan\",\"bits\":\"0x7fc00001\",\"type\":\"f32\"}");
    expect_float(KEEL_FLOAT_F8E4M3FN, 0x7e, "450.0 : f8E4M3FN",
                 "{\"float\":450.0,\"bits\":\"0x7e\",\"type\":\"f8E4M3FN\"}");
    expect_float(KEEL_FLOAT_F8E4M3FN, 0x7f, "nan : f8E4M3FN",
                 "{\"float\":\"nan\",\"bits\":\"0x7f\",\"type\":\"f8E4M3FN\"}");
    expect_float(KEEL_FLOAT_F8E5M2FNUZ, 0x80, "nan : f8E5M2FNUZ",
                 "{\"float\":\"nan\",\"bits\":\"0x80\",\"type\":\"f8E5M2FNUZ\"}");
    expect_float(KEEL_FLOAT_F4E2M1FN, 0xf, "-6.0 : f4E2M1FN",
                 "{\"float\":-6.0,\"bits\":\"0x0f\",\"type\":\"f4E2M1FN\"}");
    expect_float(KEEL_FLOAT_F8E8M0FNU, 0x80, "2.0 : f8E8M0FNU",
                 "{\"float\":2.0,\"bits\":\"0x80\",\"type\":\"f8E8M0FNU\"}");
    keel_program_deinitialize(&p);
}

static void constants_are_cut_in_text_and_whole_in_json(void **state) {
    (void)state;
    open_program();
    static const int32_t numbers[] = {1, -2, 3, 4, 5, 6};
    static const uint8_t packed[] = {0x05}, spread[] = {1, 0, 1};
    static const float parts[] = {1, -0.5f};
    uint32_t i32 = integer(32, KEEL_SIGNLESS), i1 = integer(1, KEEL_SIGNLESS);
    uint32_t complex =
        type((keel_type_t){KEEL_TYPE_COMPLEX, 0, floating(KEEL_FLOAT_F32), 0, KEEL_NONE});
    // A single one is not a splat.
    static const uint8_t yes = 0xff;
    expect_attr(attr(KEEL_ATTR_TENSOR, 0, tensor(i1, INTS(1)), blob(&yes, 1)), "[true]",
                "{\"tensor\":\"tensor<1xi1>\",\"splat\":false,\"data\":\"01\",\"values\":[true]}");
    expect_attr(attr(KEEL_ATTR_TENSOR, 0, tensor(i32, INTS(1)), blob(numbers, 4)),
                "dense<[1]> : tensor<1xi32>",
                "{\"tensor\":\"tensor<1xi32>\",\"splat\":false,\"data\":\"01000000\","
                "\"values\":[1]}");
    expect_attr(attr(KEEL_ATTR_TENSOR, 0, tensor(i32, INTS(2)), blob(numbers, 4)),
                "dense<1> : tensor<2xi32>",
                "{\"tensor\":\"tensor<2xi32>\",\"splat\":true,\"data\":\"01000000\","
                "\"values\":[1,1]}");
    expect_attr(attr(KEEL_ATTR_TENSOR, 0, tensor(i32, INTS(2, 2)), blob(numbers, 16)),
                "dense<[[1, -2], [3, 4]]> : tensor<2x2xi32>",
                "{\"tensor\":\"tensor<2x2xi32>\",\"splat\":false,\"data\":"
                "\"01000000feffffff0300000004000000\",\"values\":[1,-2,3,4]}");
    expect_attr(attr(KEEL_ATTR_TENSOR, 0, tensor(i32, INTS(6)), blob(numbers, 24)),
                "dense<[1, -2, 3, ...]> : tensor<6xi32>",
                "{\"tensor\":\"tensor<6xi32>\",\"splat\":false,\"data\":"
                "\"01000000feffffff03000000040000000500000006000000\","
                "\"values\":[1,-2,3,4,5,6]}");
    expect_attr(attr(KEEL_ATTR_TENSOR, 0, tensor(i32, INTS(1000, 1000)), blob(numbers, 4)),
                "dense<1> : tensor<1000x1000xi32>",
                "{\"tensor\":\"tensor<1000x1000xi32>\",\"splat\":true,\"data\":\"01000000\"}");
    expect_attr(attr(KEEL_ATTR_TENSOR, 0, tensor(i32, INTS(0, 3)), blob("", 0)),
                "dense<[]> : tensor<0x3xi32>",
                "{\"tensor\":\"tensor<0x3xi32>\",\"splat\":false,\"data\":\"\",\"values\":[]}");
    expect_attr(attr(KEEL_ATTR_TENSOR, 0, tensor(i1, INTS(3)), blob(packed, 1)),
                "[true, false, true]",
                "{\"tensor\":\"tensor<3xi1>\",\"splat\":false,\"data\":\"010001\","
                "\"values\":[true,false,true]}");
    expect_attr(attr(KEEL_ATTR_TENSOR, 0, tensor(i1, INTS(3)), blob(spread, 3)),
                "[true, false, true]",
                "{\"tensor\":\"tensor<3xi1>\",\"splat\":false,\"data\":\"010001\","
                "\"values\":[true,false,true]}");
    expect_attr(attr(KEEL_ATTR_TENSOR, 0, tensor(complex, ints(NULL, 0)), blob(parts, 8)),
                "dense<(1.0,-0.5)> : tensor<complex<f32>>",
                "{\"tensor\":\"tensor<complex<f32>>\",\"splat\":false,\"data\":"
                "\"0000803f000000bf\"}");
    expect_attr(attr(KEEL_ATTR_TENSOR, 0, tensor(i32, INTS(2)), blob(numbers, 7)),
                "dense<damaged> : tensor<2xi32>",
                "{\"tensor\":\"tensor<2xi32>\",\"damaged\":\"01000000feffff\"}");
    expect_attr(attr(KEEL_ATTR_DENSE_ARRAY, 0, i32, blob(numbers, 8)), "array<i32: 1, -2>",
                "{\"array\":\"i32\",\"data\":\"01000000feffffff\",\"values\":[1,-2]}");
    keel_program_deinitialize(&p);
}

static void each_form_of_attribute_says_what_it_is(void **state) {
    (void)state;
    open_program();
    uint32_t f32 = floating(KEEL_FLOAT_F32);
    uint32_t yes = attr(KEEL_ATTR_BOOL, 0, 1, 0), unit = attr(KEEL_ATTR_UNIT, 0, 0, 0);
    uint32_t name = attr(KEEL_ATTR_SYMBOL, 0, str("a"), KEEL_NONE);
    expect_attr(attr(KEEL_ATTR_NONE, 0, 0, 0), "none", "null");
    expect_attr(unit, "unit", "{\"unit\":true}");
    expect_attr(yes, "true", "true");
    expect_attr(attr(KEEL_ATTR_STRING, 0, str("a\"\xc3\xa9"), KEEL_NONE), "\"a\\\"\xc3\xa9\"",
                "\"a\\\"\xc3\xa9\"");
    expect_attr(attr(KEEL_ATTR_STRING, 0, str("\xff"), KEEL_NONE), "\"\xEF\xBF\xBD\"",
                "{\"bytes\":\"ff\"}");
    expect_attr(attr(KEEL_ATTR_STRING, 0, str("s"), f32), "\"s\" : f32",
                "{\"string\":\"s\",\"type\":\"f32\"}");
    expect_attr(attr(KEEL_ATTR_TYPE, 0, f32, 0), "f32", "{\"type\":\"f32\"}");
    expect_attr(attr(KEEL_ATTR_ENUM, KEEL_ENUM_PRECISION, 2, 0), "HIGHEST", "\"HIGHEST\"");
    expect_attr(attr(KEEL_ATTR_ENUM, KEEL_ENUM_PRECISION, 9, 0), "precision 9",
                "{\"enum\":\"precision\",\"value\":9}");
    expect_attr(attr(KEEL_ATTR_ARRAY, 0, 0, LIST(yes, unit)), "[true, unit]",
                "[true,{\"unit\":true}]");
    expect_attr(attr(KEEL_ATTR_INTS, 0, 0, INTS(1, 2, 3, 4, 5)), "[1, 2, 3, 4, ...]",
                "[1,2,3,4,5]");
    expect_attr(attr(KEEL_ATTR_DICT, 0, 0, LIST(str("b c"), yes, str("d"), unit)),
                "{\"b c\" = true, d}", "{\"dictionary\":{\"b c\":true,\"d\":{\"unit\":true}}}");
    expect_attr(attr(KEEL_ATTR_DICT, KEEL_RECORD_SDY_MESH_AXIS, 0, LIST(str("name"), name)),
                "sdy.mesh_axis{name = @a}",
                "{\"kind\":\"sdy.mesh_axis\",\"name\":{\"symbol\":\"a\"}}");
    expect_attr(attr(KEEL_ATTR_SYMBOL, 0, str("b"), LIST(name, name)), "@b::@a::@a",
                "{\"symbol\":\"b\",\"nested\":[{\"symbol\":\"a\"},{\"symbol\":\"a\"}]}");
    expect_attr(attr(KEEL_ATTR_STRINGS, 0, tensor(f32, INTS(2)), LIST(str("x"), str("y"))),
                "dense<[\"x\", \"y\"]> : tensor<2xf32>",
                "{\"strings\":\"tensor<2xf32>\",\"splat\":false,\"values\":[\"x\",\"y\"]}");
    expect_attr(attr(KEEL_ATTR_DISTINCT, 0, yes, 0), "distinct<true>", "{\"distinct\":true}");
    expect_attr(attr(KEEL_ATTR_BYTES, 0, str("text"), blob("\1\2", 2)), "text<\"0x0102\">",
                "{\"opaque\":\"text\",\"data\":\"0102\"}");
    uint32_t unknown = attr(KEEL_ATTR_LOC_UNKNOWN, 0, 0, 0);
    expect_attr(unknown, "loc(\"\")", "{\"location\":{}}");
    expect_attr(attr(KEEL_ATTR_LOC_NAME, 0, str("x"), unknown), "loc(\"x\")",
                "{\"location\":{\"location_name\":\"x\",\"locations\":[]}}");
    keel_program_deinitialize(&p);
}

// Each level names the one below twice: the text of 100 levels would not fit into the universe.
static void attributes_that_multiply_are_cut_in_text_and_refused_in_json(void **state) {
    (void)state;
    open_program();
    uint32_t id = attr(KEEL_ATTR_BOOL, 0, 1, 0);
    for (int i = 0; i < 100; ++i)
        id = attr(KEEL_ATTR_ARRAY, 0, 0, LIST(id, id));
    p.attributes = attr(KEEL_ATTR_DICT, 0, 0, LIST(str("a"), id));
    keel_buffer_t out;
    keel_buffer_initialize(&out, 1 << 20);
    keel_print_attribute(&p, id, 4, &out);
    must(keel_buffer_status(&out));
    assert_true(out.size < 128 * 1024);
    assert_non_null(strstr(keel_buffer_cstr(&out), "..."));
    keel_buffer_deinitialize(&out);

    keel_buffer_initialize(&out, 0);
    must(keel_print_text(&p, &(keel_print_options_t){.largest_value = 4}, &out));
    static const char end[] = "... truncated here: the rest would be too large\n";
    assert_string_equal(keel_buffer_cstr(&out) + out.size - strlen(end), end);
    keel_buffer_deinitialize(&out);

    keel_buffer_initialize(&out, 1 << 20);
    keel_status_t status = keel_print_json(&p, &out);
    assert_non_null(status);
    keel_status_ignore(status);
    keel_buffer_deinitialize(&out);
    keel_program_deinitialize(&p);
}

static void attributes_nested_deeper_than_readers_allow_do_not_overflow(void **state) {
    (void)state;
    open_program();
    uint32_t id = attr(KEEL_ATTR_BOOL, 0, 1, 0);
    for (int i = 0; i < 100000; ++i)
        id = attr(KEEL_ATTR_DISTINCT, 0, id, 0);
    p.attributes = attr(KEEL_ATTR_DICT, 0, 0, LIST(str("a"), id));
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    keel_status_t status = keel_print_json(&p, &out);
    assert_int_equal(keel_status_code(status), KEEL_UNSUPPORTED);
    keel_status_ignore(status);
    keel_buffer_deinitialize(&out);
    keel_program_deinitialize(&p);
}

static void a_full_buffer_is_an_error_and_not_a_shorter_answer(void **state) {
    (void)state;
    build();
    keel_buffer_t out;
    keel_buffer_initialize(&out, 0);
    must(keel_print_json(&p, &out));
    size_t whole = out.size;
    keel_buffer_deinitialize(&out);
    for (size_t limit = 1; limit < whole; ++limit) {
        keel_buffer_initialize(&out, limit);
        keel_status_t status = keel_print_json(&p, &out);
        assert_int_equal(keel_status_code(status), KEEL_NO_MEMORY);
        keel_status_ignore(status);
        keel_buffer_deinitialize(&out);
    }
    keel_program_deinitialize(&p);
}

#ifdef KEEL_FAULTS
static void each_failed_allocation_is_told(void **state) {
    (void)state;
    build();
    // More frames than fit on the stack need memory of their own.
    uint32_t place = attr(KEEL_ATTR_LOC_FILE, 0, str("a.py"), LIST(1, 1)), calls = place;
    for (int i = 0; i < 100; ++i)
        calls = attr(KEEL_ATTR_LOC_CALLSITE, 0, place, calls);
    p.operations.data[2].location = calls;
    const keel_print_options_t options = {true, 16};
    for (uint64_t nth = 1, failed = 2; failed; ++nth) {
        failed = 0;
        for (int json = 0; json < 2; ++json) {
            keel_buffer_t out;
            keel_buffer_initialize(&out, 0);
            keel_fault_arm(KEEL_FAULT_ALLOC, nth);
            keel_status_t status =
                json ? keel_print_json(&p, &out) : keel_print_text(&p, &options, &out);
            bool was_hit = keel_fault_count(KEEL_FAULT_ALLOC) >= nth;
            keel_fault_arm(KEEL_FAULT_ALLOC, 0);
            assert_int_equal(keel_status_code(status), was_hit ? KEEL_NO_MEMORY : KEEL_OK);
            failed += was_hit;
            keel_status_ignore(status);
            keel_buffer_deinitialize(&out);
        }
    }
    keel_program_deinitialize(&p);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_reads_like_mlir),
        cmocka_unit_test(json_holds_every_operation_with_its_values_types_attributes_and_frames),
        cmocka_unit_test(parameters_of_hlo_have_their_numbers),
        cmocka_unit_test(only_attributes_that_say_something_are_shown),
        cmocka_unit_test(types_are_written_as_stablehlo_writes_them),
        cmocka_unit_test(layouts_of_hlo_are_shown_where_they_are_not_usual),
        cmocka_unit_test(whole_numbers_are_exact_at_every_width),
        cmocka_unit_test(floats_print_as_the_shortest_decimal_that_rounds_back),
        cmocka_unit_test(constants_are_cut_in_text_and_whole_in_json),
        cmocka_unit_test(each_form_of_attribute_says_what_it_is),
        cmocka_unit_test(attributes_that_multiply_are_cut_in_text_and_refused_in_json),
        cmocka_unit_test(attributes_nested_deeper_than_readers_allow_do_not_overflow),
        cmocka_unit_test(a_full_buffer_is_an_error_and_not_a_shorter_answer),
#ifdef KEEL_FAULTS
        cmocka_unit_test(each_failed_allocation_is_told),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
