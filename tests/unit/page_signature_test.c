// A program's arguments and results as lines of the report.
#define _GNU_SOURCE
#include "place.h"

#include "key_build.h"
#include "page/part.h"
#include "read/read.h"

typedef struct side_t {
    keel_arena_t arena;
    keel_buffer_t text;
    keel_page_side_t side;
} side_t;

static void open_side(side_t *s, const keel_program_t *program) {
    keel_arena_initialize(&s->arena, 0);
    keel_buffer_initialize(&s->text, 0);
    s->side = (keel_page_side_t){.program = program, .arena = &s->arena};
    assert_ok(keel_page_signature(&s->side, &s->text));
    assert_int_equal(s->text.size, 0);
}

static void close_side(side_t *s) {
    keel_arena_deinitialize(&s->arena);
    keel_buffer_deinitialize(&s->text);
}

static void assert_lines(const keel_program_t *program, const char *const *lines, size_t count) {
    side_t s;
    open_side(&s, program);
    assert_int_equal(s.side.lines.count, count);
    for (size_t i = 0; i < count; ++i)
        if (!keel_str_is(s.side.lines.items[i].text, lines[i]))
            fail_msg("'%.*s' is not '%s'", KEEL_STR_ARGS(s.side.lines.items[i].text), lines[i]);
    close_side(&s);
}

static keel_type_id_t shape(build_t *b, const int64_t *dims, uint32_t rank) {
    uint32_t list = 0;
    MUST(keel_program_add_ints(&b->program, dims, rank, &list));
    keel_type_id_t element = f32(b);
    return push_type(
        b, (keel_type_t){.kind = KEEL_TYPE_TENSOR, .a = element, .b = list, .c = KEEL_NONE});
}

// A program of one function, which another one precedes, with these arguments and results.
static void build_entry(build_t *b, const keel_type_id_t *arguments, uint32_t argument_count,
                        const keel_type_id_t *results, uint32_t result_count) {
    keel_program_t *p = &b->program;
    uint32_t first = begin_function(b, (fn_t){"other", f32(b), KEEL_NONE, false});
    end_function(b, first);
    uint32_t entry = begin_function(b, (fn_t){"main", arguments[0], KEEL_NONE, true});
    for (uint32_t i = 1; i < argument_count; ++i)
        new_value(b, arguments[i]);
    keel_block_t *block =
        &p->blocks.data[p->regions.data[p->functions.data[entry].region].first_block];
    block->argument_count = argument_count;
    uint32_t in = 0, out = 0;
    MUST(keel_program_add_list(p, arguments, argument_count, &in));
    MUST(keel_program_add_list(p, results, result_count, &out));
    p->functions.data[entry].type =
        push_type(b, (keel_type_t){.kind = KEEL_TYPE_FUNCTION, .b = in, .c = out});
    end_function(b, entry);
    build_end(b);
    p->entry = entry;
}

static keel_attr_id_t place_named(build_t *b, const char *name) {
    keel_attr_id_t unknown = push_attr(b, (keel_attr_t){.kind = KEEL_ATTR_LOC_UNKNOWN});
    return push_attr(b,
                     (keel_attr_t){.kind = KEEL_ATTR_LOC_NAME, .a = text(b, name), .b = unknown});
}

static void arguments_and_results_have_their_names_types_and_attributes(void **state) {
    (void)state;
    build_t b;
    build_begin(&b, KEEL_FORMAT_MLIR);
    keel_program_t *p = &b.program;
    const int64_t dims[] = {2, KEEL_DYNAMIC, 3};
    keel_type_id_t matrix = shape(&b, dims, 3), scalar = shape(&b, dims, 0);
    keel_type_id_t vector = shape(&b, dims, 1);
    keel_type_id_t token = push_type(&b, (keel_type_t){.kind = KEEL_TYPE_TOKEN});
    const keel_type_id_t arguments[] = {matrix, token, vector},
                         results[] = {scalar, vector, matrix, token};
    build_entry(&b, arguments, 3, results, 4);
    const uint32_t places[] = {place_named(&b, "batch['x']"), KEEL_NONE, place_named(&b, "")};
    uint32_t list = 0;
    MUST(keel_program_add_list(p, places, 3, &list));
    p->blocks.data[1].argument_locations = list + 1; // behind the count
    keel_attr_id_t one = int_attr(&b, 1);
    const keel_attr_id_t of_arguments[] = {
        KEEL_NONE, DICT(&b, {"tf.aliasing_output", one}, {"mhlo.sharding", string_attr(&b, "r")}),
        DICT(&b, {"jax.result_info", string_attr(&b, "x")}, {"jax.buffer_donor", one},
             {"a", string_attr(&b, "b")})};
    // A name that is not text is none, and the first text counts, also where it is empty.
    const keel_attr_id_t of_results[] = {
        DICT(&b, {"mhlo.sharding", string_attr(&b, "s")},
             {"jax.result_info", string_attr(&b, "loss")}),
        DICT(&b, {"jax.result_info", one}, {"jax.result_info", string_attr(&b, "")},
             {"jax.result_info", string_attr(&b, "late")}),
        DICT(&b, {"jax.result_info", one}, {"jax.result_info", string_attr(&b, "text")})};
    p->functions.data[1].argument_attributes = list_attr(&b, KEEL_ATTR_ARRAY, of_arguments, 3);
    p->functions.data[1].result_attributes = list_attr(&b, KEEL_ATTR_ARRAY, of_results, 3);
    static const char *const lines[] = {"batch['x']: f32[2,?,3]",
                                        "argument 1: !token donated, mhlo.sharding = \"r\"",
                                        "argument 2: f32[2] donated, a = \"b\"",
                                        "loss: f32[] mhlo.sharding = \"s\"",
                                        "result 1: f32[2]",
                                        "text: f32[2,?,3]",
                                        "result 3: !token"};
    assert_lines(p, lines, 7);
    // Lines of one name may stand side by side, others may not.
    side_t s;
    open_side(&s, p);
    for (size_t i = 0; i < 7; ++i)
        for (size_t k = 0; k < i; ++k)
            assert_true(s.side.lines.items[i].kind != s.side.lines.items[k].kind);
    close_side(&s);
    // Without its type, a function has no results that could be shown; without a body, nothing.
    p->functions.data[1].type = KEEL_NONE;
    assert_lines(p, lines, 3);
    p->entry = KEEL_NONE;
    assert_lines(p, lines, 0);
    keel_program_deinitialize(p);
}

static void no_more_than_2000_arguments_and_results_are_shown(void **state) {
    (void)state;
    enum { MANY = 2001 };
    build_t b;
    build_begin(&b, KEEL_FORMAT_MLIR);
    keel_type_id_t types[MANY], type = shape(&b, NULL, 0);
    for (size_t i = 0; i < MANY; ++i)
        types[i] = type;
    build_entry(&b, types, MANY, types, MANY);
    side_t s;
    open_side(&s, &b.program);
    assert_int_equal(s.side.lines.count, 2 * 2000);
    assert_true(keel_str_is(s.side.lines.items[1999].text, "argument 1999: f32[]"));
    assert_true(keel_str_is(s.side.lines.items[2000].text, "result 0: f32[]"));
    close_side(&s);
    keel_program_deinitialize(&b.program);
}

static void the_arguments_of_hlo_are_its_parameters(void **state) {
    (void)state;
    uint8_t *data;
    size_t size;
    assert_ok(keel_file_read(KEEL_TEST_SAMPLES "/hlo/linear_step.hlo", 1 << 20, &data, &size));
    keel_program_t program;
    assert_ok(keel_read(keel_bytes(data, size), &program));
    side_t s;
    open_side(&s, &program);
    assert_true(s.side.lines.count > 1);
    for (size_t i = 0; i < s.side.lines.count; ++i) {
        assert_true(keel_str_contains(s.side.lines.items[i].text, "parameter"));
        assert_int_equal(s.side.lines.items[i].kind, 1);
    }
    // All of the entry, and none of another computation.
    uint32_t first, end, parameters = 0;
    assert_true(keel_page_range(&program, &program.functions.data[program.entry], &first, &end));
    for (keel_op_id_t op = first; op < end; ++op)
        parameters += keel_str_is(
            keel_program_str(&program, keel_program_op_name(&program, op)->name), "parameter");
    assert_int_equal(s.side.lines.count, parameters);
    close_side(&s);
    keel_program_deinitialize(&program);
    keel_free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_and_results_have_their_names_types_and_attributes),
        cmocka_unit_test(no_more_than_2000_arguments_and_results_are_shown),
        cmocka_unit_test(the_arguments_of_hlo_are_its_parameters),
    };
    return cmocka_run_group_tests_name("page_signature", tests, NULL, NULL);
}
