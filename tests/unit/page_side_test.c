// One side of a view: the operations that are shown, and where their values come from.
#define _GNU_SOURCE
#include "place.h"

#include "key_build.h"
#include "page/part.h"
#include "read/read.h"

typedef struct stage_t {
    build_t b;
    uint32_t function;
    keel_arena_t arena;
    keel_buffer_t text;
    keel_page_side_t side;
} stage_t;

static void open_stage(stage_t *s) {
    build_begin(&s->b, KEEL_FORMAT_MLIR);
    s->function = begin_function(&s->b, (fn_t){"main", f32(&s->b), KEEL_NONE, true});
    keel_arena_initialize(&s->arena, 0);
    keel_buffer_initialize(&s->text, 0);
}

// Adds an operation with one result and at most two operands; KEEL_NONE: none. Gives the result.
static keel_value_id_t add(stage_t *s, const char *name, keel_value_id_t a, keel_value_id_t b) {
    return add_op(&s->b, (op_t){.name = name,
                                .attributes = KEEL_NONE,
                                .type = f32(&s->b),
                                .operands = {a, b},
                                .operand_count = (a != KEEL_NONE) + (b != KEEL_NONE)});
}

static keel_op_id_t last_op(const stage_t *s) {
    return s->b.program.operations.count - 1;
}

static const keel_function_t *function_of(const stage_t *s) {
    return &s->b.program.functions.data[s->function];
}

// The sources of the last operation if `shown` operations end with it.
static void find_sources(stage_t *s, uint32_t shown) {
    s->side = (keel_page_side_t){.program = &s->b.program,
                                 .arena = &s->arena,
                                 .told = last_op(s),
                                 .first = last_op(s) + 1 - shown,
                                 .end = last_op(s) + 1};
    end_function(&s->b, s->function);
    build_end(&s->b);
    keel_page_find_sources(&s->side, function_of(s));
}

static void assert_sources(const stage_t *s, const keel_op_id_t *ops, uint32_t count) {
    assert_int_equal(s->side.source_count, count);
    for (uint32_t i = 0; i < count; ++i)
        assert_int_equal(s->side.sources[i], ops[i] + 1); // behind the function
}
#define ASSERT_SOURCES(s, ...)                                                                     \
    assert_sources((s), (const keel_op_id_t[]){__VA_ARGS__},                                       \
                   sizeof((const keel_op_id_t[]){__VA_ARGS__}) / sizeof(keel_op_id_t))

static void close_stage(stage_t *s) {
    keel_arena_deinitialize(&s->arena);
    keel_buffer_deinitialize(&s->text);
    keel_program_deinitialize(&s->b.program);
}

// ---- sources -----------------------------------------------------------------------------------

// In the order of the program, whatever the order of the operands. What gives a value another shape
// is passed through; what computes is where it ends.
static void values_are_followed_to_what_made_them(void **state) {
    (void)state;
    stage_t s;
    open_stage(&s);
    keel_value_id_t one = add(&s, "constant", KEEL_NONE, KEEL_NONE);    // 0
    keel_value_id_t two = add(&s, "constant", KEEL_NONE, KEEL_NONE);    // 1
    keel_value_id_t sum = add(&s, "add", two, two);                     // 2
    keel_value_id_t wide = add(&s, "broadcast_in_dim", one, KEEL_NONE); // 3
    add(&s, "tanh", sum, KEEL_NONE);                                    // 4
    add(&s, "multiply", wide, sum);                                     // 5
    find_sources(&s, 1);
    ASSERT_SOURCES(&s, 0, 2, 3);
    close_stage(&s);
}

static void what_is_shown_anyway_is_no_source(void **state) {
    (void)state;
    stage_t s;
    open_stage(&s);
    keel_value_id_t one = add(&s, "constant", KEEL_NONE, KEEL_NONE);    // 0
    keel_value_id_t two = add(&s, "constant", KEEL_NONE, KEEL_NONE);    // 1
    keel_value_id_t wide = add(&s, "broadcast_in_dim", one, KEEL_NONE); // 2
    add(&s, "multiply", wide, two);                                     // 3
    find_sources(&s, 3);
    ASSERT_SOURCES(&s, 0);
    close_stage(&s);
}

static void a_source_of_two_operands_stands_once_and_an_argument_is_none(void **state) {
    (void)state;
    stage_t s;
    open_stage(&s);
    keel_value_id_t argument = argument_of(&s.b, s.function);
    keel_value_id_t one = add(&s, "constant", KEEL_NONE, KEEL_NONE); // 0
    add(&s, "tanh", argument, KEEL_NONE);                            // 1
    add(&s, "multiply", one, one);                                   // 2
    find_sources(&s, 1);
    ASSERT_SOURCES(&s, 0);
    close_stage(&s);
    open_stage(&s);
    add(&s, "tanh", argument_of(&s.b, s.function), KEEL_NONE);
    find_sources(&s, 1);
    assert_int_equal(s.side.source_count, 0);
    close_stage(&s);
}

// Three steps: the constant is behind a fourth.
static void a_value_is_followed_only_so_far(void **state) {
    (void)state;
    stage_t s;
    open_stage(&s);
    keel_value_id_t value = add(&s, "constant", KEEL_NONE, KEEL_NONE); // 0
    value = add(&s, "reshape", value, KEEL_NONE);                      // 1
    value = add(&s, "convert", value, KEEL_NONE);                      // 2
    value = add(&s, "broadcast", value, KEEL_NONE);                    // 3
    add(&s, "tanh", value, KEEL_NONE);                                 // 4
    find_sources(&s, 1);
    ASSERT_SOURCES(&s, 1, 2, 3);
    close_stage(&s);
}

// ---- lines -------------------------------------------------------------------------------------

static void lines_are_the_sources_and_then_what_is_shown(void **state) {
    (void)state;
    stage_t s;
    open_stage(&s);
    keel_value_id_t one = add(&s, "constant", KEEL_NONE, KEEL_NONE); // %1
    keel_value_id_t two = add(&s, "tanh", one, KEEL_NONE);           // %2
    add(&s, "negate", two, KEEL_NONE);                               // %3
    add(&s, "multiply", one, two);                                   // %4
    find_sources(&s, 2);
    ASSERT_SOURCES(&s, 0, 1);
    assert_ok(keel_page_operations(&s.side, function_of(&s), &s.text));
    static const char *const lines[] = {"%1 = constant", "%2 = tanh %1", "%3 = negate %2",
                                        "%4 = multiply %1, %2"};
    assert_int_equal(s.side.lines.count, 4);
    for (uint32_t i = 0; i < 4; ++i) {
        const keel_page_line_t *line = &s.side.lines.items[i];
        assert_true(keel_str_starts(line->text, keel_str(lines[i])));
        assert_int_equal(line->first_value, i + 1);
        assert_int_equal(line->value_count, 1);
        assert_int_equal(line->is_told, i == 3);
        for (uint32_t k = 0; k < i; ++k)
            assert_true(line->kind != s.side.lines.items[k].kind);
    }
    close_stage(&s);
}

// Not inside a character.
static void a_long_line_is_cut(void **state) {
    (void)state;
    stage_t s;
    open_stage(&s);
    s.side = (keel_page_side_t){.arena = &s.arena};
    assert_ok(keel_page_begin(&s.side, 2));
    for (size_t size = 400; size <= 401; ++size) {
        for (size_t i = 0; i < size - 2; ++i)
            keel_buffer_byte(&s.text, 'x');
        keel_buffer_text(&s.text, "\xc3\xa9");
        assert_ok(keel_page_end_line(&s.side, &s.text, (keel_page_line_t){.kind = 1}));
        assert_int_equal(s.text.size, 0);
        keel_str_t line = s.side.lines.items[s.side.lines.count - 1].text;
        assert_int_equal(line.size, size == 400 ? 400 : 402);
        assert_memory_equal(line.data + line.size - 3, size == 400 ? "x\xc3\xa9" : "...", 3);
    }
    // And no more than there is room for.
    assert_ok(keel_page_end_line(&s.side, &s.text, (keel_page_line_t){.kind = 1}));
    assert_int_equal(s.side.lines.count, 2);
    close_stage(&s);
}

static void the_function_of_an_operation_is_the_one_around_it(void **state) {
    (void)state;
    stage_t s;
    open_stage(&s);
    add(&s, "tanh", argument_of(&s.b, s.function), KEEL_NONE); // operation 1
    end_function(&s.b, s.function);
    uint32_t other = begin_function(&s.b, (fn_t){"other", f32(&s.b), KEEL_NONE, false}); // 2
    add(&s, "sine", argument_of(&s.b, other), KEEL_NONE);                                // 3
    end_function(&s.b, other);
    build_end(&s.b);
    const keel_program_t *p = &s.b.program;
    assert_ptr_equal(keel_page_function(p, 1), &p->functions.data[0]);
    assert_ptr_equal(keel_page_function(p, 3), &p->functions.data[1]);
    assert_null(keel_page_function(p, 0));
    assert_null(keel_page_function(p, 2));
    assert_null(keel_page_function(p, 4));
    uint32_t first, end;
    assert_true(keel_page_range(p, &p->functions.data[1], &first, &end));
    assert_int_equal(first, 3);
    assert_int_equal(end, 4);
    close_stage(&s);
}

static keel_attr_id_t scalar(build_t *b, const char *name, const void *data, size_t size) {
    return DICT(b, {name, tensor_attr(b, tensor_of(b, f32(b), 1), data, size)});
}

// Only those may share a row of two programs: rows that are alike but for a value are marked.
static void constants_are_of_one_kind_if_their_values_are_equal(void **state) {
    (void)state;
    static const float values[] = {1, 2, 1};
    for (int hlo = 0; hlo < 2; ++hlo) {
        build_t b;
        build_begin(&b, hlo ? KEEL_FORMAT_HLO : KEEL_FORMAT_MLIR);
        uint32_t function = begin_function(&b, (fn_t){"main", f32(&b), KEEL_NONE, true});
        keel_op_id_t ops[3];
        for (size_t i = 0; i < 3; ++i) {
            keel_attr_id_t held =
                scalar(&b, hlo ? "literal" : "value", &values[i], sizeof values[i]);
            add_op(&b, (op_t){.name = "constant", .attributes = held, .type = f32(&b)});
            ops[i] = b.program.operations.count - 1;
        }
        end_function(&b, function);
        build_end(&b);
        uint64_t one = keel_page_operation_kind(&b.program, ops[0]);
        assert_true(keel_page_operation_kind(&b.program, ops[1]) != one);
        assert_true(keel_page_operation_kind(&b.program, ops[2]) == one);
        keel_program_deinitialize(&b.program);
    }
}

// Of the operations around it, up to the function's own.
static unsigned depth_by_parents(const keel_program_t *p, keel_op_id_t op, keel_op_id_t function) {
    unsigned depth = 0;
    for (keel_op_id_t at = op; at != function && at != KEEL_NONE; ++depth) {
        keel_op_id_t parent = KEEL_NONE;
        uint32_t size = UINT32_MAX;
        for (uint32_t i = 0; i < p->regions.count; ++i) {
            const keel_region_t *region = &p->regions.data[i];
            keel_op_id_t first = p->blocks.data[region->first_block].first_op;
            if (!region->block_count || at < first || at >= region->end ||
                region->end - first >= size)
                continue;
            parent = region->parent;
            size = region->end - first;
        }
        at = parent;
    }
    return depth - 1;
}

static void operations_in_regions_are_indented_by_their_depth(void **state) {
    (void)state;
    uint8_t *bytes;
    size_t size;
    keel_program_t p;
    keel_program_initialize(&p);
    assert_ok(keel_file_read(KEEL_TEST_SAMPLES "/mlir/scan_while.mlir", 1 << 24, &bytes, &size));
    assert_ok(keel_read(keel_bytes(bytes, size), &p));
    const keel_function_t *f = &p.functions.data[p.entry];
    keel_page_side_t side = {.program = &p, .told = KEEL_NONE};
    keel_arena_t arena;
    keel_buffer_t text;
    unsigned deepest = 0;
    keel_arena_initialize(&arena, 0);
    keel_buffer_initialize(&text, 0);
    side.arena = &arena;
    assert_true(keel_page_range(&p, f, &side.first, &side.end));
    assert_ok(keel_page_operations(&side, f, &text));
    assert_int_equal(side.lines.count, side.end - side.first);
    for (size_t i = 0; i < side.lines.count; ++i) {
        unsigned depth = depth_by_parents(&p, side.first + (keel_op_id_t)i, f->operation);
        keel_str_t line = side.lines.items[i].text;
        size_t blanks = 0;
        while (blanks < line.size && line.data[blanks] == ' ')
            ++blanks;
        assert_int_equal(blanks, 2 * depth);
        if (depth > deepest) deepest = depth;
    }
    assert_true(deepest > 0);
    keel_arena_deinitialize(&arena);
    keel_buffer_deinitialize(&text);
    keel_program_deinitialize(&p);
    keel_free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_followed_to_what_made_them),
        cmocka_unit_test(what_is_shown_anyway_is_no_source),
        cmocka_unit_test(a_source_of_two_operands_stands_once_and_an_argument_is_none),
        cmocka_unit_test(a_value_is_followed_only_so_far),
        cmocka_unit_test(lines_are_the_sources_and_then_what_is_shown),
        cmocka_unit_test(a_long_line_is_cut),
        cmocka_unit_test(the_function_of_an_operation_is_the_one_around_it),
        cmocka_unit_test(constants_are_of_one_kind_if_their_values_are_equal),
        cmocka_unit_test(operations_in_regions_are_indented_by_their_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
