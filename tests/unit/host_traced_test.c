// Which function a graph is of that torch.compile gave to TorchTPU, on whichever thread it is asked
// for.
#define _GNU_SOURCE
#include <pthread.h>

#include "host/host.h"
#include "place.h"

static keel_arena_t arena;

static uint64_t note(const char *id, const char *function, const char *names) {
    uint64_t number = keel_traced_note(
        &(keel_traced_t){
            .id = id, .function = function, .file = "/home/u/train.py", .line = 12, .names = names},
        "");
    assert_true(number);
    return number;
}

static uint64_t note_at(const char *id, const char *file, uint32_t line) {
    keel_stack_tell(&(keel_stack_frame_t){.file = file, .function = "main", .line = line});
    uint64_t number = note(id, "step", "#0\tx\n");
    keel_stack_tell(NULL);
    return number;
}

typedef struct question_t {
    uint32_t arguments;
    bool is_found;
    keel_traced_graph_t graph;
} question_t;

static void *ask(void *argument) {
    question_t *question = argument;
    question->is_found = keel_traced_find(question->arguments, &arena, &question->graph);
    return NULL;
}

// What a thread of the client's own finds for a program with so many arguments.
static question_t elsewhere(uint32_t arguments) {
    question_t question = {.arguments = arguments};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, ask, &question), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return question;
}

static void a_graph_is_known_while_it_is_compiled(void **state) {
    (void)state;
    uint64_t number = note("0/0", "step", "#0\tx\n#1\tscale\n");
    assert_false(elsewhere(2).is_found);
    keel_traced_begin(number);
    question_t found = elsewhere(2);
    assert_true(found.is_found);
    assert_string_equal(found.graph.function, "step");
    assert_string_equal(found.graph.file, "/home/u/train.py");
    assert_int_equal(found.graph.line, 12);
    assert_string_equal(found.graph.names, "#0\tx\n#1\tscale\n");
    keel_traced_end(number);
    assert_false(elsewhere(2).is_found);
}

static void of_two_the_arguments_tell_which(void **state) {
    (void)state;
    uint64_t one = note("1/0", "one", "#0\tx\n"),
             two = note("2/0", "two", "#0\tx\n#1\ty\n\tmask\n");
    keel_traced_begin(one);
    keel_traced_begin(two);
    assert_string_equal(elsewhere(1).graph.function, "one");
    assert_string_equal(elsewhere(2).graph.function, "two");
    assert_false(elsewhere(3).is_found);
    keel_traced_end(one);
    assert_string_equal(elsewhere(3).graph.function, "two"); // names may be missing
    keel_traced_end(two);
}

static void two_that_are_alike_are_not_known(void **state) {
    (void)state;
    uint64_t one = note("3/0", "one", "#0\tx\n"), two = note("4/0", "two", "#0\tx\n");
    keel_traced_begin(one);
    keel_traced_begin(two);
    assert_false(elsewhere(1).is_found);
    question_t own = {.arguments = 1};
    ask(&own); // this thread compiles the later one
    assert_string_equal(own.graph.function, "two");
    keel_traced_end(one);
    keel_traced_end(two);
}

static void a_thread_of_torchs_has_the_line_of_the_compile(void **state) {
    (void)state;
    keel_traced_end(note_at("5/0", "/home/u/train.py", 30));
    keel_traced_end(note_at("6/0", "/home/u/train.py", 40));
    uint64_t number =
        note_at("5/0", "/v/lib/python3.12/site-packages/torch/autograd/graph.py", 197);
    keel_traced_begin(number);
    question_t found = elsewhere(1);
    assert_int_equal(found.graph.stack->count, 1);
    assert_int_equal(found.graph.stack->frames[0].line, 30);
    keel_traced_end(number);
}

static int begin(void **state) {
    (void)state;
    keel_arena_initialize(&arena, 0);
    return 0;
}

static int end(void **state) {
    (void)state;
    keel_arena_deinitialize(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_is_known_while_it_is_compiled),
        cmocka_unit_test(of_two_the_arguments_tell_which),
        cmocka_unit_test(two_that_are_alike_are_not_known),
        cmocka_unit_test(a_thread_of_torchs_has_the_line_of_the_compile),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
