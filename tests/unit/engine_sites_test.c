// Which line reads, from as few stacks as possible.
#define _GNU_SOURCE
#include "engine/sites.h"
#include "host/host.h"
#include "store_help.h"

// tests/unit/door.cmake puts this in the place of the host's stack.
void __wrap_keel_stack_read(keel_arena_t *arena, const char *application, keel_stack_t *out);
static keel_stack_frame_t frame = {.file = "/w/train.py", .function = "main"};
static unsigned stacks;

void __wrap_keel_stack_read(keel_arena_t *arena, const char *application, keel_stack_t *out) {
    (void)arena;
    (void)application;
    ++stacks;
    *out = (keel_stack_t){.frames = &frame, .count = frame.line != 0};
}

typedef struct stage_t {
    keel_engine_t engine;
    counter_t *program; // executed last
} stage_t;

static int set_up(void **state) {
    stage_t *stage = calloc(1, sizeof *stage);
    keel_digest_t program = key_of(0);
    assert_ok(counters_create(&stage->engine));
    assert_ok(sites_create(&stage->engine));
    assert_ok(counters_of(stage->engine.counters, &program, &stage->program));
    *state = stage;
    return 0;
}

static int tear_down(void **state) {
    stage_t *stage = *state;
    sites_destroy(stage->engine.sites);
    counters_destroy(stage->engine.counters);
    free(stage);
    return 0;
}

// The line of a read after the n-th execution; 0: unknown.
static uint32_t told_line(const stage_t *stage, uint64_t n) {
    const site_t *site = sites_reading(stage->engine.sites, stage->program, 4, n);
    return site ? site_place(site)->line : 0;
}

static void a_line_is_believed_after_eight_stacks_and_doubted_at_each_64th_read(void **state) {
    const stage_t *stage = *state;
    stacks = 0;
    frame.line = 7;
    for (uint64_t n = 1; n <= 200; ++n) {
        assert_int_equal(told_line(stage, n), 7);
        assert_int_equal(stacks, n < 8 ? n : 8 + n / 64);
    }
    // Another line by now: noticed at the next doubt, and not before; then it has to be believed.
    frame.line = 9;
    stacks = 0;
    for (uint64_t n = 201; n <= 300; ++n) {
        assert_int_equal(told_line(stage, n), n < 256 ? 7 : 9);
        assert_int_equal(stacks, n < 256 ? 0 : n < 263 ? n - 255 : 8);
    }
}

static void a_thread_without_a_stack_has_no_line(void **state) {
    const stage_t *stage = *state;
    frame.line = 0;
    for (uint64_t n = 1; n <= 100; ++n)
        assert_int_equal(told_line(stage, n), 0);
}

// Reads of another size, or the second after one execution, are other reads.
static void reads_that_differ_have_lines_of_their_own(void **state) {
    const stage_t *stage = *state;
    for (uint64_t n = 1; n <= 40; ++n) {
        static const uint64_t bytes[] = {4, 8, 4};
        for (uint32_t k = 0; k < 3; ++k) {
            frame.line = 100 + k;
            const site_t *site = sites_reading(stage->engine.sites, stage->program, bytes[k], n);
            assert_int_equal(site_place(site)->line, 100 + k);
        }
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_line_is_believed_after_eight_stacks_and_doubted_at_each_64th_read),
        TEST(a_thread_without_a_stack_has_no_line),
        TEST(reads_that_differ_have_lines_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
