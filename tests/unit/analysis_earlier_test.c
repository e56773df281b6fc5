// Which earlier runs are analysed before a run: those of its script that were not analyzed yet.
#define _GNU_SOURCE
#include "analysis/earlier.h"
#include "place.h"

typedef struct stage_t {
    place_t place;
    char found[400]; // ids, each with a space behind it
    unsigned visits, fail_at;
} stage_t;

static int set_up(void **state) {
    stage_t *stage = calloc(1, sizeof *stage);
    place_make(&stage->place);
    *state = stage;
    return 0;
}

static int tear_down(void **state) {
    stage_t *stage = *state;
    place_remove(&stage->place);
    free(stage);
    return 0;
}

static void write_run(const stage_t *stage, const char *id, const char *file, const char *text) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", stage->place.root, id);
    assert_ok(keel_directory_make(path));
    snprintf(path, sizeof path, "%s/%s/%s", stage->place.root, id, file);
    write_bytes(path, text, strlen(text));
}

// A run of one process.
static void write_start(const stage_t *stage, const char *id, int t, const char *script) {
    char text[300];
    snprintf(text, sizeof text, "{\"event\":\"start\",\"t\":%d,\"pid\":7,\"script\":\"%s\"}\n", t,
             script);
    write_run(stage, id, "journal.ndjson", text);
}

static keel_status_t visit(void *context, const char *id) {
    stage_t *stage = context;
    size_t size = strlen(stage->found);
    snprintf(stage->found + size, sizeof stage->found - size, "%s ", id);
    if (++stage->visits == stage->fail_at) return keel_status_make(KEEL_IO, "enough");
    return NULL;
}

static void assert_earlier(stage_t *stage, const char *id, const char *expected) {
    *stage->found = 0;
    stage->visits = 0;
    assert_ok(earlier_runs(stage->place.root, id, visit, stage));
    assert_string_equal(stage->found, expected);
}

static void those_of_the_same_script_come_oldest_first(void **state) {
    stage_t *stage = *state;
    write_start(stage, "own", 100, "a.py-1");
    write_start(stage, "r1", 20, "a.py-1");
    write_start(stage, "r2", 50, "a.py-1");
    write_start(stage, "r3", 10, "a.py-1");
    write_start(stage, "same", 100, "a.py-1");
    write_start(stage, "later", 101, "a.py-1");
    write_start(stage, "other", 30, "b.py-1");
    write_start(stage, "unnamed", 30, "");
    write_start(stage, "analysed", 40, "a.py-1");
    write_run(stage, "analysed", "explained.ndjson", "");
    write_run(stage, "strange", "journal.ndjson", "\x01\n{\"event\":\"start\",\"t\":3}\n[]\n");
    write_run(stage, "empty", "journal.ndjson", "");
    assert_earlier(stage, "own", "r3 r1 r2 ");
    assert_earlier(stage, "r3", "");
    assert_earlier(stage, "unnamed", "");
}

// Whatever the order in which the folder lists them.
static void of_many_the_eight_newest_count(void **state) {
    stage_t *stage = *state;
    for (int i = 0; i < 23; ++i) {
        char id[16];
        int began = i * 7 % 23;
        snprintf(id, sizeof id, "r%02d", began);
        write_start(stage, id, began + 1, "a.py-1");
    }
    write_start(stage, "own", 100, "a.py-1");
    assert_earlier(stage, "own", "r15 r16 r17 r18 r19 r20 r21 r22 ");
    assert_earlier(stage, "r08", "r00 r01 r02 r03 r04 r05 r06 r07 ");
    assert_earlier(stage, "r07", "r00 r01 r02 r03 r04 r05 r06 ");
}

// A run began with its first process, and has the scripts of all.
static void any_process_of_a_run_counts(void **state) {
    stage_t *stage = *state;
    write_run(stage, "own", "journal.ndjson",
              "{\"event\":\"start\",\"t\":100,\"script\":\"b.py-1\"}\n"
              "{\"event\":\"compile\",\"t\":1,\"script\":\"c.py-1\"}\n"
              "{\"event\":\"start\",\"t\":90,\"script\":\"a.py-1\"}\n"
              "{\"event\":\"start\",\"t\":95,\"script\":\"b.py-1\"}\n");
    write_start(stage, "between", 95, "a.py-1");
    write_start(stage, "of_no_process", 10, "c.py-1");
    write_run(stage, "spawned", "journal.ndjson",
              "{\"event\":\"start\",\"t\":99,\"script\":\"x.py-1\"}\n"
              "{\"event\":\"start\",\"t\":80,\"script\":\"b.py-1\"}\n"
              "{\"event\":\"start\",\"t\":85,\"script\":\"x.py-1\"}\n");
    assert_earlier(stage, "own", "spawned ");
}

// A journal from before scripts had names, or one that names a path: known by its command.
static void a_script_without_a_name_is_known_by_its_command(void **state) {
    stage_t *stage = *state;
    static const struct {
        const char *id, *rest;
    } runs[] = {
        {"own", "100,\"argv\":[\"python\",\"train.py\"],\"cwd\":\"/w\""},
        {"same", "1,\"argv\":[\"python\",\"train.py\"],\"cwd\":\"/w\""},
        {"path", "2,\"script\":\"../x\",\"argv\":[\"python\",\"train.py\"],\"cwd\":\"/w\""},
        {"folder", "3,\"argv\":[\"python\",\"train.py\"],\"cwd\":\"/v\""},
        {"script", "4,\"argv\":[\"python\",\"eval.py\"],\"cwd\":\"/w\""},
        {"number", "5,\"argv\":[\"python\",1,\"train.py\"],\"cwd\":\"/w\""},
        {"none", "6,\"argv\":[],\"cwd\":\"/w\""},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
        char text[300];
        snprintf(text, sizeof text, "{\"event\":\"start\",\"t\":%s}\n", runs[i].rest);
        write_run(stage, runs[i].id, "journal.ndjson", text);
    }
    assert_earlier(stage, "own", "same path ");
}

static void a_visit_that_fails_is_the_last(void **state) {
    stage_t *stage = *state;
    for (int i = 0; i < 4; ++i)
        write_start(stage, (const char *[]){"r0", "r1", "r2", "own"}[i], i, "a.py-1");
    stage->fail_at = 2;
    assert_code(earlier_runs(stage->place.root, "own", visit, stage), KEEL_IO);
    assert_string_equal(stage->found, "r0 r1 ");
    assert_code(earlier_runs(stage->place.root, "nowhere", visit, stage), KEEL_NOT_FOUND);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(those_of_the_same_script_come_oldest_first),
        TEST(of_many_the_eight_newest_count),
        TEST(any_process_of_a_run_counts),
        TEST(a_script_without_a_name_is_known_by_its_command),
        TEST(a_visit_that_fails_is_the_last),
    };
    return cmocka_run_group_tests_name("analysis_earlier", tests, NULL, NULL);
}
