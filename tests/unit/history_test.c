#define _GNU_SOURCE // memmem, strsep
#include "history_stage.h"

#include "program/program.h"
#include "read/read.h"

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
    assert_ok(add_and_keep(stage.history, &made.record));
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

static void a_refused_program_is_compared_with_others_only(void **state) {
    (void)state;
    stage_t stage;
    made_t made;
    keel_history_record_t found;
    make_stage(&stage);
    add(&stage, "jit_step", 2);
    add(&stage, "jit_step", 1);
    reopen(&stage);
    make_record(&made, "jit_step", 1);
    assert_nearest(&stage, &made, "jit_step", 1);
    keel_history_query_t query = query_of(&made);
    query.is_refused = true;
    keel_digest_t other = digest_of("jit_step", 2);
    assert_true(keel_history_nearest(stage.history, &query, &stage.arena, &found));
    assert_memory_equal(&found.program, &other, sizeof other);
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
    assert_ok(add_and_keep(stage.history, &one.record));
    assert_ok(add_and_keep(stage.history, &two.record));
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
    assert_ok(add_and_keep(stage.history, &ours.record));
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
    assert_ok(add_and_keep(stage.history, &made.record));
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
    assert_ok(add_and_keep(stage.history, &one.record));
    assert_ok(add_and_keep(stage.history, &two.record));
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
    assert_ok(add_and_keep(stage->history, &made.record));
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

static void add_in(stage_t *stage, const char *run, uint64_t number, const char *origin,
                   uint16_t look) {
    made_t made;
    make_record(&made, "jit_step", number);
    made.record.run = run;
    made.record.origin = origin;
    made.record.sketch.counts[0] = look;
    assert_ok(add_and_keep(stage->history, &made.record));
    free_record(&made);
}

static void add_at(stage_t *stage, uint64_t number, const char *origin, uint16_t look) {
    add_in(stage, "run-1", number, origin, look);
}

// One that computes nothing is known by its plain name.
static void a_function_is_its_name_its_file_and_its_line(void **state) {
    (void)state;
    stage_t stage;
    made_t new;
    make_stage(&stage);
    make_record(&new, "jit_step", 3);
    new.record.origin = "main.<locals>.step at /home/u/train.py:20";
    add_at(&stage, 1, "main.<locals>.step at /home/u/train.py:12", 9);
    add_at(&stage, 2, "main.<locals>.step at /home/u/other.py:20", 9);
    assert_none(&stage, &new);
    add_at(&stage, 4, "step at /home/u/train.py:20", 1);
    assert_nearest(&stage, &new, "jit_step", 4);
    free_record(&new);
    remove_stage(&stage);
}

// Lines were added above: what is nearest tells which of two functions of one name it was.
static void a_function_that_moved_since_the_last_run_is_found_by_its_look(void **state) {
    (void)state;
    stage_t stage;
    made_t new;
    make_stage(&stage);
    add_at(&stage, 1, "main.<locals>.step at /home/u/train.py:12", 60);
    add_at(&stage, 2, "main.<locals>.step at /home/u/train.py:20", 9);
    add_at(&stage, 3, "step at /home/u/other.py:20", 60);
    reopen(&stage);
    make_record(&new, "jit_step", 4);
    new.record.sketch.counts[0] = 60;
    new.record.origin = "main.<locals>.step at /home/u/train.py:20";
    assert_nearest(&stage, &new, "jit_step", 1);
    new.record.sketch.counts[0] = 9;
    assert_nearest(&stage, &new, "jit_step", 2);
    free_record(&new);
    remove_stage(&stage);
}

// A line that an edit took away and the next one brought back is no nearer.
static void the_newer_of_two_runs_is_nearer_than_the_same_line(void **state) {
    (void)state;
    stage_t stage;
    made_t new;
    make_stage(&stage);
    add_in(&stage, "run-1", 1, "step at /home/u/train.py:12", 9);
    add_in(&stage, "run-2", 2, "step at /home/u/train.py:12", 9);
    add_in(&stage, "run-2", 3, "step at /home/u/train.py:14", 9);
    reopen(&stage);
    make_record(&new, "jit_step", 4);
    new.record.sketch.counts[0] = 9;
    new.record.origin = "step at /home/u/train.py:12";
    assert_nearest(&stage, &new, "jit_step", 2);
    add_in(&stage, "run-3", 5, "step at /home/u/train.py:14", 9);
    reopen(&stage);
    assert_nearest(&stage, &new, "jit_step", 5);
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
    // Whichever of its programs came.
    add(&stage, "jit_step", 2);
    reopen(&stage);
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
    assert_ok(add_and_keep(stage.history, &old.record));
    reopen(&stage);
    assert_nearest(&stage, &new, "jit_f", 1);
    new.record.sketch.counts[1] = 3;
    new.record.sketch.counts[2] = 1;
    assert_none(&stage, &new);
    free_record(&old);
    free_record(&new);
    remove_stage(&stage);
}

// Counts of two programs that share `share` percent of what they compute.
static void set_look(made_t *made, uint16_t operations, uint16_t percent, uint64_t names) {
    keel_sketch_t *sketch = &made->record.sketch;
    memset(sketch->counts, 0, sizeof sketch->counts);
    sketch->counts[3] = percent;
    sketch->operations = operations;
    sketch->names = names;
}

// The fewer operations, the more of them must be the same; and more if arguments changed names.
static void how_much_must_be_alike_goes_by_the_size(void **state) {
    (void)state;
    static const struct {
        uint16_t operations, percent;
        bool same_names, is_near;
    } rows[] = {
        {7, 100, true, true},   {7, 100, false, true},  {7, 93, true, false},
        {8, 93, true, true},    {8, 70, true, false},   {8, 80, true, true},
        {8, 95, false, true},   {8, 90, false, false},  {23, 70, true, false},
        {23, 90, false, false}, {24, 73, true, true},   {24, 55, true, false},
        {24, 80, false, true},  {24, 75, false, false}, {1000, 73, true, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        for (int which = 0; which < 2; ++which) {
            stage_t stage;
            made_t old, new;
            make_stage(&stage);
            make_record(&old, "jit_f", 1);
            make_record(&new, "jit_g", 2);
            uint16_t larger = which ? 5000 : rows[i].operations; // the smaller one counts
            set_look(&old, rows[i].operations, 100, 9);
            set_look(&new, larger, rows[i].percent, rows[i].same_names ? 9 : 10);
            assert_ok(add_and_keep(stage.history, which ? &old.record : &new.record));
            reopen(&stage);
            keel_digest_t found = nearest_to(&stage, which ? &new : &old), none = {0};
            if (keel_digest_equal(&found, &none) == rows[i].is_near) fail_msg("row %zu", i);
            free_record(&old);
            free_record(&new);
            remove_stage(&stage);
        }
}

// Traced functions have names of their own within a process, whatever they look like; graphs that
// nobody traced do not.
static void only_untraced_graphs_of_one_process_are_lookalikes(void **state) {
    (void)state;
    static const char traced[] = "main.<locals>.step at /home/u/train.py:12", untraced[] = "";
    static const struct {
        const char *old, *new;
        uint16_t operations, percent;
        bool same_names, near_within, near_later;
    } rows[] = {
        {traced, traced, 100, 100, true, false, true},
        {untraced, traced, 100, 100, true, true, true},
        {traced, untraced, 100, 100, true, true, true},
        {untraced, untraced, 100, 100, true, true, true},
        {untraced, untraced, 24, 92, true, true, true},
        {untraced, untraced, 23, 92, true, false, true},
        {untraced, untraced, 100, 85, true, false, true},
        {untraced, untraced, 100, 100, false, false, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        stage_t stage;
        made_t old, new;
        make_stage(&stage);
        make_record(&old, "jit_f", 1);
        make_record(&new, "jit_g", 2);
        old.record.origin = rows[i].old;
        new.record.origin = rows[i].new;
        set_look(&old, rows[i].operations, 100, 9);
        set_look(&new, rows[i].operations, rows[i].percent, rows[i].same_names ? 9 : 10);
        assert_ok(add_and_keep(stage.history, &old.record));
        keel_digest_t within = nearest_to(&stage, &new), none = {0};
        if (keel_digest_equal(&within, &none) == rows[i].near_within) fail_msg("row %zu", i);
        reopen(&stage);
        keel_digest_t later = nearest_to(&stage, &new);
        if (keel_digest_equal(&later, &none) == rows[i].near_later) fail_msg("row %zu", i);
        free_record(&old);
        free_record(&new);
        remove_stage(&stage);
    }
}

static void graphs_that_a_client_counts_up_share_a_name(void **state) {
    (void)state;
    stage_t stage;
    made_t old, new;
    make_stage(&stage);
    make_record(&old, "SyncTensorsGraph.42", 1);
    make_record(&new, "SyncTensorsGraph.1042", 2);
    memset(old.record.sketch.counts, 0, sizeof old.record.sketch.counts); // nothing alike
    assert_ok(add_and_keep(stage.history, &old.record));
    assert_nearest(&stage, &new, "SyncTensorsGraph.42", 1);
    free_record(&old);
    free_record(&new);
    remove_stage(&stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_most_alike_itself),
        cmocka_unit_test(other_types_are_another_signature_and_the_same_operations),
        cmocka_unit_test(nothing_is_near_in_an_empty_history),
        cmocka_unit_test(the_nearest_is_given_whole),
        cmocka_unit_test(a_refused_program_is_compared_with_others_only),
        cmocka_unit_test(the_same_program_comes_first),
        cmocka_unit_test(this_process_comes_before_earlier_runs_and_the_newest_first),
        cmocka_unit_test(the_most_alike_comes_before_the_newest),
        cmocka_unit_test(one_argument_of_another_type_is_nearer_than_two),
        cmocka_unit_test(the_nearest_the_newest_and_the_next_nearest_are_candidates),
        cmocka_unit_test(constants_are_no_part_of_a_programs_look),
        cmocka_unit_test(a_function_is_its_name_its_file_and_its_line),
        cmocka_unit_test(a_function_that_moved_since_the_last_run_is_found_by_its_look),
        cmocka_unit_test(the_newer_of_two_runs_is_nearer_than_the_same_line),
        cmocka_unit_test(a_renamed_function_is_found_by_its_look),
        cmocka_unit_test(a_new_function_beside_an_old_one_is_the_first_of_its_kind),
        cmocka_unit_test(small_programs_are_not_alike_by_chance),
        cmocka_unit_test(how_much_must_be_alike_goes_by_the_size),
        cmocka_unit_test(only_untraced_graphs_of_one_process_are_lookalikes),
        cmocka_unit_test(graphs_that_a_client_counts_up_share_a_name),
    };
    return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
