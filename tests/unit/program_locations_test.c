#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "program/program.h"
#include "read/read.h"

// Trees are built from the leaves up.
static keel_attr_id_t add(keel_program_t *p, uint8_t kind, uint32_t a, uint32_t b) {
    keel_attr_t attr = {.kind = kind, .a = a, .b = b};
    keel_attr_id_t id;
    assert_null(keel_program_add_attr(p, attr, &id));
    return id;
}

static keel_string_id_t text(keel_program_t *p, const char *bytes) {
    keel_string_id_t id;
    assert_null(keel_program_add_text(p, keel_str(bytes), &id));
    return id;
}

static keel_attr_id_t unknown(keel_program_t *p) {
    return add(p, KEEL_ATTR_LOC_UNKNOWN, 0, 0);
}

static keel_attr_id_t file(keel_program_t *p, const char *name, uint32_t line) {
    const uint32_t numbers[] = {line, 2, line, 9};
    uint32_t list;
    assert_null(keel_program_add_list(p, numbers, 4, &list));
    return add(p, KEEL_ATTR_LOC_FILE, text(p, name), list);
}

static keel_attr_id_t named(keel_program_t *p, const char *name, keel_attr_id_t child) {
    return add(p, KEEL_ATTR_LOC_NAME, text(p, name), child);
}

static keel_attr_id_t call(keel_program_t *p, keel_attr_id_t callee, keel_attr_id_t caller) {
    return add(p, KEEL_ATTR_LOC_CALLSITE, callee, caller);
}

static void assert_frame(const keel_frame_t *frame, const char *name, uint32_t line,
                         const char *function) {
    assert_true(keel_str_is(frame->file, name));
    assert_int_equal(frame->line, line);
    assert_true(keel_str_is(frame->function, function));
}

static void frames_come_innermost_first_with_their_functions(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    keel_attr_id_t inner = named(&p, "block", file(&p, "model.py", 41));
    keel_attr_id_t middle = named(&p, "loss", file(&p, "train.py", 12));
    keel_attr_id_t outer = named(&p, "<module>", file(&p, "train.py", 88));
    keel_attr_id_t place =
        named(&p, "jit(step)/block/mul", call(&p, inner, call(&p, middle, outer)));
    keel_frame_t frames[4];
    keel_str_t name;
    assert_int_equal(keel_program_frames(&p, place, frames, 4, &name), 3);
    assert_true(keel_str_is(name, "jit(step)/block/mul"));
    assert_frame(&frames[0], "model.py", 41, "block");
    assert_frame(&frames[1], "train.py", 12, "loss");
    assert_frame(&frames[2], "train.py", 88, "<module>");
    assert_int_equal(frames[0].column, 2);
    assert_int_equal(frames[0].end_line, 41);
    assert_int_equal(frames[0].end_column, 9);
    // All are counted, so many as are asked for are written.
    frames[1].line = 0;
    assert_int_equal(keel_program_frames(&p, place, frames, 1, NULL), 3);
    assert_int_equal(frames[1].line, 0);
    assert_int_equal(keel_program_frames(&p, place, NULL, 0, NULL), 3);
    keel_program_deinitialize(&p);
}

static void call_sites_may_nest_on_the_left(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    keel_attr_id_t left =
        call(&p, named(&p, "a", file(&p, "x.py", 1)), named(&p, "b", file(&p, "x.py", 2)));
    keel_attr_id_t place = named(&p, "op", call(&p, left, named(&p, "c", file(&p, "x.py", 3))));
    keel_frame_t frames[3];
    assert_int_equal(keel_program_frames(&p, place, frames, 3, NULL), 3);
    assert_frame(&frames[0], "x.py", 1, "a");
    assert_frame(&frames[1], "x.py", 2, "b");
    assert_frame(&frames[2], "x.py", 3, "c");
    keel_program_deinitialize(&p);
}

static void fused_locations_are_taken_in_turn(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    const uint32_t inner[] = {file(&p, "x.py", 2), unknown(&p)};
    uint32_t list;
    assert_null(keel_program_add_list(&p, inner, 2, &list));
    keel_attr_id_t group = add(&p, KEEL_ATTR_LOC_FUSED, KEEL_NONE, list);
    const uint32_t members[] = {named(&p, "op", file(&p, "x.py", 1)), group, file(&p, "x.py", 3)};
    assert_null(keel_program_add_list(&p, members, 3, &list));
    keel_attr_id_t place = add(&p, KEEL_ATTR_LOC_FUSED, KEEL_NONE, list);
    keel_frame_t frames[3];
    keel_str_t name;
    assert_int_equal(keel_program_frames(&p, place, frames, 3, &name), 3);
    assert_true(keel_str_is(name, "op"));
    for (uint32_t i = 0; i < 3; ++i)
        assert_frame(&frames[i], "x.py", i + 1, "");
    keel_program_deinitialize(&p);
}

static void names_below_a_call_site_are_functions(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    keel_attr_id_t place = call(&p, named(&p, "f", file(&p, "x.py", 1)), file(&p, "x.py", 2));
    keel_frame_t frames[2];
    keel_str_t name;
    assert_int_equal(keel_program_frames(&p, place, frames, 2, &name), 2);
    assert_int_equal(name.size, 0);
    assert_frame(&frames[0], "x.py", 1, "f");
    assert_frame(&frames[1], "x.py", 2, "");
    keel_program_deinitialize(&p);
}

static void a_name_alone_is_no_frame(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    keel_str_t name;
    keel_attr_id_t none = unknown(&p);
    assert_int_equal(keel_program_frames(&p, named(&p, "x", none), NULL, 0, &name), 0);
    assert_true(keel_str_is(name, "x"));
    assert_int_equal(keel_program_frames(&p, none, NULL, 0, &name), 0);
    assert_int_equal(name.size, 0);
    assert_int_equal(keel_program_frames(&p, KEEL_NONE, NULL, 0, &name), 0);
    // The type of an operation stands above its name stack.
    keel_attr_id_t place =
        named(&p, "while:", named(&p, "jit(f)/while", named(&p, "f", file(&p, "x.py", 7))));
    keel_frame_t frame;
    assert_int_equal(keel_program_frames(&p, place, &frame, 1, &name), 1);
    assert_true(keel_str_is(name, "jit(f)/while"));
    assert_frame(&frame, "x.py", 7, "f");
    keel_program_deinitialize(&p);
}

static void a_place_may_lack_numbers_and_has_no_more_than_four(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    const uint32_t numbers[] = {7, 2, 8, 9, 55};
    for (uint32_t known = 0; known <= 5; ++known) {
        uint32_t list;
        assert_null(keel_program_add_list(&p, numbers, known, &list));
        assert_null(keel_table_reserve(&p.pool, 1));
        p.pool.data[p.pool.count] = 44; // beyond the list
        keel_frame_t frame;
        keel_attr_id_t place = add(&p, KEEL_ATTR_LOC_FILE, text(&p, "x.py"), list);
        assert_int_equal(keel_program_frames(&p, place, &frame, 1, NULL), 1);
        assert_int_equal(frame.line, known > 0 ? 7 : 0);
        assert_int_equal(frame.column, known > 1 ? 2 : 0);
        assert_int_equal(frame.end_line, known > 2 ? 8 : 0);
        assert_int_equal(frame.end_column, known > 3 ? 9 : 0);
    }
    keel_program_deinitialize(&p);
}

static void frames_are_the_same_if_file_line_and_columns_are(void **state) {
    (void)state;
    const keel_frame_t frame = {.file = KEEL_STR("x.py"), .line = 3, .column = 2, .end_column = 9};
    keel_frame_t other = frame;
    other.function = KEEL_STR("f");
    assert_true(keel_frame_is_same(&frame, &other));
    other.line = 4;
    assert_false(keel_frame_is_same(&frame, &other));
    other = frame;
    other.column = 3;
    assert_false(keel_frame_is_same(&frame, &other));
    other = frame;
    other.end_column = 8;
    assert_false(keel_frame_is_same(&frame, &other));
    other = frame;
    other.file = KEEL_STR("y.py");
    assert_false(keel_frame_is_same(&frame, &other));
}

static void depth_and_sharing_cost_neither_stack_nor_time(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    keel_attr_id_t leaf = file(&p, "x.py", 1);
    enum { DEEP = 100000 };
    keel_attr_id_t right = leaf, left = leaf, twice = leaf;
    for (unsigned i = 0; i < DEEP; ++i)
        right = call(&p, leaf, right);
    assert_int_equal(keel_program_frames(&p, right, NULL, 0, NULL), DEEP + 1);
    for (unsigned i = 0; i < DEEP; ++i)
        left = call(&p, left, leaf);
    assert_in_range(keel_program_frames(&p, left, NULL, 0, NULL), 256, DEEP + 1);
    for (unsigned i = 0; i < 64; ++i)
        twice = call(&p, twice, twice);
    assert_in_range(keel_program_frames(&p, twice, NULL, 0, NULL), 64, 5 * DEEP);
    keel_program_deinitialize(&p);
}

static void places_of_a_real_program_are_found(void **state) {
    (void)state;
    uint8_t *data;
    size_t size;
    assert_null(keel_file_read(KEEL_TEST_SAMPLES "/mlir/donate.mlir", 1 << 20, &data, &size));
    keel_program_t p;
    assert_null(keel_read_mlir(keel_bytes(data, size), &p));
    uint32_t placed = 0;
    for (keel_op_id_t op = 0; op < keel_program_op_count(&p); ++op) {
        keel_frame_t frames[8];
        keel_str_t name;
        uint32_t count = keel_program_frames(&p, p.operations.data[op].location, frames, 8, &name);
        if (count < 2 || count > 8) continue;
        assert_true(keel_str_is(frames[0].file, "train.py"));
        assert_true(keel_str_is(frames[count - 1].file, "<string>"));
        assert_true(keel_str_is(frames[count - 1].function, "<module>"));
        assert_true(keel_str_starts(name, KEEL_STR("jit(donate)")));
        assert_true(frames[0].line > 0);
        ++placed;
    }
    assert_true(placed > 5);
    keel_program_deinitialize(&p);
    keel_free(data);
}

#define PACKAGES "/v/lib/python3.12/site-packages"

// A node of a graph, as TorchTPU lowers it: below a frame that it makes up, and torch's compiler.
static keel_attr_id_t node(keel_program_t *p, const char *of, uint32_t line, const char *compiler) {
    keel_attr_id_t place = named(p, of, file(p, "train.py", line));
    keel_attr_id_t exporter = file(p, PACKAGES "/torch_tpu/_internal/export/export.py", 207);
    keel_attr_id_t lowers = named(p, "run_node", exporter);
    keel_attr_id_t compiles = named(p, compiler, file(p, PACKAGES "/torch/_dynamo/common.py", 114));
    keel_attr_id_t asks = named(p, "main", file(p, "train.py", 34));
    return call(p, place, call(p, lowers, call(p, compiles, asks)));
}

static void a_node_of_a_graph_has_its_own_line_and_that_of_the_call(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    keel_frame_t frames[4];
    keel_attr_id_t forward = node(&p, "loss_of", 17, "compile_submod");
    assert_int_equal(keel_program_frames(&p, forward, frames, 4, NULL), 2);
    assert_frame(&frames[0], "train.py", 16, "loss_of");
    assert_frame(&frames[1], "train.py", 34, "main");
    assert_int_equal(keel_program_graph_kind(&p, forward), KEEL_GRAPH_FORWARD);
    keel_attr_id_t backward = node(&p, "loss_of", 17, "_wrapped_bw_compiler");
    assert_int_equal(keel_program_graph_kind(&p, backward), KEEL_GRAPH_BACKWARD);
    keel_program_deinitialize(&p);
}

static void a_node_without_a_line_has_that_of_the_call(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    keel_frame_t frames[4];
    keel_attr_id_t exporter = file(&p, PACKAGES "/torch_tpu/_internal/export/export.py", 204);
    keel_attr_id_t lowers = file(&p, PACKAGES "/torch_tpu/_internal/export/export.py", 207);
    keel_attr_id_t asks = named(&p, "main", file(&p, "train.py", 34));
    keel_attr_id_t place = call(&p, named(&p, "dispatch_fx_node", exporter),
                                call(&p, named(&p, "run_node", lowers), asks));
    assert_int_equal(keel_program_frames(&p, place, frames, 4, NULL), 1);
    assert_frame(&frames[0], "train.py", 34, "main");
    keel_program_deinitialize(&p);
}

static void frames_of_torch_stay_outside_a_graph(void **state) {
    (void)state;
    keel_program_t p;
    keel_program_initialize(&p);
    keel_frame_t frames[4];
    keel_attr_id_t inner = named(&p, "call", file(&p, PACKAGES "/torch/_dynamo/common.py", 9));
    keel_attr_id_t place = call(&p, inner, named(&p, "main", file(&p, "train.py", 34)));
    assert_int_equal(keel_program_frames(&p, place, frames, 4, NULL), 2);
    assert_int_equal(keel_program_graph_kind(&p, place), KEEL_GRAPH_NONE);
    assert_int_equal(keel_program_graph_kind(&p, KEEL_NONE), KEEL_GRAPH_NONE);
    keel_program_deinitialize(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_come_innermost_first_with_their_functions),
        cmocka_unit_test(call_sites_may_nest_on_the_left),
        cmocka_unit_test(fused_locations_are_taken_in_turn),
        cmocka_unit_test(names_below_a_call_site_are_functions),
        cmocka_unit_test(a_name_alone_is_no_frame),
        cmocka_unit_test(a_place_may_lack_numbers_and_has_no_more_than_four),
        cmocka_unit_test(frames_are_the_same_if_file_line_and_columns_are),
        cmocka_unit_test(depth_and_sharing_cost_neither_stack_nor_time),
        cmocka_unit_test(places_of_a_real_program_are_found),
        cmocka_unit_test(a_node_of_a_graph_has_its_own_line_and_that_of_the_call),
        cmocka_unit_test(a_node_without_a_line_has_that_of_the_call),
        cmocka_unit_test(frames_of_torch_stay_outside_a_graph),
    };
    return cmocka_run_group_tests_name("program_locations", tests, NULL, NULL);
}
