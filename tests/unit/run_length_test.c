// Memory that reading a run takes, whatever the length of its journal.
#define _GNU_SOURCE
#include "place.h"

#include <limits.h>

#include <jansson.h>

#include "why/why.h"

static void *count_alloc(size_t size) {
    void *memory = NULL;
    keel_status_ignore(keel_alloc(size, &memory));
    return memory;
}

static void put_request(FILE *file, int number, int program) {
    fprintf(file,
            "{\"event\":\"%s\",\"t\":%d.5,\"pid\":1,\"program\":\"%064d\",\"key\":\"%064d\","
            "\"name\":\"jit_step\",\"tier\":\"disk\",\"seconds\":0.25,\"ops\":9,\"site\":{\"file\":"
            "\"/home/ada/train.py\",\"line\":%d,\"function\":\"step\"},\"number\":%d,\"recompile\":"
            "true,\"counts\":[%d,3]}\n",
            number == program ? "compile" : "load", 1000 + number, program, program,
            10 + program % 7, program + 1, program + 1);
    fprintf(file,
            "{\"event\":\"explain\",\"pid\":1,\"what\":\"compile\",\"program\":\"%064d\",\"key\":"
            "\"%064d\",\"name\":\"jit_step\",\"seconds\":0.25,\"roots\":[{\"kind\":\"shape\","
            "\"subject\":\"batch['x']\",\"old\":\"f32[8,%d]\",\"new\":\"f32[8,%d]\"}]}\n",
            program, program, program, program + 1);
}

// The most memory that reading took, with `requests` of `programs` different ones.
static size_t most_of(int requests, int programs, keel_why_t *out) {
    place_t place;
    char path[PATH_MAX];
    place_make(&place);
    snprintf(path, sizeof path, "%s/run", place.root);
    assert_ok(keel_directory_make(path));
    snprintf(path, sizeof path, "%s/run/journal.ndjson", place.root);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"event\":\"start\",\"t\":1,\"pid\":1,\"argv\":[\"python\"],\"mode\":\"on\"}\n", file);
    for (int i = 0; i < requests; ++i)
        put_request(file, i, i % programs);
    fputs("{\"event\":\"end\",\"t\":2,\"pid\":1,\"wall\":1,\"coun", file); // it was killed
    fclose(file);
    keel_memory_watch(true);
    assert_ok(keel_why_read(place.root, "run", KEEL_RUN_DETAILS | KEEL_RUN_MEMORY, out));
    size_t peak = keel_memory_peak();
    keel_memory_watch(false);
    place_remove(&place);
    assert_int_equal(out->run.damage.lines, 0);
    assert_int_equal(out->run.unfinished, 1);
    assert_int_equal(out->run.executes, 3 * requests);
    return peak;
}

static void a_longer_journal_of_the_same_programs_takes_no_more_memory(void **state) {
    (void)state;
    enum { LIMIT = 100 };
    uint64_t most = keel_limit(KEEL_LIMIT_REQUESTS);
    keel_limit_set(KEEL_LIMIT_REQUESTS, LIMIT);
    keel_why_t small, large;
    size_t few = most_of(10 * LIMIT, 40, &small), many = most_of(100 * LIMIT, 40, &large);
    assert_int_equal(large.run.summed, 99 * LIMIT);
    assert_true(many <= few + (1 << 12));
    keel_why_deinitialize(&small);
    keel_why_deinitialize(&large);
    keel_limit_set(KEEL_LIMIT_REQUESTS, most);
}

static void a_journal_of_more_programs_takes_no_more_memory_than_the_limit_allows(void **state) {
    (void)state;
    enum { LIMIT = 100 };
    uint64_t most = keel_limit(KEEL_LIMIT_REQUESTS);
    keel_limit_set(KEEL_LIMIT_REQUESTS, LIMIT);
    keel_why_t small, large;
    size_t few = most_of(10 * LIMIT, 10 * LIMIT, &small),
           many = most_of(100 * LIMIT, 100 * LIMIT, &large);
    assert_int_equal(large.run.program_count, LIMIT);
    assert_int_equal(large.run.compiles.times, 100 * LIMIT);
    assert_true(many <= few + (1 << 12));
    keel_why_deinitialize(&small);
    keel_why_deinitialize(&large);
    keel_limit_set(KEEL_LIMIT_REQUESTS, most);
}

int main(void) {
    json_set_alloc_funcs(count_alloc, keel_free);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_longer_journal_of_the_same_programs_takes_no_more_memory),
        cmocka_unit_test(a_journal_of_more_programs_takes_no_more_memory_than_the_limit_allows),
    };
    return cmocka_run_group_tests_name("run_length", tests, NULL, NULL);
}
