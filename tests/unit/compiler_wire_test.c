// Messages between a compiler and its children: what one side writes, the other reads; what is
// damaged is refused.
#define _GNU_SOURCE
#include "place.h"

#include "compiler/wire.h"

static keel_buffer_t out;

static int begin(void **state) {
    (void)state;
    keel_buffer_initialize(&out, 0);
    return 0;
}

static int end(void **state) {
    (void)state;
    keel_buffer_deinitialize(&out);
    return 0;
}

// The message behind its frame, which is of that kind.
static keel_bytes_t message(wire_kind_t expected) {
    wire_kind_t kind;
    uint64_t size;
    assert_ok(keel_buffer_status(&out));
    assert_ok(wire_read_head(out.data, &kind, &size));
    assert_int_equal(kind, expected);
    assert_int_equal(size, out.size - WIRE_HEAD);
    return keel_bytes(out.data + WIRE_HEAD, (size_t)size);
}

static keel_bytes_t bytes(const char *text) {
    return keel_str_bytes(keel_str(text));
}

static void assert_same(keel_bytes_t read, const char *expected) {
    assert_int_equal(read.size, strlen(expected));
    if (read.size) assert_memory_equal(read.data, expected, read.size);
}

static void a_setup_comes_back(void **state) {
    (void)state;
    for (int core = -1; core < 3; ++core) {
        wire_setup_t read;
        out.size = 0;
        wire_put_setup(&out, &(wire_setup_t){bytes("{}"), KEEL_STR("/lib/plugin.so"), core});
        assert_ok(wire_read_setup(message(WIRE_SETUP), &read));
        assert_same(read.target, "{}");
        assert_same(keel_str_bytes(read.plugin), "/lib/plugin.so");
        assert_int_equal(read.core, core);
    }
}

static void a_setup_without_a_core_has_none(void **state) {
    (void)state;
    wire_setup_t read;
    assert_ok(wire_read_setup(keel_bytes(NULL, 0), &read));
    assert_int_equal(read.core, -1);
    wire_put_setup(&out, &(wire_setup_t){.core = 1 << 20});
    assert_ok(wire_read_setup(message(WIRE_SETUP), &read));
    assert_int_equal(read.core, -1);
    out.size = 0;
    wire_put_setup(&out, &(wire_setup_t){.core = (1 << 20) - 1});
    assert_ok(wire_read_setup(message(WIRE_SETUP), &read));
    assert_int_equal(read.core, (1 << 20) - 1);
}

static void a_handler_comes_back_with_its_places(void **state) {
    (void)state;
    const keel_handler_t handler = {.kind = KEEL_HANDLER_TYPE,
                                    .name = "solve",
                                    .platform = "Host",
                                    .api_version = 1,
                                    .traits = 6,
                                    .places = {{"/a.so", 11}, {NULL, 0}, {NULL, 0}, {"/b.so", 0}}};
    wire_handler_t read;
    wire_put_handler(&out, &handler);
    assert_ok(wire_read_handler(message(WIRE_HANDLER), &read));
    assert_int_equal(read.kind, KEEL_HANDLER_TYPE);
    assert_int_equal(read.api_version, 1);
    assert_int_equal(read.traits, 6);
    assert_same(keel_str_bytes(read.name), "solve");
    assert_same(keel_str_bytes(read.platform), "Host");
    assert_same(keel_str_bytes(read.libraries[0]), "/a.so");
    assert_int_equal(read.offsets[0], 11);
    assert_null(read.libraries[1].data);
    assert_null(read.libraries[2].data);
    assert_same(keel_str_bytes(read.libraries[3]), "/b.so");
    assert_int_equal(read.offsets[3], 0);
}

static void a_handler_of_an_unknown_kind_is_refused(void **state) {
    (void)state;
    wire_handler_t read;
    wire_put_handler(&out,
                     &(keel_handler_t){.kind = KEEL_HANDLER_KINDS, .name = "", .platform = ""});
    keel_status_t status = wire_read_handler(message(WIRE_HANDLER), &read);
    assert_int_equal(keel_status_code(status), KEEL_CORRUPT);
    keel_status_ignore(status);
}

static void a_job_comes_back(void **state) {
    (void)state;
    wire_job_t read;
    const wire_job_t job = {.code = bytes("code"),
                            .options = bytes("options"),
                            .format = KEEL_STR("mlir"),
                            .executable = bytes("executable"),
                            .arguments = bytes("arguments"),
                            .seed = 7,
                            .seconds = 60,
                            .is_partition = true};
    wire_put_job(&out, &job);
    assert_ok(wire_read_job(message(WIRE_JOB), &read));
    assert_same(read.executable, "executable");
    assert_same(read.arguments, "arguments");
    assert_int_equal(read.seed, 7);
    assert_int_equal(read.seconds, 60);
    assert_true(read.is_partition);
    assert_same(read.code, "code");
    assert_same(read.options, "options");
    assert_same(keel_str_bytes(read.format), "mlir");
}

static void an_answer_comes_back_with_its_figures(void **state) {
    (void)state;
    const wire_answer_t answer = {.program_format = KEEL_STR("hlo_with_config"),
                                  .code = 3,
                                  .executable = bytes("executable"),
                                  .program = bytes("program"),
                                  .fingerprint = bytes("fingerprint"),
                                  .has_memory = true,
                                  .memory = {.arguments = 1,
                                             .outputs = 2,
                                             .aliased = 3,
                                             .temporaries = 4,
                                             .code = 5,
                                             .host = 6,
                                             .peak = 7},
                                  .nanoseconds = 8,
                                  .cpu_nanoseconds = 9,
                                  .peak_memory = 10};
    wire_answer_t read;
    wire_put_answer(&out, &answer);
    assert_ok(wire_read_answer(message(WIRE_ANSWER), &read));
    assert_int_equal(read.error.size, 0);
    assert_same(keel_str_bytes(read.program_format), "hlo_with_config");
    assert_same(read.executable, "executable");
    assert_same(read.program, "program");
    assert_same(read.fingerprint, "fingerprint");
    assert_int_equal(read.code, 3);
    assert_true(read.has_memory);
    assert_int_equal(read.memory.arguments, 1);
    assert_int_equal(read.memory.outputs, 2);
    assert_int_equal(read.memory.aliased, 3);
    assert_int_equal(read.memory.temporaries, 4);
    assert_int_equal(read.memory.code, 5);
    assert_int_equal(read.memory.host, 6);
    assert_int_equal(read.memory.peak, 7);
    assert_int_equal(read.nanoseconds, 8);
    assert_int_equal(read.cpu_nanoseconds, 9);
    assert_int_equal(read.peak_memory, 10);
}

static void a_program_alone_answers_only_for_a_partition(void **state) {
    (void)state;
    wire_answer_t read, answer = {.program = bytes("program"), .is_partition = true};
    wire_put_answer(&out, &answer);
    assert_ok(wire_read_answer(message(WIRE_ANSWER), &read));
    assert_same(read.program, "program");
    assert_true(read.is_partition);
    answer.is_partition = false;
    out.size = 0;
    wire_put_answer(&out, &answer);
    keel_status_t status = wire_read_answer(message(WIRE_ANSWER), &read);
    assert_int_equal(keel_status_code(status), KEEL_CORRUPT);
    keel_status_ignore(status);
}

static void an_answer_without_memory_has_none(void **state) {
    (void)state;
    wire_answer_t read;
    wire_put_answer(&out, &(wire_answer_t){.error = KEEL_STR("no")});
    assert_ok(wire_read_answer(message(WIRE_ANSWER), &read));
    assert_same(keel_str_bytes(read.error), "no");
    assert_false(read.has_memory);
}

static void assert_damaged(keel_status_t status, const char *words) {
    assert_int_equal(keel_status_code(status), KEEL_CORRUPT);
    assert_non_null(strstr(keel_status_message(status), words));
    keel_status_ignore(status);
}

static void what_is_cut_off_is_refused(void **state) {
    (void)state;
    wire_setup_t setup;
    wire_handler_t handler;
    wire_job_t job;
    wire_answer_t answer;
    const keel_bytes_t cut = keel_bytes("\x0a\x05x", 3);
    assert_damaged(wire_read_setup(cut, &setup), "decoded");
    assert_damaged(wire_read_handler(cut, &handler), "decoded");
    assert_damaged(wire_read_job(cut, &job), "decoded");
    assert_damaged(wire_read_answer(cut, &answer), "decoded");
    assert_damaged(wire_read_answer(keel_bytes(NULL, 0), &answer), "answers nothing");
    // Figures of memory: one too few, one too many, as many as there are.
    assert_damaged(
        wire_read_answer(keel_bytes("\x0a\x01x\x52\x06\x01\x02\x03\x04\x05\x06", 11), &answer),
        "decoded");
    assert_damaged(
        wire_read_answer(keel_bytes("\x0a\x01x\x52\x08\x01\x02\x03\x04\x05\x06\x07\x08", 13),
                         &answer),
        "decoded");
    assert_ok(
        wire_read_answer(keel_bytes("\x0a\x01x\x52\x07\x01\x02\x03\x04\x05\x06\x07", 12), &answer));
}

static void fields_of_another_kind_are_skipped(void **state) {
    (void)state;
    wire_setup_t setup;
    wire_job_t job;
    wire_answer_t answer;
    // Numbers for the first two fields, and one that nobody knows.
    const keel_bytes_t numbers = keel_bytes("\x08\x07\x10\x07\x78\x07", 6);
    assert_ok(wire_read_setup(numbers, &setup));
    assert_int_equal(setup.target.size + setup.plugin.size, 0);
    assert_ok(wire_read_job(numbers, &job));
    assert_int_equal(job.code.size + job.options.size, 0);
    // A number of four bytes for the code, and bytes for the error.
    assert_ok(wire_read_answer(keel_bytes("\x15\x01\x02\x03\x04\x0a\x01x", 8), &answer));
    assert_int_equal(answer.code, 0);
}

static void a_frame_has_a_kind_and_a_bound(void **state) {
    (void)state;
    wire_kind_t kind;
    uint64_t size;
    uint8_t head[WIRE_HEAD] = {1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
    assert_ok(wire_read_head(head, &kind, &size));
    assert_int_equal(kind, WIRE_SETUP);
    assert_true(size == WIRE_LIMIT);
    head[4] = 1;
    assert_damaged(wire_read_head(head, &kind, &size), "too large");
    head[4] = 0;
    head[0] = 0;
    assert_damaged(wire_read_head(head, &kind, &size), "kind");
    head[0] = WIRE_ANSWER + 1;
    assert_damaged(wire_read_head(head, &kind, &size), "kind");
    head[0] = WIRE_ANSWER;
    assert_ok(wire_read_head(head, &kind, &size));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_setup_comes_back),
        TEST(a_setup_without_a_core_has_none),
        TEST(a_handler_comes_back_with_its_places),
        TEST(a_handler_of_an_unknown_kind_is_refused),
        TEST(a_job_comes_back),
        TEST(an_answer_comes_back_with_its_figures),
        TEST(a_program_alone_answers_only_for_a_partition),
        TEST(an_answer_without_memory_has_none),
        TEST(what_is_cut_off_is_refused),
        TEST(fields_of_another_kind_are_skipped),
        TEST(a_frame_has_a_kind_and_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
