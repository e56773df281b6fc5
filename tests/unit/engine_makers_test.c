// Which program made what another one takes, judging by the buffers of executions.
#define _GNU_SOURCE
#include "engine/makers.h"
#include "store_help.h"

enum { PROGRAMS = 4 };

// A process with an engine that has as much as that needs.
typedef struct stage_t {
    place_t place;
    keel_engine_t *engine;
    counter_t *programs[PROGRAMS];
} stage_t;

static int set_up(void **state) {
    stage_t *stage = calloc(1, sizeof *stage);
    place_make(&stage->place);
    stage->engine = calloc(1, sizeof *stage->engine);
    assert_ok(keel_journal_open(stage->place.root, "r1", &stage->engine->journal));
    assert_ok(counters_create(stage->engine));
    assert_ok(makers_create(stage->engine));
    for (uint8_t i = 0; i < PROGRAMS; ++i) {
        keel_digest_t digest = keel_digest(keel_bytes(&i, 1));
        assert_ok(counters_of(stage->engine->counters, &digest, &stage->programs[i]));
    }
    *state = stage;
    return 0;
}

static int tear_down(void **state) {
    stage_t *stage = *state;
    makers_destroy(stage->engine->makers);
    counters_destroy(stage->engine->counters);
    place_remove(&stage->place);
    free(stage->engine);
    free(stage);
    return 0;
}

static size_t fill(PJRT_Buffer **list, const uintptr_t *buffers) {
    size_t count = 0;
    for (; buffers[count]; ++count)
        list[count] = (PJRT_Buffer *)buffers[count];
    return count;
}

// Of both lists the last one is 0.
static void execute(const stage_t *stage, int program, const uintptr_t *taken,
                    const uintptr_t *made) {
    PJRT_Buffer *arguments[8], *results[8];
    size_t count = fill(arguments, taken), made_count = fill(results, made);
    PJRT_Buffer *const *argument_lists[] = {arguments};
    PJRT_Buffer **output_lists[] = {results};
    counters_executed(stage->engine->counters, stage->programs[program]);
    makers_executed(stage->engine, stage->programs[program], made_count,
                    &(PJRT_LoadedExecutable_Execute_Args){.argument_lists = argument_lists,
                                                          .output_lists = output_lists,
                                                          .num_devices = 1,
                                                          .num_args = count});
}
#define LIST(...) ((const uintptr_t[]){__VA_ARGS__, 0})

static void destroy(const stage_t *stage, uintptr_t buffer) {
    makers_destroyed(stage->engine, (const PJRT_Buffer *)buffer);
}

// How often the journal says these words of the inputs of new programs.
static size_t count_inputs(stage_t *stage, const char *words) {
    char path[700], *line = NULL;
    size_t capacity = 0, found = 0;
    makers_journal(stage->engine, true);
    keel_journal_close(stage->engine->journal);
    stage->engine->journal = NULL;
    snprintf(path, sizeof path, "%s/r1/journal.ndjson", stage->place.root);
    FILE *file = fopen(path, "r");
    while (file && getline(&line, &capacity, file) >= 0)
        found += strstr(line, "\"event\":\"inputs\"") && strstr(line, words);
    free(line);
    if (file) fclose(file);
    return found;
}

enum { WEIGHT = 0x100, BATCH, LOSS, GRADIENT, MASK };

static void what_a_program_takes_was_made_by_the_one_before(void **state) {
    stage_t *stage = *state;
    execute(stage, 0, LIST(WEIGHT, BATCH), LIST(LOSS, GRADIENT));
    execute(stage, 1, LIST(WEIGHT, GRADIENT), LIST(MASK));
    assert_int_equal(count_inputs(stage, "\"arguments\":[1]"), 1);
}

static void a_buffer_that_was_destroyed_was_not_made_by_whoever_had_its_address(void **state) {
    stage_t *stage = *state;
    execute(stage, 0, LIST(WEIGHT, BATCH), LIST(LOSS, GRADIENT));
    destroy(stage, LOSS);
    execute(stage, 1, LIST(WEIGHT, LOSS, GRADIENT), LIST(MASK));
    assert_int_equal(count_inputs(stage, "\"arguments\":[2]"), 1);
}

static void nothing_is_said_of_what_the_host_sent(void **state) {
    stage_t *stage = *state;
    execute(stage, 0, LIST(WEIGHT, BATCH), LIST(LOSS));
    destroy(stage, LOSS);
    execute(stage, 1, LIST(WEIGHT, LOSS), LIST(MASK));
    assert_int_equal(count_inputs(stage, ""), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_a_program_takes_was_made_by_the_one_before, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_buffer_that_was_destroyed_was_not_made_by_whoever_had_its_address, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_said_of_what_the_host_sent, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
