// Which programs of a run stay in memory while its neighbours are compared.
#define _GNU_SOURCE
#include "analysis/kept.h"
#include "hlo_proto.h"
#include "journal/journal.h"
#include "place.h"

enum { MEGABYTE = 1 << 20 };

typedef struct stage_t {
    place_t place;
    keel_journal_t *journal;
    kept_t kept;
} stage_t;

static int set_up(void **state) {
    stage_t *stage = calloc(1, sizeof *stage);
    place_make(&stage->place);
    assert_ok(keel_journal_open(stage->place.root, "run", &stage->journal));
    kept_initialize(&stage->kept, stage->place.root);
    *state = stage;
    return 0;
}

static int tear_down(void **state) {
    stage_t *stage = *state;
    kept_deinitialize(&stage->kept);
    keel_journal_close(stage->journal);
    place_remove(&stage->place);
    free(stage);
    return 0;
}

// A program of about that size in the run's folder.
static keel_digest_t write_program(stage_t *stage, char letter, size_t size) {
    proto_t one = instruction("add", 1, NULL, 0), body = proto();
    char *text = malloc(size + 1);
    assert_non_null(text);
    memset(text, letter, size);
    text[size] = 0;
    put_text(&one, 28, text);
    put_message(&body, 2, &one);
    proto_t module = module_of(&body, 1);
    keel_digest_t digest = keel_digest(bytes_of(&module));
    keel_journal_program(stage->journal, &digest, "hlo", bytes_of(&module));
    keel_buffer_deinitialize(&module);
    free(text);
    return digest;
}

static const keel_program_t *must_read(stage_t *stage, const keel_digest_t *digest) {
    const keel_program_t *program;
    assert_ok(kept_read(&stage->kept, digest, &program));
    assert_int_equal(keel_program_op_count(program), 1);
    return program;
}

// From here on only what is in memory can be read.
static void remove_files(const stage_t *stage) {
    char path[400];
    snprintf(path, sizeof path, "%s/programs", stage->place.root);
    nftw(path, place_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void assert_gone(stage_t *stage, const keel_digest_t *digest) {
    const keel_program_t *program;
    assert_code(kept_read(&stage->kept, digest, &program), KEEL_NOT_FOUND);
}

static void the_one_used_longest_ago_makes_room(void **state) {
    stage_t *stage = *state;
    keel_digest_t digests[KEPT_SLOTS + 2];
    for (int i = 0; i < KEPT_SLOTS + 2; ++i)
        digests[i] = write_program(stage, 'a', (size_t)i + 1);
    const keel_program_t *first = must_read(stage, &digests[0]);
    for (int i = 1; i < KEPT_SLOTS; ++i)
        must_read(stage, &digests[i]);
    assert_ptr_equal(must_read(stage, &digests[0]), first);
    must_read(stage, &digests[KEPT_SLOTS]);     // in place of 1
    must_read(stage, &digests[KEPT_SLOTS + 1]); // in place of 2
    remove_files(stage);
    assert_ptr_equal(must_read(stage, &digests[0]), first);
    for (int i = 3; i < KEPT_SLOTS + 2; ++i)
        must_read(stage, &digests[i]);
    assert_gone(stage, &digests[1]);
    assert_gone(stage, &digests[2]);
}

static void all_together_take_64_megabytes(void **state) {
    stage_t *stage = *state;
    keel_digest_t a = write_program(stage, 'a', 31 * MEGABYTE);
    keel_digest_t b = write_program(stage, 'b', 31 * MEGABYTE);
    keel_digest_t c = write_program(stage, 'c', MEGABYTE);
    keel_digest_t d = write_program(stage, 'd', 2 * MEGABYTE);
    must_read(stage, &a);
    must_read(stage, &b);
    must_read(stage, &c); // 63
    must_read(stage, &a);
    must_read(stage, &d); // 65: without b
    remove_files(stage);
    must_read(stage, &a);
    must_read(stage, &c);
    must_read(stage, &d);
    assert_gone(stage, &b);
}

// The program before it is still in use.
static void one_that_is_larger_stands_beside_the_one_before(void **state) {
    stage_t *stage = *state;
    keel_digest_t a = write_program(stage, 'a', 10), b = write_program(stage, 'b', 40 * MEGABYTE);
    keel_digest_t c = write_program(stage, 'c', 70 * MEGABYTE);
    must_read(stage, &a);
    const keel_program_t *before = must_read(stage, &b);
    must_read(stage, &c);
    assert_int_equal(keel_program_op_count(before), 1);
    remove_files(stage);
    assert_ptr_equal(must_read(stage, &b), before);
    must_read(stage, &c);
    assert_gone(stage, &a);
}

static void what_is_no_program_is_not_kept(void **state) {
    stage_t *stage = *state;
    keel_digest_t digest = keel_digest(keel_bytes("no program", 10));
    keel_journal_program(stage->journal, &digest, "mlir", keel_bytes("no program", 10));
    const keel_program_t *program;
    for (int i = 0; i < KEPT_SLOTS + 1; ++i) {
        keel_status_t status = kept_read(&stage->kept, &digest, &program);
        assert_non_null(status);
        keel_status_ignore(status);
    }
    keel_digest_t good = write_program(stage, 'a', 10);
    must_read(stage, &good);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_one_used_longest_ago_makes_room),
        TEST(all_together_take_64_megabytes),
        TEST(one_that_is_larger_stands_beside_the_one_before),
        TEST(what_is_no_program_is_not_kept),
    };
    return cmocka_run_group_tests_name("analysis_kept", tests, NULL, NULL);
}
