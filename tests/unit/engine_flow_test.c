// Which executions a read forced, and which of those cut their step, judging by the order of calls
// and the buffers that they take.
#define _GNU_SOURCE
#include <pthread.h>

#include <jansson.h>

#include "engine/executables.h"
#include "engine/flow.h"
#include "engine/flow_journal.h"
#include "engine/order.h"
#include "engine/sent.h"
#include "engine/steps.h"
#include "engine/transfers.h"
#include "store_help.h"

enum { PROGRAMS = 5, UNASKED = 4 };

// What all reports of one program and line say together.
typedef struct told_t {
    uint32_t line;
    uint64_t forced, sampled, shared, in_step;
} told_t;

// A process with an engine that has as much as the flow needs.
typedef struct stage_t {
    place_t place;
    keel_engine_t *engine;
    PJRT_LoadedExecutable *loaded[PROGRAMS]; // of program 0 and on; only addresses
    told_t told[PROGRAMS][64];               // of each program, the oldest line first
    size_t told_count[PROGRAMS];
    uint64_t cut_steps, cut_pieces;
} stage_t;

static keel_digest_t digest_of(int program) {
    uint8_t byte = (uint8_t)program;
    return keel_digest(keel_bytes(&byte, 1));
}

static keel_place_t line(uint32_t number) {
    return (keel_place_t){
        .file = "/w/train.py", .line = number, .function = "main", .call_file = ""};
}

enum { WEIGHT = 0x100, BATCH, HELD_OUT, LOSS, FRESH, NUMBER, MASK, PLACES, PAIRS };

// A loss and a number have no dimensions, places and pairs two, all others one.
static PJRT_Error *dimensions(PJRT_Buffer_Dimensions_Args *args) {
    uintptr_t buffer = (uintptr_t)args->buffer;
    static const int64_t places[] = {3, 1}, pairs[] = {3, 2}, eight[] = {8};
    args->dims = buffer == PLACES ? places : buffer == PAIRS ? pairs : eight;
    args->num_dims = buffer == PLACES || buffer == PAIRS ? 2 : buffer != LOSS && buffer != NUMBER;
    return NULL;
}

static const PJRT_Api api = {.struct_size = PJRT_Api_STRUCT_SIZE,
                             .PJRT_Buffer_Dimensions = dimensions};

// tests/unit/door.cmake puts this in the place of the host's stack.
void __wrap_keel_stack_read(keel_arena_t *arena, const char *application, keel_stack_t *out);
static keel_stack_frame_t frame = {.file = "/w/train.py", .function = "main"};

void __wrap_keel_stack_read(keel_arena_t *arena, const char *application, keel_stack_t *out) {
    (void)arena, (void)application;
    *out = (keel_stack_t){.frames = &frame, .count = frame.line != 0};
}

static int set_up(void **state) {
    stage_t *stage = calloc(1, sizeof *stage);
    frame.line = 0;
    place_make(&stage->place);
    stage->engine = calloc(1, sizeof *stage->engine);
    stage->engine->settings.stack = true;
    stage->engine->api = &api;
    assert_ok(keel_journal_open(stage->place.root, "r1", &stage->engine->journal));
    assert_ok(counters_create(stage->engine));
    assert_ok(sites_create(stage->engine));
    assert_ok(sent_create(stage->engine));
    assert_ok(flow_create(stage->engine));
    assert_ok(transfers_create(stage->engine));
    assert_ok(order_create(stage->engine));
    assert_ok(steps_create(stage->engine));
    assert_ok(executables_create(stage->engine));
    for (int i = 0; i < PROGRAMS; ++i) {
        made_of_t of = {.program = digest_of(i)};
        stage->loaded[i] = (PJRT_LoadedExecutable *)(uintptr_t)(0x1000 + i * 64);
        assert_ok(executables_add(stage->engine, stage->loaded[i], &of, NULL, keel_bytes("", 0)));
        // Program 0 is asked for by line 90, the step's end; 1 by line 10, 2 by line 20, ...
        keel_place_t place = line(i ? 10 * (uint32_t)i : 90);
        if (i != UNASKED) flow_asked(stage->engine, &of.program, &place, true);
    }
    *state = stage;
    return 0;
}

static int tear_down(void **state) {
    stage_t *stage = *state;
    keel_engine_t *engine = stage->engine;
    executables_destroy(engine->executables);
    steps_destroy(engine->steps);
    order_destroy(engine->order);
    transfers_destroy(engine->transfers);
    flow_destroy(engine->flow);
    sent_destroy(engine->sent);
    sites_destroy(engine->sites);
    counters_destroy(engine->counters);
    keel_journal_close(engine->journal);
    place_remove(&stage->place);
    free(engine);
    free(stage);
    return 0;
}

// Executes a program with these buffers, of which the last one is 0.
static void execute(const stage_t *stage, int program, const uintptr_t *buffers) {
    PJRT_Buffer *arguments[8];
    size_t count = 0;
    for (; buffers[count]; ++count)
        arguments[count] = (PJRT_Buffer *)buffers[count];
    PJRT_Buffer *const *lists[] = {arguments};
    keel_engine_executed(stage->engine,
                         &(PJRT_LoadedExecutable_Execute_Args){.executable = stage->loaded[program],
                                                               .argument_lists = lists,
                                                               .num_devices = 1,
                                                               .num_args = count});
}
#define EXECUTE(stage, program, ...) execute(stage, program, (const uintptr_t[]){__VA_ARGS__, 0})

static void made(const stage_t *stage, uintptr_t buffer) {
    flow_made(stage->engine, (const PJRT_Buffer *)buffer, buffer == NUMBER ? 0 : 2);
}

static void read_at(const stage_t *stage, uint32_t number, uintptr_t buffer) {
    keel_place_t place = line(number);
    flow_note(stage->engine, sites_at(stage->engine->sites, &place), (const PJRT_Buffer *)buffer);
}

static told_t *told_at(stage_t *stage, size_t program, uint32_t number) {
    size_t *count = &stage->told_count[program];
    for (size_t i = 0; i < *count; ++i)
        if (stage->told[program][i].line == number) return &stage->told[program][i];
    assert_in_range(*count, 0, 63);
    stage->told[program][*count].line = number;
    return &stage->told[program][(*count)++];
}

// Takes a report of the flow, and adds it to those before.
static void take_report(stage_t *stage) {
    pieces_report_t report;
    assert_ok(flow_report(stage->engine, &report));
    // The newest line of a program comes first.
    for (size_t i = report.count; i-- > 0;) {
        const keel_journal_piece_t *piece = &report.list[i];
        size_t program = 0;
        for (keel_digest_t digest = digest_of(0); !keel_digest_equal(piece->program, &digest);)
            digest = digest_of((int)++program);
        told_t *told = told_at(stage, program, piece->site.line);
        told->forced += piece->forced;
        told->sampled = piece->sampled;
        told->shared = piece->shared;
        told->in_step = piece->pieces;
    }
    stage->cut_steps += report.cut_steps;
    stage->cut_pieces += report.cut_pieces;
    keel_free(report.list);
}

// The line that forced the program last of all lines; NULL: none did.
static const told_t *piece(stage_t *stage, int program) {
    take_report(stage);
    size_t count = stage->told_count[program];
    return count ? &stage->told[program][count - 1] : NULL;
}

static uint64_t cut_steps(stage_t *stage) {
    take_report(stage);
    return stage->cut_steps;
}

static void assert_piece(stage_t *stage, int program, uint64_t forced, uint64_t sampled,
                         uint64_t shared) {
    const told_t *got = piece(stage, program);
    assert_non_null(got);
    assert_int_equal(got->forced, forced);
    assert_int_equal(got->sampled, sampled);
    assert_int_equal(got->shared, shared);
}

static void a_read_whose_work_the_step_does_again_cuts_it(void **state) {
    stage_t *stage = *state;
    for (int step = 0; step < 3; ++step) {
        EXECUTE(stage, 1, WEIGHT, BATCH);
        read_at(stage, 10, LOSS);
        EXECUTE(stage, 0, FRESH, BATCH, WEIGHT);
    }
    flow_end(stage->engine);
    assert_piece(stage, 1, 3, 3, 3);
    assert_int_equal(piece(stage, 1)->in_step, 2);
    assert_int_equal(cut_steps(stage), 3);
    assert_int_equal(stage->cut_pieces, 6);
    assert_null(piece(stage, 0));
}

static keel_status_t add_cut_steps(void *context, const struct json_t *event) {
    uint64_t *count = context;
    *count += (uint64_t)json_integer_value(json_object_get(event, "cut_steps"));
    return NULL;
}

// The journal is written while the run goes on, and a step is known to be cut only once the next
// one is, or the run ends: then there may be nothing else to write.
static void the_last_step_that_was_cut_is_in_the_journal_too(void **state) {
    const stage_t *stage = *state;
    char *path;
    uint64_t count = 0;
    keel_journal_damage_t damage;
    for (int step = 0; step < 3; ++step) {
        EXECUTE(stage, 1, WEIGHT, BATCH);
        read_at(stage, 10, LOSS);
        EXECUTE(stage, 0, FRESH, BATCH, WEIGHT);
        flow_journal(stage->engine);
    }
    flow_end(stage->engine);
    flow_journal(stage->engine);
    assert_ok(keel_journal_path(stage->place.root, "r1", &path));
    assert_ok(keel_journal_read(path, add_cut_steps, &count, &damage));
    assert_int_equal(count, 3);
    keel_free(path);
}

static keel_status_t note_pieces(void *context, const struct json_t *event) {
    const json_t *pieces = json_object_get(event, "pieces");
    const json_t *last = json_array_get(pieces, json_array_size(pieces) - 1);
    if (last) *(uint64_t *)context = (uint64_t)json_integer_value(json_object_get(last, "pieces"));
    return NULL;
}

// How many programs a step has is known at its end, whether the journal was written before or not.
static void programs_of_a_step_that_ends_with_the_run_are_in_the_journal(void **state) {
    stage_t *stage = *state;
    char *path;
    uint64_t pieces = 0;
    keel_journal_damage_t damage;
    EXECUTE(stage, 1, WEIGHT, BATCH);
    read_at(stage, 10, LOSS);
    EXECUTE(stage, 2, FRESH, BATCH, WEIGHT);
    read_at(stage, 10, LOSS);
    EXECUTE(stage, 0, FRESH, BATCH, WEIGHT);
    flow_journal(stage->engine);
    flow_end(stage->engine);
    flow_journal(stage->engine);
    assert_ok(keel_journal_path(stage->place.root, "r1", &path));
    assert_ok(keel_journal_read(path, note_pieces, &pieces, &damage));
    keel_free(path);
    assert_int_equal(pieces, 2);
}

static void a_read_whose_result_the_step_works_on_cuts_it(void **state) {
    stage_t *stage = *state;
    EXECUTE(stage, 1, WEIGHT, BATCH);
    read_at(stage, 10, LOSS);
    EXECUTE(stage, 0, LOSS);
    assert_piece(stage, 1, 1, 1, 1);
}

// As autograd's threads do, which know no Python: what the loss took of a mask is read once more.
static void read_on_a_thread_without_a_stack(const stage_t *stage, uintptr_t buffer) {
    flow_note(stage->engine, NULL, (const PJRT_Buffer *)buffer);
}

static void a_read_without_a_line_is_that_of_the_programs_other_reads(void **state) {
    stage_t *stage = *state;
    for (int step = 0; step < 3; ++step) {
        EXECUTE(stage, 1, BATCH);
        read_at(stage, 10, HELD_OUT);
        EXECUTE(stage, 1, BATCH);
        read_on_a_thread_without_a_stack(stage, HELD_OUT);
        EXECUTE(stage, 0, FRESH, BATCH, WEIGHT);
    }
    flow_end(stage->engine);
    assert_piece(stage, 1, 6, 6, 6);
    assert_int_equal(piece(stage, 1)->in_step, 3);
    assert_int_equal(cut_steps(stage), 3);
}

static void a_read_that_has_no_line_at_all_ends_no_step(void **state) {
    stage_t *stage = *state;
    for (int step = 0; step < 3; ++step) {
        EXECUTE(stage, 1, WEIGHT, BATCH);
        read_at(stage, 10, LOSS);
        EXECUTE(stage, UNASKED, FRESH);
        read_on_a_thread_without_a_stack(stage, HELD_OUT);
        EXECUTE(stage, 0, FRESH, BATCH, WEIGHT);
    }
    flow_end(stage->engine);
    assert_piece(stage, 1, 3, 3, 3);
    assert_null(piece(stage, UNASKED));
    assert_int_equal(cut_steps(stage), 3);
}

// What is computed on the host in the backward pass is asked for there too.
static void a_program_of_a_thread_without_lines_is_a_piece_of_the_step(void **state) {
    stage_t *stage = *state;
    keel_digest_t program = digest_of(UNASKED);
    keel_place_t place = line(20);
    flow_asked(stage->engine, &program, &place, false);
    for (int step = 0; step < 3; ++step) {
        EXECUTE(stage, 1, WEIGHT, BATCH);
        read_at(stage, 10, LOSS);
        EXECUTE(stage, UNASKED, PAIRS);
        read_on_a_thread_without_a_stack(stage, HELD_OUT);
        EXECUTE(stage, 0, FRESH, BATCH, WEIGHT);
    }
    flow_end(stage->engine);
    assert_piece(stage, 1, 3, 3, 3);
    assert_int_equal(piece(stage, 1)->in_step, 3);
    assert_null(piece(stage, UNASKED));
    assert_int_equal(cut_steps(stage), 3);
}

static void an_evaluation_with_a_batch_of_its_own_cuts_nothing(void **state) {
    stage_t *stage = *state;
    for (int step = 0; step < 3; ++step) {
        EXECUTE(stage, 0, WEIGHT, BATCH);
        EXECUTE(stage, 1, WEIGHT, HELD_OUT);
        read_at(stage, 10, LOSS);
    }
    EXECUTE(stage, 0, WEIGHT, BATCH);
    EXECUTE(stage, 0, WEIGHT, BATCH);
    flow_end(stage->engine);
    assert_piece(stage, 1, 3, 3, 0);
    assert_int_equal(cut_steps(stage), 0);
}

static void a_buffer_that_is_made_anew_at_the_same_address_is_another_one(void **state) {
    stage_t *stage = *state;
    EXECUTE(stage, 1, WEIGHT, HELD_OUT);
    read_at(stage, 10, LOSS);
    made(stage, HELD_OUT);
    made(stage, LOSS);
    EXECUTE(stage, 0, WEIGHT, HELD_OUT, LOSS);
    EXECUTE(stage, 0, WEIGHT);
    assert_piece(stage, 1, 1, 1, 0);
}

static void a_norm_of_the_weights_between_two_steps_cuts_neither(void **state) {
    stage_t *stage = *state;
    for (int step = 0; step < 4; ++step) {
        made(stage, BATCH);
        EXECUTE(stage, 0, WEIGHT, BATCH, NUMBER);
        EXECUTE(stage, 1, WEIGHT);
        read_at(stage, 10, LOSS);
        made(stage, NUMBER);
    }
    flow_end(stage->engine);
    assert_piece(stage, 1, 4, 3, 0);
    assert_int_equal(cut_steps(stage), 0);
}

static void a_norm_of_the_weights_before_the_first_step_cuts_none(void **state) {
    stage_t *stage = *state;
    made(stage, WEIGHT);
    EXECUTE(stage, 1, WEIGHT);
    read_at(stage, 10, LOSS);
    for (int step = 0; step < 3; ++step) {
        made(stage, BATCH);
        EXECUTE(stage, 0, WEIGHT, BATCH);
    }
    assert_piece(stage, 1, 1, 1, 0);
}

static void without_an_end_of_a_step_each_read_but_the_first_cuts(void **state) {
    stage_t *stage = *state;
    for (int step = 1; step <= 3; ++step) {
        uintptr_t batch = BATCH + 0x100 * (uintptr_t)step;
        made(stage, batch);
        EXECUTE(stage, step, WEIGHT, BATCH + 0x100, BATCH + 0x200, batch);
        read_at(stage, 10 * (uint32_t)step, LOSS);
    }
    made(stage, HELD_OUT);
    EXECUTE(stage, 0, WEIGHT, BATCH + 0x100, BATCH + 0x200, BATCH + 0x300, HELD_OUT);
    EXECUTE(stage, 0, FRESH);
    assert_piece(stage, 1, 1, 1, 0);
    assert_piece(stage, 2, 1, 1, 1);
    assert_piece(stage, 3, 1, 1, 1);
}

static void a_sum_over_steps_that_is_read_between_two_cuts_neither(void **state) {
    stage_t *stage = *state;
    for (int step = 0; step < 4; ++step) {
        made(stage, BATCH);
        EXECUTE(stage, 0, WEIGHT, BATCH, LOSS);
        EXECUTE(stage, 1, NUMBER);
        read_at(stage, 10, LOSS);
    }
    assert_piece(stage, 1, 4, 3, 0);
}

// PyTorch/XLA sends data when the first operation takes them.
static void labels_that_come_behind_the_read_hide_no_cut(void **state) {
    stage_t *stage = *state;
    for (int step = 0; step < 4; ++step) {
        made(stage, BATCH);
        EXECUTE(stage, 1, WEIGHT, BATCH);
        read_at(stage, 10, LOSS);
        EXECUTE(stage, 2, WEIGHT, BATCH);
        read_at(stage, 20, FRESH);
        EXECUTE(stage, 3, FRESH);
        read_at(stage, 30, LOSS);
        made(stage, HELD_OUT);
        EXECUTE(stage, 0, WEIGHT, BATCH, HELD_OUT, FRESH);
    }
    assert_piece(stage, 1, 4, 4, 4);
    assert_piece(stage, 2, 4, 4, 4);
    assert_piece(stage, 3, 4, 4, 4);
}

static void what_the_host_makes_of_a_mask_hides_no_cut(void **state) {
    stage_t *stage = *state;
    for (int step = 0; step < 4; ++step) {
        EXECUTE(stage, 1, WEIGHT, BATCH);
        read_at(stage, 10, HELD_OUT);
        made(stage, FRESH);
        EXECUTE(stage, 0, WEIGHT, BATCH, FRESH);
    }
    assert_piece(stage, 1, 4, 4, 4);
}

static void places_that_the_host_found_are_what_the_step_goes_on_with(void **state) {
    stage_t *stage = *state;
    for (int step = 0; step < 3; ++step) {
        made(stage, BATCH);
        EXECUTE(stage, 1, BATCH);
        read_at(stage, 10, MASK);
        made(stage, PLACES);
        EXECUTE(stage, 0, PLACES);
    }
    assert_piece(stage, 1, 3, 3, 3);
}

// Tokens of the next batch have no column for each dimension of what was read.
static void a_batch_that_is_sent_behind_an_evaluation_is_not_made_of_it(void **state) {
    stage_t *stage = *state;
    for (int step = 0; step < 3; ++step) {
        made(stage, HELD_OUT);
        EXECUTE(stage, 1, HELD_OUT);
        read_at(stage, 10, MASK);
        made(stage, PAIRS);
        EXECUTE(stage, 0, PAIRS, WEIGHT);
    }
    EXECUTE(stage, 0, PAIRS, WEIGHT);
    assert_piece(stage, 1, 3, 3, 0);
}

// Executions on another thread may be a step behind: an optimizer's numbers would count twice then.
static void arrays_sent_since_the_last_execution_but_one_count(void **state) {
    stage_t *stage = *state;
    made(stage, WEIGHT);
    made(stage, NUMBER);
    assert_int_equal(flow_sent(stage->engine), 1);
    EXECUTE(stage, 0, WEIGHT);
    made(stage, BATCH);
    made(stage, HELD_OUT);
    assert_int_equal(flow_sent(stage->engine), 3);
    EXECUTE(stage, 0, WEIGHT, BATCH);
    made(stage, NUMBER);
    assert_int_equal(flow_sent(stage->engine), 2);
    EXECUTE(stage, 0, WEIGHT, BATCH);
    assert_int_equal(flow_sent(stage->engine), 0);
}

static void a_loop_that_reads_what_each_turn_hands_to_the_next_has_no_step_to_cut(void **state) {
    stage_t *stage = *state;
    for (int token = 0; token < 100; ++token) {
        EXECUTE(stage, 1, WEIGHT, LOSS);
        read_at(stage, 10, LOSS);
    }
    flow_end(stage->engine);
    assert_piece(stage, 1, 100, FLOW_SAMPLES, 0);
    assert_int_equal(cut_steps(stage), 0);
}

static void a_number_that_only_the_read_needs_hides_no_cut(void **state) {
    stage_t *stage = *state;
    EXECUTE(stage, 1, BATCH, NUMBER);
    read_at(stage, 10, FRESH);
    EXECUTE(stage, 0, BATCH);
    assert_piece(stage, 1, 1, 1, 1);
}

static void a_figure_made_of_the_steps_loss_cuts_nothing(void **state) {
    stage_t *stage = *state;
    EXECUTE(stage, 0, WEIGHT, BATCH);
    EXECUTE(stage, 1, LOSS, NUMBER);
    read_at(stage, 10, FRESH);
    EXECUTE(stage, 0, WEIGHT, BATCH);
    EXECUTE(stage, 0, WEIGHT, BATCH);
    assert_piece(stage, 1, 1, 1, 0);
}

static void a_read_behind_the_step_forces_nothing(void **state) {
    stage_t *stage = *state;
    for (int step = 0; step < 3; ++step) {
        EXECUTE(stage, 0, WEIGHT, BATCH);
        read_at(stage, 91, LOSS);
    }
    assert_null(piece(stage, 0));
}

static void several_reads_of_one_execution_force_it_once(void **state) {
    stage_t *stage = *state;
    EXECUTE(stage, 1, WEIGHT);
    read_at(stage, 10, LOSS);
    read_at(stage, 10, FRESH);
    EXECUTE(stage, 0, WEIGHT);
    assert_piece(stage, 1, 1, 1, 1);
}

static void a_step_has_as_many_pieces_as_reads_that_cut_it(void **state) {
    stage_t *stage = *state;
    for (int step = 0; step < 2; ++step) {
        EXECUTE(stage, 1, WEIGHT);
        read_at(stage, 10, LOSS);
        EXECUTE(stage, 2, WEIGHT, BATCH);
        read_at(stage, 20, LOSS);
        EXECUTE(stage, 3, BATCH);
        read_at(stage, 30, LOSS);
        EXECUTE(stage, 0, WEIGHT, BATCH);
    }
    flow_end(stage->engine);
    for (int program = 1; program <= 3; ++program) {
        assert_piece(stage, program, 2, 2, 2);
        assert_int_equal(piece(stage, program)->in_step, 4);
    }
    assert_int_equal(cut_steps(stage), 2);
}

// The client has the program already when another line asks for the same.
static void a_second_line_that_asks_for_the_same_is_told_apart(void **state) {
    stage_t *stage = *state;
    EXECUTE(stage, 1, WEIGHT);
    read_at(stage, 10, LOSS);
    EXECUTE(stage, 1, WEIGHT);
    read_at(stage, 11, LOSS);
    EXECUTE(stage, 0, WEIGHT);
    const told_t *later = piece(stage, 1);
    assert_int_equal(later->line, 11);
    assert_int_equal(later->shared, 1);
    assert_int_equal(later[-1].line, 10);
    assert_int_equal(later[-1].shared, 1);
}

// Whoever follows an execution keeps its arguments.
static size_t allocated_by_an_execution(const stage_t *stage, int program) {
    keel_memory_watch(1);
    EXECUTE(stage, program, WEIGHT, HELD_OUT);
    size_t allocated = keel_memory_peak();
    keel_memory_watch(0);
    return allocated;
}

static void buffers_are_followed_in_the_first_executions_only(void **state) {
    stage_t *stage = *state;
    assert_in_range(allocated_by_an_execution(stage, 0), 1, 4096);
    for (int step = 0; step < 100; ++step) {
        EXECUTE(stage, 1, WEIGHT);
        read_at(stage, 10, LOSS);
        EXECUTE(stage, 0, WEIGHT);
    }
    EXECUTE(stage, 0, WEIGHT);
    assert_piece(stage, 1, 100, FLOW_SAMPLES, FLOW_SAMPLES);
    assert_int_equal(allocated_by_an_execution(stage, 0), 0);
}

static void where_every_execution_is_read_they_are_followed_no_longer_either(void **state) {
    stage_t *stage = *state;
    for (int batch = 0; batch < 100; ++batch) {
        EXECUTE(stage, 1, WEIGHT, HELD_OUT);
        read_at(stage, 10, LOSS);
    }
    assert_piece(stage, 1, 100, FLOW_SAMPLES, 0);
    assert_int_equal(allocated_by_an_execution(stage, 1), 0);
    EXECUTE(stage, 0, WEIGHT, HELD_OUT);
    assert_piece(stage, 1, 100, FLOW_SAMPLES, 0);
}

static void what_nothing_follows_is_not_judged(void **state) {
    stage_t *stage = *state;
    EXECUTE(stage, 1, WEIGHT);
    read_at(stage, 10, LOSS);
    flow_end(stage->engine);
    assert_piece(stage, 1, 1, 0, 0);
    assert_int_equal(cut_steps(stage), 0);
}

static void *run_steps(void *context) {
    const stage_t *stage = context;
    for (int step = 0; step < 2000; ++step) {
        EXECUTE(stage, 1, WEIGHT);
        keel_reading_t reading = keel_engine_read_begins(stage->engine, NULL, 4);
        keel_engine_read_ends(stage->engine, &reading, NULL);
        read_at(stage, 10, LOSS);
        EXECUTE(stage, 0, WEIGHT);
        keel_engine_sent(stage->engine, 8, 1);
        made(stage, FRESH);
        keel_engine_step(stage->engine);
        if (step % 100 == 0) flow_journal(stage->engine);
        if (step % 100 == 0) steps_journal(stage->engine);
    }
    return NULL;
}

// One step of which an evaluation is read, on a batch of its own; or one that a read cuts.
static void take_step(const stage_t *stage, bool is_cut) {
    EXECUTE(stage, 1, WEIGHT, is_cut ? BATCH : HELD_OUT);
    read_at(stage, 10, LOSS);
    EXECUTE(stage, 0, FRESH, BATCH, WEIGHT);
}

static void what_half_of_the_steps_go_on_with_cuts_them(void **state) {
    stage_t *stage = *state;
    take_step(stage, false);
    take_step(stage, true);
    flow_end(stage->engine);
    assert_piece(stage, 1, 2, 2, 1);
    assert_int_equal(cut_steps(stage), 1);
}

static void what_fewer_than_half_of_the_steps_go_on_with_cuts_none(void **state) {
    stage_t *stage = *state;
    for (int step = 0; step < 3; ++step)
        take_step(stage, step == 2);
    flow_end(stage->engine);
    assert_piece(stage, 1, 3, 3, 1);
    assert_int_equal(cut_steps(stage), 0);
}

// ---- threads -----------------------------------------------------------------------------------

typedef struct sums_t {
    json_int_t read, bytes_read, bytes_sent, read_by_line, forced, steps;
    double seconds; // of reads
} sums_t;

static json_int_t number(const json_t *object, const char *name) {
    return json_integer_value(json_object_get(object, name));
}

static keel_status_t add_sums(void *context, const struct json_t *event) {
    sums_t *sums = context;
    const json_t *from = json_object_get(event, "from_device"), *read, *forced;
    size_t i;
    sums->read += number(from, "count");
    sums->bytes_read += number(from, "bytes");
    sums->seconds += json_number_value(json_object_get(from, "seconds"));
    sums->bytes_sent += number(json_object_get(event, "to_device"), "bytes");
    json_array_foreach(json_object_get(event, "reads"), i, read) sums->read_by_line +=
        number(read, "count");
    json_array_foreach(json_object_get(event, "pieces"), i, forced) sums->forced +=
        number(forced, "forced");
    if (strcmp(json_string_value(json_object_get(event, "event")), "step") == 0)
        sums->steps += number(event, "count");
    return NULL;
}

// Of the whole journal, once all that is left was written to it.
static sums_t journal_sums(const stage_t *stage) {
    char *path;
    sums_t sums = {0};
    keel_journal_damage_t damage;
    flow_journal(stage->engine);
    steps_journal(stage->engine);
    assert_ok(keel_journal_path(stage->place.root, "r1", &path));
    assert_ok(keel_journal_read(path, add_sums, &sums, &damage));
    keel_free(path);
    return sums;
}

// The journal is written while a read waits for its data.
static void what_a_read_takes_is_written_though_it_was_counted_before(void **state) {
    const stage_t *stage = *state;
    keel_reading_t reading = keel_engine_read_begins(stage->engine, NULL, 4);
    sums_t begun = journal_sums(stage);
    keel_engine_read_ends(stage->engine, &reading, NULL);
    sums_t ended = journal_sums(stage);
    assert_int_equal(begun.read, 1);
    assert_true(begun.seconds <= 0);
    assert_int_equal(ended.read, 1);
    assert_true(ended.seconds > 0);
}

static void threads_that_execute_and_read_at_once_lose_no_count(void **state) {
    const stage_t *stage = *state;
    frame.line = 10;
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, run_steps, *state), 0);
    for (int i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    sums_t sums = journal_sums(stage);
    assert_int_equal(sums.read, 8000);
    assert_int_equal(sums.read_by_line, 8000);
    assert_int_equal(sums.bytes_read, 32000);
    assert_int_equal(sums.bytes_sent, 64000);
    assert_int_equal(sums.steps, 8000);
}

// Buffers are followed in the first executions of each program only, so all of it begins anew again
// and again: the thread sanitizer sees who touches what without the lock.
static void *run_few_steps(void *context) {
    const stage_t *stage = context;
    for (int step = 0; step < 4; ++step) {
        for (int program = 1; program < 4; ++program) {
            EXECUTE(stage, program, WEIGHT, BATCH);
            read_at(stage, 10 * (uint32_t)program, LOSS);
            made(stage, BATCH);
        }
        EXECUTE(stage, 0, WEIGHT, BATCH);
        flow_journal(stage->engine);
        read_on_a_thread_without_a_stack(stage, LOSS);
    }
    return NULL;
}

static void threads_follow_buffers_at_once(void **state) {
    (void)state;
    for (int round = 0; round < 60; ++round) {
        void *stage;
        pthread_t threads[4];
        assert_int_equal(set_up(&stage), 0);
        for (int i = 0; i < 4; ++i)
            assert_int_equal(pthread_create(&threads[i], NULL, run_few_steps, stage), 0);
        for (int i = 0; i < 4; ++i)
            pthread_join(threads[i], NULL);
        flow_end(((stage_t *)stage)->engine);
        assert_in_range(journal_sums(stage).forced, 1, 20 * 4 * 4 * 4);
        tear_down(&stage);
    }
}

#ifdef KEEL_FAULTS
static void without_memory_executions_and_reads_go_on(void **state) {
    const stage_t *stage = *state;
    for (uint64_t nth = 1; nth < 12; ++nth) {
        keel_fault_arm(KEEL_FAULT_ALLOC, nth);
        EXECUTE(stage, 1, WEIGHT);
        read_at(stage, 10 + (uint32_t)nth, LOSS);
        EXECUTE(stage, 2, WEIGHT);
        read_at(stage, 20, LOSS);
        EXECUTE(stage, 0, WEIGHT);
        flow_journal(stage->engine);
        keel_fault_arm(KEEL_FAULT_ALLOC, 0);
    }
    assert_int_equal(flow_executions(stage->engine), 33);
    flow_end(stage->engine);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_read_whose_work_the_step_does_again_cuts_it),
        TEST(the_last_step_that_was_cut_is_in_the_journal_too),
        TEST(programs_of_a_step_that_ends_with_the_run_are_in_the_journal),
        TEST(a_read_whose_result_the_step_works_on_cuts_it),
        TEST(a_read_without_a_line_is_that_of_the_programs_other_reads),
        TEST(a_read_that_has_no_line_at_all_ends_no_step),
        TEST(a_program_of_a_thread_without_lines_is_a_piece_of_the_step),
        TEST(an_evaluation_with_a_batch_of_its_own_cuts_nothing),
        TEST(a_buffer_that_is_made_anew_at_the_same_address_is_another_one),
        TEST(a_norm_of_the_weights_between_two_steps_cuts_neither),
        TEST(a_norm_of_the_weights_before_the_first_step_cuts_none),
        TEST(without_an_end_of_a_step_each_read_but_the_first_cuts),
        TEST(a_sum_over_steps_that_is_read_between_two_cuts_neither),
        TEST(labels_that_come_behind_the_read_hide_no_cut),
        TEST(what_the_host_makes_of_a_mask_hides_no_cut),
        TEST(places_that_the_host_found_are_what_the_step_goes_on_with),
        TEST(a_batch_that_is_sent_behind_an_evaluation_is_not_made_of_it),
        TEST(arrays_sent_since_the_last_execution_but_one_count),
        TEST(a_loop_that_reads_what_each_turn_hands_to_the_next_has_no_step_to_cut),
        TEST(a_number_that_only_the_read_needs_hides_no_cut),
        TEST(a_figure_made_of_the_steps_loss_cuts_nothing),
        TEST(a_read_behind_the_step_forces_nothing),
        TEST(several_reads_of_one_execution_force_it_once),
        TEST(a_step_has_as_many_pieces_as_reads_that_cut_it),
        TEST(a_second_line_that_asks_for_the_same_is_told_apart),
        TEST(buffers_are_followed_in_the_first_executions_only),
        TEST(where_every_execution_is_read_they_are_followed_no_longer_either),
        TEST(what_nothing_follows_is_not_judged),
        TEST(what_half_of_the_steps_go_on_with_cuts_them),
        TEST(what_fewer_than_half_of_the_steps_go_on_with_cuts_none),
        TEST(what_a_read_takes_is_written_though_it_was_counted_before),
        TEST(threads_that_execute_and_read_at_once_lose_no_count),
        TEST(threads_follow_buffers_at_once),
#ifdef KEEL_FAULTS
        TEST(without_memory_executions_and_reads_go_on),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
