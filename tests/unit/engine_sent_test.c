// Which lines sent data to the device, and that finding them costs few stacks.
#define _GNU_SOURCE
#include "engine/sent.h"
#include "store_help.h"

// tests/unit/door.cmake puts this in the place of the host's stack.
void __wrap_keel_stack_read(keel_arena_t *arena, const char *application, keel_stack_t *out);
static keel_stack_frame_t frame;
static unsigned stacks;

void __wrap_keel_stack_read(keel_arena_t *arena, const char *application, keel_stack_t *out) {
    (void)arena;
    (void)application;
    ++stacks;
    *out = (keel_stack_t){.frames = &frame, .count = frame.line != 0};
}

typedef struct stage_t {
    place_t place;
    keel_engine_t engine;
    keel_arena_t arena;
} stage_t;

static int set_up(void **state) {
    stage_t *stage = calloc(1, sizeof *stage);
    frame = (keel_stack_frame_t){.file = "/w/train.py", .function = "load", .line = 7};
    stacks = 0;
    place_make(&stage->place);
    keel_arena_initialize(&stage->arena, 0);
    stage->engine.settings.stack = true;
    assert_ok(keel_journal_open(stage->place.root, "r1", &stage->engine.journal));
    assert_ok(sites_create(&stage->engine));
    assert_ok(sent_create(&stage->engine));
    *state = stage;
    return 0;
}

static int tear_down(void **state) {
    stage_t *stage = *state;
    sent_destroy(stage->engine.sent);
    sites_destroy(stage->engine.sites);
    keel_journal_close(stage->engine.journal);
    keel_arena_deinitialize(&stage->arena);
    place_remove(&stage->place);
    free(stage);
    return 0;
}

static void send_at(stage_t *stage, uint32_t line, PJRT_Buffer_Type element, int64_t rows) {
    const int64_t dims[] = {rows, 4};
    frame.line = line;
    sent_note(&stage->engine, element, dims, 2);
}

static const keel_made_t *take(stage_t *stage, uint32_t *count) {
    return sent_take(&stage->engine, &stage->arena, count);
}

static void assert_made(const keel_made_t *made, const char *type, uint32_t line) {
    assert_string_equal(made->type, type);
    assert_string_equal(made->place.file, "/w/train.py");
    assert_string_equal(made->place.function, "load");
    assert_int_equal(made->place.line, line);
}

static void each_type_has_the_lines_that_sent_it_the_last_one_last(void **state) {
    stage_t *stage = *state;
    uint32_t count;
    sent_begin(&stage->engine);
    send_at(stage, 7, PJRT_Buffer_Type_BF16, 2);
    send_at(stage, 8, PJRT_Buffer_Type_S64, 2);
    send_at(stage, 9, PJRT_Buffer_Type_BF16, 2);
    send_at(stage, 7, PJRT_Buffer_Type_BF16, 2);
    const keel_made_t *made = take(stage, &count);
    assert_int_equal(count, 3);
    assert_made(&made[0], "bf16[2,4]", 9);
    assert_made(&made[1], "bf16[2,4]", 7);
    assert_made(&made[2], "i64[2,4]", 8);
    take(stage, &count);
    assert_int_equal(count, 0);
}

// Before the client has asked for a recorded program nobody needs them.
static void nothing_is_looked_at_before_it_begins(void **state) {
    stage_t *stage = *state;
    uint32_t count;
    send_at(stage, 7, PJRT_Buffer_Type_F32, 2);
    take(stage, &count);
    assert_int_equal(count + stacks, 0);
    stage->engine.settings.stack = false;
    sent_begin(&stage->engine);
    send_at(stage, 7, PJRT_Buffer_Type_F32, 2);
    assert_int_equal(stacks, 0);
}

static void numbers_and_lines_of_libraries_are_left_out(void **state) {
    stage_t *stage = *state;
    uint32_t count;
    sent_begin(&stage->engine);
    sent_note(&stage->engine, PJRT_Buffer_Type_F32, NULL, 0);
    assert_int_equal(stacks, 0);
    frame.file = "/v/lib/python3.11/site-packages/torch_xla/distributed/parallel_loader.py";
    send_at(stage, 7, PJRT_Buffer_Type_F32, 2);
    frame.line = 0; // a thread that does not know Python
    send_at(stage, 0, PJRT_Buffer_Type_F32, 3);
    take(stage, &count);
    assert_int_equal(count, 0);
}

static void a_loop_reads_the_stack_a_few_times_between_two_programs(void **state) {
    stage_t *stage = *state;
    uint32_t count;
    sent_begin(&stage->engine);
    for (int i = 0; i < 1000; ++i)
        send_at(stage, 7, PJRT_Buffer_Type_F32, 2);
    assert_in_range(stacks, 1, SENT_LOOKS);
    take(stage, &count);
    send_at(stage, 11, PJRT_Buffer_Type_F32, 2);
    const keel_made_t *made = take(stage, &count);
    assert_int_equal(count, 1);
    assert_made(made, "f32[2,4]", 11);
}

static void of_too_many_lines_or_types_the_first_go_and_the_last_stay_out(void **state) {
    stage_t *stage = *state;
    uint32_t count;
    sent_begin(&stage->engine);
    for (uint32_t line = 1; line <= SENT_SITES + 2; ++line)
        send_at(stage, line, PJRT_Buffer_Type_F32, 2);
    const keel_made_t *made = take(stage, &count);
    assert_int_equal(count, SENT_SITES);
    assert_made(&made[SENT_SITES - 1], "f32[2,4]", SENT_SITES + 2);
    for (int64_t rows = 1; rows <= SENT_TYPES + 5; ++rows)
        send_at(stage, 3, PJRT_Buffer_Type_F32, rows);
    take(stage, &count);
    assert_int_equal(count, SENT_TYPES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(each_type_has_the_lines_that_sent_it_the_last_one_last),
        TEST(nothing_is_looked_at_before_it_begins),
        TEST(numbers_and_lines_of_libraries_are_left_out),
        TEST(a_loop_reads_the_stack_a_few_times_between_two_programs),
        TEST(of_too_many_lines_or_types_the_first_go_and_the_last_stay_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
