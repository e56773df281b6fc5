// Retraces that are counted: how many stand in the journal, whoever asks and however often.
#define _GNU_SOURCE
#include <jansson.h>
#include <pthread.h>

#include "engine/repeats.h"
#include "place.h"

typedef struct stage_t {
    place_t place;
    keel_engine_t engine;
} stage_t;

static int set_up(void **state) {
    stage_t *stage = calloc(1, sizeof *stage);
    place_make(&stage->place);
    assert_ok(keel_journal_open(stage->place.root, "run", &stage->engine.journal));
    assert_ok(repeats_create(&stage->engine));
    *state = stage;
    return 0;
}

static int tear_down(void **state) {
    stage_t *stage = *state;
    repeats_destroy(stage->engine.repeats);
    repeats_destroy(NULL);
    keel_journal_close(stage->engine.journal);
    place_remove(&stage->place);
    free(stage);
    return 0;
}

enum { FEW = REPEATS_EXPLAINED, BEYOND = REPEATS_EXPLAINED + 1 };
static const keel_digest_t program = {{1}}, key = {{2}}, options = {{3}};

// A retrace that line asks for in a step.
static repeat_t ask(keel_engine_t *engine, uint32_t line, uint64_t step, uint64_t before) {
    char file[] = "/w/train.py", name[] = "jit_f"; // gone after the call
    return repeats_add(engine,
                       &(keel_journal_load_t){.subject = {&program, name, &key},
                                              .tier = "memory",
                                              .seconds = 2,
                                              .overhead_seconds = 1,
                                              .compile_seconds = 8,
                                              .format = "mlir",
                                              .options = &options,
                                              .site = {.file = file, .line = line},
                                              .step = step,
                                              .leading = {&program, step - 1}},
                       before);
}

static keel_status_t keep(void *context, const struct json_t *event) {
    json_array_append(context, (json_t *)(uintptr_t)event);
    return NULL;
}

// The loads that the journal has, and how many are counted in them.
static json_t *written(stage_t *stage, uint64_t *out_times) {
    keel_journal_source_t source;
    keel_journal_damage_t damage;
    json_t *loads = json_array();
    assert_ok(keel_journal_source_open(stage->place.root, "run", &source));
    assert_ok(keel_journal_scan(&source, NULL, keep, loads, &damage));
    keel_journal_source_close(&source);
    size_t index;
    const json_t *load;
    *out_times = 0;
    json_array_foreach(loads, index, load) *out_times += keel_event_count(load, "times");
    return loads;
}

static void assert_written(stage_t *stage, size_t lines, uint64_t times) {
    uint64_t counted;
    json_t *loads = written(stage, &counted);
    assert_int_equal(json_array_size(loads), lines);
    assert_int_equal(counted, times);
    json_decref(loads);
}

// ---- counting ----------------------------------------------------------------------------------

static void the_first_retraces_are_explained_and_the_others_become_one_line(void **state) {
    stage_t *stage = *state;
    keel_engine_t *engine = &stage->engine;
    for (uint64_t before = 1; before <= FEW; ++before)
        assert_int_equal(ask(engine, 5, before, before), REPEAT_EXPLAINED);
    assert_false(repeats_are_pending(engine));
    for (uint64_t before = BEYOND; before < BEYOND + 283; ++before)
        assert_int_equal(ask(engine, 5, before + 1, before), REPEAT_COUNTED);
    assert_true(repeats_are_pending(engine));
    repeats_journal(engine);
    assert_false(repeats_are_pending(engine));

    uint64_t times;
    json_t *loads = written(stage, &times);
    const json_t *load = json_array_get(loads, 0), *site = json_object_get(load, "site");
    assert_int_equal(json_array_size(loads), 1);
    assert_int_equal(times, 283);
    assert_string_equal(keel_event_text(load, "event"), "load");
    assert_string_equal(keel_event_text(load, "name"), "jit_f");
    assert_string_equal(keel_event_text(load, "tier"), "memory");
    assert_string_equal(keel_event_text(site, "file"), "/w/train.py");
    assert_int_equal(keel_event_count(site, "line"), 5);
    assert_true(keel_event_number(load, "seconds") == 566);
    assert_true(keel_event_number(load, "overhead_seconds") == 283);
    assert_true(keel_event_number(load, "compile_seconds") == 2264);
    assert_int_equal(keel_event_count(load, "step"), 300);
    assert_int_equal(keel_event_count(json_object_get(load, "leading"), "executes"), 299);
    json_decref(loads);

    repeats_journal(engine);
    assert_written(stage, 1, 283);
    assert_int_equal(ask(engine, 5, 301, 300), REPEAT_COUNTED);
    repeats_journal(engine);
    assert_written(stage, 2, 284);
}

static void a_line_that_is_new_is_explained_however_often_others_asked(void **state) {
    stage_t *stage = *state;
    keel_engine_t *engine = &stage->engine;
    ask(engine, 5, 1, 1);
    assert_int_equal(ask(engine, 5, 20, 100), REPEAT_COUNTED);
    assert_int_equal(ask(engine, 6, 21, 101), REPEAT_EXPLAINED);
    assert_int_equal(ask(engine, 6, 22, 102), REPEAT_COUNTED);
    assert_int_equal(ask(engine, 6, 23, 103), REPEAT_COUNTED);
    repeats_journal(engine);
    assert_written(stage, 2, 3);
}

// What matters of them is in the key.
static void the_digest_of_options_makes_no_other_kind(void **state) {
    stage_t *stage = *state;
    keel_journal_load_t load = {
        .subject = {&program, "f", &key}, .tier = "memory", .options = &options};
    assert_int_equal(repeats_add(&stage->engine, &load, 100), REPEAT_EXPLAINED);
    load.options = &key;
    assert_int_equal(repeats_add(&stage->engine, &load, 101), REPEAT_COUNTED);
    load.subject.program = &key;
    assert_int_equal(repeats_add(&stage->engine, &load, 102), REPEAT_EXPLAINED);
    load.tier = "disk";
    assert_int_equal(repeats_add(&stage->engine, &load, 103), REPEAT_EXPLAINED);
}

static repeat_t ask_compiled(stage_t *stage, uint32_t line, uint8_t byte, uint64_t before) {
    const keel_digest_t bytes = {{byte}}; // other ones each time
    return repeats_compiled(&stage->engine, &(keel_journal_subject_t){&bytes, "jit_f", &key},
                            &(keel_journal_site_t){.file = "/w/train.py", .line = line}, before);
}

static void what_is_compiled_again_is_never_only_counted(void **state) {
    stage_t *stage = *state;
    for (uint64_t before = 1; before <= FEW; ++before)
        assert_int_equal(ask_compiled(stage, 5, (uint8_t)before, before), REPEAT_EXPLAINED);
    for (uint64_t before = BEYOND; before < BEYOND + 40; ++before)
        assert_int_equal(ask_compiled(stage, 5, (uint8_t)before, before), REPEAT_WRITTEN);
    assert_int_equal(ask_compiled(stage, 6, 80, 80), REPEAT_EXPLAINED);
    assert_int_equal(ask_compiled(stage, 6, 81, 81), REPEAT_WRITTEN);
    assert_int_equal(ask(&stage->engine, 6, 82, 82), REPEAT_EXPLAINED); // the first that is loaded
    assert_false(repeats_are_pending(&stage->engine));
    assert_int_equal(ask(&stage->engine, 6, 83, 83), REPEAT_COUNTED);
    repeats_journal(&stage->engine);
    assert_written(stage, 1, 1);
}

static void what_there_is_no_room_for_is_written_by_itself(void **state) {
    stage_t *stage = *state;
    keel_engine_t *engine = &stage->engine;
    for (uint32_t line = 1; line <= REPEATS_KINDS; ++line)
        assert_int_equal(ask(engine, line, 1, 100), REPEAT_EXPLAINED);
    assert_int_equal(ask(engine, REPEATS_KINDS + 1, 1, 100), REPEAT_WRITTEN);
    assert_int_equal(ask(engine, REPEATS_KINDS + 1, 2, FEW), REPEAT_EXPLAINED);
    assert_int_equal(ask(engine, REPEATS_KINDS, 2, 101), REPEAT_COUNTED);
    assert_int_equal(ask(engine, 1, 2, 102), REPEAT_COUNTED);
    repeats_journal(engine);
    assert_written(stage, 2, 2);
}

#ifdef KEEL_FAULTS
static void without_memory_each_is_written_by_itself(void **state) {
    stage_t *stage = *state;
    for (unsigned failing = 1; failing <= 2; ++failing) {
        keel_fault_arm(KEEL_FAULT_ALLOC, failing);
        repeat_t repeat = ask(&stage->engine, failing, 1, 100);
        assert_true(keel_fault_count(KEEL_FAULT_ALLOC) >= failing);
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
        assert_int_equal(repeat, REPEAT_WRITTEN);
    }
    assert_false(repeats_are_pending(&stage->engine));
}
#endif

// ---- at the same time --------------------------------------------------------------------------

enum { ASKS = 3000 };

static void *ask_on(void *context) {
    uint64_t counted = 0;
    for (uint32_t i = 0; i < ASKS; ++i)
        counted += ask(context, i % 3, 1, 100) == REPEAT_COUNTED;
    return (void *)(uintptr_t)counted;
}

static void nothing_is_lost_while_two_threads_ask_and_one_writes(void **state) {
    stage_t *stage = *state;
    pthread_t threads[2];
    uint64_t counted = 0;
    for (int i = 0; i < 2; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_on, &stage->engine), 0);
    for (int i = 0; i < 20; ++i)
        repeats_journal(&stage->engine);
    for (int i = 0; i < 2; ++i) {
        void *result;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        counted += (uintptr_t)result;
    }
    repeats_journal(&stage->engine);
    uint64_t times;
    json_decref(written(stage, &times));
    assert_int_equal(counted, 2 * ASKS - 3); // all but the first of each line
    assert_int_equal(times, counted);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_first_retraces_are_explained_and_the_others_become_one_line),
        TEST(a_line_that_is_new_is_explained_however_often_others_asked),
        TEST(the_digest_of_options_makes_no_other_kind),
        TEST(what_is_compiled_again_is_never_only_counted),
        TEST(what_there_is_no_room_for_is_written_by_itself),
#ifdef KEEL_FAULTS
        TEST(without_memory_each_is_written_by_itself),
#endif
        TEST(nothing_is_lost_while_two_threads_ask_and_one_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
