#define _GNU_SOURCE // memmem, strsep
#include "history_help.h"

#include <pthread.h>
#include <sys/wait.h>

#include "program/program.h"
#include "read/read.h"

typedef struct stage_t {
    place_t place;
    char folder[320], path[400];
    keel_history_t *history;
    keel_arena_t arena;
} stage_t;

static const char SCRIPT[] = "train.py-0011223344556677";

static void open_stage(stage_t *stage) {
    assert_ok(keel_history_open(stage->folder, SCRIPT, "run-1", &stage->history));
}

static void make_stage(stage_t *stage) {
    place_make(&stage->place);
    snprintf(stage->folder, sizeof stage->folder, "%s/history", stage->place.root);
    snprintf(stage->path, sizeof stage->path, "%s/%s.ndjson", stage->folder, SCRIPT);
    keel_arena_initialize(&stage->arena, 0);
    open_stage(stage);
}

// As a later process does.
static void reopen(stage_t *stage) {
    keel_history_close(stage->history);
    open_stage(stage);
}

static void remove_stage(stage_t *stage) {
    keel_history_close(stage->history);
    keel_arena_deinitialize(&stage->arena);
    place_remove(&stage->place);
}

static void add(stage_t *stage, const char *name, uint64_t number) {
    made_t made;
    make_record(&made, name, number);
    assert_ok(keel_history_add(stage->history, &made.record));
    free_record(&made);
}

// The program that is nearest to `made`, as its digest; all zero where there is none.
static keel_digest_t nearest_to(stage_t *stage, const made_t *made) {
    keel_history_query_t query = query_of(made);
    keel_history_record_t found = {0};
    bool any = keel_history_nearest(stage->history, &query, &stage->arena, &found);
    return any ? found.program : (keel_digest_t){0};
}

static void assert_nearest(stage_t *stage, const made_t *made, const char *name, uint64_t number) {
    keel_digest_t found = nearest_to(stage, made), expected = digest_of(name, number);
    assert_memory_equal(&found, &expected, sizeof found);
}

static void assert_none(stage_t *stage, const made_t *made) {
    keel_digest_t found = nearest_to(stage, made), none = {0};
    assert_memory_equal(&found, &none, sizeof found);
}

// ---- sketches ----------------------------------------------------------------------------------

static keel_sketch_t sketch_of_sample(const char *name) {
    char path[512];
    uint8_t *bytes;
    size_t size;
    keel_program_t program;
    keel_sketch_t sketch;
    snprintf(path, sizeof path, "%s/%s", KEEL_TEST_SAMPLES, name);
    assert_ok(keel_file_read(path, 1 << 24, &bytes, &size));
    keel_program_initialize(&program);
    assert_ok(keel_read(keel_bytes(bytes, size), &program));
    keel_sketch_of(&program, &sketch);
    keel_program_deinitialize(&program);
    keel_free(bytes);
    return sketch;
}

static void a_program_is_most_alike_itself(void **state) {
    (void)state;
    static const char *const names[] = {"mlir/gpt_step.mlir", "mlir/donate.mlir",
                                        "hlo/linear_step.hlo"};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
            keel_sketch_t a = sketch_of_sample(names[i]), b = sketch_of_sample(names[k]);
            double alike = keel_sketch_alike(&a, &b);
            if (i == k)
                assert_true(alike > 0.999);
            else
                assert_true(alike < 0.7);
            assert_true(a.operations > 0 && a.arguments > 0);
        }
}

static void other_types_are_another_signature_and_the_same_operations(void **state) {
    (void)state;
    // One program with debug information and one without: types and operations are the same.
    keel_sketch_t with = sketch_of_sample("hlo/linear_step.hlo");
    keel_sketch_t without = sketch_of_sample("hlo/linear_step_nodebug.hlo");
    assert_int_equal(with.signature, without.signature);
    assert_memory_equal(with.counts, without.counts, sizeof with.counts);
    keel_sketch_t gpt = sketch_of_sample("mlir/gpt_step.mlir");
    keel_sketch_t donate = sketch_of_sample("mlir/donate.mlir");
    assert_int_not_equal(gpt.signature, donate.signature);
    assert_int_not_equal(gpt.names, donate.names);
}

static void constants_are_no_part_of_a_programs_look(void **state) {
    (void)state;
    keel_sketch_t donate = sketch_of_sample("mlir/donate.mlir");
    uint32_t counted = 0;
    for (size_t i = 0; i < KEEL_SKETCH_BUCKETS; ++i)
        counted += donate.counts[i];
    assert_int_equal(counted + 3, donate.operations);
    uint64_t types = 0;
    for (unsigned shift = 0; shift < 64; shift += 4)
        types += donate.types >> shift & 15;
    assert_int_equal(types, 4 + 3); // arguments and results
}

// ---- scripts -----------------------------------------------------------------------------------

// `command` holds the words of a command, '|' between them.
static uint64_t script_id(const char *cwd, const char *command, const char *label) {
    char text[1024], *argv[16] = {NULL}, *name;
    snprintf(text, sizeof text, "%s", command);
    size_t count = 0;
    for (char *rest = text, *word; count < 15 && (word = strsep(&rest, "|"));)
        if (*word) argv[count++] = word;
    assert_ok(keel_history_script(argv, cwd, &name));
    size_t length = strlen(label);
    if (strncmp(name, label, length) || name[length] != '-' || strlen(name) != length + 17)
        fail_msg("%s, not %s-<16 digits>", name, label);
    uint64_t id = strtoull(name + length + 1, NULL, 16);
    keel_free(name);
    return id;
}

static void a_script_is_the_file_that_the_interpreter_runs(void **state) {
    (void)state;
    place_t place;
    place_make(&place);
    char path[400], sub[400], command[600];
    snprintf(path, sizeof path, "%s/train.py", place.root);
    snprintf(sub, sizeof sub, "%s/sub", place.root);
    write_bytes(path, "", 0);
    assert_int_equal(mkdir(sub, 0700), 0);
    uint64_t id = script_id(place.root, "python|train.py|--lr|1", "train.py");
    assert_int_equal(
        id,
        script_id(place.root, "/usr/bin/python3.13|-u|-W|ignore|-Xdev|-OO|train.py", "train.py"));
    assert_int_equal(id, script_id(sub, "python3|../train.py", "train.py"));
    snprintf(command, sizeof command, "python3|--|%s|-m|x", path);
    assert_int_equal(id, script_id("/", command, "train.py"));
    snprintf(command, sizeof command, "%s|--lr|2", path);
    assert_int_equal(id, script_id("/", command, "train.py"));
    assert_int_not_equal(id, script_id(sub, "python|train.py", "train.py"));
    place_remove(&place);
}

static void a_module_and_a_text_count_with_their_folder(void **state) {
    (void)state;
    uint64_t module = script_id("/one", "python3|-um|pkg.train|-x", "pkg.train");
    assert_int_equal(module, script_id("/one", "python3|-m|pkg.train", "pkg.train"));
    assert_int_equal(module, script_id("/one", "python3|-mpkg.train|y", "pkg.train"));
    assert_int_not_equal(module, script_id("/two", "python3|-m|pkg.train", "pkg.train"));
    assert_int_not_equal(script_id("/one", "python3|-c|import a", "python-c"),
                         script_id("/one", "python3|-c|import b", "python-c"));
    script_id("/one", "python3", "python3");
    script_id("/one", "python3|-", "python3");
    script_id("/one", "./a b\n", "a_b_");
    script_id("/one", ".x", "_x");
    script_id("/one", "", "unknown");
}

// ---- nearest -----------------------------------------------------------------------------------

static void nothing_is_near_in_an_empty_history(void **state) {
    (void)state;
    stage_t stage;
    made_t made;
    make_stage(&stage);
    make_record(&made, "jit_step", 1);
    assert_none(&stage, &made);
    assert_false(exists(stage.folder));
    free_record(&made);
    remove_stage(&stage);
}

static void the_nearest_is_given_whole(void **state) {
    (void)state;
    stage_t stage;
    made_t made;
    make_stage(&stage);
    make_record(&made, "jit_step", 1);
    assert_ok(keel_history_add(stage.history, &made.record));
    for (int later = 0; later < 2; ++later) {
        keel_history_query_t query = query_of(&made);
        keel_history_record_t found;
        assert_true(keel_history_nearest(stage.history, &query, &stage.arena, &found));
        assert_string_equal(found.name, "jit_step");
        assert_string_equal(found.origin, "/home/u/train.py:step");
        assert_string_equal(found.run, "run-1");
        assert_true(found.seconds == 2 && found.when == 1700000001);
        assert_int_equal(found.is_ours, !later);
        assert_memory_equal(&found.sketch, &made.record.sketch, sizeof found.sketch);
        assert_memory_equal(&found.key->digest, &made.key.digest, KEEL_DIGEST_SIZE);
        assert_memory_equal(found.key->components, made.key.components, sizeof made.key.components);
        for (int i = 0; i < KEEL_COMPONENT_COUNT; ++i)
            assert_string_equal(found.key->values[i], made.key.values[i] ? made.key.values[i] : "");
        reopen(&stage);
    }
    free_record(&made);
    remove_stage(&stage);
}

// The same program under other flags is nearer than the same function with another program; among
// those, what has fewer components moved.
static void the_same_program_comes_first(void **state) {
    (void)state;
    stage_t stage;
    made_t two, one, new;
    make_stage(&stage);
    make_record(&one, "jit_step", 1);
    move_component(&one, KEEL_COMPONENT_XLA_FLAGS, "xla_a=1\n");
    one.record.program = digest_of("one moved", 0);
    make_record(&two, "jit_step", 1);
    move_component(&two, KEEL_COMPONENT_XLA_FLAGS, "xla_a=2\n");
    move_component(&two, KEEL_COMPONENT_PLATFORM, "another");
    two.record.program = digest_of("two moved", 0);
    assert_ok(keel_history_add(stage.history, &one.record));
    assert_ok(keel_history_add(stage.history, &two.record));
    reopen(&stage);
    add(&stage, "jit_step", 2);
    make_record(&new, "jit_step", 1);
    assert_nearest(&stage, &new, "one moved", 0);
    free_record(&one);
    free_record(&two);
    free_record(&new);
    remove_stage(&stage);
}

static void this_process_comes_before_earlier_runs_and_the_newest_first(void **state) {
    (void)state;
    stage_t stage;
    made_t new;
    make_stage(&stage);
    make_record(&new, "jit_step", 9);
    add(&stage, "jit_step", 1);
    add(&stage, "jit_step", 2);
    assert_nearest(&stage, &new, "jit_step", 2);
    add(&stage, "jit_step", 1); // known: it moves to the front
    assert_nearest(&stage, &new, "jit_step", 1);
    reopen(&stage);
    assert_nearest(&stage, &new, "jit_step", 2);
    add(&stage, "jit_other", 5);
    assert_nearest(&stage, &new, "jit_step", 2);
    made_t ours;
    make_record(&ours, "jit_step", 4);
    ours.record.sketch.counts[0] = 0; // less alike, but of this process
    assert_ok(keel_history_add(stage.history, &ours.record));
    assert_nearest(&stage, &new, "jit_step", 4);
    free_record(&ours);
    free_record(&new);
    remove_stage(&stage);
}

static void the_most_alike_comes_before_the_newest(void **state) {
    (void)state;
    stage_t stage;
    made_t made, new;
    make_stage(&stage);
    add(&stage, "jit_step", 1);
    make_record(&made, "jit_step", 2);
    made.record.sketch.signature = 8;
    assert_ok(keel_history_add(stage.history, &made.record));
    make_record(&new, "jit_step", 3);
    assert_nearest(&stage, &new, "jit_step", 1);
    new.record.sketch.signature = 8;
    assert_nearest(&stage, &new, "jit_step", 2);
    free_record(&made);
    free_record(&new);
    remove_stage(&stage);
}

static void one_argument_of_another_type_is_nearer_than_two(void **state) {
    (void)state;
    stage_t stage;
    made_t one, two, new;
    make_stage(&stage);
    make_record(&one, "jit_step", 1);
    make_record(&two, "jit_step", 2);
    make_record(&new, "jit_step", 3);
    one.record.sketch.signature = 21, one.record.sketch.types = 0x2001;
    two.record.sketch.signature = 22, two.record.sketch.types = 0x1011;
    new.record.sketch.signature = 23, new.record.sketch.types = 0x3000;
    assert_ok(keel_history_add(stage.history, &one.record));
    assert_ok(keel_history_add(stage.history, &two.record));
    assert_nearest(&stage, &new, "jit_step", 1);
    reopen(&stage); // a file keeps them
    assert_nearest(&stage, &new, "jit_step", 1);
    free_record(&one);
    free_record(&two);
    free_record(&new);
    remove_stage(&stage);
}

static void assert_candidates(stage_t *stage, const made_t *made, const uint64_t *numbers,
                              size_t count) {
    keel_history_query_t query = query_of(made);
    keel_history_record_t found[KEEL_HISTORY_CANDIDATES];
    assert_int_equal(keel_history_candidates(stage->history, &query, &stage->arena, found), count);
    for (size_t i = 0; i < count; ++i) {
        keel_digest_t expected = digest_of(made->record.name, numbers[i]);
        assert_memory_equal(&found[i].program, &expected, sizeof expected);
    }
}

static void add_with(stage_t *stage, uint64_t number, uint16_t first_count) {
    made_t made;
    make_record(&made, "jit_step", number);
    made.record.sketch.counts[0] = first_count;
    assert_ok(keel_history_add(stage->history, &made.record));
    free_record(&made);
}

static void the_nearest_the_newest_and_the_next_nearest_are_candidates(void **state) {
    (void)state;
    stage_t stage;
    made_t new;
    make_stage(&stage);
    make_record(&new, "jit_step", 9);
    assert_candidates(&stage, &new, NULL, 0);
    add(&stage, "jit_step", 20);
    reopen(&stage);
    assert_candidates(&stage, &new, (const uint64_t[]){20}, 1);
    add_with(&stage, 1, 9);
    assert_candidates(&stage, &new, (const uint64_t[]){1}, 1); // no duplicate, no earlier run
    add_with(&stage, 2, 8);
    add_with(&stage, 3, 7);
    add_with(&stage, 4, 6);
    add_with(&stage, 5, 5);
    assert_candidates(&stage, &new, (const uint64_t[]){1, 5, 2, 3}, 4);
    add_with(&stage, 6, 10);
    assert_candidates(&stage, &new, (const uint64_t[]){6, 1, 2, 3}, 4);
    add_with(&stage, 9, 1); // the very program: nothing else is asked
    assert_candidates(&stage, &new, (const uint64_t[]){9}, 1);
    free_record(&new);
    remove_stage(&stage);
}

static void a_renamed_function_is_found_by_its_look(void **state) {
    (void)state;
    stage_t stage;
    made_t new;
    make_stage(&stage);
    add(&stage, "jit_step", 1);
    make_record(&new, "jit_train_step", 2);
    new.record.origin = "/home/u/other.py:train_step";
    // Not in the same process: there it would be another function.
    new.record.sketch.names = 10;
    assert_none(&stage, &new);
    reopen(&stage);
    assert_nearest(&stage, &new, "jit_step", 1);
    new.record.sketch.counts[0] = new.record.sketch.counts[20] = 60;
    assert_none(&stage, &new);
    free_record(&new);
    remove_stage(&stage);
}

// What came under its own name in this run was not renamed.
static void a_new_function_beside_an_old_one_is_the_first_of_its_kind(void **state) {
    (void)state;
    stage_t stage;
    made_t new;
    make_stage(&stage);
    add(&stage, "jit_step", 1);
    reopen(&stage);
    make_record(&new, "jit_eval", 1);
    new.record.sketch.names = 10;
    assert_nearest(&stage, &new, "jit_step", 1);
    add(&stage, "jit_step", 1);
    assert_none(&stage, &new);
    free_record(&new);
    remove_stage(&stage);
}

static void small_programs_are_not_alike_by_chance(void **state) {
    (void)state;
    stage_t stage;
    made_t old, new;
    make_stage(&stage);
    make_record(&old, "jit_f", 1);
    make_record(&new, "jit_g", 2);
    memset(old.record.sketch.counts, 0, sizeof old.record.sketch.counts);
    old.record.sketch.counts[1] = 4;
    old.record.sketch.operations = new.record.sketch.operations = 4;
    new.record.sketch = old.record.sketch;
    assert_ok(keel_history_add(stage.history, &old.record));
    reopen(&stage);
    assert_nearest(&stage, &new, "jit_f", 1);
    new.record.sketch.counts[1] = 3;
    new.record.sketch.counts[2] = 1;
    assert_none(&stage, &new);
    free_record(&old);
    free_record(&new);
    remove_stage(&stage);
}

static void graphs_that_a_client_counts_up_share_a_name(void **state) {
    (void)state;
    stage_t stage;
    made_t old, new;
    make_stage(&stage);
    make_record(&old, "SyncTensorsGraph.42", 1);
    make_record(&new, "SyncTensorsGraph.1042", 2);
    memset(old.record.sketch.counts, 0, sizeof old.record.sketch.counts); // nothing alike
    assert_ok(keel_history_add(stage.history, &old.record));
    assert_nearest(&stage, &new, "SyncTensorsGraph.42", 1);
    free_record(&old);
    free_record(&new);
    remove_stage(&stage);
}

// ---- seconds -----------------------------------------------------------------------------------

static void seconds_are_those_of_the_program_nearest_in_size(void **state) {
    (void)state;
    stage_t stage;
    made_t small, large;
    make_stage(&stage);
    make_record(&small, "jit_step", 1);
    make_record(&large, "jit_step", 20);
    small.record.sketch.operations = 10;
    large.record.sketch.operations = 1000;
    assert_ok(keel_history_add(stage.history, &small.record));
    assert_ok(keel_history_add(stage.history, &large.record));
    assert_true(keel_history_last_seconds(stage.history, "jit_step", 900) == 21);
    assert_true(keel_history_last_seconds(stage.history, "jit_step", 0) == 2);
    assert_true(keel_history_last_seconds(stage.history, "jit_other", 900) == 0);
    large.record.seconds = 0; // it was loaded: what compiling took stays known
    assert_ok(keel_history_add(stage.history, &large.record));
    assert_true(keel_history_last_seconds(stage.history, "jit_step", 900) == 21);
    free_record(&small);
    free_record(&large);
    remove_stage(&stage);
}

// ---- the file ----------------------------------------------------------------------------------

static size_t size_of(const char *path) {
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    return (size_t)s.st_size;
}

static size_t occurrences(const char *path, const char *what) {
    uint8_t *bytes;
    size_t size, count = 0;
    assert_ok(keel_file_read(path, 1 << 26, &bytes, &size));
    const char *at = (const char *)bytes, *end = at + size;
    while ((at = memmem(at, (size_t)(end - at), what, strlen(what))))
        ++count, ++at;
    keel_free(bytes);
    return count;
}

static void values_stand_in_a_file_once(void **state) {
    (void)state;
    stage_t stage;
    make_stage(&stage);
    for (uint64_t i = 0; i < 20; ++i)
        add(&stage, "jit_step", i);
    reopen(&stage);
    for (uint64_t i = 0; i < 40; ++i)
        add(&stage, "jit_step", i);
    assert_int_equal(occurrences(stage.path, "\"component\":\"compile options\""), 1);
    assert_int_equal(occurrences(stage.path, "\"component\":\"program\""), 40);
    assert_int_equal(occurrences(stage.path, "{\"program\":"), 40);
    assert_int_equal(occurrences(stage.path, "{\"seen\":"), 20);
    remove_stage(&stage);
}

static void what_was_seen_again_is_newer_in_the_next_run(void **state) {
    (void)state;
    stage_t stage;
    made_t new;
    make_stage(&stage);
    make_record(&new, "jit_step", 9);
    add(&stage, "jit_step", 1);
    add(&stage, "jit_step", 2);
    reopen(&stage);
    add(&stage, "jit_step", 1);
    reopen(&stage);
    assert_nearest(&stage, &new, "jit_step", 1);
    free_record(&new);
    remove_stage(&stage);
}

static void strange_text_comes_back_as_it_was(void **state) {
    (void)state;
    stage_t stage;
    made_t made;
    make_stage(&stage);
    make_record(&made, "jit_\"q\"\\ \t\n\x01 \xc3\xa9 \xf0\x9f\x90\x8d", 1);
    made.record.origin = "";
    set_component(&made.key, KEEL_COMPONENT_XLA_FLAGS, "xla_x=\x1b[31m\n\xff");
    assert_ok(keel_key_finish(&made.key));
    assert_ok(keel_history_add(stage.history, &made.record));
    reopen(&stage);
    keel_history_query_t query = query_of(&made);
    keel_history_record_t found;
    assert_true(keel_history_nearest(stage.history, &query, &stage.arena, &found));
    assert_string_equal(found.name, made.record.name);
    // No UTF-8, but the digest still tells that nothing moved.
    assert_string_equal(found.key->values[KEEL_COMPONENT_XLA_FLAGS],
                        "xla_x=\x1b[31m\n\xef\xbf\xbd");
    assert_memory_equal(found.key->components, made.key.components, sizeof made.key.components);
    free_record(&made);
    remove_stage(&stage);
}

static keel_status_t count_record(void *context, const keel_history_record_t *record) {
    assert_non_null(record->name);
    ++*(unsigned *)context;
    return NULL;
}

static unsigned records_in(const char *text, size_t size, uint64_t *damaged) {
    unsigned count = 0;
    assert_ok(keel_history_parse(keel_bytes(text, size), count_record, &count, damaged));
    return count;
}

static void damaged_lines_are_passed_over(void **state) {
    (void)state;
    stage_t stage;
    make_stage(&stage);
    add(&stage, "jit_a", 1);
    add(&stage, "jit_b", 2);
    uint8_t *bytes;
    size_t size;
    assert_ok(keel_file_read(stage.path, 1 << 20, &bytes, &size));
    uint64_t damaged;
    assert_int_equal(records_in((char *)bytes, size, &damaged), 2);
    assert_int_equal(damaged, 0);
    static const char *const bad[] = {"x",
                                      "{}",
                                      "{\"program\":1}",
                                      "[1]",
                                      "{\"seen\":\"12\"}",
                                      "{\"value\":\"0011223344556677\"}",
                                      "{\"program\":\"",
                                      "{\"a\":\"\\ud800\"}",
                                      "{\"a\":\"\\u0000\"}",
                                      "{\"a\":{\"b\":1}}",
                                      "{\"seen\":\"0011223344556677\"} x"};
    keel_buffer_t text;
    keel_buffer_initialize(&text, 0);
    size_t count = sizeof bad / sizeof *bad;
    for (size_t i = 0; i < count; ++i)
        keel_buffer_format(&text, "%s\n\n", bad[i]);
    keel_buffer_append(&text, bytes, size);
    assert_int_equal(records_in((char *)text.data, text.size, &damaged), 2);
    assert_int_equal(damaged, count);
    // Cut anywhere, nothing that is whole is lost.
    for (size_t cut = 0; cut < size; ++cut) {
        unsigned whole = records_in((char *)bytes, cut, &damaged);
        assert_true(whole <= 2 && damaged <= 1);
    }
    keel_buffer_deinitialize(&text);
    keel_free(bytes);
    remove_stage(&stage);
}

static void a_value_that_is_gone_is_not_known(void **state) {
    (void)state;
    stage_t stage;
    made_t made;
    make_stage(&stage);
    make_record(&made, "jit_step", 1);
    assert_ok(keel_history_add(stage.history, &made.record));
    uint8_t *bytes;
    size_t size;
    assert_ok(keel_file_read(stage.path, 1 << 20, &bytes, &size));
    char *line = memmem(bytes, size, "\"component\":\"XLA_FLAGS\"", 23);
    assert_non_null(line);
    line[14] = 'Y';
    write_bytes(stage.path, bytes, size);
    reopen(&stage);
    keel_history_query_t query = query_of(&made);
    keel_history_record_t found;
    assert_true(keel_history_nearest(stage.history, &query, &stage.arena, &found));
    keel_digest_t none = {0};
    assert_memory_equal(&found.key->components[KEEL_COMPONENT_XLA_FLAGS], &none, sizeof none);
    assert_string_equal(found.key->values[KEEL_COMPONENT_XLA_FLAGS], "");
    keel_free(bytes);
    free_record(&made);
    remove_stage(&stage);
}

static void several_processes_append_to_one_file(void **state) {
    (void)state;
    enum { PROCESSES = 4, EACH = 50 };
    stage_t stage;
    make_stage(&stage);
    for (int p = 0; p < PROCESSES; ++p) {
        if (fork() != 0) continue;
        keel_history_t *own;
        assert_ok(keel_history_open(stage.folder, SCRIPT, "run-2", &own));
        for (uint64_t i = 0; i < EACH; ++i) {
            made_t made;
            make_record(&made, "jit_step", (uint64_t)p * EACH + i);
            assert_ok(keel_history_add(own, &made.record));
            free_record(&made);
        }
        _exit(0);
    }
    for (int p = 0, status; p < PROCESSES; ++p)
        assert_true(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    uint8_t *bytes;
    size_t size;
    uint64_t damaged;
    assert_ok(keel_file_read(stage.path, 1 << 24, &bytes, &size));
    assert_int_equal(records_in((char *)bytes, size, &damaged), PROCESSES * EACH);
    assert_int_equal(damaged, 0);
    keel_free(bytes);
    remove_stage(&stage);
}

static void *add_and_look(void *argument) {
    stage_t *stage = argument;
    keel_arena_t arena;
    keel_arena_initialize(&arena, 0);
    for (uint64_t i = 0; i < 200; ++i) {
        made_t made;
        keel_history_record_t found;
        make_record(&made, "jit_step", i);
        keel_history_query_t query = query_of(&made);
        assert_ok(keel_history_add(stage->history, &made.record));
        assert_true(keel_history_nearest(stage->history, &query, &arena, &found));
        assert_string_equal(found.name, "jit_step");
        assert_true(keel_history_last_seconds(stage->history, "jit_step", 100) > 0);
        free_record(&made);
    }
    keel_arena_deinitialize(&arena);
    return NULL;
}

static void threads_may_add_and_look_at_once(void **state) {
    (void)state;
    stage_t stage;
    pthread_t threads[4];
    uint64_t damaged;
    uint8_t *bytes;
    size_t size;
    make_stage(&stage);
    for (int i = 0; i < 4; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, add_and_look, &stage), 0);
    for (int i = 0; i < 4; ++i)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_ok(keel_file_read(stage.path, 1 << 24, &bytes, &size));
    assert_int_equal(records_in((char *)bytes, size, &damaged), 200);
    assert_int_equal(damaged, 0);
    keel_free(bytes);
    remove_stage(&stage);
}

// ---- bounds ------------------------------------------------------------------------------------

static void memory_keeps_the_newest(void **state) {
    (void)state;
    stage_t stage;
    made_t made;
    make_stage(&stage);
    keel_history_close(stage.history);
    assert_ok(keel_history_open(NULL, SCRIPT, "run-1", &stage.history));
    for (uint64_t i = 0; i < KEEL_HISTORY_LIMIT + 10; ++i)
        add(&stage, i == 10 ? "jit_ten" : i == 9 ? "jit_nine" : "jit_step", i);
    make_record(&made, "jit_ten", 9999);
    made.record.sketch.names = 1;
    assert_nearest(&stage, &made, "jit_ten", 10);
    free_record(&made);
    make_record(&made, "jit_nine", 9999);
    made.record.sketch.names = 1;
    assert_none(&stage, &made);
    free_record(&made);
    assert_false(exists(stage.folder));
    remove_stage(&stage);
}

static void large_values_are_bounded_too(void **state) {
    (void)state;
    stage_t stage;
    make_stage(&stage);
    keel_history_close(stage.history);
    assert_ok(keel_history_open(NULL, SCRIPT, "run-1", &stage.history));
    char value[4001];
    memset(value, 'x', 4000);
    value[4000] = 0;
    keel_memory_watch(1);
    for (uint64_t i = 0; i < 6000; ++i) {
        made_t made;
        make_record(&made, "jit_step", i);
        memcpy(value, &i, sizeof i);
        value[7] = 'x';
        for (int k = 0; k < 7; ++k)
            value[k] = (char)('a' + (i >> 4 * k) % 16);
        move_component(&made, KEEL_COMPONENT_OPTIONS, value);
        assert_ok(keel_history_add(stage.history, &made.record));
        free_record(&made);
    }
    assert_true(keel_memory_peak() < 20 << 20);
    keel_memory_watch(0);
    remove_stage(&stage);
}

static void a_file_that_outgrows_its_limit_keeps_the_newer_half(void **state) {
    (void)state;
    stage_t stage;
    made_t made;
    make_stage(&stage);
    size_t largest = 0, smallest = SIZE_MAX;
    for (uint64_t i = 0; i < 9000; ++i) {
        add(&stage, "jit_step", i);
        size_t size = size_of(stage.path);
        if (size > largest) largest = size;
        if (i > 6000 && size < smallest) smallest = size;
    }
    assert_true(largest < KEEL_HISTORY_FILE_LIMIT + 16384);
    assert_true(largest > KEEL_HISTORY_FILE_LIMIT - 16384 || smallest < SIZE_MAX);
    assert_true(smallest < KEEL_HISTORY_FILE_LIMIT * 5 / 8);
    assert_int_equal(count_below(stage.folder, ".tmp."), 0);
    reopen(&stage);
    make_record(&made, "jit_step", 99999);
    assert_nearest(&stage, &made, "jit_step", 8999);
    keel_history_query_t query = query_of(&made);
    keel_history_record_t found;
    assert_true(keel_history_nearest(stage.history, &query, &stage.arena, &found));
    assert_memory_equal(found.key->values[KEEL_COMPONENT_OPTIONS], "num_replicas=1", 14);
    free_record(&made);
    remove_stage(&stage);
}

// Whoever's file was replaced writes its values anew.
static void another_process_may_replace_the_file(void **state) {
    (void)state;
    stage_t stage;
    made_t made;
    make_stage(&stage);
    add(&stage, "jit_step", 1);
    assert_ok(keel_file_replace(stage.path, keel_bytes("", 0)));
    add(&stage, "jit_step", 2);
    assert_ok(keel_file_remove(stage.path));
    add(&stage, "jit_step", 3);
    reopen(&stage);
    make_record(&made, "jit_step", 3);
    keel_history_query_t query = query_of(&made);
    keel_history_record_t found;
    assert_true(keel_history_nearest(stage.history, &query, &stage.arena, &found));
    assert_memory_equal(found.key->components, made.key.components, sizeof made.key.components);
    free_record(&made);
    remove_stage(&stage);
}

static void a_file_that_cannot_be_read_costs_the_memory_of_earlier_runs(void **state) {
    (void)state;
    stage_t stage;
    made_t made;
    make_stage(&stage);
    assert_ok(keel_directory_make(stage.path));
    make_record(&made, "jit_step", 1);
    assert_none(&stage, &made);
    keel_status_t status = keel_history_add(stage.history, &made.record);
    assert_non_null(status);
    assert_non_null(strstr(keel_status_message(status), stage.path));
    keel_status_ignore(status);
    assert_nearest(&stage, &made, "jit_step", 1);
    free_record(&made);
    remove_stage(&stage);
}

static void a_script_is_no_path(void **state) {
    (void)state;
    keel_history_t *history;
    assert_code(keel_history_open("/tmp", "../x", "run", &history), KEEL_INVALID);
    assert_null(history);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_most_alike_itself),
        cmocka_unit_test(other_types_are_another_signature_and_the_same_operations),
        cmocka_unit_test(a_script_is_the_file_that_the_interpreter_runs),
        cmocka_unit_test(a_module_and_a_text_count_with_their_folder),
        cmocka_unit_test(nothing_is_near_in_an_empty_history),
        cmocka_unit_test(the_nearest_is_given_whole),
        cmocka_unit_test(the_same_program_comes_first),
        cmocka_unit_test(this_process_comes_before_earlier_runs_and_the_newest_first),
        cmocka_unit_test(the_most_alike_comes_before_the_newest),
        cmocka_unit_test(one_argument_of_another_type_is_nearer_than_two),
        cmocka_unit_test(the_nearest_the_newest_and_the_next_nearest_are_candidates),
        cmocka_unit_test(constants_are_no_part_of_a_programs_look),
        cmocka_unit_test(a_renamed_function_is_found_by_its_look),
        cmocka_unit_test(a_new_function_beside_an_old_one_is_the_first_of_its_kind),
        cmocka_unit_test(small_programs_are_not_alike_by_chance),
        cmocka_unit_test(graphs_that_a_client_counts_up_share_a_name),
        cmocka_unit_test(seconds_are_those_of_the_program_nearest_in_size),
        cmocka_unit_test(values_stand_in_a_file_once),
        cmocka_unit_test(what_was_seen_again_is_newer_in_the_next_run),
        cmocka_unit_test(strange_text_comes_back_as_it_was),
        cmocka_unit_test(damaged_lines_are_passed_over),
        cmocka_unit_test(a_value_that_is_gone_is_not_known),
        cmocka_unit_test(several_processes_append_to_one_file),
        cmocka_unit_test(threads_may_add_and_look_at_once),
        cmocka_unit_test(memory_keeps_the_newest),
        cmocka_unit_test(large_values_are_bounded_too),
        cmocka_unit_test(a_file_that_outgrows_its_limit_keeps_the_newer_half),
        cmocka_unit_test(another_process_may_replace_the_file),
        cmocka_unit_test(a_file_that_cannot_be_read_costs_the_memory_of_earlier_runs),
        cmocka_unit_test(a_script_is_no_path),
    };
    return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
