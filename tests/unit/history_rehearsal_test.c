// With which programs of earlier runs those of a rehearsal are compared, and those of a run after a
// rehearsal.
#define _GNU_SOURCE
#include "history_stage.h"

#define NOTHING KEEL_COMPONENT_COUNT

static void set_devices(made_t *made) {
    set_component(&made->key, KEEL_COMPONENT_DEVICE_KINDS, "8 x H200\nprocesses=1\n");
    move_component(made, KEEL_COMPONENT_TOPOLOGY, "a topology");
}

typedef struct earlier_t {
    const char *target;
    double seconds;         // of its compile; 0: it was not compiled
    keel_component_t moved; // since then
    bool is_same_program;
} earlier_t;

static void add_earlier(stage_t *stage, const earlier_t *earlier) {
    made_t made;
    make_record(&made, "jit_step", 1);
    set_devices(&made);
    if (earlier->moved != NOTHING) move_component(&made, earlier->moved, "another");
    made.record.target = earlier->target;
    made.record.seconds = earlier->seconds;
    assert_ok(add_and_keep(stage->history, &made.record));
    free_record(&made);
    reopen(stage);
}

static bool is_found(stage_t *stage, const char *target, bool is_same_program) {
    made_t made;
    keel_history_record_t found;
    make_record(&made, "jit_step", is_same_program ? 1 : 2);
    set_devices(&made);
    keel_history_query_t query = query_of(&made);
    query.target = target;
    bool any = keel_history_nearest(stage->history, &query, &stage->arena, &found);
    free_record(&made);
    return any;
}

static void another_target_is_no_change_of_the_users(void **state) {
    (void)state;
    static const struct {
        const char *target;
        earlier_t earlier;
        bool is_found;
    } rows[] = {
        // Runs on real devices.
        {"", {"", 2, NOTHING, true}, true},
        {"", {"", 2, KEEL_COMPONENT_DEVICE_KINDS, false}, true},
        {"", {"", 0, NOTHING, false}, true},
        // A run after a rehearsal.
        {"", {"h200:8", 2, NOTHING, true}, true},
        {"", {"h200:8", 2, NOTHING, false}, true},
        {"", {"h200:8", 2, KEEL_COMPONENT_PLUGIN_BUILD, true}, true},
        {"", {"h200:8", 0, NOTHING, true}, false},
        {"", {"h200:8", 0, NOTHING, false}, false},
        {"", {"h200:8", 2, KEEL_COMPONENT_DEVICE_KINDS, true}, false},
        // A rehearsal after a run, or after another rehearsal.
        {"h200:8", {"", 2, NOTHING, false}, true},
        {"h200:8", {"", 2, NOTHING, true}, false},
        {"h200:8", {"h200:8", 2, NOTHING, false}, true},
        {"h200:8", {"h200:8", 0, NOTHING, false}, true},
        {"h200:8", {"h200:8", 0, NOTHING, true}, false},
        {"h200:8", {"cpu:4", 2, KEEL_COMPONENT_DEVICE_KINDS, false}, false},
        {"h200:8", {"", 2, KEEL_COMPONENT_PLUGIN_BUILD, false}, false},
        {"h200:8", {"", 2, KEEL_COMPONENT_PLATFORM, false}, false},
        {"h200:8", {"", 2, KEEL_COMPONENT_TOPOLOGY, false}, false},
        {"h200:8", {"h200:8", 2, KEEL_COMPONENT_XLA_FLAGS, true}, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        stage_t stage;
        make_stage(&stage);
        add_earlier(&stage, &rows[i].earlier);
        if (is_found(&stage, rows[i].target, rows[i].earlier.is_same_program) != rows[i].is_found)
            fail_msg("row %zu", i);
        remove_stage(&stage);
    }
}

// It says nothing about this program that another of the run differs from it.
static void a_program_that_was_only_rehearsed_is_compared_with_no_other(void **state) {
    (void)state;
    stage_t stage;
    make_stage(&stage);
    made_t other;
    make_record(&other, "jit_step", 2);
    set_devices(&other);
    other.record.target = "h200:8";
    assert_ok(add_and_keep(stage.history, &other.record));
    add_earlier(&stage, &(earlier_t){"h200:8", 0, NOTHING, true});
    assert_false(is_found(&stage, "h200:8", true));
    assert_false(is_found(&stage, "", true));
    // One of this process is still near.
    other.record.program = digest_of("jit_step", 3);
    assert_ok(keel_history_add(stage.history, &other.record));
    assert_true(is_found(&stage, "h200:8", true));
    free_record(&other);
    remove_stage(&stage);
}

// The compiler may be done after the program was recorded.
static void what_the_compiler_took_is_added_later(void **state) {
    (void)state;
    stage_t stage;
    made_t made;
    make_stage(&stage);
    make_record(&made, "jit_step", 1);
    set_devices(&made);
    made.record.target = "h200:8";
    made.record.seconds = 0;
    assert_ok(keel_history_add(stage.history, &made.record));
    keel_history_compiled(stage.history, &made.record.program, &made.key.digest, 2.5);
    keel_history_compiled(stage.history, &made.record.program, &made.record.program, 9); // no key
    assert_ok(keel_history_keep(stage.history));
    reopen(&stage);
    keel_history_query_t query = query_of(&made);
    keel_history_record_t found;
    assert_true(keel_history_nearest(stage.history, &query, &stage.arena, &found));
    assert_string_equal(found.target, "h200:8");
    assert_true(found.seconds == 2.5);
    // Seen again on the devices themselves, it is no rehearsal's any more.
    made.record.target = "";
    assert_ok(add_and_keep(stage.history, &made.record));
    reopen(&stage);
    assert_true(keel_history_nearest(stage.history, &query, &stage.arena, &found));
    assert_string_equal(found.target, "");
    assert_true(found.seconds == 2.5);
    free_record(&made);
    remove_stage(&stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_target_is_no_change_of_the_users),
        cmocka_unit_test(a_program_that_was_only_rehearsed_is_compared_with_no_other),
        cmocka_unit_test(what_the_compiler_took_is_added_later),
    };
    return cmocka_run_group_tests_name("history of rehearsals", tests, NULL, NULL);
}
